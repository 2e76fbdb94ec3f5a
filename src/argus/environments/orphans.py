"""Leftovers of runs that are not alive: found by their labels, taken away together, each failure by itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from argus.core.clock import rfc3339
from argus.core.errors import ArgusError, Code
from argus.environments.labels import PROJECT, RUN, Witness, is_orphan, of_project
from argus.host.engine.resources import Dock, Made, Network, Volume
from argus.host.engine.seam import EngineRefused

Kind = Literal["container", "network", "volume"]
_UNNAMED = re.compile("[0-9a-f]{64}")
"""What the engine calls a volume that nobody gave a name."""
_AT_ONCE = 10
LOOK = 5.0
_REMOVE = 20.0


@dataclass(frozen=True, slots=True)
class Resource:
    kind: Kind
    id: str
    name: str
    created: float | None
    labels: dict[str, str] = field(default_factory=dict, compare=False)
    volumes: tuple[str, ...] = ()
    """Of a container: those that are mounted in it."""

    def public(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "name": self.name,
            "id": self.id,
            "createdAt": rfc3339(self.created) if self.created is not None else None,
            "project": self.labels.get(PROJECT),
            "runId": self.labels.get(RUN),
        }


Goes = Callable[[Resource], bool]
Heard = Callable[[Resource, str], None]


def everything(one: Resource) -> bool:
    return True


def but_volumes(one: Resource) -> bool:
    """They hold what somebody may want to keep."""
    return one.kind != "volume"


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What became of them. What was only reported is neither removed nor failed."""

    found: tuple[Resource, ...] = ()
    removed: tuple[Resource, ...] = ()
    failed: tuple[tuple[Resource, str], ...] = ()
    seconds: float = 0.0

    def and_(self, other: Cleanup) -> Cleanup:
        return Cleanup(
            self.found + other.found,
            self.removed + other.removed,
            self.failed + other.failed,
            self.seconds + other.seconds,
        )

    def public(self) -> dict[str, Any]:
        return {
            "found": [one.public() for one in self.found],
            "removed": [one.public() for one in self.removed],
            "failed": [{**one.public(), "error": why} for one, why in self.failed],
            "duration": round(self.seconds * 1000, 1),
        }

    def raise_failures(self) -> None:
        if self.failed:
            one, why = self.failed[0]
            more = f" (and {len(self.failed) - 1} more)" if len(self.failed) > 1 else ""
            message = f"the {one.kind} {one.name} could not be removed: {why}{more}"
            raise ArgusError(Code.CLEANUP_FAILED, message, **self.public())


async def of(dock: Dock, project: str) -> list[Resource]:
    """Everything that carries this project's label, whoever made it. Containers first, then networks, then volumes."""
    wanted = of_project(project)
    # One question alone at first: an engine that is away fails once, and where one probe may pass it is this one.
    containers = await dock.containers(wanted, timeout=LOOK)
    try:
        async with asyncio.TaskGroup() as group:
            networks = group.create_task(dock.networks(wanted, timeout=LOOK))
            volumes = group.create_task(dock.volumes(wanted, timeout=LOOK))
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [
        *(_resource("container", one.id, one) for one in containers),
        *(_resource("network", one.id, one) for one in networks.result()),
        *(_resource("volume", one.name, one) for one in volumes.result()),
    ]


async def find(dock: Dock, project: str, witness: Witness) -> list[Resource]:
    """A volume outlives the run that made it: while a live one has it mounted, it is not left behind."""
    everything = await of(dock, project)
    dead = [one for one in everything if is_orphan(one.labels, project, witness)]
    used = {name for one in everything if one not in dead for name in one.volumes}
    return [one for one in dead if one.kind != "volume" or one.name not in used]


async def remove(dock: Dock, resources: Sequence[Resource], *, goes: Goes, heard: Heard) -> Cleanup:
    """Containers before the networks and volumes they hold; what does not go is only reported.

    `heard` is told of each: `removed`, `kept`, or why it failed. An engine that is away raises: nothing more can go.
    """
    now = asyncio.get_running_loop().time
    began = now()
    removed: list[Resource] = []
    failed: list[tuple[Resource, str]] = []
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(resource: Resource) -> None:
        async with turns:
            try:
                await _remove(dock, resource)
            except EngineRefused as refused:
                failed.append((resource, str(refused)))
                heard(resource, str(refused))
            else:
                removed.append(resource)
                heard(resource, "removed")

    going = [resource for resource in resources if goes(resource)]
    await _together(one(resource) for resource in going if resource.kind == "container")
    gone = await _gone_with(dock, removed, resources)
    for resource in gone:
        removed.append(resource)
        heard(resource, "removed")
    await _together(one(resource) for resource in going if resource.kind != "container" and resource not in gone)
    for resource in resources:
        if resource not in going and resource not in gone:
            heard(resource, "kept")
    found = (*resources, *(one for one in gone if one not in resources))
    return Cleanup(found, tuple(removed), tuple(failed), now() - began)


async def _gone_with(dock: Dock, containers: Sequence[Resource], known: Sequence[Resource]) -> list[Resource]:
    """The volumes without names that went with their containers. Those that an image asks for carry no label."""
    by_name = {one.name: one for one in known if one.kind == "volume"}
    unnamed = {
        name: by_name.get(name) or Resource("volume", name, name, None, dict(one.labels))
        for one in containers
        for name in one.volumes
        if _UNNAMED.fullmatch(name)
    }
    # Only what is seen to be gone is told so: somebody may have mounted one by what it is called.
    left = {one.name for one in await dock.volumes({}, timeout=LOOK)} if unnamed else set()
    return [one for name, one in unnamed.items() if name not in left]


async def _remove(dock: Dock, resource: Resource) -> None:
    if resource.kind == "container":
        await dock.remove(resource.id, timeout=_REMOVE)
    elif resource.kind == "network":
        await dock.remove_network(resource.id, timeout=_REMOVE)
    else:
        await dock.remove_volume(resource.id, timeout=_REMOVE)


async def _together(works: Iterable[Awaitable[None]]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(_run(work))
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


async def _run(work: Awaitable[None]) -> None:
    await work


def _resource(kind: Kind, id: str, one: Made | Network | Volume) -> Resource:
    volumes = one.volumes if isinstance(one, Made) else ()
    return Resource(kind, id, one.name, one.created, dict(one.labels), volumes)
