"""A loop on virtual time: instead of waiting, it moves the time to the moment that was waited for."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any


class Stuck(Exception):
    """Nothing is scheduled and nothing will ever happen: on a real machine this would be a hang."""


class Turn:
    """What asyncio calls a handle, and as much of one as anybody asks for: a simulation makes, compares and runs a
    million of them."""

    __slots__ = ("_args", "_callback", "_cancelled", "_context", "_loop", "_when")

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop,
        context: Context | None,
        when: float = 0.0,
    ) -> None:
        self._callback, self._args, self._loop, self._when = callback, args, loop, when
        self._context = copy_context() if context is None else context
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        # What it would have called is let go at once: a timer may lie in the heap for hours.
        self._callback, self._args = _nothing, ()

    def cancelled(self) -> bool:
        return self._cancelled

    def when(self) -> float:
        return self._when

    def _run(self) -> None:
        try:
            self._context.run(self._callback, *self._args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - as a handle of asyncio's: the loop goes on, and it is told
            said = {"message": f"Exception in callback {self._callback}", "exception": error, "handle": self}
            self._loop.call_exception_handler(said)


def _nothing(*_: object) -> None:
    pass


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A simulation is mostly turns of its loop, a hundred thousand in a minute; so a turn does what asyncio's does and
    nothing more: no call to the system, no looking for slow callbacks, no timers sorted out before they are due."""

    _ready: Any
    _selector: Any
    _process_events: Any
    _stopping: bool

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._timers: list[tuple[float, int, Turn]] = []
        self._count = itertools.count()
        """Timers of one moment come in the order in which they were set, and two of them are never compared."""
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
    ) -> Turn:
        turn = Turn(callback, args, self, context)
        self._ready.append(turn)
        return turn

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Turn:
        turn = Turn(callback, args, self, context, when)
        heapq.heappush(self._timers, (when, next(self._count), turn))
        return turn

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Turn:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _run_once(self) -> None:
        ready, timers = self._ready, self._timers
        if len(self._watched) > self._own:
            self._process_events(self._selector.select(0))
        if not ready and not self._stopping:
            while timers and timers[0][2]._cancelled:
                heapq.heappop(timers)
            if not timers:
                raise Stuck
            self._now = max(self._now, timers[0][0])
        now = self._now
        while timers and timers[0][0] <= now:
            ready.append(heapq.heappop(timers)[2])
        for _ in range(len(ready)):
            turn = ready.popleft()
            if not turn._cancelled:
                turn._run()
