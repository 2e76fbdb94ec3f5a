"""The deadline and the breaker around every question, whoever answers it: the real engine or a fake one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from argus.core.breaker import Limits
from argus.core.circuit import Circuit, Verdict
from argus.core.errors import ArgusError, Code
from argus.host.engine.seam import Container, EngineRefused, EngineUnavailable

T = TypeVar("T")
_FAIR = 0.5
"""Seconds that an engine may be expected to answer within. A shorter deadline that is missed is the asker's haste: one
service with a timeout of 10 ms must not close the way for all others."""


class Containers(Protocol):
    """The questions themselves, as long as they take."""

    async def named(self, names: Sequence[str]) -> dict[str, Container | None]: ...

    async def labelled(self, label: str) -> list[Container]: ...

    async def restart(self, id: str) -> None: ...


class GuardedEngine:
    def __init__(self, containers: Containers, now: Callable[[], float], limits: Limits | None = None) -> None:
        self._containers = containers
        self.circuit = Circuit("docker", now, _judge, limits)

    async def named(self, names: Sequence[str], *, timeout: float) -> dict[str, Container | None]:
        return await self._look(lambda: self._containers.named(names), timeout)

    async def labelled(self, label: str, *, timeout: float) -> list[Container]:
        return await self._look(lambda: self._containers.labelled(label), timeout)

    async def restart(self, id: str, *, timeout: float) -> None:
        async def within() -> None:
            try:
                async with asyncio.timeout(timeout):
                    await self._containers.restart(id)
            except TimeoutError:
                # Not counted: a container that takes long to stop is no fault of the engine.
                raise EngineRefused(f"not finished within {timeout:g} s") from None

        await self.circuit.call(within)

    async def _look(self, question: Callable[[], Awaitable[T]], timeout: float) -> T:
        async def within() -> T:
            try:
                async with asyncio.timeout(timeout):
                    return await question()
            except TimeoutError:
                message = f"the Docker engine did not answer within {timeout:g} s"
                raise EngineUnavailable(message, is_the_engines=timeout >= _FAIR) from None

        return await self.circuit.call(within)


def _judge(error: Exception) -> Verdict:
    if isinstance(error, EngineUnavailable):
        return Verdict.FAILED if error.is_the_engines else Verdict.NOTHING
    if isinstance(error, ArgusError) and error.code is Code.CONTAINER_NOT_FOUND:
        return Verdict.ANSWERED
    return Verdict.NOTHING
