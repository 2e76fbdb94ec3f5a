"""A simulated world of sessions: agents whose context grows with every turn, who write what they are asked for, or do
not; terminals in which somebody types; an Argus that is killed and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.simulation.world import Broken

from argus.core.autonomy import Level
from argus.core.clock import stamp
from argus.sessions.keeper import Sessions
from argus.sessions.model import Activity, ContextReading, Source
from argus.sessions.outputs import Reach
from argus.sessions.session import Place
from argus.sessions.settings import Sessions as Settings
from argus.sessions.signals import Sign
from argus.sessions.spawns import Output
from argus.sessions.tools import Answer, Before, Leaf, Seen, Told, Tools
from argus.store.notes import Notes
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock
from argus.typist import Leave, Line

WINDOW = 200_000
_PATH = re.compile(r"Write it to (\S+)$")


@dataclass
class Document:
    size: int
    modified: float
    whole: bool = False


@dataclass
class Agent:
    """One conversation after the other in one terminal."""

    name: str
    chance: random.Random
    folder: str
    used: int = 20_000
    conversation: int = 1
    state: Activity = Activity.IDLE
    highest: float = 0.0
    handoffs: int = 0
    lost: int = 0
    asked: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    """What was typed while it worked."""
    resumed_from: str = ""
    prompt: str = ""
    """What stands at its prompt, not yet submitted."""
    pasted: float = 0.0

    @property
    def id(self) -> str:
        return f"{self.name}-{self.conversation}"


class World:
    def __init__(self, loop: asyncio.AbstractEventLoop, seed: int, agents: int, *, troubles: bool) -> None:
        self.chance = random.Random(seed)
        self.clock = FakeClock(loop)
        self.store = SqliteStore(None, clock=self.clock, inline=True)
        self.troubles = troubles
        self.documents: dict[str, Document] = {}
        self.agents = {f"p{n}": Agent(f"p{n}", random.Random(f"{seed}-{n}"), f"/work/p{n}") for n in range(agents)}
        self.argus: Sessions | None = None
        self.life: asyncio.Task[None] | None = None
        self.typing = asyncio.Event()
        """Something was pasted, and not submitted yet."""
        self._ids = 0
        self._turns: set[asyncio.Future[None]] = set()

    # Argus's own life.

    def settings(self) -> Settings:
        projects = {name: {"path": agent.folder} for name, agent in self.agents.items()}
        return Settings.model_validate({"projects": projects, "lookEvery": "60s", "handoff": {"gap": "5s"}})

    async def up(self) -> None:
        notes = Notes(self.store, self.clock)
        tools = Tools(
            self.store, notes, self.clock, lambda: Level.MODERATE, lambda: True, self.new_id, self, self, self
        )
        self.argus = Sessions(self.settings(), tools)
        await self.argus.restore()
        self.life = asyncio.ensure_future(self.argus.run())

    async def kill(self) -> None:
        assert self.life is not None
        self.argus = None
        self.life.cancel()
        await asyncio.gather(self.life, return_exceptions=True)

    async def wait_for_typing(self) -> float:
        """The worst moment to be killed at. Returns the seconds until it came, or that were enough."""
        began = self.clock.boot()
        self.typing.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(3600):
                await self.typing.wait()
        return self.clock.boot() - began

    def new_id(self) -> str:
        self._ids += 1
        return f"id{self._ids}"

    # The agents.

    async def work(self, agent: Agent) -> None:
        """Turn after turn. A turn grows the context, and takes a while."""
        chance = agent.chance
        while True:
            await asyncio.sleep(chance.uniform(20, 600))
            if agent.prompt and self.clock.boot() - agent.pasted > 1800:
                raise Broken(f"a line of Argus's own stands at the prompt of {agent.name} and is in the way")
            if agent.state is Activity.IDLE:
                await self.turn(agent, None)

    async def turn(self, agent: Agent, prompt: str | None) -> None:
        chance = agent.chance
        conversation = agent.conversation
        self.tell(agent, Activity.WORKING, event="UserPromptSubmit")
        for _ in range(chance.randint(1, 4)):
            await asyncio.sleep(chance.uniform(2, 60))
            if agent.conversation != conversation:
                return
            agent.used += chance.randint(500, 2_500)
            agent.highest = max(agent.highest, agent.used / WINDOW)
            self.tell(agent, Activity.WORKING, event="PostToolUse")
            if agent.pending:
                prompt = agent.pending.pop(0)  # taken up between two tools, as the real ones do
                break
        path = _PATH.search(prompt or "")
        if path and not (self.troubles and chance.random() < 0.15):
            await self.write(agent, path.group(1))
        await asyncio.sleep(0.2)
        if agent.conversation != conversation:
            return
        self.tell(agent, Activity.IDLE, event="Stop")
        if agent.pending:
            self.begin(agent, agent.pending.pop(0))

    def begin(self, agent: Agent, prompt: str) -> None:
        turn = asyncio.ensure_future(self.turn(agent, prompt))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)

    async def write(self, agent: Agent, path: str) -> None:
        """In pieces, now and then."""
        pieces = agent.chance.randint(1, 4) if self.troubles else 1
        document = self.documents.setdefault(path, Document(0, self.clock.wall()))
        for _ in range(pieces):
            await asyncio.sleep(agent.chance.uniform(0.1, 8))
            document.size += 400
            document.modified = self.clock.wall()
        document.whole = True

    def tell(self, agent: Agent, activity: Activity, *, event: str, clears: bool = False) -> None:
        agent.state = activity
        if self.argus is None:
            return
        now = stamp(self.clock)
        reading = ContextReading(agent.used, WINDOW, Source.HOOK, now, agent.id)
        sign = Sign(activity, Source.HOOK, now, agent.id, event, context=reading, clears=clears, starts=clears)
        self.argus.heard("claude", agent.folder, sign)

    # What Argus sees and does.

    async def look(self, place: Place, conversation: str) -> Seen:
        agent = self.agents[place.project]
        return Seen(alive=True, signs=(), conversation=agent.id, sources=2, line=Line(agent.prompt))

    async def spoken(self, place: Place, conversation: str, ours: Sequence[str]) -> bool | None:
        return None

    async def type(
        self, place: Place, text: str, *, command: bool, before: Before, told: Told | None, left: bool = False
    ) -> Answer:
        agent = self.agents[place.project]
        if left != (agent.prompt == text) or (agent.prompt and not left):
            return Answer(False, again=True, reason="somebody has begun to type")
        if self.troubles and self.chance.random() < 0.2:
            return Answer(False, again=True, reason="somebody has begun to type")
        await before()
        agent.prompt, agent.pasted = text, self.clock.boot()
        self.typing.set()
        await asyncio.sleep(0.3)  # who is killed here leaves it at the prompt
        agent.prompt = ""
        if command:
            self.clear(agent)
            return Answer(True)
        if text.startswith("Create") or "Create handoff" in text:
            agent.asked.append(text)
        if text.startswith("Read handoff from"):
            self.resume(agent, text.split()[3])
        if agent.state is Activity.WORKING:
            agent.pending.append(text)
        else:
            self.begin(agent, text)
        certain = not (self.troubles and self.chance.random() < 0.1)
        return Answer(True, certain=certain, reason="" if certain else "nothing tells that it was taken")

    async def erase(self, place: Place, text: str) -> bool:
        agent = self.agents[place.project]
        if agent.prompt == text and agent.state is not Activity.WORKING:
            agent.prompt = ""
        return not agent.prompt

    async def interrupt(self, place: Place, before: Before) -> Answer:
        await before()
        agent = self.agents[place.project]
        self.tell(agent, Activity.IDLE, event="Stop")
        return Answer(True)

    async def answer(self, place: Place, id: str, leave: Leave, before: Before) -> Answer:
        raise Broken(f"{place.project} asks nothing, and was answered")

    def clear(self, agent: Agent) -> None:
        asked = [_PATH.search(one) for one in agent.asked]
        paths = [one.group(1) for one in asked if one]
        if not paths or not (self.documents.get(paths[-1]) or Document(0, 0)).whole:
            raise Broken(f"{agent.name} was cleared without the complete handoff that was asked for")
        if agent.state is not Activity.IDLE:
            raise Broken(f"{agent.name} was cleared while it was {agent.state}")
        agent.conversation += 1
        agent.used = 15_000
        agent.pending.clear()
        agent.handoffs += 1
        agent.resumed_from = ""
        self.tell(agent, Activity.IDLE, event="SessionStart", clears=True)

    def resume(self, agent: Agent, path: str) -> None:
        if agent.resumed_from == path:
            raise Broken(f"{agent.name} was told to resume twice")
        agent.resumed_from = path

    # Files.

    async def choose(self, place: Place, wall: float) -> str:
        return f"{place.handoff_folder}/handoff-{self.new_id()}.md"

    async def leaf(self, place: Place, path: str) -> Leaf | None:
        found = self.documents.get(path)
        return Leaf(1, found.size, found.modified) if found else None

    async def output(self, path: str, reach: Reach) -> Output:
        return Output(None)

    async def settle(self, path: str, reach: Reach) -> str:
        return path


async def play(loop: asyncio.AbstractEventLoop, seed: int, *, agents: int, hours: float, troubles: bool) -> World:
    world = World(loop, seed, agents, troubles=troubles)
    await world.up()
    works = [asyncio.ensure_future(world.work(agent)) for agent in world.agents.values()]
    left = hours * 3600
    while left > 0:
        pause = min(left, world.chance.uniform(600, 7200)) if troubles else left
        await asyncio.sleep(pause)
        left -= pause
        if troubles and world.chance.random() < 0.5:
            left -= await world.wait_for_typing()
        for one in works:
            if one.done():
                one.result()
        if troubles and left > 0:
            await world.kill()
            await asyncio.sleep(world.chance.uniform(0, 60))
            await world.up()
    for one in works:
        one.cancel()
    await world.kill()
    await asyncio.gather(*works, return_exceptions=True)
    return world
