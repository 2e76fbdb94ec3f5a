"""What was seen is recorded even if the store is away for a while: kept in order, in bounds, and written later.

What is about to be done is never kept: without its record it is not done.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, replace

from argus.core.clock import Clock, milliseconds
from argus.core.errors import ArgusError, Code
from argus.store.interface import Store
from argus.store.records import Append, Undecided, Write

log = logging.getLogger("argus")
_KEPT = 10_000
"""Writes that may wait. Beyond that nothing more is taken, and whoever has something to note has to come again."""
_AT_ONCE = 500
"""Writes in one transaction: all of them together would not keep its deadline."""
_AGAIN = 1.0


@dataclass(frozen=True, slots=True)
class _Kept:
    writes: tuple[Write, ...]
    transaction: str | None = None
    """One that was to write this, and of which nobody knows whether it did."""


class Notes:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._kept: deque[_Kept] = deque()
        self.kept = 0
        """How many writes had to wait so far; whoever looks now and then sees that there were some."""
        self._news = asyncio.Event()
        self.is_away = False
        """The last write failed: nothing may be acted on."""

    @property
    def waiting(self) -> int:
        return sum(len(kept.writes) for kept in self._kept)

    async def commit(self, *writes: Write) -> None:
        """For what must be on record before anything is done. Raises when it is not, at once while notes are waiting:
        the record keeps its order, and its reader is never held up by a store that is away."""
        if self._kept:
            raise ArgusError(Code.STORE_UNAVAILABLE, f"{self.waiting} earlier records wait to be written")
        try:
            await self._store.commit(*writes)
        except ArgusError as error:
            self.is_away = error.code is Code.STORE_UNAVAILABLE
            raise
        self.is_away = False

    async def note(self, *writes: Write) -> None:
        """For what was seen. Raises only when too much is waiting, or when the writes themselves are wrong."""
        if not writes:
            return
        stamped = tuple(self._stamped(write) for write in writes)
        if self._kept:
            self._keep(_Kept(stamped))
            return
        try:
            await self._store.commit(*stamped)
            self.is_away = False
        except ArgusError as error:
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
            self.is_away = True
            self._keep(_Kept(stamped, error.transaction if isinstance(error, Undecided) else None))

    async def run(self) -> None:
        """Writes what is kept, as soon as that is possible."""
        while True:
            await self._news.wait()
            try:
                await self._flush()
            except ArgusError as error:
                if error.code is not Code.STORE_UNAVAILABLE:
                    raise
                await asyncio.sleep(_AGAIN)

    async def written(self) -> None:
        """Returns when nothing is waiting any more; `run` has to be running."""
        while self._kept:  # noqa: ASYNC110 - for the end of Argus, where nothing else happens any more
            await asyncio.sleep(0.02)

    async def _flush(self) -> None:
        while self._kept:
            await self._write(self._next())
        self._news.clear()

    async def _write(self, some: list[_Kept]) -> None:
        transaction = some[0].transaction
        try:
            if transaction is None or not await self._store.was_committed(transaction):
                await self._store.commit(*(write for kept in some for write in kept.writes))
        except ArgusError as error:
            if error.code is Code.STORE_UNAVAILABLE:
                if isinstance(error, Undecided):
                    self._mark(some, error.transaction)
                raise
            if len(some) > 1:
                # What is wrong with one must not hold the others up: each for itself.
                for kept in some:
                    await self._write([kept])
                return
            log.exception("a record that was kept cannot be written, and is dropped")
        for _ in some:
            self._kept.popleft()
        self.is_away = False

    def _next(self) -> list[_Kept]:
        """As many as go into one transaction; those whose fate is open share one already."""
        some: list[_Kept] = []
        for kept in self._kept:
            full = sum(len(one.writes) for one in some) + len(kept.writes) > _AT_ONCE
            if some and (full or kept.transaction != some[0].transaction):
                break
            some.append(kept)
        return some

    def _mark(self, some: list[_Kept], transaction: str) -> None:
        for place in range(len(some)):
            self._kept[place] = replace(self._kept[place], transaction=transaction)

    def _keep(self, kept: _Kept) -> None:
        if self.waiting + len(kept.writes) > _KEPT:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the store is away, and no more can be kept for it", kept=_KEPT)
        self._kept.append(kept)
        self.kept += len(kept.writes)
        self._news.set()

    def _stamped(self, write: Write) -> Write:
        """It happened now, if nobody says when, and whenever it will be written."""
        if not isinstance(write, Append) or write.at is not None:
            return write
        return replace(write, at=milliseconds(self._clock.wall()))
