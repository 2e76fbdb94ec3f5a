"""A seeded world in which the deciding code of the services' part runs unchanged, and what must always hold in it."""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from argus.core.autonomy import Level
from argus.core.errors import ArgusError, Code
from argus.host.seam import Failure, Ran
from argus.services import policy
from argus.services.checks import HttpService
from argus.services.repairs import LATEST
from argus.services.settings import Health as Settings
from argus.services.tools import Tools
from argus.services.watch import Watch
from argus.store.notes import Notes
from argus.store.records import OpenAct, Undecided
from argus.store.sqlite import SqliteStore
from argus.testing import Answers, FakeClock, FakeHost, SimulatedLoop
from argus.timekeeper import Timekeeper

HOUR = 3600.0
FAILURES = 3
BUDGET = 2
VERIFY = 30.0


class Broken(AssertionError):
    """Something that must always hold does not."""


@dataclass(frozen=True)
class Plant:
    """A known bug, put back in on purpose."""

    decide: Callable[[policy.Facts], policy.Restart | policy.Hold] = policy.decide
    forgets_acts: bool = False
    acts_before_recording: bool = False
    believes_every_clock: bool = False
    forgets_lost_answers: bool = False


class Dead(Exception):
    """Raised in what is left of an Argus that was killed."""


ONCE = {
    "service_down",
    "service_recovered",
    "service_escalated",
    "service_flapping",
    "service_settled",
    "infrastructure_event",
}
"""Said at most once for an incident."""
MOMENT = 0.2
"""Seconds in which an order and a record cross each other."""


