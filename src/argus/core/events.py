"""What happened, as a value. The journal gives it its place; everything else reads it from there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

# int() alone takes underscores and other scripts' digits, and more of them than a store holds: ids are ASCII.
POSITION_PATTERN = r"^([A-Za-z0-9_-]{1,64})-([0-9]{1,18})$"
_POSITION = re.compile(POSITION_PATTERN)


Channel = Literal[
    "agents", "bridge", "build", "notify", "resilience", "services", "sessions", "setup", "system", "test"
]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
"""All there are: who asks for another one would wait for ever."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has its place in the journal."""

    channel: Channel
    type: str
    subject: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


class Event(NamedTuple):
    """A tuple, because of all values these are made most often, and a tuple is made in a quarter of the time."""

    n: int
    epoch: str
    timestamp: int
    channel: str
    type: str
    subject: str
    data: Mapping[str, Any]

    @property
    def id(self) -> str:
        return f"{self.epoch}-{self.n}"

    @property
    def name(self) -> str:
        """The name SSE clients subscribe to."""
        return f"{self.channel}:{self.type}"

    def public(self) -> dict[str, Any]:
        subject = {"subject": self.subject} if self.subject else {}
        # Nothing in the data can rename the event.
        data = {key: value for key, value in self.data.items() if key not in ("type", "subject", "timestamp")}
        return {"type": self.type, **subject, **data, "timestamp": self.timestamp}


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the journal of one store. Another epoch is another store: its numbers mean nothing here."""

    epoch: str
    n: int

    @classmethod
    def parse(cls, text: str) -> Position | None:
        match = _POSITION.fullmatch(text.strip())
        return cls(match[1], int(match[2])) if match else None
