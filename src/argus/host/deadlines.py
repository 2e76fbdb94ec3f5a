"""Deadlines of thousands of short questions, kept by one clock that ticks while there are any.

A timer for each costs as much as a fifth of a check. Here a question is written into a list and struck off it, and
now and then somebody looks who is late: up to one tick is added, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

_TICK = 0.05


class Deadlines:
    def __init__(self, tick: float = _TICK) -> None:
        self._tick_seconds = tick
        self._due: dict[asyncio.Task[object], float] = {}
        self._late: set[asyncio.Task[object]] = set()
        self._ticking: asyncio.TimerHandle | None = None

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """As asyncio.timeout: raises TimeoutError when what is inside takes longer. Not nested in one of its own."""
        task = asyncio.current_task()
        assert task is not None
        assert task not in self._due
        loop = asyncio.get_running_loop()
        self._due[task] = loop.time() + seconds
        if self._ticking is None:
            self._ticking = loop.call_later(self._tick_seconds, self._tick, loop)
        try:
            yield
        except asyncio.CancelledError:
            if task not in self._late or task.uncancel() > 0:
                raise  # it was ended for another reason
            raise TimeoutError from None
        finally:
            self._due.pop(task, None)
            self._late.discard(task)

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for task in [task for task, due in self._due.items() if due <= now]:
            del self._due[task]
            self._late.add(task)
            task.cancel()
        self._ticking = loop.call_later(self._tick_seconds, self._tick, loop) if self._due else None
