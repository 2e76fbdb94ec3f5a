"""What the checks saw, counted by the hour and by the day: uptime over long times without a row for every check.

Readings are counted in memory and written once a minute. A crash loses the last minute's counts and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.loops import log
from argus.services.model import Observation, Seen, Status
from argus.services.recent import Recent
from argus.store.interface import Store
from argus.store.records import AddTallies, Counts, Tally, Undecided

DOMAIN = "services"
HOUR, DAY = 3600, 86400
_EVERY = 60.0
_PIECE = 1000
"""Services whose counts share a commit: an intent may be waiting for the same writer."""
_UNWRITTEN = 3
"""Hours whose counts wait in memory while the store cannot be written; older ones are let go."""
_PATIENCE = 1.0
"""Seconds that an answer waits for the store before it shows what was known a minute ago."""


@dataclass(frozen=True, slots=True)
class Window:
    """The running bucket and `full` whole ones before it: nothing that lies within the window is left out."""

    span: int
    full: int

    def starts(self, wall: float) -> tuple[int, int]:
        """The first bucket and the last."""
        last = bucket(wall, self.span)
        return last - self.full * self.span, last

    def holds(self, hour: int, wall: float) -> bool:
        first, last = self.starts(wall)
        return first <= bucket(hour, self.span) <= last


@dataclass(frozen=True, slots=True)
class Uptime:
    """Shares from 0 to 1; None where nothing was judged."""

    day: float | None = None
    week: float | None = None
    month: float | None = None


WINDOWS = (Window(HOUR, 24), Window(DAY, 7), Window(DAY, 30))


def bucket(wall: float, span: int) -> int:
    """The start of the bucket in which a moment lies."""
    return int(wall // span) * span


def share(counts: Counts) -> float | None:
    """Of the checks that were judged, those that found it alive. What nobody knows is neither up nor down."""
    alive = counts.up + counts.degraded
    judged = alive + counts.down
    return alive / judged if judged else None


def rounded(share: float | None) -> float | None:
    """Down, not to the nearest: 1 means that every single check found it alive."""
    return None if share is None else math.floor(share * 1_000_000) / 1_000_000


class _Running:
    """Counts that grow in their place: there is one for each service."""

    __slots__ = ("degraded", "down", "latency", "slowest", "timed", "unknown", "up")

    def __init__(self) -> None:
        self.up = self.degraded = self.down = self.unknown = self.timed = 0
        self.latency = self.slowest = 0.0

    def add(self, seen: Seen) -> None:
        match seen.status:
            case Status.UP:
                self.up += 1
            case Status.DEGRADED:
                self.degraded += 1
            case Status.DOWN:
                self.down += 1
            case _:
                self.unknown += 1
        if seen.latency is not None:
            self.timed += 1
            self.latency += seen.latency
            self.slowest = max(self.slowest, seen.latency)

    def join(self, counts: Counts) -> None:
        both = self.counts() + counts
        for name in self.__slots__:
            setattr(self, name, getattr(both, name))

    def counts(self) -> Counts:
        return Counts(self.up, self.degraded, self.down, self.unknown, self.timed, self.latency, self.slowest)


_Book = dict[int, dict[str, _Running]]


class History:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._counted: _Book = {}
        """By the hour, then by the service. The day's counts are made from it when it is written."""
        self._leaving: _Book = {}
        """What a flush has taken over and not written yet."""
        self._flushing = asyncio.Lock()
        self._known: tuple[Mapping[str, Counts], ...] | None = None
        self._is_fresh = False
        self._asking: asyncio.Future[None] | None = None
        self.recent = Recent()

    def take(self, name: str, observation: Observation) -> None:
        _put(self._counted, bucket(observation.wall, HOUR), name).add(observation.seen)
        self.recent.take(name, observation)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            # The store says itself that it cannot be written; the counts wait.
            with contextlib.suppress(ArgusError):
                await self.flush()

    async def flush(self) -> None:
        """Writes what was counted. What could not be written is kept, and written the next time."""
        async with self._flushing:
            self._leaving, self._counted = self._counted, self._leaving
            try:
                while piece := self._piece():
                    await self._write(piece)
            finally:
                self._take_back()

    async def uptimes(self, names: Iterable[str]) -> dict[str, Uptime]:
        """What the store holds and what waits for it. Nothing at all before the store was heard: half of it would
        be wrong."""
        await self._learn()
        if self._known is None:
            return dict.fromkeys(names, Uptime())
        wall, windows = self._clock.wall(), tuple(zip(WINDOWS, self._known, strict=True))
        return {name: Uptime(*(self._share(name, *one, wall) for one in windows)) for name in names}

    async def buckets(self, names: Sequence[str], span: int, count: int) -> dict[str, dict[int, Counts]]:
        """The last `count` buckets of each, by their starts, with what waits to be written. Empty ones are left out."""
        last = bucket(self._clock.wall(), span)
        starts = [last - place * span for place in range(count)]
        found: dict[str, dict[int, Counts]] = {name: {} for name in names}
        for one in await self._store.buckets(DOMAIN, span, starts, names):
            found[one.subject][one.start] = one.counts
        for book in (self._counted, self._leaving):
            for hour, running in book.items():
                start = bucket(hour, span)
                for name in names if start >= starts[-1] else ():
                    if name in running:
                        found[name][start] = found[name].get(start, Counts()) + running[name].counts()
        return found

    def _share(self, name: str, window: Window, known: Mapping[str, Counts], wall: float) -> float | None:
        counts = known.get(name, Counts())
        for book in (self._counted, self._leaving):
            for hour, names in book.items():
                if name in names and window.holds(hour, wall):
                    counts += names[name].counts()
        return share(counts)

    def _piece(self) -> list[Tally]:
        """Takes some of what is leaving out; empty when there is nothing left."""
        for hour, names in list(self._leaving.items()):
            if names:
                taken = [names.popitem() for _ in range(min(_PIECE, len(names)))]
                return [Tally(HOUR, hour, DOMAIN, name, one.counts()) for name, one in taken]
            del self._leaving[hour]
        return []

    async def _write(self, piece: list[Tally]) -> None:
        days = [Tally(DAY, bucket(one.start, DAY), DOMAIN, one.subject, one.counts) for one in piece]
        try:
            await self._store.commit(AddTallies((*piece, *days)))
        except Undecided:
            # Perhaps it is on record: a minute of counts lost is better than one that counts twice.
            raise
        except ArgusError:
            for one in piece:
                _put(self._leaving, one.start, one.subject).join(one.counts)
            raise
        self._is_fresh = False

    def _take_back(self) -> None:
        """A store that cannot be written for hours must not fill the memory: the oldest hours are let go."""
        for hour, names in self._leaving.items():
            for name, one in names.items():
                _put(self._counted, hour, name).join(one.counts())
        self._leaving = {}
        for hour in sorted(self._counted)[:-_UNWRITTEN]:
            log.warning("the counts of %d services over an hour could not be written", len(self._counted.pop(hour)))

    async def _learn(self) -> None:
        """Asks the store for all services together, once after every time that something was written.

        Whoever is first asks for all who come meanwhile. The answer is kept, even when nobody waits for it any more.
        """
        asking = self._asking
        if asking is None or asking.done():
            if self._is_fresh:
                return
            asking = self._asking = asyncio.ensure_future(self._ask())
        await asyncio.wait([asking], timeout=_PATIENCE)
        if asking.done():
            asking.result()

    async def _ask(self) -> None:
        # Before the answer: what is written while it is on its way makes it stale.
        self._is_fresh = True
        wall = self._clock.wall()
        try:
            self._known = tuple([await self._store.tallied(DOMAIN, one.span, *one.starts(wall)) for one in WINDOWS])
        except BaseException as error:
            self._is_fresh = False
            if not isinstance(error, ArgusError) or error.code is not Code.STORE_UNAVAILABLE:
                raise


def _put(book: _Book, hour: int, name: str) -> _Running:
    names = book.setdefault(hour, {})
    found = names.get(name)
    if found is None:
        found = names[name] = _Running()
    return found
