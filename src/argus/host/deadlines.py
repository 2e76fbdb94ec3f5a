"""Deadlines of thousands of short questions, kept by one clock that ticks while there are any.

A timer for each costs as much as a fifth of a check. Here a question is written into a list and struck off it, and
now and then somebody looks who is late: up to one tick is added, and nothing else.
"""

from __future__ import annotations

import asyncio
import functools

_TICK = 0.05


class Within:
    """One question's time. A class and no generator, which costs three times as much to enter and to leave."""

    __slots__ = ("_deadlines", "_seconds", "_task")

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self._seconds = seconds

    def __enter__(self) -> None:
        task = asyncio.current_task(self._deadlines.loop)
        assert task is not None
        self._task: asyncio.Task[object] = task
        self._deadlines.begin(task, self._seconds)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        task, deadlines = self._task, self._deadlines
        deadlines.due.pop(task, None)
        if task not in deadlines.late:
            return
        deadlines.late.discard(task)
        # Ended for another reason as well, it ends for that.
        if kind is asyncio.CancelledError and task.uncancel() <= 0:
            raise TimeoutError from None


class Deadlines:
    def __init__(self, tick: float = _TICK) -> None:
        self._tick_seconds = tick
        self.due: dict[asyncio.Task[object], float] = {}
        self.late: set[asyncio.Task[object]] = set()
        self._ticking: asyncio.TimerHandle | None = None

    def within(self, seconds: float) -> Within:
        """As asyncio.timeout: raises TimeoutError when what is inside takes longer. Not nested in one of its own."""
        return Within(self, seconds)

    def begin(self, task: asyncio.Task[object], seconds: float) -> None:
        assert task not in self.due
        self.due[task] = self.loop.time() + seconds
        if self._ticking is None:
            self._ticking = self.loop.call_later(self._tick_seconds, self._tick)

    @functools.cached_property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Whoever is asked for the running loop asks the kernel who he is, each time."""
        return asyncio.get_running_loop()

    def _tick(self) -> None:
        now = self.loop.time()
        for task in [task for task, due in self.due.items() if due <= now]:
            del self.due[task]
            self.late.add(task)
            task.cancel()
        self._ticking = self.loop.call_later(self._tick_seconds, self._tick) if self.due else None
