"""How long to wait before the next try. Never shrinks inside one outage, and never grows past its cap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HEALTHY_AGAIN = 600.0
"""Seconds of health after which an outage is over and the delays start from the base again."""


@dataclass(frozen=True, slots=True)
class Backoff:
    base: float
    cap: float
    growth: Literal["exponential", "linear"] = "exponential"
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if self.base < 0 or self.cap < 0 or self.jitter < 0:
            raise ValueError("base, cap and jitter are not negative")

    def delay(self, attempt: int, *, previous: float = 0.0, chance: float = 0.0) -> float:
        """Seconds before try number `attempt` (the first is 1). `chance` in [0, 1) is handed in so that runs replay.

        Jitter comes on top, so the cap is the cap of the delay before it; the one before is a floor, because a small
        draw after a large one would otherwise shrink the wait.
        """
        steps = max(1, attempt)
        # An exponent beyond 64 has passed every cap already, and would overflow a float at 1024.
        grown = self.base * (2.0 ** min(steps - 1, 64)) if self.growth == "exponential" else self.base * steps
        return max(previous, min(grown, self.cap) * (1.0 + self.jitter * chance))
