"""What asked programs left running outside of their group: found by a mark in its environment, and ended.

A search looks at every process of the machine. So there is one for all of them, at most one a second, and only when
something points to a leftover: a deadline that was missed, or an output that is held open. What shows in neither way is
found by a search now and then, and by the last one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor

from argus.host import vitals
from argus.host.identity import Identity, send

MARK = "ARGUS_ASKED"
_GAP = 1.0
_NOW_AND_THEN = 600.0
_ROUNDS = 5


class Leftovers:
    def __init__(self) -> None:
        # Nobody else's process carries it, nor one of another Argus.
        self.own = secrets.token_hex(16)
        self._count = 0
        self._under_way: set[int] = set()
        self._searched_at: float | None = None
        self._searched_to = 0
        self._due: asyncio.TimerHandle | None = None
        self._search: asyncio.Future[None] | None = None
        self._is_wanted = self._is_closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="leftovers")

    def begin(self, environ: Mapping[str, str] = os.environ) -> tuple[int, dict[str, str]]:
        """The number of a question that begins, and the environment for its program."""
        self._count += 1
        self._under_way.add(self._count)
        return self._count, {**environ, MARK: f"{self.own}-{self._count}"}

    def ended(self, number: int, *, is_suspect: bool) -> None:
        """`is_suspect`: something of it may still run."""
        self._under_way.discard(number)
        now = asyncio.get_running_loop().time()
        if self._searched_at is None:
            self._searched_at = now
        self._is_wanted |= is_suspect or now - self._searched_at >= _NOW_AND_THEN
        self._plan()

    def close(self) -> None:
        """The last search, unless nothing was asked since the one before."""
        self._is_closed = True
        if self._due is not None:
            self._due.cancel()
        self._thread.shutdown(wait=True)
        if self._is_wanted or self._searched_to < self._count:
            end(self.own, self._count, self._under_way)

    def _plan(self) -> None:
        if self._is_wanted and not self._is_closed and self._due is None and self._search is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_at(max(loop.time(), (self._searched_at or 0.0) + _GAP), self._begin)

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._due, self._is_wanted = None, False
        self._searched_at, self._searched_to = loop.time(), self._count
        # What begins after this has a higher number, and is not searched for.
        under_way = frozenset(self._under_way)
        self._search = loop.run_in_executor(self._thread, end, self.own, self._count, under_way)
        self._search.add_done_callback(self._done)

    def _done(self, search: asyncio.Future[None]) -> None:
        self._search = None
        if not search.cancelled():
            search.result()
            self._plan()


def end_all(own: str) -> None:
    """Of an earlier Argus, which nobody asks any more."""
    end(own, sys.maxsize, frozenset())


def end(own: str, count: int, under_way: AbstractSet[int]) -> None:
    """Ends what carries the mark of a question that is over."""
    prefix = f"{MARK}={own}-".encode()

    def is_left(environment: list[bytes]) -> bool:
        marks = (one.removeprefix(prefix) for one in environment if one.startswith(prefix))
        # A program may have changed its own; then it is not the one that was marked.
        return any(mark.isdigit() and int(mark) <= count and int(mark) not in under_way for mark in marks)

    known: set[Identity] = set()
    # Nobody can look now, mostly for want of descriptors: the next search can.
    with contextlib.suppress(OSError):
        for _ in range(_ROUNDS):
            found = set(vitals.carrying(is_left)) - known
            for who in found:
                send(who, signal.SIGKILL)
            # What is killed may have started something while it was searched for.
            if not found:
                return
            known |= found
