"""What happened, as a value. The journal gives it its place; everything else reads it from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has its place in the journal."""

    channel: str
    type: str
    subject: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
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
        epoch, dash, number = text.strip().rpartition("-")
        # isdecimal alone takes other scripts' digits, and int() takes underscores: ids are ASCII.
        if not dash or not epoch or not (number.isascii() and number.isdecimal()) or len(number) > 18:
            return None
        return cls(epoch, int(number))
