"""What a person is told about environments. Pure; see render.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from argus.notify.message import URGENT, Message


def _exhausted(data: Mapping[str, Any], timestamp: int) -> Message:
    count = data.get("attempts", 0)
    times = "restart" if count == 1 else "restarts"
    loop = "A crash loop: " if data.get("crashLoop") else ""
    lines = [f"{loop}{data.get('reason')}", "", f"Given up after {count} {times}; a person has to look"]
    return Message(URGENT, f"CONTAINER GIVEN UP: {data['container']}", "\n".join(lines))


TEXTS: dict[str, Callable[[Mapping[str, Any], int], Message | None]] = {
    "resilience:restart_exhausted": _exhausted,
}
