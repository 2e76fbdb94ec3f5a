"""Whether the engine is still there while suites run: what they ask may go to containers alone, and never say so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from argus.core.errors import ArgusError, Code

_EVERY = 5.0
_AGAIN = 1.0
"""Seconds to a second look: one that failed alone is no end of a run."""


class Lookout:
    def __init__(self, ask: Callable[[], Awaitable[None]]) -> None:
        """`ask` raises ArgusError where the engine does not answer in time."""
        self._ask = ask
        self._news = asyncio.Event()

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

    async def look(self) -> None:
        try:
            await self._ask()
        except ArgusError:
            await asyncio.sleep(_AGAIN)
            try:
                await self._ask()
            except ArgusError as error:
                message = f"the engine went away in the middle of the run: {error.message}"
                raise ArgusError(Code.DOCKER_UNAVAILABLE, message, **error.details) from None
