"""Work that agents asked for and wait for: what becomes of it when they do not wait any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple, TypeVar

from argus.core.errors import ArgusError
from argus.loops import log

T = TypeVar("T")


class Asked(NamedTuple):
    """One request, so that nobody can withdraw another's: clients count theirs from one, each by itself."""

    caller: str
    session: str
    request: str


class Withdrawn(Exception):
    """Whoever asked does not want the answer any more."""


class Calls:
    def __init__(self) -> None:
        self._works: set[asyncio.Task[Any]] = set()
        self._waiting: dict[Asked, asyncio.Future[None]] = {}

    async def finish(self, work: Coroutine[Any, Any, T], asked: Asked | None, *, with_caller: bool) -> T:
        """In a task of its own: when an agent goes away, the SDK's are cancelled again and again, at every step that
        they take to leave things in order. It is told once, where it is to end with its caller; else it goes on."""
        task = asyncio.ensure_future(work)
        withdrawn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._works.add(task)
        task.add_done_callback(self._over)
        if asked is not None:
            self._waiting[asked] = withdrawn
        try:
            waits: set[asyncio.Future[Any]] = {task, withdrawn}
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Withdrawn
            return task.result()
        except (asyncio.CancelledError, Withdrawn):
            if with_caller:
                task.cancel()
            raise
        finally:
            withdrawn.cancel()
            if asked is not None and self._waiting.get(asked) is withdrawn:
                del self._waiting[asked]

    def withdraw(self, asked: Asked) -> None:
        """Of what is not under way any more, nothing."""
        withdrawn = self._waiting.get(asked)
        if withdrawn is not None and not withdrawn.done():
            withdrawn.set_result(None)

    def withdraw_all(self, caller: str, session: str) -> None:
        for asked in [one for one in self._waiting if (one.caller, one.session) == (caller, session)]:
            self.withdraw(asked)

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._works.discard(task)
        # Who has left hears of no failure; asked for here, it is not told as one that nobody looked at.
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ArgusError):
            log.debug("work that an agent asked for failed: %r", error)
