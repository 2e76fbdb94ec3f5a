"""What a person is told about environments. Pure; see render.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from argus.core.units import spoken
from argus.notify.message import IMPORTANT, URGENT, Message

_NAMED = 30


def _exhausted(data: Mapping[str, Any], now: int) -> Message:
    count = data.get("attempts", 0)
    times = "restart" if count == 1 else "restarts"
    loop = "A crash loop: " if data.get("crashLoop") else ""
    lines = [f"{loop}{data.get('reason')}", "", f"Given up after {count} {times}; a person has to look"]
    return Message(URGENT, f"CONTAINER GIVEN UP: {data['container']}", "\n".join(lines))


def _engine_missed(data: Mapping[str, Any], now: int) -> Message:
    lines = [
        f"Away for {spoken(data['awaySeconds'])}: {data['reason']}",
        _on_it(data),
        "",
        "Action: none - what fell with it is started when it answers again; a person has to look",
    ]
    return Message(URGENT, f"DOCKER ENGINE LOST: {_engine(data)}", "\n".join(lines))


def _engine_found(data: Mapping[str, Any], now: int) -> Message:
    text = f"It answers again, after {spoken(data['awaySeconds'])}\n{_on_it(data)}"
    return Message(IMPORTANT, f"DOCKER ENGINE BACK: {_engine(data)}", text)


def _engine(data: Mapping[str, Any]) -> str:
    return str(data.get("engine") or "Docker")


def _on_it(data: Mapping[str, Any]) -> str:
    names = data["environments"]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Environments on it: {', '.join(names[:_NAMED])}{more}"


TEXTS: dict[str, Callable[[Mapping[str, Any], int], Message | None]] = {
    "resilience:restart_exhausted": _exhausted,
    "resilience:engine_missed": _engine_missed,
    "resilience:engine_found": _engine_found,
}
