"""What an event's story rests on, as lines: readings, the output of a restart, diagnostics, last lines. Pure, bounded.

What is on record was redacted when it was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.core.clock import rfc3339

LINES = 20
LINE = 300


def evidence(data: Mapping[str, Any]) -> tuple[str, ...]:
    lines = [*_readings(data.get("readings")), *_ran(data), *_earlier(data.get("earlier"))]
    lines += _diagnostics(data.get("diagnostics"))
    lines += _last(data.get("logs"))
    return tuple(one if len(one) <= LINE else f"{one[:LINE]}…" for one in map(_one_line, lines))


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _readings(found: Any) -> list[str]:
    return [_reading(one) for one in found[-LINES:] if isinstance(one, Mapping)] if isinstance(found, list) else []


def _reading(one: Mapping[str, Any]) -> str:
    """With its day and zone: a terminal shows it as it is, and the page by its reader's clock."""
    when = rfc3339(float(one.get("at") or 0) / 1000)
    took = f" in {one['latencyMs']:g} ms" if isinstance(one.get("latencyMs"), int | float) else ""
    said = f": {one['detail']}" if one.get("detail") else ""
    return f"{when} {one.get('state')}{took}{said}"


def _ran(data: Mapping[str, Any]) -> list[str]:
    """What a restart came to."""
    if "output" not in data:
        return []
    status, seconds = data.get("exitCode"), data.get("seconds")
    head = [] if status is None else [f"exit status {status} after {seconds} s"]
    return [*head, *_last(str(data.get("output") or "").splitlines())]


def _earlier(found: Any) -> list[str]:
    """Restarts that count with this failure, and that the stories of earlier ones tell."""
    return [_restart(one) for one in found[-LINES:] if isinstance(one, Mapping)] if isinstance(found, list) else []


def _restart(one: Mapping[str, Any]) -> str:
    story = f" (incident {one['incident']})" if one.get("incident") else ""
    came = str(one.get("outcome") or "under way").replace("_", " ")
    return f"{one.get('at')} restart {one.get('attempt')}, {came}: {one.get('reason')}{story}"


def _diagnostics(found: Any) -> list[str]:
    if not isinstance(found, Mapping):
        return []
    lines = []
    if found.get("exitCode") is not None:
        ran = f", after {found['ranSeconds']} s" if found.get("ranSeconds") is not None else ""
        lines.append(f"exit status {found['exitCode']}{ran}" + (", out of memory" if found.get("oomKilled") else ""))
    memory = found.get("memoryStats")
    if isinstance(memory, Mapping):
        lines.append(f"memory: peak {_size(memory.get('peak'))}, limit {_size(memory.get('limit'))}")
    if found.get("healthOutput"):
        lines.append(f"health check: {' '.join(str(found['healthOutput']).split())}")
    return [*lines, *_last(found.get("logs"))]


def _size(bytes: Any) -> str:
    return f"{bytes / (1 << 20):.1f} MiB" if isinstance(bytes, int) else "not known"


def _last(lines: Any) -> list[str]:
    return [f"| {one}" for one in lines[-LINES:]] if isinstance(lines, list) else []
