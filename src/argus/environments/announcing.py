"""Events of environments on their way to the journal: told at once, written in order, by one writer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from argus.core.events import Draft
from argus.store.notes import Notes
from argus.store.records import Append

Tell = Callable[[str, str, dict[str, Any]], None]
"""Of one environment: channel, type and data of an event."""


class Announcer:
    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._queue: asyncio.Queue[Draft] = asyncio.Queue()

    def tell(self, channel: str, type: str, subject: str, data: dict[str, Any]) -> None:
        self._queue.put_nowait(Draft(channel, type, subject, data))

    async def run(self) -> None:
        while True:
            draft = await self._queue.get()
            try:
                await self._notes.note(Append(draft))
            finally:
                self._queue.task_done()

    async def written(self) -> None:
        """What was told so far is on record, or kept for it."""
        await self._queue.join()
