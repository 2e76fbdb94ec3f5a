"""A loop on virtual time: instead of waiting, it moves the time to the moment that was waited for."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from contextvars import Context
from typing import Any


class Stuck(Exception):
    """Nothing is scheduled and nothing will ever happen: on a real machine this would be a hang."""


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A simulation is mostly turns of its loop, a hundred thousand in a minute; so a turn does what asyncio's does and
    nothing more: no call to the system, no looking for slow callbacks, no timers sorted out before they are due."""

    _ready: Any
    _scheduled: list[Any]
    _selector: Any
    _process_events: Any
    _stopping: bool

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._watched = self._selector.get_map()
        # asyncio itself watches what wakes it from other threads. Here nothing sleeps, and need not be woken.
        self._own = len(self._watched)

    def time(self) -> float:
        return self._now

    def stall(self, seconds: float) -> None:
        """Time passes while nothing runs, as when the process is stopped."""
        self._now += seconds

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)
        return timer

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is passed over when its time comes."""

    def _run_once(self) -> None:
        ready, timers = self._ready, self._scheduled
        if len(self._watched) > self._own:
            self._process_events(self._selector.select(0))
        if not ready and not self._stopping:
            while timers and timers[0]._cancelled:
                heapq.heappop(timers)
            if not timers:
                raise Stuck
            self._now = max(self._now, timers[0]._when)
        now = self._now
        while timers and timers[0]._when <= now:
            ready.append(heapq.heappop(timers))
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
