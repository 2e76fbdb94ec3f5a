"""Environments as people read them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from argus.cli.render import Shown, clean, lasting, table, waits_for

_FINE = ("well", "left alone")
_GIVEN_UP = ("failed", "exhausted")
_MARKS = {"pass": "ok  ", "warn": "warn", "fail": "FAIL"}


def environments(found: list[dict[str, Any]], now: float) -> str:
    """At a glance, as the record has them; `env status` asks the engine."""
    head = ["ENVIRONMENT", "STATE", "SINCE", "CONTAINERS"]
    rows = [
        [
            clean(one["name"]),
            clean(one["state"]),
            since(one, now),
            "; ".join([containers(one), *waits_for(one, "waitsFor")]),
        ]
        for one in worst_first(found)
    ]
    return table([head, *rows], coloured=1)


def worst_first(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=_rank)


def _rank(one: dict[str, Any]) -> int:
    """What was given up, what did not come to be, what something is done about, and the rest."""
    guards = one["guards"].values()
    if any(state in _GIVEN_UP for state in guards):
        return 0
    if one["state"] in ("failed", "interrupted"):
        return 1
    return 2 if any(state not in _FINE for state in guards) else 3


def since(one: dict[str, Any], now: float) -> str:
    return lasting(max(0.0, now - datetime.fromisoformat(one["since"]).timestamp()))


def containers(one: dict[str, Any]) -> str:
    """Those that are not well by name, the rest by number."""
    counts = Counter(one["guards"].values())
    sick = [f"{name} {state}" for name, state in sorted(one["guards"].items()) if state not in _FINE]
    return clean("; ".join([*sick, *(f"{counts[state]} {state}" for state in _FINE if counts[state])]))


def _init(answer: dict[str, Any]) -> Shown:
    lines = [f"{clean(answer['project'])} ({clean(answer['configFile'])})"]
    lines += [f"{kind}: {clean(', '.join(answer[kind]))}" for kind in ("services", "mocks") if answer[kind]]
    if answer["suites"]:
        lines.append(f"suites: {clean(', '.join(one['id'] for one in answer['suites']))}")
    lines += _warnings(answer)
    return Shown("\n".join(lines))


def _warnings(answer: dict[str, Any]) -> list[str]:
    return [f"warning: {clean(one)}" for one in answer["warnings"]]


def _report(report: dict[str, Any]) -> list[str]:
    checks = [f"{_MARKS[one['status']]}  {one['name']}: {clean(one['message'])}" for one in report["checks"]]
    return [*checks, f"{report['overall']} ({report['duration']:g} ms)"]


def _preflight(answer: dict[str, Any]) -> Shown:
    report = answer["healthReport"]
    fixed = [f"removed {one['type']} {clean(one['name'])}" for one in answer["fixed"]["removed"]]
    failed = [
        f"NOT removed {one['type']} {clean(one['name'])}: {clean(one['error'])}" for one in answer["fixed"]["failed"]
    ]
    return Shown("\n".join([*fixed, *failed, *_report(report)]), 1 if report["overall"] == "unhealthy" else 0)


def _build(answer: dict[str, Any]) -> Shown:
    return Shown(
        "\n".join(
            f"{clean(one['service'])}: {clean(one['image'])} {'was there' if one['existed'] else 'built'}"
            for one in answer["images"]
        )
        or "nothing to build"
    )


def _ports(one: dict[str, Any]) -> str:
    return ", ".join(f"{port['hostPort']}->{port['containerPort']}" for port in one["ports"])


def _part(one: dict[str, Any]) -> str:
    health = f", {one['health']}" if one["health"] else ""
    ended = f", exit status {one['exitCode']}" if one["exitCode"] is not None else ""
    return f"{clean(one['name'])}: {clean(one['state'])}{health}{ended}  {_ports(one)}".rstrip() + _guard(one)


def _guard(one: dict[str, Any]) -> str:
    """Only where there is something to say: most containers are well, and were never restarted."""
    guard = one.get("guard")
    if not guard or (guard["state"] == "well" and not guard["restarts"]):
        return ""
    often = f"{guard['restarts']} of {guard['maxRestarts']} restarts"
    loop = ", a crash loop" if guard["crashLoop"] else ""
    why = f": {clean(guard['reason'])}" if guard["reason"] else ""
    when = f", next at {guard['nextAttempt']}" if guard["nextAttempt"] else ""
    return f"  [{guard['state']}, {often}{when}{loop}{why}]"


def _moved(mappings: list[dict[str, Any]]) -> list[str]:
    return [
        f"port {one['originalPort']} of {clean(one['service'])} was taken: it is {one['actualPort']}"
        for one in mappings
        if one["reassigned"]
    ]


def _network(found: dict[str, Any] | None) -> list[str]:
    """Only what somebody may want to know: all that is well goes without saying."""
    silent = [one for one in (found or {}).get("results", ()) if one["listening"] is False]
    ports = dict.fromkeys(f"{one['hostname']}:{one['port']}" for one in silent)
    return [f"nobody listens at {clean(', '.join(ports))} (yet)"] if ports else []


def _setup(answer: dict[str, Any]) -> Shown:
    parts = [_part(one) for one in (*answer["services"], *answer["mocks"])]
    lines = [
        *_moved(answer["portMappings"]),
        *parts,
        *_warnings(answer),
        *_network(answer.get("networkVerification")),
        f"up in {answer['totalDuration'] / 1000:.3g} s, run {answer['runId']}",
    ]
    return Shown("\n".join(lines))


def _status(answer: dict[str, Any]) -> Shown:
    run = f", run {answer['runId']}" if answer["runId"] else ""
    lines = [f"{clean(answer['project'])}: {answer['state']}{run}"]
    lines += [_part(one) for one in (*answer["services"], *answer["mocks"])]
    lines += _moved(answer["portMappings"])
    lines += _warnings(answer)
    breaker = answer["circuitBreaker"]
    if breaker["state"] != "closed":
        lines.append(f"BREAKER {breaker['state']}: {breaker['failureCount']} failures in a row")
    if answer["problem"]:
        lines.append(f"PROBLEM: {clean(answer['problem']['message'])}")
    if answer["configProblem"]:
        lines.append(f"PROBLEM: {clean(answer['configProblem']['message'])}")
    well = answer["state"] == "up" and all(one["state"] == "running" for one in (*answer["services"], *answer["mocks"]))
    return Shown("\n".join(lines), 0 if well else 1)


def _clean(answer: dict[str, Any]) -> Shown:
    lines = [f"removed {one['type']} {clean(one['name'])}" for one in answer["removed"]]
    kept = [one for one in answer["found"] if one not in answer["removed"]]
    lines += [f"kept {one['type']} {clean(one['name'])} (--force removes it too)" for one in kept]
    return Shown("\n".join(lines) or "there was nothing to remove")


def _logs(answer: dict[str, Any]) -> Shown:
    cut = ["(the older lines do not fit)"] if answer["truncated"] else []
    return Shown("\n".join([*cut, *(clean(line) for line in answer["lines"])]))


def _mock_requests(answer: dict[str, Any]) -> Shown:
    lines = [
        f"{clean(one['mock'])}: {clean(one['method'])} {clean(one['path'])} -> {one['status']}"
        + ("" if one["route"] else " (no route)")
        for one in answer["requests"]
    ]
    more = answer["total"] - len(answer["requests"])
    lines += [f"and {more} more"] if more > 0 else []
    nobody = "nothing was asked" if answer["mocks"] else "no mock that Argus answers is up"
    return Shown("\n".join(lines) or nobody)


TEXTS: dict[str, Callable[[Any], Shown]] = {
    "env init": _init,
    "env preflight": _preflight,
    "env build": _build,
    "env setup": _setup,
    "env status": _status,
    "env logs": _logs,
    "env mock-requests": _mock_requests,
    "env clean": _clean,
}
