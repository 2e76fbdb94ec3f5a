"""Several messages as one. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from argus.notify.message import Message

_NAMED = 30


def together(messages: Sequence[Message]) -> Message:
    """One message stays as it is. Of several, each has its line; none is left out without being counted."""
    if len(messages) == 1:
        return messages[0]
    lines = [f"- {one.title}: {one.body.partition(chr(10))[0]}" for one in messages[:_NAMED]]
    if len(messages) > _NAMED:
        lines.append(f"- and {len(messages) - _NAMED} more: argus events")
    return Message(min(one.tier for one in messages), f"{len(messages)} MESSAGES", "\n".join(lines))
