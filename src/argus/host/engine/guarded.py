"""Every question of an environment behind its deadline and the breaker of its project."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from argus.core.circuit import Circuit, Sparing, Way
from argus.host.engine.guard import within
from argus.host.engine.printed import Printout
from argus.host.engine.resources import (
    Building,
    Executed,
    FileFound,
    Happening,
    Info,
    Labels,
    Made,
    Making,
    Network,
    Process,
    Usage,
    Volume,
    Wanted,
)

_FAIR_TO_DO = 5.0
"""Seconds that an engine may be expected to do something within: to make, start or remove."""


class Resources(Protocol):
    """The questions themselves, as long as they take."""

    async def ping(self) -> None: ...
    async def info(self) -> Info: ...
    async def image(self, name: str) -> str | None: ...
    async def import_image(self, tar: bytes, name: str, changes: Sequence[str]) -> str: ...
    async def build(self, building: Building, heard: Callable[[str], None], *, timeout: float) -> str: ...
    async def make(self, making: Making) -> str: ...
    async def start(self, id: str) -> None: ...
    async def restart(self, id: str) -> None: ...
    async def stop(self, id: str, grace: float) -> None: ...
    async def kill(self, id: str, signal: str) -> None: ...
    async def remove(self, id: str) -> bool: ...
    async def container(self, name_or_id: str) -> Made | None: ...
    async def containers(self, labels: Wanted) -> list[Made]: ...
    async def logs(self, id: str, tail: int, since: float | None) -> Printout: ...
    async def stats(self, id: str) -> Usage: ...
    async def execute(self, id: str, argv: Sequence[str], environment: Labels, *, timeout: float) -> Executed: ...
    async def processes(self, id: str) -> list[Process]: ...
    async def file(self, id: str, path: str, most: int) -> FileFound | None: ...
    async def make_network(self, name: str, labels: Labels) -> str: ...
    async def network(self, name_or_id: str) -> Network | None: ...
    async def networks(self, labels: Wanted) -> list[Network]: ...
    async def remove_network(self, id: str) -> bool: ...
    async def join(self, network: str, container: str, aliases: Sequence[str]) -> None: ...
    async def leave(self, network: str, container: str) -> bool: ...
    async def make_volume(self, name: str, labels: Labels) -> None: ...
    async def volumes(self, labels: Wanted) -> list[Volume]: ...
    async def remove_volume(self, name: str) -> bool: ...
    def happenings(
        self, labels: Wanted, since: float | None
    ) -> AbstractAsyncContextManager[AsyncIterator[Happening]]: ...


class GuardedDock:
    def __init__(self, resources: Resources, circuit: Circuit, way: Way | None = None) -> None:
        self._asked = resources
        self.circuit = circuit
        self._way: Way = way or circuit

    def watching(self) -> GuardedDock:
        return GuardedDock(self._asked, self.circuit, Sparing(self.circuit))

    async def ping(self, *, timeout: float) -> None:
        await within(self._way, self._asked.ping, timeout)

    async def info(self, *, timeout: float) -> Info:
        return await within(self._way, self._asked.info, timeout)

    async def image(self, name: str, *, timeout: float) -> str | None:
        return await within(self._way, lambda: self._asked.image(name), timeout)

    async def import_image(self, tar: bytes, name: str, changes: Sequence[str] = (), *, timeout: float) -> str:
        return await within(self._way, lambda: self._asked.import_image(tar, name, changes), timeout, _FAIR_TO_DO)

    async def build(self, building: Building, heard: Callable[[str], None] | None = None, *, timeout: float) -> str:
        # It keeps its own deadline: at the end of it, it has yet to find out whose fault that was.
        return await self._way.call(lambda: self._asked.build(building, heard or _ignore, timeout=timeout))

    async def make(self, making: Making, *, timeout: float) -> str:
        return await within(self._way, lambda: self._asked.make(making), timeout, _FAIR_TO_DO)

    async def start(self, id: str, *, timeout: float) -> None:
        await within(self._way, lambda: self._asked.start(id), timeout, _FAIR_TO_DO)

    async def restart(self, id: str, *, timeout: float) -> None:
        # How long it takes to end is the container's own.
        await within(self._way, lambda: self._asked.restart(id), timeout, None)

    async def stop(self, id: str, grace: float, *, timeout: float) -> None:
        # The container may take all of its grace, and the engine as long again to be sure of it.
        await within(self._way, lambda: self._asked.stop(id, grace), timeout, grace + 2 * _FAIR_TO_DO)

    async def kill(self, id: str, signal: str = "KILL", *, timeout: float) -> None:
        await within(self._way, lambda: self._asked.kill(id, signal), timeout, _FAIR_TO_DO)

    async def remove(self, id: str, *, timeout: float) -> bool:
        return await within(self._way, lambda: self._asked.remove(id), timeout, _FAIR_TO_DO)

    async def container(self, name_or_id: str, *, timeout: float) -> Made | None:
        return await within(self._way, lambda: self._asked.container(name_or_id), timeout)

    async def containers(self, labels: Wanted, *, timeout: float) -> list[Made]:
        return await within(self._way, lambda: self._asked.containers(labels), timeout)

    async def logs(self, id: str, tail: int = 100, since: float | None = None, *, timeout: float) -> Printout:
        return await within(self._way, lambda: self._asked.logs(id, tail, since), timeout)

    async def stats(self, id: str, *, timeout: float) -> Usage:
        return await within(self._way, lambda: self._asked.stats(id), timeout)

    async def execute(
        self, id: str, argv: Sequence[str], environment: Labels | None = None, *, timeout: float
    ) -> Executed:
        # It keeps its own deadline: at the end of it, it has yet to find out whose fault that was.
        return await self._way.call(lambda: self._asked.execute(id, argv, environment or {}, timeout=timeout))

    async def processes(self, id: str, *, timeout: float) -> list[Process]:
        return await within(self._way, lambda: self._asked.processes(id), timeout, _FAIR_TO_DO)

    async def file(self, id: str, path: str, most: int = 0, *, timeout: float) -> FileFound | None:
        return await within(self._way, lambda: self._asked.file(id, path, most), timeout, _FAIR_TO_DO)

    async def make_network(self, name: str, labels: Labels, *, timeout: float) -> str:
        return await within(self._way, lambda: self._asked.make_network(name, labels), timeout, _FAIR_TO_DO)

    async def network(self, name_or_id: str, *, timeout: float) -> Network | None:
        return await within(self._way, lambda: self._asked.network(name_or_id), timeout)

    async def networks(self, labels: Wanted, *, timeout: float) -> list[Network]:
        return await within(self._way, lambda: self._asked.networks(labels), timeout)

    async def remove_network(self, id: str, *, timeout: float) -> bool:
        return await within(self._way, lambda: self._asked.remove_network(id), timeout, _FAIR_TO_DO)

    async def join(self, network: str, container: str, aliases: Sequence[str] = (), *, timeout: float) -> None:
        await within(self._way, lambda: self._asked.join(network, container, aliases), timeout, _FAIR_TO_DO)

    async def leave(self, network: str, container: str, *, timeout: float) -> bool:
        return await within(self._way, lambda: self._asked.leave(network, container), timeout, _FAIR_TO_DO)

    async def make_volume(self, name: str, labels: Labels, *, timeout: float) -> None:
        await within(self._way, lambda: self._asked.make_volume(name, labels), timeout, _FAIR_TO_DO)

    async def volumes(self, labels: Wanted, *, timeout: float) -> list[Volume]:
        return await within(self._way, lambda: self._asked.volumes(labels), timeout)

    async def remove_volume(self, name: str, *, timeout: float) -> bool:
        return await within(self._way, lambda: self._asked.remove_volume(name), timeout, _FAIR_TO_DO)

    @contextlib.asynccontextmanager
    async def happenings(
        self, labels: Wanted, since: float | None = None, *, timeout: float
    ) -> AsyncIterator[AsyncIterator[Happening]]:
        """The beginning passes the breaker. A stream that is lost later is told by whoever begins the next one."""
        async with contextlib.AsyncExitStack() as stack:
            begun = self._asked.happenings(labels, since)
            yield await within(self._way, lambda: stack.enter_async_context(begun), timeout)


def _ignore(line: str) -> None:
    """Nobody listens to the build."""
