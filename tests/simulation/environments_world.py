"""A seeded world in which the environments' part runs unchanged: setups, cleans, and the guardian of what is up."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from unittest.mock import patch
from urllib.parse import urlsplit

from tests.simulation.environments_engine import Machine
from tests.simulation.environments_life import Dead, Life, LifeEngine, Plant
from tests.simulation.environments_rules import Rules
from tests.simulation.world import Broken

from argus.breakers import Breakers
from argus.core.breaker import Limits
from argus.core.circuit import Circuit
from argus.core.errors import ArgusError
from argus.environments import circuits, orphans
from argus.environments.blueprint import Blueprint, HealthWish, Part, PortWish
from argus.environments.guarding import ward
from argus.environments.helper.image import HelperImage
from argus.environments.keeper import Environments
from argus.environments.labels import Owner
from argus.environments.ports import Ports
from argus.environments.runs import State
from argus.environments.tools import Asked, Loaded, Shell, Tools
from argus.host.doors import Door
from argus.host.engine.birth import Birth
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.resources import Mount
from argus.host.seam import Failure, HttpReply, HttpRequest, ProbeFailed
from argus.store.notes import Notes
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, FakeContainer, FakeImage, SimulatedLoop
from argus.timekeeper import Timekeeper

HOME = "/home/argus"
ENGINE = {"DOCKER_HOST": "unix:///run/docker.sock"}
INTERVAL = 5.0
MOST_TASKS = 250
"""Under way at once, of all that Argus, its callers and the world do."""


@dataclass(frozen=True)
class Plan:
    """One environment: its file never changes."""

    blueprint: Blueprint

    @property
    def asked(self) -> Asked:
        return Asked(self.blueprint.folder, None, Shell("/", ENGINE))

    @property
    def key(self) -> str:
        return f"{self.blueprint.project}@{self.blueprint.folder}"

    @property
    def interval(self) -> float:
        return INTERVAL


class Clock(FakeClock):
    def reboot(self) -> None:
        """The boot clock begins anew, and nothing else is changed."""
        self._wall += self.boot()
        self._slept = -self.monotonic()
        self.boot_id += "'"


@dataclass(eq=False)
class World:
    loop: SimulatedLoop
    seed: int
    plant: Plant = field(default_factory=Plant)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.clock = Clock(self.loop)
        self.rules = Rules(self)
        self.engine = Machine(self.clock, self._happened)
        self.engine.images |= {"plain:1": FakeImage(), "own:1": FakeImage(health="healthy", health_after=1.0)}
        self.store = SqliteStore(None, clock=self.clock, inline=True, token=lambda: "sim")
        self.store_is_broken = self.answers_are_lost = False
        self.store_hangs = 0.0
        """Seconds until a write that fails does."""
        self.transactions: dict[str, bool] = {}
        self.unrecorded: set[str] = set()
        self.is_unreachable = False
        """To Argus; the engine itself is well."""
        self.replies_are_lost = False
        self.is_known = self.chance.random() < 0.7
        """Whether it can be seen who the engine is: not where it is on another machine."""
        self.plans = {plan.key: plan for plan in self._plans()}
        self.projects = {plan.blueprint.project for plan in self.plans.values()}
        self.strangers: dict[str, int] = {}
        """What nobody here may touch, by id or name: how often each was started."""
        self.daemons = {4242}
        """Other daemons of this machine that live."""
        self.sick: dict[str, str] = {}
        """How containers answer that are not well, by their ids."""
        self.incurable: set[str] = set()
        """Those of them that a restart does not help."""
        self.were_up: set[str] = set()
        """The runs that were complete once."""
        self.is_forced = False
        """Somebody said that volumes may go."""
        self.outages = 0
        self.steps = 0
        """How often somebody set the clock."""
        self.ids = self.lives = 0
        self.moment = asyncio.Event()
        """An intent was recorded just now."""
        self.life: Life | None = None
        self._disturbances = 0
        self._calm_since = 0.0
        self._running: asyncio.Task[None] | None = None
        self._own: set[asyncio.Task[Any]] = set()

    def _plans(self) -> Iterator[Plan]:
        for n in range(self.chance.randint(1, 3)):
            # The second is another folder of the first one's project: the same names, the same ports.
            project, folder = [("shop", "/shop"), ("shop", "/worktree"), ("cart", "/cart")][n]
            kinds = [self.chance.choice(["plain", "own", "http"]) for _ in range(self.chance.randint(1, 3))]
            names = [f"{kind}{place}" for place, kind in enumerate(kinds)]
            parts = [self._part(project, place, names) for place in range(len(names))]
            yield Plan(
                Blueprint(
                    project,
                    folder,
                    f"{project}-net",
                    tuple(parts),
                    verify=False,
                    preflight=self.chance.random() < 0.8,
                    breaker_failures=self.chance.choice([1, 2, 5]),
                    restart=self.chance.random() < 0.9,
                    restarts=self.chance.choice([0, 1, 2, 3, 3, 5]),
                    restart_delay=self.chance.choice([0.0, 1.0, 2.0, 2.0, 20.0]),
                    restart_growth=self.chance.choice(["exponential", "linear"]),
                )
            )

    def _part(self, project: str, place: int, names: list[str]) -> Part:
        name, kind = names[place], names[place][:-1]
        port = (9000 if project == "shop" else 9100) + place
        health = HealthWish("/health", 80, INTERVAL, timeout=2.0, retries=2, start_period=5.0)
        mounts = (Mount(f"{project}-data", "/data", kind="volume"),) if self.chance.random() < 0.3 else ()
        return Part(
            name,
            f"{project}-{name}",
            "own:1" if kind == "own" else "plain:1",
            ports=(PortWish(80, port),) if kind == "http" else (),
            mounts=mounts,
            depends_on=(names[place - 1],) if place and self.chance.random() < 0.5 else (),
            health=health if kind == "http" else None,
        )

    def plan(self, subject: str) -> Plan:
        """Of an act's subject: the environment's key, and its service."""
        return self.plans[subject.rpartition("/")[0]]

    # Argus lives and dies.

    def start(self) -> None:
        self.lives += 1
        self.engine.tells_again = False
        self.life = Life(self)
        self._running = self.loop.create_task(self._run(self.life))

    async def _run(self, life: Life) -> None:
        while True:
            notes = Notes(life, self.clock)
            timekeeper = Timekeeper(self.clock, notes)
            breakers = Breakers(life, notes, self.clock)
            breakers.tells("docker:", circuits.events)
            environments = Environments(self._tools(life, notes, breakers, timekeeper.sound))
            try:
                await breakers.restore()
                await environments.restore()
                break
            except ArgusError:
                await asyncio.sleep(5)
        life.environments = environments
        async with asyncio.TaskGroup() as group:
            for loop in (environments.run, timekeeper.run, notes.run, breakers.run):
                group.create_task(loop())

    def _tools(self, life: Life, notes: Notes, breakers: Breakers, is_sound: Callable[[], bool]) -> Tools:
        def circuit(blueprint: Blueprint, shell: Shell) -> Circuit:
            name = f"docker:{blueprint.project}"
            limits = Limits(failures=blueprint.breaker_failures, reset_after=blueprint.breaker_reset)
            known = breakers.circuits.get(name)
            if known is None:
                return breakers.add(self.plant.circuit(name, self.clock.monotonic, judge, limits))
            if not blueprint.is_recorded:
                known.configure(limits)
            return known

        async def load(asked: Asked) -> Loaded:
            await life.breathe()
            blueprint = next(one.blueprint for one in self.plans.values() if one.asked.place == asked.place)
            return Loaded(blueprint, lambda moved: blueprint, f"{blueprint.folder}/e2e.yaml", cast(Any, None))

        async def http(request: HttpRequest, *, timeout: float) -> HttpReply:
            await life.breathe()
            return await self._answer(request, timeout)

        return Tools(
            store=life,
            notes=notes,
            clock=self.clock,
            load=load,
            circuit=circuit,
            dock=lambda shell, circuit: GuardedDock(LifeEngine(life, self, circuit), circuit),
            published=lambda shell: "127.0.0.1",
            ports=Ports(self._is_free, lambda ports, protocol: {}),
            listen=Door.open,  # for mocks that Argus answers itself: here is none
            helper=HelperImage(),
            http=http,
            machine=cast(Any, None),  # for suites, which nobody runs here
            disk_free=lambda path: 1 << 40,
            me=Owner("here", self.clock.boot_id, self.lives, str(self.lives), HOME),
            lives=lambda owner: owner.pid in self.daemons,
            new_id=self._new_id,
            show=lambda channel, type, data: None,
            engine=lambda shell: ENGINE,
            memory_peak=lambda id: 1,
            clean=str,
            birth=self._birth,
            is_sound=is_sound,
        )

    async def kill(self) -> None:
        """SIGKILL: nothing that runs afterwards may reach the world, beside what is on its way to the engine."""
        assert self.life is not None
        assert self._running is not None
        self.life.dead = True
        tasks = [self._running, *self.life.callers]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            _see(task)

    async def stop(self) -> None:
        """As asked: setups under way take back what they began."""
        assert self.life is not None
        if self.life.environments is not None:
            self.life.environments.stop()
            await self.life.environments.stopped()
        await self.kill()

    async def end(self) -> None:
        await self.kill()
        for task in self._own:
            task.cancel()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """What goes on whatever becomes of Argus."""
        task = self.loop.create_task(work)
        self._own.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._own.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked has it, if he still waits

    def call(self, question: Callable[[Environments], Coroutine[Any, Any, Any]]) -> asyncio.Task[Any]:
        """A client of Argus. None: there is no answer, it was refused or Argus is dead; else what it said."""
        life = self.life
        assert life is not None
        task = self.loop.create_task(self._ask(life, question))
        life.callers.add(task)
        task.add_done_callback(life.callers.discard)
        return task

    async def _ask(self, life: Life, question: Callable[[Environments], Coroutine[Any, Any, Any]]) -> Any:
        if life.environments is None or life.dead:
            return None
        with contextlib.suppress(ArgusError):
            return await question(life.environments)
        return None

    @contextlib.contextmanager
    def disturbance(self) -> Iterator[None]:
        """While something is wrong with Argus or what it stands on, it may be late."""
        self._disturbances += 1
        try:
            yield
        finally:
            self._disturbances -= 1
            self._calm_since = self.loop.time()

    @property
    def calm(self) -> float:
        """Seconds since something was wrong last."""
        return 0.0 if self._disturbances else self.loop.time() - self._calm_since

    def check(self) -> None:
        if self.rules.found:
            raise Broken(self.rules.found)
        if self._running and self._running.done():
            _see(self._running)
        if len(tasks := asyncio.all_tasks(self.loop)) > MOST_TASKS:
            raise Broken(f"{len(tasks)} tasks are under way")

    # Containers, as they truly are.

    def _happened(self, one: FakeContainer, action: str) -> None:
        self.rules.happened(one, action)
        if action == "start" and one.id in self.incurable:
            self.rules.sick(one, is_so=True)
        elif action == "start":
            self.sick.pop(one.id, None)

    @property
    def is_booting(self) -> bool:
        """The machine or, while nobody listens, its engine began not long ago: what nobody saw end may have fallen with
        the engine before."""
        is_new = self.engine.number > 1 and self.clock.wall() - self.engine.began < 35.0
        is_booted = self.clock.boot_id != "boot-1" and self.clock.boot() < 150.0
        return is_booted or (is_new and not self.engine.listeners)

    def forget(self) -> None:
        """The engine does not know any more what happened. Who lost it before cannot see that it is still the same."""
        self.engine.forget()
        self.rules.forgotten()
        if self.is_cut_off:
            self.rules.outage()

    @property
    def is_cut_off(self) -> bool:
        """Argus lives and does not hear the engine, perhaps because a breaker is open; nor will it be told again what
        it knew, or not before it looks. To Argus this may be another engine, and what ends now may have ended with the
        one before."""
        is_deaf = not self.engine.listeners and (not self.engine.tells_again or self.engine.late > 0)
        return is_deaf and self.life is not None and self.life.environments is not None and not self.life.dead

    def is_well(self, one: FakeContainer) -> bool:
        return one.state == "running" and one.id not in self.sick and one.health in (None, "healthy")

    def labels(self, what: str, subject: str) -> Mapping[str, str] | None:
        """Of what is about to be removed."""
        if what == "remove":
            one = self.engine._find(subject)
            return one.labels if one else None
        if what == "remove_network":
            net = self.engine._net(subject)
            return net.labels if net else None
        volume = self.engine.volumes_by_name.get(subject)
        return volume.labels if volume else None

    def guarded(self) -> list[FakeContainer]:
        """Those that are there, of runs that are or were up."""
        found = [one for one in self.engine.containers_by_name.values() if one.id in self.rules.guarded]
        return sorted(found, key=lambda one: one.id)

    def stands(self, data: Mapping[str, Any]) -> None:
        if data["state"] == State.UP:
            self.were_up.add(data["run"])

    # What Argus sees.

    def _new_id(self) -> str:
        self.ids += 1
        return f"id{self.ids}"

    def _is_free(self, port: int, protocol: str) -> bool:
        bound = {one.host_port for each in self.engine.containers_by_name.values() for one in each.ports}
        return port not in bound | self.engine.taken_ports

    def _birth(self, environ: Mapping[str, str]) -> Birth | None:
        return self.engine.birth if self.is_known and not self.is_unreachable else None

    async def _answer(self, request: HttpRequest, timeout: float) -> HttpReply:
        port = urlsplit(request.url).port
        one = next((one for one in self.engine.running() if any(each.host_port == port for each in one.ports)), None)
        if one is None:
            raise ProbeFailed(Failure.REFUSED)
        how = self.sick.get(one.id, "")
        if how == "hangs":
            await asyncio.sleep(timeout)
            raise ProbeFailed(Failure.TIMEOUT)
        return HttpReply(500 if how else 200, 0.001)


def _see(task: asyncio.Task[Any]) -> None:
    """Raises what it ended with, beside that it was killed."""
    error = None if task.cancelled() else task.exception()
    if error is not None and not _is_death(error):
        raise error


def _is_death(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_death, error.exceptions))
    return isinstance(error, Dead | asyncio.CancelledError)


class _Alarm(logging.Handler):
    """What Argus logs as a crash of its own is a bug."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(logging.ERROR)
        self._rules = rules

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not _is_death(error):
            self._rules.broken(f"{record.getMessage()}: {error!r}")


@contextlib.contextmanager
def watched(world: World) -> Iterator[None]:
    """With the world's bug in its place."""
    log, alarm, plant = logging.getLogger("argus"), _Alarm(world.rules), world.plant
    before = log.propagate
    log.addHandler(alarm)
    log.propagate = False
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, log, "propagate", before)
        stack.callback(log.removeHandler, alarm)
        stack.enter_context(patch.object(ward, "judge", plant.judge))
        stack.enter_context(patch.object(ward, "decide", plant.decide))
        stack.enter_context(patch.object(orphans, "is_orphan", plant.is_orphan))
        stack.enter_context(patch.object(orphans, "of_project", plant.of_project))
        if plant.settles_nothing:
            stack.enter_context(patch.object(ward.Ward, "is_settled", lambda self, made: False))
        yield
