"""The world of the respawn machine: one store and one machine, Arguses that come and go, and the truth in plain values.

What Argus commits and starts is noted in the moment it does so, beside what was true then. Whether that was allowed is
said by the machine; here nothing is judged.
"""

import asyncio
import copy
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.unit.agents.rig import Rig, Store

from argus.agents.messages import Beat
from argus.agents.tools import Tools
from argus.core.autonomy import Level
from argus.core.events import Event
from argus.core.vital import Vital
from argus.host.identity import Identity
from argus.host.launching import Launch, Running
from argus.store.notes import Notes
from argus.store.records import Claim, OpenAct, PutDocument
from argus.store.sqlite import SqliteStore
from argus.testing import Behaves, FakeAgent, FakeLauncher, SimulatedLoop
from argus.timekeeper import Timekeeper

INTERVAL = 30.0
"""Seconds between two beats of who beats by itself."""


@dataclass
class Task:
    """One lineage, as it truly is."""

    text: str
    is_foreign: bool = False
    """Its first generation was started by somebody else: that one's beats alone tell of it."""
    over: str = ""
    """Why nothing may be started for it any more."""
    began: float | None = None
    ended: float | None = None
    """Of its latest generation, by the boot clock; also when that could not be started."""
    heard: float = 0.0
    """When its last beat was taken."""
    is_known: bool = True
    """Argus has heard of it, and where it runs."""


_OURS = Task("")


@dataclass(frozen=True)
class Claimed:
    """A start that was put on record, and what was true when it was."""

    at: float
    lineage: str
    generation: int
    id: str
    wait: float | None
    """None: the first start of a task."""
    over: str
    rested: float
    """Seconds since its predecessor ended."""
    lived: float
    """Seconds for which that one lived."""
    level: Level


@dataclass
class Truth:
    tasks: dict[str, Task] = field(default_factory=dict)
    lineages: dict[str, str] = field(default_factory=dict)
    """Of every id."""
    claimed: list[Claimed] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    """What was started with no claim on record."""
    escalated: list[str] = field(default_factory=list)
    judged: list[float] = field(default_factory=list)
    """Of each that was taken for dead by its silence: for how many seconds Argus ran, time went on as usual, and
    nothing was heard of it."""
    trusted: float = 0.0
    """When Argus was started last, or time jumped: silence before that may be ours."""

    def task(self, id: str) -> Task:
        return self.tasks[self.lineages[id]]


class Recorded:
    """The store. It can be cut off at the worst moment: when an intent is on record, and nobody knows that it is."""

    claims_nothing = False

    def __init__(self, real: SqliteStore, world: "World") -> None:
        self._real = real
        self._world = world
        self.is_cut = False
        self.is_reached = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def commit(self, *writes: Any) -> list[Event]:
        events = await self._real.commit(
            *(one for one in writes if not (self.claims_nothing and isinstance(one, Claim)))
        )
        self._world.committed(writes, events)
        if self.is_cut and any(isinstance(one, OpenAct) for one in writes):
            self.is_reached = True
            await asyncio.Event().wait()
        return events


