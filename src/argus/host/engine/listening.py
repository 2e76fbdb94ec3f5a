"""One engine's events for as long as anybody listens: cut off, it asks again from where it was.

The engine keeps its last few hundred events for who asks since when; it forgets them when it is started anew. So what
was missed is told again where that is possible, and each beginning is told too: whoever listens looks for himself then.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.host.engine.resources import Happening
from argus.host.engine.seam import EngineRefused

Begin = Callable[[float | None], AbstractAsyncContextManager[AsyncIterator[Happening]]]
"""Since when."""
_PAUSES = (0.0, 0.1, 0.25, 0.5, 1.0)
_SLOW = 1.0
"""Seconds for a beginning. Longer, and it waited for an engine that was being started."""
_BEFORE = 0.002
"""Seconds by which it is asked for more than was heard: times are rounded on their way."""
_REMEMBERED = 512


@dataclass(frozen=True, slots=True)
class Outage:
    """The engine itself was away, not only the connection to it."""

    stream: int
    """The number of the last stream before it."""
    lost: float
    """By the wall clock,"""
    began: float
    """and by the monotonic one."""
    why: str


class Listener:
    def __init__(
        self,
        begin: Begin,
        clock: Clock,
        *,
        heard: Callable[[Happening], None],
        began: Callable[[], None],
        away: Callable[[Outage], None],
        since: float | None = None,
    ) -> None:
        self._begin = begin
        self._clock = clock
        self._heard = heard
        self._began = began
        """Told of each beginning: what happened before may have been missed."""
        self._away = away
        """Told once of each outage."""
        self._since = since
        self._set = clock.monotonic()
        """When that was."""
        self._known: OrderedDict[tuple[float, str, str], int] = OrderedDict()
        """What was heard, and on which stream."""
        self.stream = 0
        """How many there were."""
        self.is_on = False
        self.remembers = False
        """Whether it told something again of what was heard before the last outage: then it was not started anew."""
        self.outage: Outage | None = None
        """The last one. `is_on` says whether it is over."""

    async def run(self) -> None:
        tries = 0
        lost = self._now()
        while True:
            await asyncio.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
            asked = self._clock.monotonic()
            try:
                async with self._begin(self._from()) as told:
                    if self._clock.monotonic() - asked > _SLOW:
                        self._is_away(lost, "it took long to begin")
                    tries = 0
                    self._start()
                    async for one in told:
                        self._take(one)
            except (ArgusError, EngineRefused) as error:
                if self.is_on:
                    lost = self._now()
                    self.is_on = False
                    continue  # it may be only the connection: at once again
                tries += 1
                # Where a breaker refuses, the engine was not asked: that says nothing about it.
                if not (isinstance(error, ArgusError) and error.code is Code.CIRCUIT_OPEN):
                    self._is_away(lost, str(error))

    def _from(self) -> float | None:
        """Since when it is asked. A clock that was set back meanwhile leaves that in the future, and the engine, which
        goes by the same clock, would tell nothing."""
        passed = self._clock.monotonic() - self._set
        return None if self._since is None else min(self._since, self._clock.wall() - passed - _BEFORE)

    def _start(self) -> None:
        self.stream += 1
        self.is_on = True
        if self._since is None:
            self._heard_until(self._clock.wall() - _SLOW)
        self._began()

    def _heard_until(self, at: float) -> None:
        self._since, self._set = at, self._clock.monotonic()

    def _now(self) -> tuple[float, float]:
        return self._clock.wall(), self._clock.monotonic()

    def _is_away(self, lost: tuple[float, float], why: str) -> None:
        if self.outage is None or (self.outage.lost, self.outage.began) != lost:
            self.outage, self.remembers = Outage(self.stream, *lost, why), False
            self._away(self.outage)

    def _take(self, one: Happening) -> None:
        mark = (one.at, one.id, one.action)
        stream = self._known.get(mark)
        if stream is not None:
            # What was heard since it is back, a new one tells again as well.
            self.remembers = self.remembers or (self.outage is not None and stream <= self.outage.stream)
            return
        self._known[mark] = self.stream
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        self._heard_until(one.at - _BEFORE)  # the last, also where the clock was set back: what comes next is after it
        self._heard(one)
