"""Setups under way that others end: by a clean of the same environment, or because Argus stops."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, TypeVar

from argus.core.errors import ArgusError, Code

T = TypeVar("T")
Place = tuple[str, str]


class Ending:
    """Of one setup."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._error: ArgusError | None = None
        self._limit: asyncio.Timeout | None = None

    def end(self, code: Code, message: str) -> None:
        self._error = self._error or ArgusError(code, message)
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())

    def check(self) -> None:
        """Raises where it was ended before it began."""
        if self._error is not None:
            raise self._error

    @contextlib.asynccontextmanager
    async def within(self, timeout: float | None) -> AsyncIterator[None]:
        """Raises TimeoutError after that time, and why it was ended where somebody did."""
        try:
            async with asyncio.timeout(timeout) as self._limit:
                self.check()
                yield
        except TimeoutError:
            self.check()
            raise
        finally:
            self._limit = None


class Endings:
    def __init__(self) -> None:
        self._under_way: set[Ending] = set()
        self._nothing = asyncio.Event()
        self._nothing.set()
        self._is_over = False

    @contextlib.contextmanager
    def one(self, place: Place) -> Iterator[Ending]:
        made = Ending(place)
        if self._is_over:
            _stop(made)
        self._under_way.add(made)
        self._nothing.clear()
        try:
            yield made
        finally:
            self._under_way.discard(made)
            if not self._under_way:
                self._nothing.set()

    def clean(self, place: Place) -> None:
        for one in self._under_way:
            if one.place == place:
                one.end(Code.CONFLICT, "ended, because this environment is to be cleaned")

    def stop(self) -> None:
        self._is_over = True
        for one in self._under_way:
            _stop(one)

    async def all_ended(self) -> None:
        await self._nothing.wait()


def _stop(one: Ending) -> None:
    one.end(Code.NO_DAEMON, "ended, because Argus is stopping")


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Whoever is cancelled meanwhile, once or more often, is so afterwards. What it waits for must have a deadline."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
        except Exception:  # noqa: BLE001, S110 - the task has it
            pass
    if cancelled:
        raise asyncio.CancelledError
    return task.result()
