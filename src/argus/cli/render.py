"""Answers as people read them. Pure: the object in, text and exit code out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_COLOURS = {
    **{"up": "32", "down": "31;1", "degraded": "33", "unknown": "33", "pending": "2"},
    **{"alive": "32", "dead": "31;1", "stale": "33", "spawning": "2"},
    **{"working": "32", "idle": "2", "waiting_for_permission": "33;1", "waiting_for_input": "33;1", "stalled": "31;1"},
    **{"setting up": "36", "cleaning": "2", "interrupted": "33"},
    **{"rate_limited": "33", "running": "32", "failed": "31;1", "abandoned": "31", "warning": "33", "critical": "31;1"},
}
UPTIME = "UPTIME 24H"
WELL = "all is well"
_HIDING = ("Cc", "Cf", "Cs", "Zl", "Zp")


@dataclass(frozen=True)
class Shown:
    text: str
    exit_code: int = 0


def show(verb: str, answer: Any) -> Shown:
    make = _TEXTS.get(verb) or _of_others(verb)
    return make(answer) if make else Shown(json.dumps(answer, indent=2))


def _of_others(verb: str) -> Callable[[Any], Shown] | None:
    """What no quick command needs is loaded when it is asked for."""
    if verb.startswith("env run"):
        from argus.cli import render_tests

        return render_tests.TEXTS.get(verb)
    if verb.startswith("env "):
        from argus.cli import render_environments

        return render_environments.TEXTS.get(verb)
    if verb in ("ask", "call") or verb.startswith("bridge "):
        from argus.cli import render_bridge

        return render_bridge.TEXTS.get(verb)
    if verb in ("incidents", "explain"):
        from argus.cli import render_incidents

        return render_incidents.TEXTS.get(verb)
    if verb.startswith(("sessions ", "spawns ", "audit")):
        from argus.cli import render_sessions

        return render_sessions.TEXTS.get(verb)
    return None


def clean(text: Any) -> str:
    """Text from services and agents is data: on a terminal it must not be able to move, colour or hide anything."""
    from unicodedata import category

    return "".join("·" if category(one) in _HIDING else one for one in str(text))


def _coloured(state: str) -> str:
    return f"\x1b[{_COLOURS[state]}m{state}\x1b[0m" if state in _COLOURS else clean(state)


def _table(rows: list[list[str]], widths_of: list[list[str]]) -> str:
    """`widths_of` is the same without colours, which take no room."""
    taken = [[_cells(cell) for cell in row] for row in widths_of]
    widths = [max(row[column] for row in taken) for column in range(len(rows[0]))]
    lines = []
    for row, bare in zip(rows, taken, strict=True):
        cells = [cell + " " * (width - room) for cell, room, width in zip(row, bare, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _cells(text: str) -> int:
    """The room that it takes on a terminal: some letters are as wide as two, some stand over another."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(one) in ("Mn", "Me") else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def table(rows: list[list[str]], *, coloured: int) -> str:
    """With one column in the colour of its state."""
    head, *rest = rows
    shown = [[*row[:coloured], _coloured(row[coloured]), *row[coloured + 1 :]] for row in rest]
    return _table([head, *shown], rows)


def _services(services: list[dict[str, Any]], is_proposing: bool = False) -> str:
    if not services:
        return "nothing is watched"
    head = ["SERVICE", "STATE", "LATENCY", UPTIME, "FAILURES", "SEEN"]
    plain, coloured = [head], [head]
    because = roots(services)
    for one in services:
        latency = "" if one["latencyMs"] is None else f"{one['latencyMs']:g} ms"
        notes = [one["detail"]]
        notes += ["restarting"] if one["repairing"] else []
        notes += ["flapping"] if one["flapping"] else []
        notes += held_back(one, because, is_proposing)
        notes += [f"paused until {one['pausedUntil']}"] if one["pausedUntil"] else []
        failures = f"{one['failures']}{'+' if one['countedAnew'] else ''}" if one["failures"] else ""
        row = [clean(one["name"]), one["state"], latency, percent(one["uptime"]["24h"]), failures]
        row.append(clean("; ".join(notes)))
        plain.append(row)
        coloured.append([row[0], _coloured(row[1]), *row[2:]])
    return _table(coloured, plain)


