"""Several messages as one, and when that happened which is told late. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from argus.core.units import spoken
from argus.notify.message import Message

_NAMED = 30
_LATE = 60.0
"""Seconds after which a message says when it happened: who reads it takes it for news."""


def together(messages: Sequence[Message], happened: Sequence[float], now: float) -> Message:
    """One message stays as it is. Of several, each has its line; none is left out without being counted."""
    when = [_late(at, now) for at in happened]
    if len(messages) == 1:
        (one,) = messages
        return Message(one.tier, one.title, f"{one.body}\n\n({when[0]})" if when[0] else one.body)
    lines = [
        f"- {one.title}: {one.body.partition(chr(10))[0]}" + (f" ({late})" if late else "")
        for one, late in zip(messages[:_NAMED], when, strict=False)
    ]
    if len(messages) > _NAMED:
        lines.append(f"- and {len(messages) - _NAMED} more: argus events")
    return Message(min(one.tier for one in messages), f"{len(messages)} MESSAGES", "\n".join(lines))


def _late(happened: float, now: float) -> str:
    if now - happened <= _LATE:
        return ""
    return f"happened {datetime.fromtimestamp(happened, UTC):%Y-%m-%d %H:%M:%S} UTC, {spoken(now - happened)} ago"
