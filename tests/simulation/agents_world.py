"""A seeded world in which the deciding code of the agents' part runs unchanged."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from tests.simulation.agents_life import Dead, Life, LifeLauncher, Plant
from tests.simulation.agents_rules import Rules, name
from tests.simulation.world import Broken

from argus.agents import policy
from argus.agents.crew import Crew
from argus.agents.ledger import Ledger
from argus.agents.messages import Beat
from argus.agents.model import Agent, State
from argus.agents.settings import Agents as Settings
from argus.agents.tools import Tools
from argus.core.autonomy import Level
from argus.core.errors import ArgusError
from argus.core.vital import Vital
from argus.host.identity import Identity
from argus.host.launching import Launch, Running
from argus.store.notes import Notes
from argus.store.sqlite import SqliteStore
from argus.testing import Behaves, FakeAgent, FakeClock, FakeConversations, FakeLauncher, FakeWorktrees, SimulatedLoop
from argus.timekeeper import Timekeeper

HERE = "here"
CONFIGS = {"Worker": "work", "crasher": "crash", "brief": "finish", "gpt4": "work"}


class Machine(FakeLauncher):
    """Says who came and who went."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world
        self.programs = {
            "work": Behaves(),
            "crash": Behaves(seconds=20.0, exit_status=1),
            "finish": Behaves(seconds=300.0),
        }

    def ran(self, folder: str) -> bool:
        return any(name(agent.launch.folder) == name(folder) for agent in self.agents)

    def _arrive(self, *what: Any) -> None:
        before = len(self.agents)
        super()._arrive(*what)
        for agent in self.agents[before:]:
            self._world.arrived(agent)

    def admit(self, id: str) -> FakeAgent:
        """Somebody else started it."""
        number = 1000 + 2 * len(self.agents)
        agent, shim = Identity(number + 1, str(number + 1)), Identity(number, str(number))
        launch = Launch(f"foreign/{id}", ("theirs",), "/project", "")
        self.agents.append(FakeAgent(launch, Running(agent, shim, "", launch.folder), Behaves()))
        self._world.arrived(self.agents[-1])
        return self.agents[-1]


