"""The deadline and the breaker around every question, whoever answers it: the real engine or a fake one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from argus.core.breaker import Limits
from argus.core.circuit import Circuit, Verdict, Way
from argus.core.errors import ArgusError, Code
from argus.host.engine.seam import Container, EngineRefused, EngineUnavailable

T = TypeVar("T")
FAIR = 0.5
"""Seconds that an engine may be expected to answer within. A shorter deadline that is missed is the asker's haste: one
service with a timeout of 10 ms must not close the way for all others."""
_ANSWERS = frozenset(
    (
        Code.CONTAINER_NOT_FOUND,
        Code.CONTAINER_NOT_RUNNING,
        Code.IMAGE_NOT_FOUND,
        Code.NAME_CONFLICT,
        Code.PORT_CONFLICT,
        Code.DISK_SPACE_LOW,
    )
)
"""Only an engine that is well says these."""


def judge(error: Exception) -> Verdict:
    """For every breaker that stands before an engine."""
    if isinstance(error, EngineUnavailable):
        return Verdict.FAILED if error.is_the_engines else Verdict.NOTHING
    if isinstance(error, EngineRefused):
        # What it calls its own fault (5xx) is mostly the container's, and nobody knows.
        return Verdict.ANSWERED if 400 <= error.status < 500 else Verdict.NOTHING
    if isinstance(error, ArgusError) and error.code in _ANSWERS:
        return Verdict.ANSWERED
    return Verdict.NOTHING


async def within(way: Way, question: Callable[[], Awaitable[T]], timeout: float, fair: float | None = FAIR) -> T:
    """Asks through the breaker.

    A deadline of at least `fair` seconds that is missed is a failure of the engine. None: it never is, because a
    container may be at fault.
    """

    async def answer() -> T:
        try:
            async with asyncio.timeout(timeout):
                return await question()
        except TimeoutError:
            raise _late(timeout, fair) from None

    return await way.call(answer)


def _late(timeout: float, fair: float | None) -> Exception:
    if fair is None:
        return EngineRefused(f"not finished within {timeout:g} s")
    return EngineUnavailable(f"the Docker engine did not answer within {timeout:g} s", is_the_engines=timeout >= fair)


class Containers(Protocol):
    """The questions themselves, as long as they take."""

    async def named(self, names: Sequence[str]) -> dict[str, Container | None]: ...

    async def labelled(self, label: str) -> list[Container]: ...

    async def restart(self, id: str) -> None: ...


class GuardedEngine:
    def __init__(self, containers: Containers, now: Callable[[], float], limits: Limits | None = None) -> None:
        self._containers = containers
        self.circuit = Circuit("docker", now, judge, limits)

    async def named(self, names: Sequence[str], *, timeout: float) -> dict[str, Container | None]:
        return await within(self.circuit, lambda: self._containers.named(names), timeout)

    async def labelled(self, label: str, *, timeout: float) -> list[Container]:
        return await within(self.circuit, lambda: self._containers.labelled(label), timeout)

    async def restart(self, id: str, *, timeout: float) -> None:
        await within(self.circuit, lambda: self._containers.restart(id), timeout, fair=None)
