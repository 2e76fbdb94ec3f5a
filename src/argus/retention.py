"""Takes away what is old, so that the store's size is bounded: by age, and by count whatever the clock says."""

from __future__ import annotations

import asyncio

from argus.core.budget import MOST
from argus.core.clock import Clock, Stamp, milliseconds, stamp
from argus.core.errors import ArgusError, Code
from argus.loops import log
from argus.store.interface import Store
from argus.store.records import (
    Prune,
    PruneActs,
    PruneEvents,
    PruneHealthChecks,
    PruneIncidents,
    PruneSpawns,
    PruneStories,
    PruneTallies,
)

_FIRST = 5.0
_EVERY = 3600.0
_BREATH = 0.05
"""Seconds between two pieces, in which others get at the writer."""
_HOUR, _DAY = 3600, 86400
_COUNTS = _DAY
"""Acts that are younger always stay: budgets count them, the longest over an hour."""


def orders(now: Stamp, age: float) -> dict[str, Prune]:
    """What is taken away now, by what it is called in the log."""
    wall = now.wall
    return {
        "events": PruneEvents(milliseconds(wall), milliseconds(wall - age), keep=10_000, most=1_000_000),
        "events of ended incidents": PruneStories(),
        "acts": PruneActs(now, max(age, _COUNTS), keep=MOST, most=100_000),
        "incidents": PruneIncidents(wall - age, keep=1_000, most=100_000),
        "health checks": PruneHealthChecks(wall - age, keep=10_000, most=1_000_000),
        "spawns": PruneSpawns(wall - age, keep=1_000, most=100_000),
        "hours": PruneTallies(_HOUR, int(wall) - 48 * _HOUR, keep=48, most=96),
        "days": PruneTallies(_DAY, int(wall) - 400 * _DAY, keep=400, most=800),
    }


class Retention:
    def __init__(self, store: Store, clock: Clock, age: float) -> None:
        self._store = store
        self._clock = clock
        self._age = age

    async def run(self) -> None:
        await asyncio.sleep(_FIRST)
        while True:
            try:
                gone = await self.prune()
            except ArgusError as error:
                if error.code is not Code.STORE_UNAVAILABLE:
                    raise
                # The store says itself that it cannot be written; what is old gets older.
                gone = {}
            if gone:
                log.info("pruned %s", ", ".join(f"{rows} {name}" for name, rows in gone.items()))
            await asyncio.sleep(_EVERY)

    async def prune(self) -> dict[str, int]:
        """Everything that is old now, piece by piece. Returns how many rows of what were taken away."""
        gone: dict[str, int] = {}
        for name, order in orders(stamp(self._clock), self._age).items():
            more = True
            while more:
                piece = await self._store.prune(order)
                more = piece.more
                if piece.rows:
                    gone[name] = gone.get(name, 0) + piece.rows
                await asyncio.sleep(_BREATH if more else 0)
        return gone
