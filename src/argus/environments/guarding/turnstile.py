"""Between the cases of a run and the restarts of its containers: neither gets into the other's way for ever.

A restart that can wait goes ahead between two cases. While it is under way the next cases wait for it: what they
would ask is on its way back. Both waits are bounded, so that a case that hangs and a container that does not come back
stop nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

_MOMENT = 0.5
_PATIENCE = 120.0
"""Seconds after which cases begin all the same: they then fail by themselves, and say at what."""


@dataclass(frozen=True, slots=True)
class Inside:
    """A case that is running."""

    name: str
    agent: str
    """For which agent; empty: for somebody else."""
    began: float

    @property
    def age(self) -> float:
        return asyncio.get_running_loop().time() - self.began


@dataclass(frozen=True, slots=True)
class Turn:
    """One case's time inside."""

    _turnstile: Turnstile
    _closings: int

    async def was_disturbed(self) -> bool:
        """Whether a container failed meanwhile, or the engine was lost: then what the case saw says nothing of it."""
        return await self._turnstile.was_closed(self._closings)


class Turnstile:
    """Of one run of an environment."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._inside: list[Inside] = []
        self._nobody = asyncio.Event()
        self._nobody.set()
        self._closed = 0
        self._closings = 0
        self._closing = asyncio.Event()
        self._since = 0.0
        """When it was closed."""
        self._open = asyncio.Event()
        self._open.set()

    @property
    def inside(self) -> tuple[Inside, ...]:
        """The cases that are running."""
        return tuple(self._inside)

    @contextlib.asynccontextmanager
    async def case(self, name: str, agent: str = "") -> AsyncIterator[Turn]:
        """Around one case. Several may be inside at once."""
        await _within(self._open, self._since + self._patience - asyncio.get_running_loop().time())
        one = Inside(name, agent, asyncio.get_running_loop().time())
        self._inside.append(one)
        self._nobody.clear()
        try:
            yield Turn(self, self._closings)
        finally:
            self._inside.remove(one)
            if not self._inside:
                self._nobody.set()

    async def between(self, limit: float) -> bool:
        """Returns when no case is running, or after so many seconds; and whether none is.

        New ones wait meanwhile: with several at once there might never be a moment without any.
        """
        async with self.closed(limit) as is_free:
            return is_free

    @contextlib.asynccontextmanager
    async def closed(self, limit: float = 0.0) -> AsyncIterator[bool]:
        """Lets no new case begin until it is left. Entered when those that are running have ended, or after so many
        seconds; tells whether they have."""
        self.close()
        try:
            yield await _within(self._nobody, limit)
        finally:
            self.open()

    def close(self) -> None:
        """Lets no new case begin until it is opened as often as it was closed."""
        if not self._closed:
            self._since = asyncio.get_running_loop().time()
        self._closed += 1
        self._closings += 1
        self._closing.set()
        self._open.clear()

    async def was_closed(self, before: int) -> bool:
        """Whether it was since there had been so many closings, or is within a moment: a death is known a little later
        than who asked the dead feels it."""
        while self._closings == before:
            self._closing.clear()
            if not await _within(self._closing, _MOMENT):
                return False
        return True

    def open(self) -> None:
        self._closed -= 1
        if not self._closed:
            self._open.set()


async def _within(event: asyncio.Event, seconds: float) -> bool:
    if event.is_set() or seconds <= 0:
        return event.is_set()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
