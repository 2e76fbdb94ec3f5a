"""How fast a context fills, and when it will have to be handed on. Pure."""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = 1800.0
"""Seconds that are looked back: what it did an hour ago says little of what it does now."""
_LEAST = 60.0
"""Of growth that must have been seen before anything is foretold."""
_SAMPLES = 240


@dataclass(frozen=True, slots=True)
class Sample:
    boot: float
    used: int


@dataclass(frozen=True, slots=True)
class Growth:
    """Readings of one conversation, oldest first. A smaller one than before begins it anew: it was cleared."""

    samples: tuple[Sample, ...] = ()

    def seen(self, boot: float, used: int) -> Growth:
        kept = self.samples
        if kept and (used < kept[-1].used * 0.9 or boot < kept[-1].boot):
            kept = ()
        if kept and used == kept[-1].used and len(kept) > 1 and kept[-2].used == used:
            kept = kept[:-1]  # it stands still: its last moment is enough
        kept = (*(one for one in kept if boot - one.boot <= WINDOW), Sample(boot, used))
        return Growth(kept[-_SAMPLES:])

    @property
    def rate(self) -> float | None:
        """Tokens a second; None while too little was seen."""
        if len(self.samples) < 2:
            return None
        first, last = self.samples[0], self.samples[-1]
        if last.boot - first.boot < _LEAST:
            return None
        return (last.used - first.used) / (last.boot - first.boot)

    def until(self, tokens: float, now: float) -> float | None:
        """Seconds until it holds that many; 0 when it does; None when it does not grow, or nobody can tell."""
        if not self.samples:
            return None
        last = self.samples[-1]
        if last.used >= tokens:
            return 0.0
        rate = self.rate
        if rate is None or rate <= 0:
            return None
        return max(0.0, (tokens - last.used) / rate - (now - last.boot))
