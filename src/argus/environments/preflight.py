"""A look at the machine before it is built on: every check by itself, all at once, each with its own deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from argus.core.clock import Clock, milliseconds
from argus.core.errors import ArgusError, Code
from argus.environments import orphans
from argus.environments.labels import PROJECT, Witness
from argus.environments.orphans import LOOK, Resource
from argus.environments.ports import Ports, Wanted
from argus.environments.report import Check, HealthReport, Verdict
from argus.host.engine.resources import Dock, Info
from argus.host.engine.seam import EngineRefused

DOCKER, DISK, ORPHANS, PORTS, NETWORK = "docker_daemon", "disk_space", "orphan_resources", "ports", "network"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is about to be brought up, as far as a look at the machine needs to know."""

    project: str
    network: str
    ports: tuple[Wanted, ...]
    disk_threshold: int
    reassign: bool
    own_networks: frozenset[str] = frozenset()
    """Of runs that it replaces."""


@dataclass(frozen=True, slots=True)
class Preflight:
    dock: Dock
    ports: Ports
    disk_free: Callable[[str], int | None]
    witness: Witness
    clock: Clock
    heard: Callable[[Check], None]

    async def run(self, subject: Subject, *, skip: frozenset[str] = frozenset()) -> HealthReport:
        began = self.clock.monotonic()
        # One question alone at first: an engine that is away fails once, and where one probe may pass it is this one.
        reached = asyncio.ensure_future(self.dock.ping(timeout=LOOK))
        info = asyncio.ensure_future(self._info(reached))
        left: list[Resource] = []
        works: dict[str, Callable[[], Awaitable[Check]]] = {
            DOCKER: lambda: self._docker(info),
            DISK: lambda: self._disk(subject, info),
            ORPHANS: lambda: self._orphans(subject, reached, left),
            PORTS: lambda: self._ports(subject, reached),
            NETWORK: lambda: self._network(subject, reached),
        }
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._timed(name, work)) for name, work in works.items() if name not in skip]
        finally:
            info.cancel()
            reached.cancel()
        checks = tuple(task.result() for task in tasks)
        is_known = any(one.name == ORPHANS and one.status is not Verdict.FAIL for one in checks)
        duration = round(self.clock.monotonic() - began, 4)
        return HealthReport(checks, milliseconds(self.clock.wall()), duration, tuple(left) if is_known else None)

    async def _timed(self, name: str, work: Callable[[], Awaitable[Check]]) -> Check:
        began = self.clock.monotonic()
        try:
            check = await work()
        except ArgusError as error:
            check = Check(name, Verdict.FAIL, error.message, error.details, code=error.code)
        except EngineRefused as refused:
            check = Check(name, Verdict.FAIL, f"the engine refuses: {refused}", code=Code.DOCKER_UNAVAILABLE)
        check = replace(check, duration=round(self.clock.monotonic() - began, 4))
        self.heard(check)
        return check

    async def _info(self, reached: asyncio.Future[None]) -> Info:
        await asyncio.shield(reached)
        return await self.dock.info(timeout=LOOK)

    async def _docker(self, info: asyncio.Future[Info]) -> Check:
        found = await asyncio.shield(info)
        return Check(DOCKER, Verdict.PASS, f"Docker {found.version} answers", {"version": found.version})

    async def _disk(self, subject: Subject, info: asyncio.Future[Info]) -> Check:
        try:
            root = (await asyncio.shield(info)).data_root
        except ArgusError:
            return Check(DISK, Verdict.WARN, "not measured: the engine does not say where its data lies")
        free = self.disk_free(root)
        needed = subject.disk_threshold
        details = {"path": root, "availableBytes": free, "requiredBytes": needed}
        if free is None:
            return Check(DISK, Verdict.WARN, f"not measured: {root} cannot be seen from here", details)
        room = f"{_room(free)} free where Docker keeps its data, {_room(needed)} needed"
        if free < needed:
            return Check(DISK, Verdict.FAIL, room, details, code=Code.DISK_SPACE_LOW)
        if free < 2 * needed:
            return Check(DISK, Verdict.WARN, room, details, code=Code.DISK_SPACE_LOW)
        return Check(DISK, Verdict.PASS, room, details)

    async def _orphans(self, subject: Subject, reached: asyncio.Future[None], left: list[Resource]) -> Check:
        await asyncio.shield(reached)
        found = await orphans.find(self.dock, subject.project, self.witness)
        left.extend(found)
        details = {"orphans": [one.public() for one in found]}
        if not found:
            return Check(ORPHANS, Verdict.PASS, "nothing was left behind", details)
        message = f"{len(found)} left behind by runs that are over: {_names(found)}"
        return Check(ORPHANS, Verdict.WARN, message, details, code=Code.ORPHAN_DETECTED)

    async def _ports(self, subject: Subject, reached: asyncio.Future[None]) -> Check:
        # Needs no engine, but keeps the processor busy: while an engine that was asked thinks, and not before that.
        await asyncio.wait([reached])
        taken = self.ports.taken(subject.ports)
        details = {"taken": [{"port": port, **holder.public()} for port, holder in sorted(taken.items())]}
        if not taken:
            return Check(PORTS, Verdict.PASS, "every port is free", details)
        said = ", ".join(
            f"{port} by {holder.command} (pid {holder.pid})" if holder.pid else str(port)
            for port, holder in sorted(taken.items())
        )
        status = Verdict.WARN if subject.reassign else Verdict.FAIL
        first = min(taken)
        more: dict[str, Any] = {**details, "port": first, **taken[first].public()}
        return Check(PORTS, status, f"taken: {said}", more, code=Code.PORT_CONFLICT)

    async def _network(self, subject: Subject, reached: asyncio.Future[None]) -> Check:
        await asyncio.shield(reached)
        found = await self.dock.network(subject.network, timeout=LOOK)
        is_own = found is None or found.labels.get(PROJECT) == subject.project or found.name in subject.own_networks
        if found is None or is_own:
            return Check(NETWORK, Verdict.PASS, f"{subject.network} can be made", {"network": subject.network})
        message = f"a network {subject.network} is there already and is not this project's"
        details = {"network": subject.network, "labels": dict(found.labels)}
        return Check(NETWORK, Verdict.FAIL, message, details, code=Code.NAME_CONFLICT)


def _names(found: list[Resource]) -> str:
    shown = ", ".join(f"{one.kind} {one.name}" for one in found[:10])
    return f"{shown} and {len(found) - 10} more" if len(found) > 10 else shown


def _room(size: int) -> str:
    return f"{size / (1 << 30):.1f} GB" if size >= 1 << 30 else f"{size / (1 << 20):.0f} MB"
