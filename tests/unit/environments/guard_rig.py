"""A guarded run on a fake engine, on virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, cast

from argus.core.circuit import Circuit
from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.core.redact import Redactor
from argus.environments.announcing import Announcer
from argus.environments.blueprint import Blueprint, Part
from argus.environments.book import Book
from argus.environments.guarding.guardian import Guardian, Seen
from argus.environments.helper.image import HelperImage
from argus.environments.labels import MANAGED, PROJECT, RUN, Owner
from argus.environments.orphans import Cleanup
from argus.environments.ports import Ports
from argus.environments.raising import Raised, Up
from argus.environments.runs import Run, State
from argus.environments.setting_up import SetUp
from argus.environments.tools import Shell, Tools
from argus.host.doors import Door
from argus.host.engine.birth import Birth
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.resources import Binding, HealthCheck, Making
from argus.host.seam import HttpReply, HttpRequest, ProbeFailed
from argus.store.notes import Notes
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, FakeContainer, FakeEngine, FakeImage, SimulatedLoop, run_simulated

SHELL = Shell("/", {"DOCKER_HOST": "unix:///run/docker.sock"})


class Store(SqliteStore):
    """Its disk can be full."""

    is_full = False

    async def commit(self, *writes: Any) -> list[Event]:
        if self.is_full:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        return await super().commit(*writes)


class Rig:
    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.clock = FakeClock(loop)
        self.engine = FakeEngine()
        """The one that is meant where none is named."""
        self.engines = {SHELL.environ["DOCKER_HOST"]: self.engine}
        self.engine.images["any:1"] = FakeImage(prints=("it begins",))
        self.store = Store(None, clock=self.clock, inline=True)
        self.circuit = Circuit("docker:shop", self.clock.monotonic, judge)
        self.answers: Callable[[], int | ProbeFailed] = lambda: 200
        self.is_sound = True
        self.redactor = Redactor()
        self.birth: Birth | None = Birth("1-1", 0.0)
        self.run = Run("shop", "/shop", "run1", State.UP, 0.0, network="net")
        self._count = Counter[str]()
        self._life: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """A daemon: the first, or one after another."""
        self.notes = Notes(self.store, self.clock)
        self.announcer = Announcer(self.notes, self.clock)
        self.book = Book(self.store, self.notes, self.clock)
        self.show(self.run)
        tell = self.announcer.tell
        self.guardian = Guardian(
            self._tools(), self.book, lambda project: lambda channel, type, data: tell(channel, type, project, data)
        )
        await self.guardian.restore()
        self._life = asyncio.ensure_future(self._live())

    def show(self, run: Run) -> None:
        """As if it had been set up, or cleaned, without a word on record."""
        self.book._runs[run.key] = run

    async def _live(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.announcer.run())
            group.create_task(self.notes.run())
            group.create_task(self.guardian.run())

    async def kill(self) -> None:
        assert self._life is not None
        self._life.cancel()
        await asyncio.wait([self._life])
        if not self._life.cancelled() and (error := self._life.exception()):
            raise error

    def _tools(self) -> Tools:
        return Tools(
            store=self.store,
            notes=self.notes,
            clock=self.clock,
            load=self._never,
            circuit=lambda plan, shell: self.circuit,
            dock=lambda shell, circuit: GuardedDock(self.engines[shell.environ["DOCKER_HOST"]], circuit),
            published=lambda shell: "127.0.0.1",
            ports=Ports(lambda port, protocol: port not in self.engine.taken_ports, lambda ports, protocol: {}),
            http=self._http,
            disk_free=lambda path: None,
            me=Owner("here", "boot-1", 1, "1"),
            lives=lambda owner: True,
            new_id=self._new_id,
            show=lambda channel, type, data: None,
            engine=lambda shell: shell.environ,
            birth=lambda environ: self.birth,
            memory_peak=lambda id: None,
            clean=self.redactor.text,
            is_sound=lambda: self.is_sound,
            listen=Door.open,
            helper=HelperImage(),
            machine=cast(Any, None),  # for suites, which nobody runs here
        )

    async def _never(self, asked: Any) -> Any:
        raise AssertionError

    def _new_id(self) -> str:
        self._count["id"] += 1
        return f"act{self._count['id']}"

    async def _http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        await asyncio.sleep(0.001)
        said = self.answers()
        if isinstance(said, ProbeFailed):
            raise said
        return HttpReply(said, 0.001)

    # What is guarded.

    async def guard(
        self, *parts: Part, health: HealthCheck | None = None, shell: Shell = SHELL, **settings: Any
    ) -> None:
        dock = GuardedDock(self.engine, self.circuit)
        ups = []
        for part in parts:
            ports = tuple(Binding(one.container_port, one.host_port) for one in part.ports)
            labels = {MANAGED: "true", PROJECT: self.run.project, RUN: self.run.id}
            id = await dock.make(Making(part.container, "any:1", labels=labels, ports=ports, health=health), timeout=5)
            await dock.start(id, timeout=5)
            made = await dock.container(id, timeout=5)
            assert made is not None
            ups.append(Up(part, made, 0.1))
        done = SetUp(self.run, Raised("net", tuple(ups)), (), None, Cleanup(), 0.1)
        plan = Blueprint(self.run.project, "/shop", "net", parts, **settings)
        await self.guardian.begin(self.run, done, plan, shell, self.circuit)
        await asyncio.sleep(1.0)

    def one(self, name: str = "db") -> FakeContainer:
        return self.engine.containers_by_name[name]

    def seen(self, name: str = "db") -> Seen:
        return self.guardian.seen("run1")[name]

    async def until_started(self, times: int) -> None:
        while self.one().starts < times:  # noqa: ASYNC110 - virtual time costs nothing
            await asyncio.sleep(0.01)

    async def told(self, *types: str) -> list[dict[str, Any]]:
        await self.announcer.written()
        events = await self.store.events(0)
        return [dict(one.data) for one in events if not types or one.type in types]

    async def open_acts(self) -> int:
        return len(await self.store.open_acts())


def db(**more: Any) -> Part:
    return Part("db", "db", "any:1", **more)


def guarded(test: Callable[[Rig], Awaitable[None]]) -> None:
    """Plays it to its end on virtual time."""

    async def main(loop: SimulatedLoop) -> None:
        rig = Rig(loop)
        await rig.start()
        try:
            async with asyncio.timeout(100_000):
                await test(rig)
        finally:
            await rig.kill()
            await rig.store.close()

    run_simulated(main)
