"""Reading files that may lie on a disk that hangs, or may be anything: in threads, with a deadline.

Nobody can end a thread that waits for a disk. It is left to itself, others take its place, and what hung is not asked
for again until it has answered: so one folder that hangs is nobody else's concern.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_THREADS = 2
_MOST = 16
"""Folders that hang, for whom others still take the place."""


class Readers:
    def __init__(self, name: str) -> None:
        self._name = name
        self._threads = self._new()
        self._hanging: dict[str, asyncio.Future[Any]] = {}

    async def run(self, about: str, work: Callable[[], T], *, timeout: float) -> T:
        """Raises TimeoutError, at once where what it is about still hangs."""
        self._hanging = {key: one for key, one in self._hanging.items() if not one.done()}
        if about in self._hanging:
            raise TimeoutError
        reading = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.wait_for(asyncio.shield(reading), timeout)
        except TimeoutError:
            reading.add_done_callback(_forget)
            self._hanging[about] = reading
            if len(self._hanging) <= _MOST:
                self._threads.shutdown(wait=False)
                self._threads = self._new()
            raise

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _new(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_THREADS, thread_name_prefix=self._name)


def _forget(reading: asyncio.Future[Any]) -> None:
    if not reading.cancelled():
        reading.exception()  # nobody waits for it any more


def contents(path: str, most: int) -> bytes:
    """Of a regular file, and one byte more than `most` of one that is larger. Raises OSError, also for what calls
    itself a file and has nothing to read just now."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is no file")
        found = opened.read(most + 1)
    if found is None:  # what is not there yet
        raise OSError("it cannot be read")
    return found
