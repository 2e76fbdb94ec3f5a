"""A few places for many: first come, first served, and a place is free again whatever happens to who had it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Slots:
    def __init__(self, places: int) -> None:
        self._places = places
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def taken(self) -> int:
        return self._taken

    @property
    def waiting(self) -> int:
        return sum(not one.done() for one in self._waiting)

    def configure(self, places: int) -> None:
        """More are there at once; fewer once those who have one leave."""
        self._places = places
        self._call()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        if self._taken >= self._places or self.waiting:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                # It may have been called in the very moment in which it gave up.
                if turn.done() and not turn.cancelled():
                    self._taken -= 1
                    self._call()
                raise
        else:
            self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
            self._call()

    def _call(self) -> None:
        while self._waiting and self._taken < self._places:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1  # for it: nobody comes in between
                turn.set_result(None)
