"""Whether the engine is still there while suites run: what they ask may go to containers alone, and never say so.

One that goes away is waited for: it may be started again, and what fell with it is then brought back by the guardian.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from argus.core.errors import ArgusError, Code

_EVERY = 5.0
_AGAIN = 1.0
_PATIENCE = 30.0
"""Seconds that an engine may be away, and no longer: somebody waits for the run."""


class Disturbed(Protocol):
    async def was_disturbed(self) -> bool: ...


class Lookout:
    def __init__(self, ask: Callable[[], Awaitable[None]], patience: float = _PATIENCE) -> None:
        """`ask` raises ArgusError where the engine does not answer in time."""
        self._ask = ask
        self._patience = patience
        self._news = asyncio.Event()
        self._since = 0.0
        self._missed: ArgusError | None = None
        """The first of a row that was in vain, by which it is known what happened."""

    @property
    def is_away(self) -> bool:
        return self._missed is not None

    def look_now(self) -> None:
        """Something failed, and that may be why."""
        self._news.set()

    async def run(self) -> None:
        """Ends with DOCKER_UNAVAILABLE when the engine has gone."""
        while True:
            await self.look()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EVERY):
                    await self._news.wait()
            self._news.clear()
            await asyncio.sleep(_AGAIN)  # what fails comes in crowds

    async def look(self) -> bool:
        """Returns when the engine answers, and whether it did at once. Raises DOCKER_UNAVAILABLE when it stays away."""
        at_once = True
        while True:
            try:
                await self._ask()
            except ArgusError as error:
                at_once = False
                self._miss(error)
                await asyncio.sleep(_AGAIN)
            else:
                self._missed = None
                return at_once

    def gone(self) -> ArgusError:
        """What a run ends with that has to end while the engine is away."""
        error = self._missed
        assert error is not None
        # Where a breaker refuses, what happened is what it was opened for.
        why = error.details.get("lastFailure") or error.message
        message = f"the engine went away in the middle of the run: {why}"
        seconds = round(asyncio.get_running_loop().time() - self._since, 1)
        return ArgusError(Code.DOCKER_UNAVAILABLE, message, **{**error.details, "awaySeconds": seconds})

    def _miss(self, error: ArgusError) -> None:
        now = asyncio.get_running_loop().time()
        if self._missed is None:
            self._missed, self._since = error, now
        if now - self._since >= self._patience:
            raise self.gone()


class Watched:
    """The time of one attempt at a case: disturbed also where the engine went away, and nobody heard of it yet."""

    def __init__(self, turn: Disturbed, lookout: Lookout) -> None:
        self._turn = turn
        self._lookout = lookout

    async def was_disturbed(self) -> bool:
        if await self._turn.was_disturbed():
            return True
        try:
            return not await self._lookout.look()
        except ArgusError:
            return True  # the run ends for it, and says so
