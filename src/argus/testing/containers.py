"""The containers of the fake engine: they run, print, become unhealthy and end, and the engine tells of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from argus.core.errors import ArgusError, Code
from argus.host.engine.names import checked, checked_image, is_meant
from argus.host.engine.printed import Printout
from argus.host.engine.refusals import full, missing, no_image, taken
from argus.host.engine.resources import (
    Binding,
    Executed,
    FileFound,
    Happening,
    Made,
    Making,
    Mount,
    Process,
    Usage,
    Wanted,
)
from argus.host.engine.seam import Container, EngineRefused, EngineUnavailable

EPOCH = 1_800_000_000.0
_FULL = "write /data: no space left on device"


@dataclass(eq=False)
class FakeImage:
    """An image, and what its containers do."""

    id: str = "sha256:" + "1" * 64
    seconds: float | None = None
    """Then they exit; None: they run until they are ended."""
    exit_code: int = 0
    ignores_term: bool = False
    prints: tuple[str, ...] = ()
    health: str | None = None
    """What they become where they have a health check; None: healthy where they are made with one."""
    health_after: float = 0.1


@dataclass(eq=False)
class FakeContainer:
    """A container of the fake engine, and what a test may do to it."""

    name: str
    id: str
    labels: dict[str, str] = field(default_factory=dict)
    state: str = "running"
    health: str | None = None
    exit_code: int = 0
    oom_killed: bool = False
    is_healthy_after_start: bool = True
    refuses: str = ""
    """What the engine says instead of starting it."""
    starts: int = 0
    making: Making | None = None
    image: FakeImage = field(default_factory=FakeImage)
    error: str = ""
    health_output: str = ""
    created: float | None = None
    started: float | None = None
    finished: float | None = None
    ports: tuple[Binding, ...] = ()
    networks: dict[str, str] = field(default_factory=dict)
    prints: list[tuple[float, str]] = field(default_factory=list)
    memory: int = 1_000_000
    peak: int = 2_000_000
    answers: dict[tuple[str, ...], Executed] = field(default_factory=dict)
    """What commands in it do; any other is not there."""
    processes: tuple[Process, ...] = ()
    files: dict[str, FileFound] = field(default_factory=dict)
    tells: Callable[[FakeContainer, str, dict[str, str]], None] = lambda one, action, more: None
    """How the engine hears of what happens to it."""

    def end(self, exit_code: int, *, out_of_memory: bool = False) -> None:
        self.state, self.exit_code, self.oom_killed = "exited", exit_code, out_of_memory
        self.ports = ()
        if out_of_memory:
            self.tells(self, "oom", {})
        self.tells(self, "die", {"exitCode": str(exit_code)})

    def become(self, health: str, output: str = "") -> None:
        self.health, self.health_output = health, output
        self.tells(self, f"health_status: {health}", {})

    def seen(self) -> Container:
        return Container(self.id, self.name, self.state, self._health(), self.exit_code, self.oom_killed)

    def _health(self) -> str | None:
        return self.health if self.state == "running" else self.health and "unhealthy"

    def made(self) -> Made:
        making = self.making
        return Made(
            id=self.id,
            name=self.name,
            image=making.image if making else "fake",
            state=self.state,
            health=self._health(),
            health_output=self.health_output,
            exit_code=self.exit_code,
            oom_killed=self.oom_killed,
            error=self.error,
            labels=dict(self.labels),
            created=self.created,
            started=self.started,
            finished=self.finished,
            ports=self.ports,
            networks={name: address if self.state == "running" else "" for name, address in self.networks.items()},
            memory_limit=making.memory if making else None,
            volumes=tuple(sorted(one.source for one in making.mounts if one.kind == "volume")) if making else (),
        )


class FakeContainers:
    """The part of the fake engine that is about containers. A name that nobody set up does not exist."""

    def __init__(self) -> None:
        self.containers_by_name: dict[str, FakeContainer] = {}
        self.images: dict[str, FakeImage] = {}
        self.taken_ports: set[int] = set()
        """Held by other programs of the machine."""
        self.is_full = False
        """Its disk."""
        self._away = ""
        self._is_frozen = False
        self.listeners: set[asyncio.Event] = set()
        self.asked = 0
        self.told: list[Happening] = []
        """All that ever happened, in order."""
        self._count = 0

    @property
    def away(self) -> str:
        """Why it cannot be reached."""
        return self._away

    @away.setter
    def away(self, why: str) -> None:
        self._away = why
        self._wake()

    @property
    def is_frozen(self) -> bool:
        return self._is_frozen

    @is_frozen.setter
    def is_frozen(self, is_so: bool) -> None:
        self._is_frozen = is_so
        self._wake()

    def _wake(self) -> None:
        for listener in self.listeners:
            listener.set()

    def add(self, name: str, **more: Any) -> FakeContainer:
        made = FakeContainer(name, self._new_id(), tells=self._tells, **more)
        self.containers_by_name[name] = made
        return made

    def _new_id(self) -> str:
        self._count += 1
        return f"{self._count:08x}" * 8

    def now(self) -> float:
        with contextlib.suppress(RuntimeError):  # a test may set things up before there is a loop
            return EPOCH + asyncio.get_running_loop().time()
        return EPOCH

    def _tells(self, one: FakeContainer, action: str, more: dict[str, str]) -> None:
        if action == "die":
            one.finished = self.now()
        attributes = {"image": one.making.image if one.making else "fake", "name": one.name, **one.labels, **more}
        code = int(more["exitCode"]) if "exitCode" in more else None
        self.tell(Happening("container", action, one.id, one.name, dict(one.labels), self.now(), code, attributes))
        if action == "die" and one.making is not None and one.making.auto_remove:
            self.containers_by_name.pop(one.name, None)
            self._tells(one, "destroy", {})

    def tell(self, happening: Happening) -> None:
        self.told.append(happening)
        self._wake()

    # --- what the engine is asked

    async def make(self, making: Making) -> str:
        await self._reach()
        checked(making.name, "container")
        checked_image(making.image)
        self._has_space()
        image = self.images.get(making.image)
        if image is None:
            raise no_image(making.image)
        holder = self.containers_by_name.get(making.name)
        if holder is not None:
            message = f"the name {making.name} is taken by container {holder.id[:12]}"
            labels = dict(holder.labels)
            raise ArgusError(
                Code.NAME_CONFLICT, message, kind="container", name=making.name, id=holder.id, labels=labels
            )
        self.has_volumes(making.mounts, making)
        made = self.add(making.name, labels=dict(making.labels), state="created", making=making, image=image)
        made.created = self.now()
        if making.network:
            made.networks[making.network] = ""
        self._tells(made, "create", {})
        return made.id

    def has_volumes(self, mounts: Iterable[Mount], making: Making) -> None:
        """Those that are not there yet are made."""

    def is_network(self, name: str) -> bool:
        return False

    async def start(self, id: str) -> None:
        await self._reach()
        one = self._one(id)
        if one.state == "running":
            return
        if one.refuses:
            one.error = one.refuses
            raise EngineRefused(one.refuses, 400)
        for name in one.networks:
            if not self.is_network(name):
                raise EngineRefused(f"network {name} not found", 404)
        one.ports = self._bound(one.making.ports if one.making else ())
        one.networks = dict.fromkeys(one.networks, f"172.30.0.{self._count + 2}")
        self._begin(one)

    def _bound(self, wanted: Iterable[Binding]) -> tuple[Binding, ...]:
        held = {port.host_port for one in self.containers_by_name.values() for port in one.ports} | self.taken_ports
        bound = []
        for port in wanted:
            number = port.host_port or next(free for free in range(32768, 65536) if free not in held)
            if number in held:
                raise taken(f"Bind for 0.0.0.0:{number} failed: port is already allocated") or AssertionError
            held.add(number)
            bound.append(Binding(port.container_port, number, port.host, port.protocol))
        return tuple(sorted(bound, key=lambda one: (one.container_port, one.protocol)))

    def _begin(self, one: FakeContainer) -> None:
        one.starts += 1
        one.state, one.exit_code, one.oom_killed, one.error = "running", 0, False, ""
        one.started, one.finished = self.now(), None
        one.prints += [(self.now(), line) for line in one.image.prints]
        self._tells(one, "start", {})
        loop, began = asyncio.get_running_loop(), one.starts

        def later(seconds: float, what: Callable[[], None]) -> None:
            def check() -> None:
                if one.starts == began and one.state == "running":
                    what()

            loop.call_later(seconds, check)

        if one.image.health or (one.making and one.making.health):
            one.health = "starting"
            later(one.image.health_after, lambda: one.become(one.image.health or "healthy"))
        if one.image.seconds is not None:
            later(one.image.seconds, lambda: one.end(one.image.exit_code))

    async def stop(self, id: str, grace: float) -> None:
        await self._reach()
        one = self._one(id)
        if one.state != "running":
            return
        self._tells(one, "kill", {"signal": "15"})
        if one.image.ignores_term:
            await asyncio.sleep(grace)
            self._tells(one, "kill", {"signal": "9"})
        one.end(137 if one.image.ignores_term else 0)
        self._tells(one, "stop", {})

    async def kill(self, id: str, signal: str) -> None:
        await self._reach()
        one = self._one(id)
        if one.state != "running":
            raise ArgusError(Code.CONTAINER_NOT_RUNNING, f"{id} does not run", container=id)
        self._tells(one, "kill", {"signal": signal})
        if signal.removeprefix("SIG") in ("KILL", "9"):
            one.end(137)
        elif not one.image.ignores_term:
            one.end(0)

    async def remove(self, id: str) -> bool:
        await self._reach()
        one = self._find(id)
        if one is None:
            return False
        if one.state == "running":
            self._tells(one, "kill", {"signal": "9"})
            one.end(137)
        if self.containers_by_name.pop(one.name, None):  # or it went by itself
            self._tells(one, "destroy", {})
        return True

    async def container(self, name_or_id: str) -> Made | None:
        await self._reach()
        one = self._find(name_or_id)
        return one.made() if one else None

    async def containers(self, labels: Wanted) -> list[Made]:
        await self._reach()
        found = [one.made() for one in self.containers_by_name.values() if carries(one.labels, labels)]
        return sorted(found, key=lambda one: one.name)

    async def logs(self, id: str, tail: int, since: float | None) -> Printout:
        await self._reach()
        lines = [line for at, line in self._one(id).prints if since is None or at >= since]
        return Printout(lines[-tail:] if tail > 0 else [])

    async def stats(self, id: str) -> Usage:
        await self._reach()
        one = self._one(id)
        if one.state != "running":
            return Usage()
        return Usage(one.memory, (one.making.memory if one.making else None) or 8 * 1024**3, one.peak)

    def _one(self, id: str) -> FakeContainer:
        one = self._find(id)
        if one is None:
            raise missing(id)
        return one

    def _find(self, name: str) -> FakeContainer | None:
        every = self.containers_by_name.values()
        return next((one for one in every if is_meant(name, one.id, one.name)), None)

    def _has_space(self) -> None:
        if self.is_full:
            raise full(_FULL) or AssertionError

    async def _reach(self) -> None:
        self.asked += 1
        await asyncio.sleep(1e9 if self.is_frozen else 0.001)
        if self.away:
            raise EngineUnavailable(f"the Docker engine cannot be reached: {self.away}")


def carries(labels: dict[str, str], wanted: Wanted) -> bool:
    return all(key in labels and value in (None, labels[key]) for key, value in wanted.items())