class Life:
    """One process of Argus: its view of the store and the machine, which ends when it is killed."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._store = world.store
        self.dead = False
        self._transactions: dict[str, bool] = {}

    def _undecided(self, *, happened: bool) -> Undecided:
        transaction = f"t{len(self._transactions)}"
        self._transactions[transaction] = happened
        return Undecided("simulated: the connection was lost", transaction)

    async def was_committed(self, transaction: str) -> bool:
        await self._breathe()
        if self._world.store_is_broken:
            raise ArgusError(Code.STORE_UNAVAILABLE, "simulated: the disk is full")
        return self._transactions[transaction] and not self._world.plant.forgets_lost_answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes: Any) -> Any:
        await self._breathe()
        if self._world.store_is_broken:
            await asyncio.sleep(self._world.store_hangs)
            await self._breathe()
            raise ArgusError(Code.STORE_UNAVAILABLE, "simulated: the disk is full")
        if self._world.plant.acts_before_recording:
            writes = tuple(write for write in writes if not isinstance(write, OpenAct))
        # The reply is lost, and whether it was applied as well: whoever asked must ask what became of it.
        lost = self._world.loses_answers and self._world.chance.random() < 0.3
        if lost and self._world.chance.random() < 0.3:
            raise self._undecided(happened=False)
        events = await self._store.commit(*writes)
        self._world.recorded(events)
        if lost:
            raise self._undecided(happened=True)
        # Killed here, the record has it and nothing else does: the gap between intent and act.
        await self._breathe()
        return events

    async def acts(self, **query: Any) -> Any:
        return [] if self._world.plant.forgets_acts else await self._store.acts(**query)

    async def http(self, request: Any, *, timeout: float) -> Any:
        await self._breathe()
        self._world.asked(request.url)
        return await self._world.host.http(request, timeout=timeout)

    async def tcp(self, host: str, port: int, *, timeout: float) -> float:
        await self._breathe()
        return await self._world.host.tcp(host, port, timeout=timeout)

    async def run(self, argv: list[str], *, timeout: float, log: str) -> Ran:
        # From here on it is under way: whatever stops the machine now, nobody can take it back.
        self._world.ordered[argv[-1]] = self._world.clock.boot()
        await self._breathe()
        return await self._world.host.run(argv, timeout=timeout, log=log)

    async def outlast(self, log: str, *, timeout: float) -> bool:
        await self._breathe()
        return await self._world.host.outlast(log, timeout=timeout)

    async def _breathe(self) -> None:
        await asyncio.sleep(self._world.chance.random() * 0.02)
        if self.dead:
            raise Dead


@dataclass
class World:
    loop: SimulatedLoop
    seed: int
    plant: Plant = field(default_factory=Plant)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.clock = FakeClock(self.loop)
        self.host = FakeHost()
        self.store = SqliteStore(None, clock=self.clock, inline=True, token=lambda: "sim")
        self.store_is_broken = self.loses_answers = False
        self.store_hangs = 0.0
        """Seconds until a write that fails does."""
        self.flapping: set[str] = set()
        self.autonomy = Level.MODERATE
        count = self.chance.randint(2, 6)
        self.services = {f"s{place}": 9000 + place for place in range(count)}
        intervals = {name: self.chance.choice([10, 20, 30, 60]) for name in self.services}
        depends = {name: ["s0"] if name != "s0" and self.chance.random() < 0.2 else [] for name in self.services}
        self.settings = Settings.model_validate(
            {
                "failuresBeforeAction": FAILURES,
                "verifyAfter": f"{VERIFY:g}s",
                "restartBudget": {"maxPerHour": BUDGET},
                "services": [
                    {
                        "name": name,
                        "type": "http",
                        "url": f"http://localhost:{port}/",
                        "interval": f"{intervals[name]}s",
                        "timeout": "5s",
                        "dependsOn": depends[name],
                        "restart": {"command": ["restart", name], "timeout": "20s"},
                    }
                    for name, port in self.services.items()
                ],
            }
        )
        self.host.programs["restart"] = self._restart
        self.restarts: list[tuple[float, str, str | None]] = []
        self.ordered: dict[str, float] = {}
        """When Argus ordered a service's last restart, by the boot clock."""
        self.readings = Counter[str]()
        """How often each service was asked since time last jumped."""
        self.jumped = 0.0
        """When that was: what had been decided by then is carried out, if Argus was not held up."""
        self.curable = dict.fromkeys(self.services, True)
        self.numbers = Counter[str]()
        self.ids = 0
        self.event_open: float | None = None
        """Since when, by the boot clock."""
        self.found: str | None = None
        self.life: Life | None = None
        self.watch: Watch | None = None
        self._running: asyncio.Task[None] | None = None
        for port in self.services.values():
            self.host.ports[port] = Answers()

    # Argus lives and dies.

    async def start(self) -> None:
        self.life = life = Life(self)
        notes = Notes(life, self.clock)
        timekeeper = Timekeeper(self.clock, notes)
        self.watch = watch = Watch(
            self.settings,
            tuple(service for service in self.settings.services if isinstance(service, HttpService)),
            Tools(
                host=life,
                store=life,
                notes=notes,
                clock=self.clock,
                autonomy=lambda: self.autonomy,
                time_is_sound=(lambda: True) if self.plant.believes_every_clock else timekeeper.sound,
                new_id=self._new_id,
                log_path=lambda name: name,
                decide=self.plant.decide,
            ),
        )
        if not self.plant.believes_every_clock:
            timekeeper.on_jump(watch.time_jumped)

        async def run() -> None:
            while True:
                try:
                    await watch.restore()
                    break
                except ArgusError:
                    await asyncio.sleep(5)
            async with asyncio.TaskGroup() as group:
                group.create_task(watch.run())
                group.create_task(timekeeper.run())
                group.create_task(notes.run())

        self._running = asyncio.get_running_loop().create_task(run())

    async def kill(self) -> None:
        """SIGKILL: nothing that runs afterwards may reach the world."""
        assert self.life is not None
        assert self._running is not None
        self.life.dead = True
        self._running.cancel()
        await asyncio.wait([self._running])
        if not self._running.cancelled() and (error := self._running.exception()):
            raise error

    def _new_id(self) -> str:
        self.ids += 1
        return f"id{self.ids}"

    def asked(self, url: str) -> None:
        self.readings[next(name for name, port in self.services.items() if f":{port}/" in url)] += 1

    # What Argus does to the world.

    async def _restart(self, argv: list[str]) -> Ran:
        name = argv[1]
        open_acts = [act for act in await self.store.open_acts() if act.subject == name]
        self._check_restart(name, open_acts)
        incident = open_acts[-1].incident if open_acts else None
        self.restarts.append((self.clock.boot(), name, incident))
        fate = self.chance.random()
        await asyncio.sleep(self.chance.random() * 5)
        if self.curable[name] and fate < 0.9:
            self.host.ports[self.services[name]] = Answers()
        if fate > 0.8:
            await asyncio.sleep(HOUR)  # applied, perhaps, and the reply never comes
        return Ran(0 if fate < 0.7 else 1, "", 0.0)

    def _check_restart(self, name: str, open_acts: list[Any]) -> None:
        now = self.clock.boot()
        if not open_acts:
            self.broken(f"{name} was restarted without an intent on record")
            return
        if len(open_acts) > 1:
            self.broken(f"{name} has two restarts under way")
        recent = [one for one in self.restarts if now - one[0] <= HOUR]
        if len(recent) >= BUDGET:
            self.broken(f"more than {BUDGET} restarts in an hour: {recent}")
        if name in self.flapping:
            self.broken(f"{name} was restarted while it flaps")
        decided = open_acts[0].begun.boot
        # What was ordered in the moment in which the event was declared cannot be called back.
        if self.event_open is not None and (now - self.event_open > MOMENT or decided > self.event_open):
            self.broken("restarted during an infrastructure event")
        if not self.autonomy.allows(Level.MODERATE):
            self.broken("restarted below moderate")
        incident = open_acts[0].incident
        if any(other == incident for _, _, other in self.restarts):
            self.broken(f"{name} was restarted twice in one outage")
        if decided >= self.jumped and self.readings[name] < FAILURES:
            self.broken(f"restarted on {self.readings[name]} readings since time jumped")
        if (late := self.ordered[name] - decided) > LATEST:
            self.broken(f"restarted {late:.0f} s after it was decided")

    def broken(self, what: str) -> None:
        """Noted and raised by the player: raised here it would be Argus that has to live with it."""
        self.found = self.found or what

    def check(self) -> None:
        if self.found:
            raise Broken(self.found)
        if self._running and self._running.done() and (error := self._running.exception()):
            raise error

    # What Argus says.

    def recorded(self, events: list[Any]) -> None:
        for event in events:
            if event.type == "infrastructure_event":
                self.event_open = self.clock.boot()
            elif event.type == "infrastructure_event_ended":
                self.event_open = None
            elif event.type == "service_flapping":
                self.flapping.add(event.data["service"])
            elif event.type == "service_settled":
                self.flapping.discard(event.data["service"])
            incident = event.data.get("incident")
            if event.type in ONCE:
                self.numbers[f"{event.type} {incident}"] += 1
                if self.numbers[f"{event.type} {incident}"] > 1:
                    self.broken(f"{event.type} was reported twice for one incident")
            if event.type == "restart_finished":
                self.numbers[f"finished {event.data['act']}"] += 1
                if self.numbers[f"finished {event.data['act']}"] > 1:
                    self.broken("an act got two outcomes")

    # What befalls the world.

    async def trouble(self) -> None:
        kind = self.chance.choice(
            [
                "die",
                "die",
                "die",
                "die",
                "hang",
                "sick",
                "heal",
                "together",
                "kill argus",
                "kill argus",
                "store",
                "answers",
                "flap",
                "jump",
                "reload",
            ]
        )
        name = self.chance.choice(list(self.services))
        port = self.services[name]
        match kind:
            case "die":
                self.host.ports[port] = Answers(failure=Failure.REFUSED)
                self.curable[name] = self.chance.random() < 0.7
            case "hang":
                self.host.ports[port] = Answers(hangs=True)
            case "sick":
                self.host.ports[port] = Answers(status=500)
            case "heal":
                self.host.ports[port] = Answers()
            case "together":
                for each in self.services.values():
                    if self.chance.random() < 0.8:
                        self.host.ports[each] = Answers(failure=Failure.REFUSED)
            case "kill argus":
                await self.kill()
                await asyncio.sleep(self.chance.choice([0.1, 5, 60, 600]))
                await self.start()
            case "store":
                self.store_hangs = self.chance.choice([0.0, 0.0, 0.3, 4.0])
                self.store_is_broken = True
                await asyncio.sleep(self.chance.choice([5, 60, 300]))
                self.store_is_broken = False
            case "answers":
                self.loses_answers = True
                await asyncio.sleep(self.chance.choice([60, 300, 900]))
                self.loses_answers = False
            case "flap":
                for _ in range(self.chance.randint(5, 20)):
                    self.host.ports[port] = Answers(failure=Failure.REFUSED)
                    await asyncio.sleep(self.chance.choice([10, 30, 60]))
                    self.host.ports[port] = Answers()
                    await asyncio.sleep(self.chance.choice([10, 30, 60]))
            case "jump":
                self._jump()
            case "reload":
                some = [one for one in self.settings.services if self.chance.random() < 0.8]
                other = [one.model_copy(update={"timeout": one.timeout + self.chance.choice([0, 1])}) for one in some]
                await self._reload(tuple(other))
                await asyncio.sleep(self.chance.choice([1, 60, 300]))
                await self._reload(self.settings.services)

    async def _reload(self, services: tuple[Any, ...]) -> None:
        """Refused while the record cannot be written. Argus may also be dead: then nobody answers."""
        assert self.watch is not None
        with contextlib.suppress(ArgusError, TimeoutError):
            async with asyncio.timeout(10):
                await self.watch.reconfigure(self.settings, services, (), lambda: None)
        self.flapping &= set(self.watch.services)

    def _jump(self) -> None:
        match self.chance.choice(["sleep", "forward", "back", "stall"]):
            case "sleep":
                self.clock.sleep(self.chance.choice([60, 7200]))
            case "forward":
                self.clock.step(7200)
            case "back":
                self.clock.step(-3600)
            case "stall":
                self.loop.stall(self.chance.choice([10, 120]))
        self.readings.clear()
        self.jumped = self.clock.boot()

    async def settle(self) -> None:
        """Faults are over: within a bound everything is healthy, or a person was told."""
        self.store_is_broken = self.loses_answers = False
        await asyncio.sleep(10)  # what was kept for the record is written first
        await self._reload(self.settings.services)
        await asyncio.sleep(1500)
        assert self.watch is not None
        for _ in range(len(self.services) * 5):
            if not any(health.repair for health in self.watch.healths.values()):
                break
            await asyncio.sleep(20)  # the budget had room again only now, and for each of them at another moment
        self.check()
        for name, port in self.services.items():
            health, answers = self.watch.healths[name], self.host.ports[port]
            if answers.failure is None and not answers.hangs:
                if not health.status.alive or health.outage:
                    raise Broken(f"{name} is well and shown as {health.status}")
            elif health.outage is None or not (health.outage.told or health.outage.gate in policy.SILENT):
                raise Broken(f"{name} is down and nobody was told: {health}")
        if await self.store.open_acts():
            raise Broken("an act has no outcome")
        known = {health.outage.incident for health in self.watch.healths.values() if health.outage}
        recorded = {one.id for one in await self.store.incidents(open_only=True) if one.subject}
        if known != recorded:
            raise Broken(f"open on record are {recorded}, and in memory {known}")
        queued = self.watch._reconciler.queue.qsize()
        if queued > len(self.services):
            raise Broken(f"{queued} messages wait")


async def rest(loop: SimulatedLoop, seed: int) -> World:
    """Ten minutes in which nothing happens."""
    world = World(loop, seed)
    await world.start()
    await asyncio.sleep(600)
    world.check()
    await world.kill()
    return world


async def play(loop: SimulatedLoop, seed: int, plant: Plant) -> World:
    world = World(loop, seed, plant)
    await world.start()
    until = loop.time() + 2.5 * HOUR
    while loop.time() < until:
        await asyncio.sleep(world.chance.expovariate(1 / 240))
        world.check()
        await world.trouble()
    await world.settle()
    await world.kill()
    return world
