"""What became of test suites, as people read it. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from argus.cli.render import Shown, clean

_WORDS = {"passed": "passed", "failed": "FAILED", "skipped": "skipped"}
_SHOWN = 50
"""Failed cases of a suite that are shown with all that is wrong; the rest is in --json and in the JUnit file."""
_LINES = 12
_VALUE = 200


def text(answer: dict[str, Any]) -> Shown:
    lines = [line for suite in answer["suites"] for line in _suite(suite)]
    lines += [f"warning: {clean(one)}" for one in answer["warnings"]]
    lines += _restarts(answer["restarts"])
    # What was collected of a run that was cut short has none.
    lines += [f"{_problem(one)}: {clean(one['message'])}" for one in answer.get("problems", ())]
    lines.append(f"{_WORDS[answer['status']]}: {_counted(answer['totals'])} in {_time(answer['duration'])}")
    return Shown("\n".join(lines), 0 if answer["status"] == "passed" else 1)


def _problem(problem: dict[str, Any]) -> str:
    return "GIVEN UP" if problem["code"] == "CONTAINER_RESTART_EXHAUSTED" else "NOT WELL"


def _suite(suite: dict[str, Any]) -> Iterator[str]:
    counts = {name: sum(one["status"] == name for one in suite["cases"]) for name in _WORDS}
    again = f", {suite['attempts']} attempts" if suite["attempts"] > 1 else ""
    named = f"{clean(suite['id'])}: {_WORDS[suite['status']]}"
    yield f"{named}, {_counted(counts)} in {_time(suite['duration'])}{again}"
    if suite["error"]:
        yield from _failure(suite["error"], "  ")
    failed = [one for one in suite["cases"] if one["status"] == "failed"]
    for one in failed[:_SHOWN]:
        yield from _case(one)
    if len(failed) > _SHOWN:
        yield f"  and {len(failed) - _SHOWN} more that failed"
    # A green case that was played anew, or tried again, is not as good as another: whoever reads the run is told.
    told = [one for one in suite["cases"] if one["status"] == "passed" and (one["attempts"] > 1 or one["reason"])]
    yield from (f"  passed {': '.join(filter(None, (_tried(one), clean(one['reason']))))}" for one in told[:_SHOWN])
    if len(told) > _SHOWN:
        yield f"  and {len(told) - _SHOWN} more that passed so"
    reasons = {one["reason"] for one in suite["cases"] if one["status"] == "skipped" and one["reason"]}
    yield from (f"  skipped: {clean(one)}" for one in sorted(reasons)[:5])
    yield from (f"  warning: {clean(one)}" for one in suite["warnings"])


def _case(one: dict[str, Any]) -> Iterator[str]:
    yield f"  FAILED {_tried(one)}"
    for failure in one["failures"]:
        yield from _failure(failure, "    ")
    if one["reason"]:
        yield f"    {clean(one['reason'])}"
    if one["output"]:
        yield from (f"    | {clean(line)}" for line in one["output"].splitlines()[-_LINES:])


def _tried(one: dict[str, Any]) -> str:
    line = f" (line {one['line']})" if one["line"] else ""
    again = f", {one['attempts']} attempts" if one["attempts"] > 1 else ""
    return f"{clean(one['name'])}{line}{again}"


def _failure(failure: dict[str, Any], indent: str) -> Iterator[str]:
    first, *more = failure["message"].splitlines() or [""]
    path = failure["path"]
    yield indent + clean(f"{path}: {first}" if path and f"{path}:" not in first else first)
    yield from (f"{indent}| {clean(line)}" for line in more[-_LINES:])
    if failure["expected"] is not None or failure["actual"] is not None:
        expected, actual = (_value(failure[name]) for name in ("expected", "actual"))
        yield f"{indent}  expected {expected}, got {actual}"


def _value(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return clean(written if len(written) <= _VALUE else f"{written[:_VALUE]}…")


def _restarts(restarts: list[dict[str, Any]]) -> Iterator[str]:
    for one in restarts:
        outcome = one["outcome"] or "under way"
        yield clean(f"restarted {one['service']}, attempt {one['attempt']}: {one['reason']}; {outcome}")
    for name in dict.fromkeys(one["service"] for one in restarts if one.get("crashLoop")):
        yield f"CRASH LOOP: {clean(name)} ends again and again, soon after each start"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in _WORDS if counts[name] or name == "passed")


def _time(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3g} s"


TEXTS: dict[str, Callable[[Any], Shown]] = {"env run": text, "env run-suite": text}
