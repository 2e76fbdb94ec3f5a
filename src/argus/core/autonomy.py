"""How much Argus may do by itself."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    OBSERVE = "observe"
    CAUTIOUS = "cautious"
    MODERATE = "moderate"
    FULL = "full"

    @property
    def rank(self) -> int:
        return list(Level).index(self)

    def allows(self, needed: Level) -> bool:
        return self.rank >= needed.rank
