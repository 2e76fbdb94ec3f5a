"""A Docker engine in memory, behind the guard of the real one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

from argus.core.errors import ArgusError, Code
from argus.host.engine.names import checked, checked_image, is_meant
from argus.host.engine.refusals import missing
from argus.host.engine.resources import (
    Building,
    Happening,
    Info,
    Labels,
    Making,
    Mount,
    Network,
    Volume,
    Wanted,
)
from argus.host.engine.seam import Container, EngineRefused, EngineUnavailable
from argus.testing.containers import FakeContainer, FakeImage, carries
from argus.testing.insides import FakeInsides


@dataclass(frozen=True, slots=True)
class FakeBuild:
    """How the build of a tag goes."""

    prints: tuple[str, ...] = ()
    exit_code: int = 0
    seconds: float = 0.01
    image: FakeImage | None = None


@dataclass(eq=False)
class FakeNetwork:
    id: str
    name: str
    labels: dict[str, str]
    created: float


class FakeEngine(FakeInsides):
    """What nobody set up does not exist. `away`, `is_frozen` and `is_full` break it."""

    def __init__(self) -> None:
        super().__init__()
        self.builds: dict[str, FakeBuild] = {}
        """By their tags; any other goes well at once."""
        self.networks_by_name: dict[str, FakeNetwork] = {}
        self.volumes_by_name: dict[str, Volume] = {}

    async def ping(self) -> None:
        await self._reach()

    async def info(self) -> Info:
        await self._reach()
        return Info("fake", "/var/lib/docker", "fake", "vfs", 8 * 1024**3, "x86_64")

    # --- what services ask

    async def named(self, names: Sequence[str]) -> dict[str, Container | None]:
        await self._reach()
        found = {name: self._find(name) for name in names}
        return {name: one.seen() if one else None for name, one in found.items()}

    async def labelled(self, label: str) -> list[Container]:
        await self._reach()
        key, sign, value = label.partition("=")
        found = [one for one in self.containers_by_name.values() if carries(one.labels, {key: value if sign else None})]
        return [one.seen() for one in sorted(found, key=lambda one: one.name)]

    async def restart(self, id: str) -> None:
        await self._reach()
        one = self._one(id)
        if one.refuses:
            raise EngineRefused(one.refuses)
        self._begin(one)
        one.health = one.health and ("healthy" if one.is_healthy_after_start else "starting")

    # --- images

    async def image(self, name: str) -> str | None:
        await self._reach()
        found = self.images.get(name)
        return found.id if found else None

    async def import_image(self, tar: bytes, name: str, changes: Sequence[str]) -> str:
        await self._reach()
        self._has_space()
        self.images[checked_image(name)] = FakeImage(f"sha256:{self._new_id()}")
        return self.images[name].id

    async def build(self, building: Building, heard: Callable[[str], None], *, timeout: float) -> str:
        goes = self.builds.get(building.tag, FakeBuild())
        try:
            async with asyncio.timeout(timeout):
                await self._reach()
                self._has_space()
                for line in goes.prints:
                    heard(line)
                await asyncio.sleep(goes.seconds)
        except TimeoutError:
            if self.is_frozen:
                raise EngineUnavailable(f"the Docker engine did not answer within {timeout:g} s") from None
            raise _failed(building, goes, None) from None
        if goes.exit_code:
            raise _failed(building, goes, goes.exit_code)
        self.images[building.tag] = goes.image or FakeImage(f"sha256:{self._new_id()}")
        return self.images[building.tag].id

    # --- networks

    def is_network(self, name: str) -> bool:
        return name in ("none", "host", "bridge") or name.startswith("container:") or self._net(name) is not None

    def _net(self, name_or_id: str) -> FakeNetwork | None:
        every = self.networks_by_name.values()
        return next((one for one in every if is_meant(name_or_id, one.id, one.name)), None)

    def _on(self, net: FakeNetwork) -> list[FakeContainer]:
        every = self.containers_by_name.values()
        return [one for one in every if one.state == "running" and one.networks.keys() & {net.name, net.id}]

    async def make_network(self, name: str, labels: Labels) -> str:
        await self._reach()
        checked(name, "network")
        holder = self.networks_by_name.get(name)
        if holder is not None:
            raise _taken("network", name, holder.id, holder.labels)
        made = FakeNetwork(self._new_id(), name, dict(labels), self.now())
        self.networks_by_name[name] = made
        self._tell("network", "create", made.id, name)
        return made.id

    async def network(self, name_or_id: str) -> Network | None:
        await self._reach()
        net = self._net(name_or_id)
        return self._seen(net) if net else None

    def _seen(self, net: FakeNetwork) -> Network:
        on = {one.id: one.name for one in self._on(net)}
        return Network(net.id, net.name, dict(net.labels), net.created, "172.30.0.1", on)

    async def networks(self, labels: Wanted) -> list[Network]:
        await self._reach()
        found = [self._seen(net) for net in self.networks_by_name.values() if carries(net.labels, labels)]
        return sorted(found, key=lambda one: one.name)

    async def remove_network(self, id: str) -> bool:
        await self._reach()
        net = self._net(id)
        if net is None:
            return False
        if self._on(net):
            raise EngineRefused(f"network {net.name} id {net.id} has active endpoints", 403)
        del self.networks_by_name[net.name]
        self._tell("network", "destroy", net.id, net.name)
        return True

    async def join(self, network: str, container: str, aliases: Sequence[str]) -> None:
        await self._reach()
        one, net = self._find(container), self._net(network)
        if net is None:
            raise EngineRefused(f"network {network} not found", 404)
        if one is None:
            raise missing(container)
        if net.name in one.networks:
            raise EngineRefused(f"endpoint with name {one.name} already exists in network {net.name}", 403)
        one.networks[net.name] = f"172.30.0.{self._count + 2}"

    async def leave(self, network: str, container: str) -> bool:
        await self._reach()
        one, net = self._find(container), self._net(network)
        return bool(one and net and one.networks.pop(net.name, None) is not None)

    # --- volumes

    def has_volumes(self, mounts: Iterable[Mount], making: Making) -> None:
        for mount in mounts:
            if mount.kind == "volume":
                self.volumes_by_name.setdefault(mount.source, Volume(mount.source, dict(making.labels), self.now()))

    async def make_volume(self, name: str, labels: Labels) -> None:
        await self._reach()
        made = self.volumes_by_name.setdefault(checked(name, "volume"), Volume(name, dict(labels), self.now()))
        if dict(made.labels) != dict(labels):
            raise _taken("volume", name, name, made.labels)
        self._tell("volume", "create", name, name)

    async def volumes(self, labels: Wanted) -> list[Volume]:
        await self._reach()
        found = [one for one in self.volumes_by_name.values() if carries(dict(one.labels), labels)]
        return sorted(found, key=lambda one: one.name)

    async def remove_volume(self, name: str) -> bool:
        await self._reach()
        users = [one for one in self.containers_by_name.values() if one.making and _has(one.making, name)]
        if users:
            raise EngineRefused(f"remove {name}: volume is in use - [{users[0].id}]", 409)
        return self.volumes_by_name.pop(name, None) is not None

    # --- events

    def _tell(self, kind: str, action: str, id: str, name: str) -> None:
        if kind == "network":
            self.tell(Happening("network", action, id, name, {}, self.now(), attributes={"name": name}))
        else:
            self.tell(Happening("volume", action, id, name, {}, self.now(), attributes={"driver": "local"}))

    @contextlib.asynccontextmanager
    async def happenings(self, labels: Wanted, since: float | None) -> AsyncIterator[AsyncIterator[Happening]]:
        await self._reach()
        first = next((at for at, one in enumerate(self.told) if since is not None and one.at >= since), len(self.told))
        async with contextlib.aclosing(self._telling(labels, first)) as told:
            yield told

    async def _telling(self, labels: Wanted, at: int) -> AsyncGenerator[Happening, None]:
        news = asyncio.Event()
        self.listeners.add(news)
        try:
            while not self.away:
                if self.is_frozen or at == len(self.told):
                    news.clear()
                    await news.wait()
                    continue
                one = self.told[at]
                at += 1
                if carries(dict(one.labels), labels):
                    yield one
        finally:
            self.listeners.discard(news)
        raise EngineUnavailable("the Docker engine ended its events")


def _has(making: Making, volume: str) -> bool:
    return any(mount.kind == "volume" and mount.source == volume for mount in making.mounts)


def _taken(kind: str, name: str, id: str, labels: Labels) -> ArgusError:
    message = f"the {kind} {name} is there already"
    return ArgusError(Code.NAME_CONFLICT, message, kind=kind, name=name, id=id, labels=dict(labels))


def _failed(building: Building, goes: FakeBuild, exit_code: int | None) -> ArgusError:
    return ArgusError(
        Code.BUILD_FAILED,
        f"{building.tag}: the build failed",
        output="\n".join(goes.prints),
        exitCode=exit_code,
        image=building.tag,
        dockerfile=building.dockerfile,
    )
