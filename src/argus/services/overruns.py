"""Checks that outlive their own deadline: a fault of ours, ended and said as such.

Every check keeps its deadline by itself. This is the net below that, and it costs next to nothing: one look a second
at those under way, instead of a timer for each.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from argus.core.clock import Clock

_EVERY = 1.0
_GRACE = 2.0


class Overran(Exception):
    """The check did not keep its deadline."""


class Overruns:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._under_way: dict[asyncio.Task[object], float] = {}
        self._ended: set[asyncio.Task[object]] = set()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            now = self._clock.monotonic()
            for task, latest in list(self._under_way.items()):
                if now > latest:
                    del self._under_way[task]
                    self._ended.add(task)
                    task.cancel()

    @contextlib.contextmanager
    def below(self, timeout: float) -> Iterator[None]:
        """Raises Overran when what is inside goes on for much longer than its timeout."""
        task = asyncio.current_task()
        assert task is not None
        self._under_way[task] = self._clock.monotonic() + timeout + _GRACE
        try:
            yield
        except asyncio.CancelledError:
            if task not in self._ended or task.uncancel() > 0:
                raise  # it was ended for another reason
            raise Overran from None
        finally:
            self._under_way.pop(task, None)
            self._ended.discard(task)
