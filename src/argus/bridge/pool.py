"""Sessions to MCP servers, kept while they are used and a while longer.

One for each way to come to a server, with the environment that its program is given. Several calls go over one at the
same time; it is started once for all who wait for it. One that hangs or is gone is taken out, and the next call starts
another: nothing that was under way is sent a second time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from argus.bridge.arguments import Checks
from argus.host.mcp_seam import Closed, Opener, Reach, Session, Tool, Unreachable

IDLE = 300.0
"""Seconds after which one that nobody uses is closed."""
_MOST = 64
_LOOK = 15.0
_STOP = 3.0


class Full(Exception):
    """Every session is in use, and there are as many as there may be."""


@dataclass(slots=True, eq=False)
class Held:
    """One session, and what is known of its server."""

    session: Session
    tools: dict[str, Tool] = field(default_factory=dict)
    listed: int = -1
    """How often its tools had changed when they were listed; -1: they were not yet."""
    checks: Checks = field(default_factory=Checks)
    users: int = 0
    served: bool = False
    """Whether it has answered a call."""
    free_since: float = 0.0
    is_retired: bool = False
    is_closing: bool = False

    async def known_tools(self, *, anew: bool = False) -> dict[str, Tool]:
        if anew or self.listed != self.session.tools_changed:
            changed = self.session.tools_changed
            self.tools = {one.name: one for one in await self.session.tools()}
            self.listed, self.checks = changed, Checks()
        return self.tools


class Pool:
    def __init__(self, opener: Opener, now: Callable[[], float], *, idle: float = IDLE, most: int = _MOST) -> None:
        self._opener = opener
        self._now = now
        self._idle = idle
        self._most = most
        self._held: dict[tuple[object, ...], Held] = {}
        self._starting: dict[tuple[object, ...], _Start] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def is_empty(self) -> bool:
        return not (self._held or self._starting)

    @contextlib.asynccontextmanager
    async def borrowed(self, reach: Reach, until: float, *, is_patient: bool = True) -> AsyncIterator[Held]:
        """Until that moment of the loop's clock: then it is TimeoutError, and the session of no use any more, as it is
        when it cannot be reached. Raises Unreachable and Full. Who is not patient proves nothing by going away."""
        async with asyncio.timeout_at(until):
            held = await self._take(reach)
        held.users += 1
        try:
            async with asyncio.timeout_at(until):
                yield held
        except (TimeoutError, Unreachable) as error:
            is_given_up = isinstance(error, TimeoutError) and not is_patient
            if not (is_given_up or isinstance(error, Closed)):
                self._retire(reach, held, at_once=reach.is_program)
            raise
        finally:
            held.users -= 1
            held.free_since = self._now()
            if held.is_retired and not held.users:
                self._close(held, at_once=True)

    async def _take(self, reach: Reach) -> Held:
        held = self._held.get(reach.key)
        if held is not None and held.session.is_open:
            return held
        if held is not None:
            self._retire(reach, held, at_once=True)
        start = self._starting.get(reach.key)
        if start is None:
            self._make_room()
            start = self._starting[reach.key] = _Start(asyncio.ensure_future(self._opened(reach)))
            start.task.add_done_callback(lambda task: self._started(reach, task))
        start.waiting += 1
        try:
            return await asyncio.shield(start.task)
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if own is not None and own.cancelling():
                raise
            raise Closed("its session was ended before it had begun") from None
        finally:
            start.waiting -= 1
            # Nobody has the time any more: what does not come up is not left to itself.
            if not start.waiting and not start.task.done():
                self._starting.pop(reach.key, None)
                start.task.cancel()

    async def _opened(self, reach: Reach) -> Held:
        return Held(await self._opener.open(reach), free_since=self._now())

    def _started(self, reach: Reach, task: asyncio.Task[Held]) -> None:
        start = self._starting.get(reach.key)
        is_wanted = start is not None and start.task is task
        if is_wanted:
            del self._starting[reach.key]
        if task.cancelled() or task.exception() is not None:
            return
        if is_wanted:
            self._held[reach.key] = task.result()
        else:
            self._close(task.result(), at_once=True)  # given up in the moment in which it had begun

    def _make_room(self) -> None:
        if len(self._held) + len(self._starting) < self._most:
            return
        free = [(held.free_since, key) for key, held in self._held.items() if not held.users]
        if not free:
            raise Full
        _, key = min(free, key=lambda one: one[0])
        self._close(self._held.pop(key))

    def _retire(self, reach: Reach, held: Held, *, at_once: bool) -> None:
        """It is given to nobody any more. Those who use it may go on, unless it is a program: that is ended."""
        if self._held.get(reach.key) is held:
            del self._held[reach.key]
        if not held.is_retired:
            held.is_retired = True
            if at_once:
                self._close(held, at_once=True)

    def _close(self, held: Held, *, at_once: bool = False) -> None:
        if held.is_closing:
            return
        held.is_closing = True
        task = asyncio.ensure_future(held.session.close(at_once=at_once))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def run(self) -> None:
        """Closes what nobody has used for long."""
        while True:
            await asyncio.sleep(min(_LOOK, self._idle / 4))
            self.close_idle(self._idle)

    def close_idle(self, seconds: float = 0.0) -> None:
        until = self._now() - seconds
        for key, held in list(self._held.items()):
            if not held.users and (held.free_since <= until or not held.session.is_open):
                self._close(self._held.pop(key))

    async def close(self) -> None:
        starts = [start.task for start in self._starting.values()]
        self._starting.clear()
        for task in starts:
            task.cancel()
        for held in self._held.values():
            self._close(held, at_once=True)
        self._held.clear()
        waited: set[asyncio.Task[Any]] = {*self._closing, *starts}
        if waited:
            await asyncio.wait(waited, timeout=_STOP)


@dataclass(slots=True, eq=False)
class _Start:
    task: asyncio.Task[Held]
    waiting: int = 0
