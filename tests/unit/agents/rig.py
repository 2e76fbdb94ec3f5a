"""A machine with agents, and an Argus on it that can be killed and started again, on virtual time."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from argus.agents.crew import Crew
from argus.agents.settings import Agents as Settings
from argus.agents.tools import Tools
from argus.core.autonomy import Level
from argus.core.depending import Broke, Broken, Thing
from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.store.notes import Notes
from argus.store.records import Append, OpenAct, Undecided
from argus.store.sqlite import SqliteStore
from argus.testing import (
    Behaves,
    FakeAgent,
    FakeClock,
    FakeConversations,
    FakeLauncher,
    FakeWorktrees,
    SimulatedLoop,
    run_simulated,
)
from argus.timekeeper import Timekeeper


class Store:
    """The real store behind a disk that can be full, and a line on which answers can be lost."""

    def __init__(self, real: SqliteStore) -> None:
        self._real = real
        self.full = False
        self.loses_answers = 0
        self.loses_the_next_intents = False
        """The answer to it alone."""
        self.fails_once_for = 0
        """Intents that find the disk full; what is noted between them is written."""
        self.slow = 0.0
        self.commits: list[list[str]] = []
        """What went into each: the types of its events, and the kinds of its other writes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def commit(self, *writes: Any) -> list[Event]:
        if self.full:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        if self.fails_once_for and any(isinstance(write, OpenAct) for write in writes):
            self.fails_once_for -= 1
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        events = await self._real.commit(*writes)
        self.commits.append([one.draft.type if isinstance(one, Append) else type(one).__name__ for one in writes])
        await asyncio.sleep(self.slow)
        if self.loses_the_next_intents and any(isinstance(write, OpenAct) for write in writes):
            self.loses_the_next_intents = False
            raise Undecided("the line was lost", "t1")
        if self.loses_answers:
            self.loses_answers -= 1
            raise Undecided("the line was lost", "t1")
        return events

    async def was_committed(self, transaction: str) -> bool:
        return transaction == "t1"


class Rig:
    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.clock = FakeClock(loop)
        self.launcher = FakeLauncher()
        self.conversations = FakeConversations()
        self.worktrees = FakeWorktrees()
        self.launcher.programs = {"work": Behaves(), "crash": Behaves(1.0, 1), "finish": Behaves(60.0)}
        self.store = Store(SqliteStore(None, clock=self.clock, inline=True))
        self.level = Level.MODERATE
        self.folders = True
        self.host = "here"
        self.configs = {"work": "work", "crash": "crash", "finish": "finish", "gpt4": "work", "apart": "work"}
        self.respawn: dict[str, Any] = {}
        self.down: dict[str, str] = {}
        """Services that are down, with their incidents."""
        self.needs: dict[str, list[str]] = {}
        """Of configs."""
        self.ids = 0
        self.runs: list[str] = []
        self.space = ""
        self._running: asyncio.Task[None] | None = None

    @property
    def settings(self) -> Settings:
        configs = {
            name: {
                "command": [program, "{{task}}"],
                "worktree": name == "apart",
                "dependsOn": self.needs.get(name, []),
            }
            for name, program in self.configs.items()
        }
        return Settings.model_validate({"configs": configs, "respawn": self.respawn})

    async def start(self) -> None:
        notes = Notes(self.store, self.clock)
        timekeeper = Timekeeper(self.clock, notes)
        self.crew = crew = Crew(self.settings, self._tools(notes, timekeeper))
        timekeeper.on_jump(crew.time_jumped)
        await crew.restore()

        async def run() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(crew.run())
                group.create_task(timekeeper.run())
                group.create_task(notes.run())

        self._running = self.loop.create_task(run())

    def _tools(self, notes: Notes, timekeeper: Timekeeper) -> Tools:
        return Tools(
            launcher=self.launcher,
            conversations=self.conversations,
            worktrees=self.worktrees,
            store=self.store,
            notes=notes,
            clock=self.clock,
            autonomy=lambda: self.level,
            time_is_sound=timekeeper.sound,
            new_id=self._new_id,
            new_session=self._new_id,
            chance=lambda: 0.0,
            host=self.host,
            space=self.space,
            runs=lambda: self.runs,
            run_folder=lambda id: f"runs/{id}",
            environment=lambda id, project: {},
            is_folder=lambda path: self.folders,
            broken=self._broken,
        )

    def _broken(self, needs: tuple[Thing, ...]) -> Broke:
        return tuple(Broken(one, 0.0, incident=self.down[one.name]) for one in needs if one.name in self.down)

    async def kill(self) -> None:
        assert self._running is not None
        self._running.cancel()
        await asyncio.wait([self._running])

    async def passes(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def spawn(self, config: str = "work") -> str:
        agent = await self.crew.spawn(config, "/project", "mend it", "me")
        await self.passes(1)
        return agent.id

    def process(self, id: str) -> FakeAgent:
        return self.launcher.agent(f"runs/{id}")

    @property
    def living(self) -> list[str]:
        return [agent.launch.folder.removeprefix("runs/") for agent in self.launcher.living()]

    @property
    def ever(self) -> list[str]:
        return [agent.launch.folder.removeprefix("runs/") for agent in self.launcher.agents]

    def state(self, id: str) -> str:
        return next((agent.state.value for agent in self.crew.agents if agent.id == id), "over")

    async def said(self, *types: str) -> list[str]:
        events = await self.store.events(0, limit=10_000, channel="agents")
        return [event.type for event in events if not types or event.type in types]

    async def recorded(self, id: str) -> dict[str, Any]:
        for live in (True, False):
            for document in await self.store.documents("agents", live=live):
                if document.id == id:
                    return dict(document.data)
        raise AssertionError(f"{id} is not on record")

    def _new_id(self) -> str:
        self.ids += 1
        return f"id{self.ids}"


def simulated(scenario: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    def test(**given: Any) -> None:
        async def whole(loop: SimulatedLoop) -> None:
            rig = Rig(loop)
            try:
                await scenario(rig, **given)
            finally:
                if rig._running is not None:
                    await rig.kill()
                await rig.store.close()

        run_simulated(whole)

    parameters = list(inspect.signature(scenario).parameters.values())[1:]
    test.__name__, test.__doc__, test.__module__ = scenario.__name__, scenario.__doc__, scenario.__module__
    test.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return test
