"""How many acts a sliding window allows, counted from the record of acts and from nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from argus.core.clock import Stamp, age

MOST = 1000
"""No budget allows more in its window, so whoever knows the newest so many acts can count any budget."""


@dataclass(frozen=True, slots=True)
class Budget:
    most: int
    window: float = 3600.0

    def spent(self, acts: Iterable[Stamp], now: Stamp) -> int:
        # An act exactly one window old still counts: any closed window of this length holds at most `most`.
        return sum(1 for act in acts if age(act, now) <= self.window)

    def left(self, acts: Iterable[Stamp], now: Stamp) -> int:
        return max(0, self.most - self.spent(acts, now))

    def room_in(self, acts: Iterable[Stamp], now: Stamp) -> float | None:
        """Seconds until one act is allowed: 0 now, None never."""
        ages = sorted(age(act, now) for act in acts)
        recent = [one for one in ages if one <= self.window]
        if len(recent) < self.most:
            return 0.0
        if self.most == 0:
            return None
        # A hair more than the window, because an act exactly that old still counts.
        return self.window - recent[self.most - 1] + 0.001
