"""One engine's events for as long as anybody listens: cut off, it asks again from where it was.

The engine keeps its last few hundred events for who asks since when; it forgets them when it is started anew. So what
was missed is told again where that is possible, and each beginning is told too: whoever listens looks for himself then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from argus.core.clock import Clock
from argus.core.errors import ArgusError
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
    """By the wall clock."""
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
        self._known: deque[tuple[float, str, str]] = deque(maxlen=_REMEMBERED)
        self.stream = 0
        """How many there were."""
        self.is_on = False
        self.remembers = False
        """Whether it told something again on this stream: then it is the one of before, and was not started anew."""
        self.outage: Outage | None = None
        """The last one. `is_on` says whether it is over."""

    async def run(self) -> None:
        tries = 0
        lost = self._clock.wall()
        while True:
            await asyncio.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
            asked = self._clock.monotonic()
            try:
                async with self._begin(self._since) as told:
                    if self._clock.monotonic() - asked > _SLOW:
                        self._is_away(lost, "it took long to begin")
                    tries = 0
                    self._start()
                    async for one in told:
                        self._take(one)
            except (ArgusError, EngineRefused) as error:
                if self.is_on:
                    lost = self._clock.wall()
                    self.is_on = False
                    continue  # it may be only the connection: at once again
                tries += 1
                self._is_away(lost, str(error))

    def _start(self) -> None:
        self.stream += 1
        self.is_on = True
        # Who has told nothing yet cannot tell it again. One that was away when we began is not the one of before.
        self.remembers = not self._known and self.outage is None
        if self._since is None:
            self._since = self._clock.wall() - _SLOW
        self._began()

    def _is_away(self, lost: float, why: str) -> None:
        if self.outage is None or self.outage.lost != lost:
            self.outage = Outage(self.stream, lost, why)
            self._away(self.outage)

    def _take(self, one: Happening) -> None:
        mark = (one.at, one.id, one.action)
        if mark in self._known:
            self.remembers = True
            return
        self._known.append(mark)
        self._since = max(self._since or 0.0, one.at - _BEFORE)
        self._heard(one)
