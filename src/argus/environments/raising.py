"""Bringing a blueprint up: its network and volumes, then every part as soon as what it depends on is ready.

Nothing is kept here of what was made: all of it carries the run's label, and is found by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.core.failpoints import SetupPlace, reach
from argus.environments.announcing import Tell
from argus.environments.blueprint import Blueprint, Part
from argus.environments.mocking.definition import Placed
from argus.environments.naming import choose
from argus.environments.standing import Standing
from argus.environments.waiting import Waiter
from argus.host.engine import refusals
from argus.host.engine.resources import Binding, Dock, Made, Making
from argus.host.engine.seam import EngineRefused

_LOOK = 5.0
_MAKE = 30.0


@dataclass(frozen=True, slots=True)
class Up:
    part: Part
    made: Made
    seconds: float


@dataclass(frozen=True, slots=True)
class Raised:
    network: str
    parts: tuple[Up, ...]
    warnings: tuple[str, ...] = ()
    served: tuple[Placed, ...] = ()


Serve = Callable[[str, Blueprint], Awaitable[tuple[Placed, ...]]]
"""Begins to answer for the mocks of a blueprint, on a network that was made."""


class Raising:
    def __init__(
        self,
        blueprint: Blueprint,
        run: str,
        labels: Mapping[str, str],
        *,
        dock: Dock,
        waiter: Waiter,
        clock: Clock,
        tell: Tell,
        standing: Standing,
        serve: Serve,
    ) -> None:
        self._plan = blueprint
        self._run = run
        self._labels = labels
        self._dock = dock
        self._waiter = waiter
        self._clock = clock
        self._tell = tell
        self._standing = standing
        self._serve = serve
        self._served: dict[str, Placed] = {}
        self._ready: dict[str, asyncio.Event] = {part.name: asyncio.Event() for part in blueprint.parts}

    async def run(self) -> Raised:
        network = await self._network()
        self._served = {one.mock.name: one for one in await self._serve(network, self._plan)}
        await self._volumes()
        try:
            async with asyncio.TaskGroup() as group:
                works = [group.create_task(self._part(part, network)) for part in self._plan.parts]
        except BaseExceptionGroup as several:
            raise _first(several) from None
        parts = tuple([await self._stands(work.result()) for work in works])
        return Raised(network, parts, self._plan.warnings, tuple(self._served.values()))

    async def _stands(self, up: Up) -> Up:
        """Still, now that all are ready: one that others waited for may have ended meanwhile."""
        return replace(up, made=await self._waiter.look(up.part, up.made.id))

    async def _network(self) -> str:
        held = await self._dock.network(self._plan.network, timeout=_LOOK)
        labels = held.labels if held else None
        name = choose(self._plan.network, self._plan.project, self._run, labels, kind="network")
        await self._dock.make_network(name, self._labels, timeout=_MAKE)
        reach(SetupPlace.NETWORK_MADE)
        self._tell("setup", "network_created", {"network": name})
        return name

    async def _volumes(self) -> None:
        names = {
            mount.source
            for part in self._plan.parts
            for mount in part.mounts
            if mount.kind == "volume" and mount.source
        }
        for name in sorted(names):
            try:
                await self._dock.make_volume(name, self._labels, timeout=_MAKE)
            except ArgusError as error:
                if error.code is not Code.NAME_CONFLICT:
                    raise
                # One that is there already is used as it is: it holds what somebody wants to keep.

    async def _part(self, part: Part, network: str) -> Up:
        for name in (*part.depends_on, *part.starts_after):
            self._standing.waits(part.name, name)
            await self._ready[name].wait()
        began = self._clock.monotonic()
        self._standing.comes_to(part.name, "starting")
        self._tell("setup", "service_starting", {"service": part.name, "image": part.image})
        try:
            id = await self._started(part, network)
        except (ArgusError, EngineRefused) as error:
            raise _of(part, refusals.in_words(error)) from None
        self._standing.comes_to(part.name, "started", id)
        made = await self._waiter.until_ready(part, id)
        seconds = round(self._clock.monotonic() - began, 3)
        self._tell("setup", "service_ready", {"service": part.name, "container": made.name, "seconds": seconds})
        self._standing.comes_to(part.name, "ready")
        reach(SetupPlace.PART_READY)
        self._ready[part.name].set()
        return Up(part, made, seconds)

    async def _started(self, part: Part, network: str) -> str:
        id = await self._made(part, network)
        reach(SetupPlace.CONTAINER_MADE)
        await self._dock.start(id, timeout=_MAKE)
        reach(SetupPlace.CONTAINER_STARTED)
        return id

    async def _made(self, part: Part, network: str) -> str:
        held = await self._dock.container(part.container, timeout=_LOOK)
        labels = held.labels if held else None
        name = choose(part.container, self._plan.project, self._run, labels, kind="container")
        making = Making(
            name=name,
            image=part.image,
            labels=self._labels,
            environment=part.environment,
            ports=self._published(part),
            mounts=part.mounts,
            network=network,
            aliases=tuple(dict.fromkeys(filter(None, (part.alias, part.container)))),
            command=self._command(part),
        )
        try:
            return await self._dock.make(making, timeout=_MAKE)
        except ArgusError as error:
            if error.code is not Code.NAME_CONFLICT:
                raise
            # Somebody took the name between the look and now.
            holder = dict(error.details.get("labels") or {})
            other = choose(part.container, self._plan.project, self._run, holder, kind="container")
            return await self._dock.make(replace(making, name=other), timeout=_MAKE)

    def _published(self, part: Part) -> tuple[Binding, ...]:
        if part.serves:
            return ()  # Argus itself listens there
        return tuple(Binding(one.container_port, one.host_port, one.host, one.protocol) for one in part.ports)

    def _command(self, part: Part) -> tuple[str, ...] | None:
        served = self._served.get(part.name)
        if served is None:
            return part.command
        return ("relay", f"{served.mock.inside}={served.gateway}:{served.port}")


def _of(part: Part, error: ArgusError) -> ArgusError:
    """Whose it was, where that is not about the engine as a whole."""
    if error.code in (Code.DOCKER_UNAVAILABLE, Code.CIRCUIT_OPEN):
        return error
    return error.adding(service=part.name, container=error.details.get("container", part.container))


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """They failed together; the first says it for all."""
    found = several.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
