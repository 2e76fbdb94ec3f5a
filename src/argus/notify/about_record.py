"""What a person is told about the record itself. Pure; see render.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from argus.core.units import spoken
from argus.notify.message import IMPORTANT, URGENT, Message


def record_is_away(problem: str, seconds: float) -> Message:
    """The one message of which there is no event: it cannot be on record."""
    lines = [
        f"For {spoken(seconds)}: {' '.join(problem.split())}",
        "",
        "Action: none - nothing is restarted until it can be; what is seen is kept",
    ]
    return Message(URGENT, "RECORD CANNOT BE WRITTEN", "\n".join(lines))


def _ended(data: Mapping[str, Any], now: int) -> Message | None:
    if not data.get("told"):
        return None
    kept = int(data["kept"])
    count = "1 record was kept meanwhile and is" if kept == 1 else f"{kept} records were kept meanwhile and are"
    since = datetime.fromtimestamp(data["since"] / 1000, UTC)
    lines = [
        f"It could not be for {spoken(data['seconds'])}, since {since:%Y-%m-%d %H:%M:%S} UTC: {data['why']}",
        f"{count} on record now; what is told of them is told late",
    ]
    return Message(IMPORTANT, "RECORD IS WRITTEN AGAIN", "\n".join(lines))


TEXTS: dict[str, Callable[[Mapping[str, Any], int], Message | None]] = {
    "system:record_away_ended": _ended,
}