def roots(services: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Of each service that is down because of another, that other."""
    incidents = {one["incident"]: one["name"] for one in services if one["incident"]}
    return {one["name"]: incidents[one["explainedBy"]] for one in services if one["explainedBy"] in incidents}


def held_back(one: dict[str, Any], because: dict[str, str], is_proposing: bool) -> list[str]:
    """By which gate a restart is, and who keeps it shut; or that only a person's word is missing. `is_proposing`: Argus
    does that now."""
    if not one["gate"] or one["repairing"]:
        return []
    if is_proposing and one["gate"] == "autonomy" and one["restartable"] and not one["restarts"]:
        return [f"proposed: restart; argus services restart {one['name']} approves it"]
    who = one["waitsFor"] or (because.get(one["name"]) if one["gate"] == "dependency down" else None)
    return [f"held back: {one['gate']}" + (f" ({who})" if who else "")]


def proposes(state: Mapping[str, Any]) -> bool:
    return bool(state["autonomy"] == "cautious" and state["budget"]["left"])


def percent(share: float | None) -> str:
    # Down, not to the nearest: 100 % means that every single check found it alive.
    return "" if share is None else "100 %" if share == 1 else f"{int(share * 10_000) / 100:.2f} %"


def _status(state: dict[str, Any]) -> Shown:
    argus = state["argus"]
    where = clean(argus["config"] or "no configuration; watching what was found listening")
    lines = [f"Argus {argus['version']} at {argus['url']} ({where})"]
    lines += [f"notice: {clean(notice)}" for notice in argus["notices"]]
    if argus["store"] != "ok":
        lines.append(f"STORE: {clean(argus['store'])}; nothing is acted on until it can be written")
    if state["infrastructureEvent"]:
        said = "nothing is restarted until it has ended; look at what they share, or start them by hand"
        lines.append(f"INFRASTRUCTURE EVENT {state['infrastructureEvent']}: {said}")
    lines += [f"BREAKER {_breaker(one)}" for one in state["breakers"] if one["state"] != "closed"]
    lines += ["", _services(state["services"], proposes(state)), ""]
    lines += [_crew(state["agents"]), ""] if state["agents"] else []
    lines += [_of_sessions(state["sessions"]), ""] if state["sessions"] else []
    lines += [_of_environments(state), ""] if state["environments"] else []
    budget = state["budget"]
    lines.append(
        f"{verdict(state)}; autonomy {state['autonomy']}, restarts left this hour {budget['left']}/{budget['most']}"
    )
    return Shown("\n".join(lines), 0 if state["well"] else 1)


def verdict(state: dict[str, Any]) -> str:
    """In a line: what is wrong, and who waits for somebody."""
    services = state["services"]
    down = [one["name"] for one in services if one["state"] == "down"]
    unknown = [one["name"] for one in services if one["state"] == "unknown"]
    pending = [one["name"] for one in services if one["state"] == "pending"]
    named = {f"service {name}" for name in (*down, *unknown)} | set(state["needsYou"])
    parts = {
        "cannot be checked": unknown,
        "not well": [one for one in state["notWell"] if one not in named],
        "needs you": state["needsYou"],
    }
    fallen = [fall(services, named=True)] if down else []
    said = "; ".join([*fallen, *(f"{what}: {_some(names)}" for what, names in parts.items() if names)])
    if said or not state["well"]:
        return said or "not well"
    # Nothing is wrong with what nobody has seen yet, and nobody may call it well.
    return f"not known yet: {_some(pending)}" if pending else WELL


def fall(services: Sequence[dict[str, Any]], *, named: bool = False) -> str:
    """How many are down, and how many of them because of others, in the words of the page."""
    because = roots(services)
    down = [one["name"] for one in services if one["state"] == "down"]
    fell = [name for name in down if name in because]
    first = [name for name in down if name not in because]
    if not first:
        first, fell = down, []  # what it was is up, or cannot be checked
    who, which = (f" ({_some(first)})", f" ({_some(fell)})") if named else ("", "")
    is_one = len(first) == 1
    more = f", and {len(fell)} more because of {'it' if is_one else 'them'}{which}" if fell else ""
    return f"{len(first)} of {len(services)} services {'is' if is_one else 'are'} down{who}{more}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return clean(", ".join(names[:_NAMED])) + more


def _of_sessions(found: list[dict[str, Any]]) -> str:
    from argus.cli.render_sessions import sessions

    return sessions(found)


def _of_environments(state: dict[str, Any]) -> str:
    from argus.cli.render_environments import environments

    return environments(state["environments"], state["timestamp"] / 1000)


def _breaker(one: dict[str, Any]) -> str:
    wait = one["retryInSeconds"]
    when = "" if wait is None else f", asked again in {wait:g} s"
    why = f" ({clean(one['history'][-1]['message'])})" if one["history"] else ""
    return f"{clean(one['name'])}: {one['state']}, {one['failures']} failures in a row{when}{why}"


def _breakers(answer: dict[str, Any]) -> Shown:
    return Shown("\n".join(_breaker(one) for one in answer["breakers"]) or "There are no breakers now.")


def _breaker_reset(answer: dict[str, Any]) -> Shown:
    return Shown(f"{answer['previousState']} -> {answer['currentState']}: {clean(answer['message'])}")


def _list(answer: dict[str, Any]) -> Shown:
    unwell = any(one["state"] in ("down", "unknown") for one in answer["services"])
    return Shown(_services(answer["services"]), 1 if unwell else 0)


def _check(one: dict[str, Any]) -> Shown:
    latency = "" if one["latencyMs"] is None else f" in {one['latencyMs']:g} ms"
    least = "at least " if one["countedAnew"] else ""
    failures = f" ({least}{one['failures']} consecutive failures)" if one["failures"] else ""
    text = f"{clean(one['name'])}: {_coloured(one['state'])}{latency}, {clean(one['detail'])}{failures}"
    return Shown(text, 1 if one["failures"] or one["state"] == "down" else 0)


def _restart(answer: dict[str, Any]) -> Shown:
    return Shown(f"{clean(answer['service'])}: restarting (act {answer['act']}); argus events shows how it ends")


def _pause(answer: dict[str, Any]) -> Shown:
    until = answer["pausedUntil"]
    return Shown(f"{clean(answer['service'])}: {f'paused until {until}' if until else 'watched as usual'}")


def _reload(answer: dict[str, Any]) -> Shown:
    services = answer["services"]
    lines = [clean(answer["file"] or "no configuration file; looked around again")]
    for what in ("added", "removed", "changed"):
        named = services[what]
        more = f" and {len(named) - 20} more" if len(named) > 20 else ""
        lines += [f"  {what}: {clean(', '.join(named[:20]))}{more}"] if named else []
    if services["unchanged"]:
        lines.append(f"  {services['unchanged']} services go on as they were")
    sections = [name for name in answer["changed"] if name not in answer["restartNeeded"]]
    if sections:
        lines.append(f"taken up: {', '.join(sections)}")
    elif not (services["added"] or services["removed"] or services["changed"]):
        lines.append("nothing has changed")
    lines += [f"notice: {clean(notice)}" for notice in answer["notices"]]
    return Shown("\n".join(lines))


_NAMED, _LISTED = 12, 20
"""In a line; the tables have all of them."""
_TASK = 60
"""Characters of a task in a table; `argus agents list --json` has all of it."""
_REASON = 160
"""Characters of why a restart failed, in the line of its event; with `--json` it is there in full."""


def _agents(answer: dict[str, Any]) -> Shown:
    return Shown(_crew(answer["agents"]))


def _crew(agents: list[dict[str, Any]]) -> str:
    if not agents:
        return "no agents"
    head = ["AGENT", "STATE", "GEN", "SEEN", "PID", "TASK", "NOTES"]
    plain, coloured = [head], [head]
    for one in agents:
        notes = [clean(one["reason"])] if one["reason"] else []
        notes += [f"held back: {clean(one['gate'])}"] if one["gate"] else waits_for(one)
        seen = "" if one["age_seconds"] is None else f"{lasting(one['age_seconds'])} ago"
        row = [clean(one["agent_id"]), clean(one["state"]), str(one["generation"]), seen, str(one["pid"] or "")]
        row += [first_line(one["current_task"]), "; ".join(notes)]
        plain.append(row)
        coloured.append([row[0], _coloured(row[1]), *row[2:]])
    return _table(coloured, plain)


def waits_for(one: dict[str, Any], key: str = "waits_for") -> list[str]:
    return [f"waits for {clean(' and '.join(one[key]))}"] if one.get(key) else []


def first_line(task: str) -> str:
    lines = task.strip().splitlines() or [""]
    first = clean(lines[0])
    whole = len(lines) == 1 and len(first) <= _TASK
    return first if whole else f"{first[: _TASK - 1].rstrip()}…"


def lasting(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def _spawned(one: dict[str, Any]) -> Shown:
    text = f"{clean(one['agent_id'])}: {_coloured(one['state'])}, generation {one['generation']}"
    why = [clean(one["reason"])] if one["reason"] else waits_for(one)
    return Shown("; ".join([text, *why, "argus agents list shows how it is"]))


def _stopped(one: dict[str, Any]) -> Shown:
    state, reason = one["state"], one["reason"]
    if state == "removed" and reason == "shutdown_requested":
        return Shown(f"{clean(one['agent_id'])}: was stopped")
    text = "is over" if state == "removed" else "is to end, and nothing respawns it"
    return Shown(f"{clean(one['agent_id'])}: {text} ({clean(reason or state)})")


def _lines(text: str) -> str:
    return "\n".join(map(clean, text.rstrip("\n").split("\n")))


_TOLD = (
    "services",
    "from",
    "to",
    "outcome",
    "problem",
    "action",
    "target",
    "gate",
    "dependency",
    "dependencies",
    "still_waits_for",
    "cause",
    "reason",
    "detail",
    "why",
    "by",
    "kind",
    "seconds",
    "kept",
    "engine",
    "environments",
    "title",
)


def event_line(channel: str, data: dict[str, Any]) -> str:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(data["timestamp"] / 1000, UTC).isoformat(timespec="milliseconds")
    if data.get("detail") == data.get("cause"):
        data = {**data, "detail": ""}
    if data.get("problem") or data.get("outcome") == "failed":
        data = {**data, "problem": _why_it_failed(data)}
    if data["type"] == "config_reloaded":
        data = {**data, "services": _taken_up(data)}
    shown = {key: _worded(data.get(key)) for key in _TOLD}
    told = ", ".join(f"{key.replace('_', ' ')} {one}" for key, one in shown.items() if one not in ("", "none"))
    subject = data.get("service") or data.get("subject") or ""
    return clean(f"{moment.replace('+00:00', 'Z')}  {channel}:{data['type']}  {subject}  {told}").rstrip()


def _why_it_failed(data: dict[str, Any]) -> str:
    """What is seen afterwards says that a restart did not help, and not why."""
    if data.get("problem") or not data.get("exitCode"):
        return _beginning(str(data.get("problem") or ""))
    printed = [line for line in str(data.get("output") or "").splitlines() if line.strip()]
    last = f' ("{_beginning(" ".join(printed[-1].split()))}")' if printed else ""
    return f"exit status {data['exitCode']}{last}"


def _beginning(text: str) -> str:
    return text if len(text) <= _REASON else f"{text[: _REASON - 1].rstrip()}…"


def _worded(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {said}" for key, one in value.items() if (said := _worded(one)))
    if isinstance(value, list):
        more = [f"and {len(value) - _LISTED} more"] if len(value) > _LISTED else []
        return " ".join([*map(str, value[:_LISTED]), *more])
    return "" if value is None else str(value)


def _taken_up(data: dict[str, Any]) -> Any:
    """Of a reload: the services that came, went or changed."""
    services = data.get("services")
    if not isinstance(services, dict):
        return services
    named = {what: ", ".join(map(str, services.get(what) or ())) for what in ("added", "removed", "changed")}
    return {what: names for what, names in named.items() if names} or "as before"


_TEXTS: dict[str, Callable[[Any], Shown]] = {
    "status": _status,
    "services list": _list,
    "services check": _check,
    "services restart": _restart,
    "breakers list": _breakers,
    "breakers reset": _breaker_reset,
    "env reset-circuit": _breaker_reset,
    "services pause": _pause,
    "services resume": _pause,
    "agents list": _agents,
    "agents spawn": _spawned,
    "agents respawn": _spawned,
    "agents forget": _stopped,
    "agents stop": _stopped,
    "agents logs": lambda answer: Shown(_lines(answer["text"])),
    "context": lambda answer: Shown(_lines(answer["text"])),
    "autonomy": lambda answer: Shown(answer["level"]),
    "reload": _reload,
    "open": lambda answer: Shown(answer["url"]),
}
