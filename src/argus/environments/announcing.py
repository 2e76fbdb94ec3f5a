"""Events of environments on their way to the journal: told at once, written in order, by one writer.

What was told meanwhile is written together: a sync for each would hold up whoever waits for the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from argus.core.clock import Clock, milliseconds
from argus.core.events import Channel, Draft
from argus.live import overhear
from argus.store.notes import Notes
from argus.store.records import Append

Tell = Callable[[Channel, str, dict[str, Any]], None]
"""Of one environment: channel, type and data of an event."""


_TOGETHER = 100


class Announcer:
    def __init__(self, notes: Notes, clock: Clock) -> None:
        self._notes = notes
        self._clock = clock
        self._queue: asyncio.Queue[Append] = asyncio.Queue()

    def tell(self, channel: Channel, type: str, subject: str, data: dict[str, Any]) -> None:
        overhear(channel, type, data)
        self._queue.put_nowait(Append(Draft(channel, type, subject, data), milliseconds(self._clock.wall())))

    async def run(self) -> None:
        while True:
            told = [await self._queue.get()]
            while len(told) < _TOGETHER and not self._queue.empty():
                told.append(self._queue.get_nowait())
            try:
                await self._notes.note(*told)
            finally:
                for _ in told:
                    self._queue.task_done()

    async def written(self) -> None:
        """What was told so far is on record, or kept for it."""
        await self._queue.join()