class Machine(FakeLauncher):
    """Tells who was started, came and went."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world
        self.programs = {"work": Behaves()}

    async def launch(self, launch: Launch, *, timeout: float) -> Running:
        await self._world.starting(launch)
        return await super().launch(launch, timeout=timeout)

    def _arrive(self, *what: Any) -> None:
        before = len(self.agents)
        super()._arrive(*what)
        for agent in self.agents[before:]:
            self._world.arrived(agent)

    def admit(self, id: str) -> FakeAgent:
        """Somebody else started it."""
        number = 1000 + 2 * len(self.agents)
        agent, shim = Identity(number + 1, str(number + 1)), Identity(number, str(number))
        launch = Launch(f"foreign/{id}", ("theirs", f"task of {id}"), "/project", "")
        self.agents.append(FakeAgent(launch, Running(agent, shim, "", launch.folder), Behaves()))
        self._world.arrived(self.agents[-1])
        return self.agents[-1]


class World(Rig):
    def __init__(self, loop: SimulatedLoop, most: int, cap: float) -> None:
        super().__init__(loop)
        self.truth = Truth()
        self.launcher = Machine(self)
        self.record = Recorded(SqliteStore(None, clock=self.clock, inline=True), self)
        self.store = Store(self.record)  # type: ignore[arg-type]
        self.configs = {"work": "work"}
        self.respawn = {"maxPerHour": most, "maxBackoff": f"{cap:g}s"}
        self.chance = 0.0
        self.quiet: set[str] = set()
        """Whose beats have stopped."""
        self.names = itertools.count(1)
        self.is_up = False
        self.is_beside = False
        """Two Arguses run: each tells a person what it sees."""
        self.companions: list[asyncio.Task[None]] = []

    # Argus lives and dies.

    def _tools(self, notes: Notes, timekeeper: Timekeeper) -> Tools:
        return replace(super()._tools(notes, timekeeper), chance=lambda: self.chance)

    def _new_id(self) -> str:
        return f"id{next(self.names)}"

    async def start(self) -> None:
        self.truth.trusted = self.clock.boot()
        await super().start()
        self.is_up = True

    async def kill(self) -> None:
        self.is_up = False
        await super().kill()

    async def runs_beside(self, seconds: float) -> None:
        """A second Argus on the same store and machine, that knows nothing of the first. Since when the first one has
        heard of somebody is not changed by that."""
        twin = copy.copy(self)
        twin.truth = replace(self.truth)
        self.is_beside = True
        await twin.start()
        await self.passes(seconds)
        await twin.kill()
        self.is_beside = False

    async def end(self) -> None:
        if self.is_up:
            await self.kill()
        for companion in self.companions:
            companion.cancel()
        await asyncio.gather(*self.companions, return_exceptions=True)
        await self.store.close()

    # What is noted.

    def committed(self, writes: Sequence[Any], events: Sequence[Event]) -> None:
        truth, now = self.truth, self.clock.boot()
        for event in events:
            if event.type == "agent_escalated" and not (self.is_beside and event.subject in truth.escalated):
                truth.escalated.append(event.subject)
            elif event.type == "agent_died" and truth.tasks.get(event.subject, _OURS).is_foreign:
                truth.judged.append(now - max(truth.tasks[event.subject].heard, truth.trusted))
            elif event.type == "spawn_failed":
                truth.task(event.subject).ended = now
        claims = [one.key for one in writes if isinstance(one, Claim)]
        if not claims:
            return
        (act,) = [one.act for one in writes if isinstance(one, OpenAct)]
        _, lineage, generation = claims[0].split(":")
        (data,) = [
            one.document.data
            for one in writes
            if isinstance(one, PutDocument) and one.document.id == act.intent["agent"]
        ]
        task = truth.tasks.setdefault(lineage, Task(data["task"]))
        ended = now if task.ended is None else task.ended
        truth.lineages[data["id"]] = lineage
        truth.claimed.append(
            Claimed(
                now,
                lineage,
                int(generation),
                data["id"],
                act.intent.get("wait"),
                task.over,
                now - ended,
                0.0 if task.began is None else ended - task.began,
                self.level,
            )
        )
        task.began = task.ended = None

    async def starting(self, launch: Launch) -> None:
        id = _name(launch.folder)
        if not any(one.id == id for one in self.truth.claimed):
            self.truth.unclaimed.append(id)

    def arrived(self, agent: FakeAgent) -> None:
        id = _name(agent.launch.folder)
        if agent.launch.folder.startswith("foreign/"):
            self.truth.lineages[id] = id
            self.truth.tasks[id] = Task(agent.launch.argv[1], is_foreign=True, is_known=False)
            self._watch(self._companion(id, agent))
        self.truth.task(id).began = self.clock.boot()
        self._watch(self._until_it_ends(id, agent))

    def _watch(self, work: Any) -> None:
        self.companions.append(self.loop.create_task(work))

    async def _until_it_ends(self, id: str, agent: FakeAgent) -> None:
        await agent.over.wait()
        task = self.truth.task(id)
        task.ended = self.clock.boot()
        # How one ended that somebody else started, nobody here can know.
        if agent.exit_status == 0 and not agent.launch.folder.startswith("foreign/"):
            task.over = task.over or "finished"

    async def _companion(self, id: str, agent: FakeAgent) -> None:
        while agent.vital is not Vital.DEAD:
            if self.is_up and id not in self.quiet:
                await self.beat(id, agent)
            await asyncio.sleep(INTERVAL)

    async def beat(self, id: str, agent: FakeAgent, status: str = "") -> None:
        beat = Beat(id, status, pid=agent.running.agent.pid)
        if agent.launch.folder.startswith("foreign/"):
            beat = replace(beat, task=agent.launch.argv[1], config="work", project="/project")
        beating = self.loop.create_task(self.crew.beat(beat))
        # An Argus that is killed meanwhile answers nobody.
        done, _ = await asyncio.wait([beating], timeout=5.0)
        if not done:
            beating.cancel()
            return
        pulse = beating.result()
        if pulse.ok:
            self.truth.task(id).heard = self.clock.boot()
            # Of a beat whose process is gone when it is looked for, nobody knows where that ran.
            self.truth.task(id).is_known |= agent.vital is not Vital.DEAD
            if status == "completed":
                self.truth.task(id).over = self.truth.task(id).over or "finished"
        elif agent.launch.folder.startswith("foreign/"):
            agent.exit(0)

    # The machine's agents.

    def alive(self) -> dict[str, FakeAgent]:
        return {_name(agent.launch.folder): agent for agent in self.launcher.living()}


def _name(folder: str) -> str:
    """The agent's id, of its run folder."""
    return folder.rpartition("/")[2]
