"""What must always hold in the agents' world, checked from outside: on the machine and on the record."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from argus.agents.starts import RESPAWN
from argus.core.errors import ArgusError
from argus.core.vital import Vital
from argus.host.launching import Launch
from argus.store.records import Act, Claim, Document
from argus.testing import FakeAgent

if TYPE_CHECKING:
    from tests.simulation.agents_world import World

HOUR = 3600.0
HEALTHY = 600.0
BASE, CAP = 10.0, 300.0
_OUTCOMES = ("agent_spawned", "agent_respawned", "spawn_failed", "stop_finished")


@dataclass
class Task:
    """One lineage, as it truly is."""

    respawns: list[float] = field(default_factory=list)
    ended: float | None = None
    """When its last generation did, by the boot clock."""
    tries: int = 0
    """Starts since it was last healthy."""
    over: str = ""
    """Why nothing may be started for it any more."""


class Rules:
    def __init__(self, world: "World") -> None:
        self._world = world
        self.tasks: defaultdict[str, Task] = defaultdict(Task)
        self.lineages: dict[str, str] = {}
        """Of every id."""
        self.began: dict[str, float] = {}
        self.found: str | None = None
        self._seen: set[str] = set()
        self._outcomes = Counter[str]()

    def broken(self, what: str) -> None:
        """Noted and raised by the player: raised here it would be Argus that has to live with it."""
        self.found = self.found or f"{what} (at {self._world.clock.boot():.1f})"

    def over(self, lineage: str, why: str) -> None:
        self.tasks[lineage].over = self.tasks[lineage].over or why

    def lineage(self, agent: FakeAgent) -> str:
        id = name(agent.launch.folder)
        return self.lineages.get(id, id)

    # What Argus does to the machine.

    async def starting(self, launch: Launch) -> None:
        id = name(launch.folder)
        if self._world.launcher.ran(launch.folder) or id in self._seen:
            return  # carried out once more: its latch, and the rules of its first time, hold for it
        document = await self._document(id)
        if document is None:
            self.broken(f"{id} was started and is not on record")
            return
        lineage, generation = document.data["lineage"], document.data["generation"]
        self.lineages[id] = lineage
        self._seen.add(id)
        acts = [act for act in await self._world.store.open_acts() if act.intent.get("agent") == id]
        starts = [act for act in acts if act.kind != "stop_agent"]
        if len(starts) != 1:
            self.broken(f"{id} was started with {len(starts)} intents on record")
            return
        await self._claimed(lineage, generation)
        task = self.tasks[lineage]
        if document.data["stop"] or task.over:
            self.broken(f"{id} was started, and its task was {task.over or 'stopped'}")
        if starts[0].kind == RESPAWN:
            self._respawn(id, task, starts[0])

    async def _document(self, id: str) -> Document | None:
        return next((one for one in await self._world.store.documents("agents") if one.id == id), None)

    async def _claimed(self, lineage: str, generation: int) -> None:
        try:
            await self._world.store.commit(Claim(f"agent:{lineage}:{generation}", 0.0))
        except ArgusError:
            return
        self.broken(f"generation {generation} of {lineage} was started without its claim")

    def _respawn(self, id: str, task: Task, act: Act) -> None:
        recent = [at for at in task.respawns if act.begun.boot - at <= HOUR]
        task.respawns.append(act.begun.boot)
        task.tries += 1
        if self._world.anyone_may_respawn or act.id in self._world.approved:
            return  # a person may pass the cap and the wait
        if len(recent) >= self._world.most:
            self.broken(f"{id} is more than {self._world.most} respawns of its task in an hour")
        if task.ended is not None:
            least = min(CAP, BASE * 2 ** (task.tries - 1))
            if act.begun.boot - task.ended < least - 0.1:
                waited = act.begun.boot - task.ended
                self.broken(f"{id} was respawned after {waited:.1f} s, and {least:g} is the least (try {task.tries})")

    def arrived(self, agent: FakeAgent) -> None:
        id = name(agent.launch.folder)
        self.began[id] = self._world.clock.boot()
        self.together()

    def ended(self, agent: FakeAgent) -> None:
        id = name(agent.launch.folder)
        task = self.tasks[self.lineage(agent)]
        task.ended = self._world.clock.boot()
        if task.ended - self.began.get(id, task.ended) >= HEALTHY:
            task.tries = 0
        if agent.exit_status == 0 and not agent.launch.folder.startswith("foreign/"):
            task.over = task.over or "finished"

    def together(self) -> None:
        living = Counter[str]()
        for agent in self._world.launcher.agents:
            id = name(agent.launch.folder)
            if agent.vital is not Vital.DEAD and id not in self._world.ghosts:
                living[self.lineages.get(id, id)] += 1
        for lineage, count in living.items():
            if count > 1:
                self.broken(f"{count} agents live for one task, {lineage}")

    # What Argus says.

    def recorded(self, events: list[Any]) -> None:
        for event in events:
            if event.type == "loop_crashed":
                self.broken(f"a loop of Argus crashed: {event.data}")
            if event.type == "spawn_failed" and (lineage := self.lineages.get(event.data["agent_id"])):
                # It never began: its wait counts from when that was known.
                self.tasks[lineage].ended = self._world.clock.boot()
            if event.type in _OUTCOMES:
                act = event.data["act"]
                self._outcomes[act] += 1
                if self._outcomes[act] > 1:
                    self.broken(f"act {act} got two outcomes")


def name(folder: str) -> str:
    """The agent's id, of its run folder."""
    return folder.rpartition("/")[2].partition("#")[0]
