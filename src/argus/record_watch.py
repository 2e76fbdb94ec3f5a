"""Notices that the record cannot be written: says so on record when it can be again, and tells a person if it lasts.

Messages are delivered from the record. This one alone is not: what is told from the record cannot say that it is away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from argus.core.clock import Clock, milliseconds
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.store.intents import Intents
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.store.records import Append

PATIENCE = 60.0
"""Seconds before a person is told. A database that is restarted or a backup that locks the file takes less; and each
minute more is one in which nothing is repaired."""
_EVERY = 1.0

Press = Callable[[str, float], Coroutine[Any, Any, None]]
"""Tells a person past the record: what is wrong, and for how many seconds. Cancelled when that is over."""


@dataclass(frozen=True, slots=True)
class Away:
    why: str
    at: float
    """Since when, by the wall clock."""
    since: float
    """The same by the monotonic one."""


class RecordWatch:
    def __init__(self, store: Store, notes: Notes, clock: Clock, press: Press) -> None:
        self._store = store
        self._notes = notes
        self._clock = clock
        self._press = press
        self._intents = Intents(store, notes)
        self._away: Away | None = None
        self._kept = notes.kept
        """How many had been kept when all was well."""
        self._pressing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                await asyncio.sleep(_EVERY)
                await self._look(group)

    async def _look(self, group: asyncio.TaskGroup) -> None:
        problem = self._store.problem or ("the record is behind" if self._notes.waiting else "")
        if self._away is None and (problem or self._notes.kept > self._kept):
            self._away = Away(problem, self._clock.wall(), self._clock.monotonic())
        if self._away is None or await self._is_over():
            return
        seconds = self._clock.monotonic() - self._away.since
        if self._pressing is None and seconds >= PATIENCE:
            self._pressing = group.create_task(self._press(self._away.why, seconds))

    async def _is_over(self) -> bool:
        """Tried, not looked up: who met the failure may not write again for a while, and it would be called broken as
        long. What is kept goes first, and is tried every second by who keeps it."""
        if self._notes.waiting:
            return False
        try:
            await self._intents.settle()
            if self._away is not None:
                await self._intents.commit(Append(self._ended(self._away)), then=self._end)
        except ArgusError as error:
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
        return self._away is None

    async def _end(self) -> None:
        self._away, self._kept = None, self._notes.kept
        if self._pressing is not None:
            self._pressing.cancel()
        self._pressing = None

    def _ended(self, away: Away) -> Draft:
        seconds = max(0.0, self._clock.monotonic() - away.since)
        since = milliseconds(away.at)
        data = {
            "since": since,
            "until": since + round(seconds * 1000),
            "seconds": round(seconds, 3),
            "kept": self._notes.kept - self._kept,
            "why": away.why,
            "told": self._pressing is not None,
        }
        return Draft("system", "record_away_ended", "", data)