@dataclass(eq=False)
class World:
    loop: SimulatedLoop
    seed: int
    plant: Plant = field(default_factory=Plant)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.clock = FakeClock(self.loop)
        self.launcher = Machine(self)
        self.rules = Rules(self)
        self.store = SqliteStore(None, clock=self.clock, inline=True, token=lambda: "sim")
        self.store_is_broken = False
        self.store_hangs = 0.0
        """Seconds until a write that fails does."""
        self.replies_are_lost = False
        self.transactions: dict[str, bool] = {}
        self.autonomy = Level.MODERATE
        self.folder_is_there = True
        self.most = self.chance.choice([2, 3, 5])
        self.settings = self.make_settings(CONFIGS)
        self.ids = 0
        self.ghosts: set[str] = set()
        """Agents of an earlier generation that came back."""
        self.approved: set[str] = set()
        """Acts that a person asked for."""
        self.anyone_may_respawn = False
        """A person asks for a respawn just now."""
        self.asked: dict[str, str] = {}
        """What was asked for a lineage and not answered: it may have been done."""
        self.unanswered: set[str] = set()
        """Tasks whose spawn was not confirmed."""
        self.quiet: set[str] = set()
        self.life: Life | None = None
        self.crew: Crew | None = None
        self._running: asyncio.Task[None] | None = None
        self._companions: set[asyncio.Task[None]] = set()

    def make_settings(self, configs: dict[str, str]) -> Settings:
        return Settings.model_validate(
            {
                "respawn": {"maxPerHour": self.most},
                "configs": {name: {"command": [program, "{{task}}"]} for name, program in configs.items()},
            }
        )

    # Argus lives and dies.

    def start(self) -> None:
        self.life = Life(self)
        self._running = self.loop.create_task(self._run(self.life))

    async def _run(self, life: Life) -> None:
        while True:
            notes = Notes(life, self.clock)
            timekeeper = Timekeeper(self.clock, notes)
            crew = self._crew(life, notes, timekeeper)
            try:
                await crew.restore()
                break
            except ArgusError:
                await asyncio.sleep(5)
        timekeeper.on_jump(crew.time_jumped)
        if self.plant.fences_nobody:
            crew._keeper.ledger.over = _Forgetful()
        if self.plant.sleeps_after_trouble:
            crew._keeper.ledger.seen = _Drowsy(crew._keeper.ledger)
        self.crew = crew
        async with asyncio.TaskGroup() as group:
            group.create_task(crew.run())
            group.create_task(timekeeper.run())
            group.create_task(notes.run())

    def _crew(self, life: Life, notes: Notes, timekeeper: Timekeeper) -> Crew:
        return Crew(
            self.settings,
            Tools(
                launcher=LifeLauncher(life, self),
                conversations=FakeConversations(),
                worktrees=FakeWorktrees(),
                store=life,
                notes=notes,
                clock=self.clock,
                autonomy=lambda: self.autonomy,
                time_is_sound=timekeeper.sound,
                new_id=self.new_id,
                new_session=self.new_id,
                chance=self.chance.random,
                host=HERE,
                space="",
                runs=lambda: (),
                run_folder=lambda id: f"runs/{id}",
                environment=lambda id, project: {},
                is_folder=lambda path: self.folder_is_there,
            ),
        )

    async def kill(self) -> None:
        """SIGKILL: nothing that runs afterwards may reach the world."""
        assert self.life is not None
        assert self._running is not None
        self.life.dead = True
        self.crew = None
        self._running.cancel()
        await asyncio.wait([self._running])
        if not self._running.cancelled() and (error := self._running.exception()):
            raise error

    async def end(self) -> None:
        for task in self._companions:
            task.cancel()
        await self.kill()

    def new_id(self) -> str:
        self.ids += 1
        return f"id{self.ids}"

    def check(self) -> None:
        self.rules.together()
        if self.rules.found:
            raise Broken(self.rules.found)
        if self._running and self._running.done() and (error := self._running.exception()):
            raise error

    # Agents and their signs of life.

    def arrived(self, agent: FakeAgent) -> None:
        self.rules.arrived(agent)
        self._start(self._until_it_ends(agent))
        if agent.launch.folder.startswith("foreign/") or self.chance.random() < 0.5:
            self._start(self._companion(agent))

    def _start(self, work: Any) -> None:
        task = self.loop.create_task(work)
        self._companions.add(task)
        task.add_done_callback(self._companions.discard)

    async def _until_it_ends(self, agent: FakeAgent) -> None:
        await agent.over.wait()
        self.rules.ended(agent)

    async def _companion(self, agent: FakeAgent) -> None:
        id = name(agent.launch.folder)
        pid = 0 if id.startswith("nobody") else agent.running.agent.pid
        while agent.vital is not Vital.DEAD:
            if id not in self.quiet and agent.vital is Vital.ALIVE:
                pulse = await self.ask(lambda crew: crew.beat(Beat(id, "working", pid=pid, config=self._config(agent))))
                if pulse is not None and not pulse.ok:
                    agent.exit(0)
            await asyncio.sleep(self.chance.uniform(20, 40))

    def _config(self, agent: FakeAgent) -> str:
        return "Worker" if agent.launch.folder.startswith("foreign/known") else ""

    async def ask(self, question: Any) -> Any:
        """None when there is no answer: it was refused, or Argus is dead."""
        crew = self.crew
        if crew is None:
            return None
        with contextlib.suppress(ArgusError, TimeoutError, Dead):
            async with asyncio.timeout(10):
                return await question(crew)
        return None

    def known(self, *states: State) -> list[Agent]:
        agents = self.crew.agents if self.crew else []
        return [agent for agent in agents if not states or agent.state in states]


class _Forgetful(dict[str, str]):
    def __contains__(self, key: object) -> bool:
        return False

    def get(self, key: Any, default: Any = None) -> Any:
        return default


class _Drowsy(asyncio.Event):
    """Wakes who writes for the first that was seen, and not for those whose writing failed."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    def set(self) -> None:
        if not self._ledger.unwritten:
            super().set()


class _Alarm(logging.Handler):
    """What Argus logs as a crash of its own is a bug."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(logging.ERROR)
        self._rules = rules

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, Dead | ArgusError):
            self._rules.broken(f"{record.getMessage()}: {error!r}")


@contextlib.contextmanager
def watched(world: World) -> Iterator[None]:
    log, alarm = logging.getLogger("argus"), _Alarm(world.rules)
    before = log.propagate
    log.addHandler(alarm)
    log.propagate = False
    try:
        with patch.object(policy, "decide", world.plant.decide):
            yield
    finally:
        log.removeHandler(alarm)
        log.propagate = before
