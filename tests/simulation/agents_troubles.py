"""What befalls the agents' world, and what must be true when it is over."""

import asyncio
import signal

from tests.simulation.agents_life import Plant
from tests.simulation.agents_rules import HOUR, name
from tests.simulation.agents_world import CONFIGS, World, watched
from tests.simulation.world import Broken

from argus.agents.crew import Crew
from argus.agents.messages import Beat, Pulse
from argus.agents.model import Agent, State
from argus.agents.stops import StopRequest
from argus.core.autonomy import Level
from argus.core.vital import Vital
from argus.testing import FakeAgent, SimulatedLoop

KINDS = {
    "spawn": 3,
    "die": 5,
    "exit_0": 1,
    "hang": 2,
    "wake": 1,
    "stop": 3,
    "approve": 1,
    "respawn": 1,
    "forget": 1,
    "kill": 3,
    "kill_with_agents": 1,
    "store": 2,
    "flaky": 1,
    "jump": 2,
    "reload": 1,
    "slow": 1,
    "fail": 1,
    "lose": 1,
    "quiet": 1,
    "ghost": 1,
    "shim": 1,
    "autonomy": 1,
    "folder": 1,
    "foreign": 1,
}
"""What happens, and how often beside the others."""
WRITTEN = 2.0
"""Seconds within which it is on record who was seen."""


class Troubles:
    def __init__(self, world: World) -> None:
        self._world = world
        self._chance = world.chance
        self._number = 0

    async def begin(self) -> None:
        await asyncio.sleep(1)
        for _ in range(self._chance.randint(1, 4)):
            await self._spawn()
        await self._foreign()

    async def one(self) -> None:
        (kind,) = self._chance.choices(list(KINDS), list(KINDS.values()))
        await getattr(self, f"_{kind}")()

    # Agents.

    def _living(self) -> FakeAgent | None:
        living = self._world.launcher.living()
        return self._chance.choice(living) if living else None

    def _any(self, *states: State) -> Agent | None:
        known = self._world.known(*states)
        return self._chance.choice(known) if known else None

    async def _spawn(self) -> None:
        self._number += 1
        task, config = f"task {self._number}", self._chance.choice(list(CONFIGS))
        self._world.unanswered.add(task)
        if await self._world.ask(lambda crew: crew.spawn(config, "/project", task, "me")):
            self._world.unanswered.discard(task)

    async def _foreign(self) -> None:
        if len(self._world.launcher.living()) < 6:
            self._number += 1
            self._world.launcher.admit(f"{self._chance.choice(['known', 'stranger', 'nobody'])}-{self._number}")

    async def _die(self) -> None:
        if agent := self._living():
            agent.exit(self._chance.choice([1, 137]))

    async def _exit_0(self) -> None:
        if agent := self._living():
            agent.exit(0)

    async def _shim(self) -> None:
        if agent := self._living():
            agent.kill_shim()

    async def _hang(self) -> None:
        if agent := self._living():
            agent.signal(signal.SIGSTOP)

    async def _wake(self) -> None:
        for agent in self._world.launcher.living():
            agent.signal(signal.SIGCONT)

    async def _quiet(self) -> None:
        if agent := self._living():
            self._world.quiet ^= {name(agent.launch.folder)}

    async def _ghost(self) -> None:
        """An earlier generation that was lost comes back: its beats are answered with an end."""
        documents = await self._world.store.documents("agents", live=False)
        if not documents:
            return
        id = self._chance.choice(documents).id
        self._world.ghosts.add(id)

        async def beat(crew: Crew) -> Pulse | None:
            # In the instant between the record and what follows from it, it is still there; its next beat is answered.
            return await crew.beat(Beat(id, "working")) if crew.peek(id) is None else None

        pulse = await self._world.ask(beat)
        if pulse is not None and pulse.ok:
            raise Broken(f"{id} is over, and its beat was taken")

    # What a person asks for.

    async def _stop(self) -> None:
        agent = self._any(*self._chance.choice([(), (), (State.SPAWNING,), (State.DEAD,)]))
        if agent is None:
            return
        grace = self._chance.choice([0.0, 5.0])
        self._world.asked[agent.lineage] = "stopped"
        if await self._world.ask(lambda crew: crew.stop(agent.id, grace, "me")):
            self._world.rules.over(agent.lineage, "stopped")

    async def _approve(self) -> None:
        agent = self._any()
        if agent is None:
            return
        made: StopRequest | None = await self._world.ask(lambda crew: crew.stops.ask(agent.id, "done", "", ""))
        if made is None:
            return
        await asyncio.sleep(self._chance.choice([0.0, 20.0]))
        self._world.asked[agent.lineage] = "stopped"
        if await self._world.ask(lambda crew: crew.stops.answer(made.id, True, "", "me")):
            documents = await self._world.store.documents("agents")
            if any(one.id == agent.id and one.data["stop"] for one in documents):
                # It is told when it beats next; one that never beats goes on, and is not started again.
                self._world.rules.over(agent.lineage, "allowed to end")

    async def _respawn(self) -> None:
        agent = self._any(*self._chance.choice([(State.DEAD,), ()]))
        if agent is None:
            return
        before = {act.id for act in await self._world.store.acts(kind="respawn_agent")}
        self._world.anyone_may_respawn = True
        await self._world.ask(lambda crew: crew.respawn(agent.id, "me"))
        self._world.anyone_may_respawn = False
        after = {act.id for act in await self._world.store.acts(kind="respawn_agent")}
        self._world.approved |= after - before

    async def _forget(self) -> None:
        agent = self._any(*self._chance.choice([(State.DEAD, State.UNKNOWN), (State.SPAWNING,)]))
        if agent is None:
            return
        self._world.asked[agent.lineage] = "forgotten"
        if await self._world.ask(lambda crew: crew.forget(agent.id, "me")):
            self._world.rules.over(agent.lineage, "forgotten")

    # Argus and what it stands on.

    async def _kill(self) -> None:
        await asyncio.sleep(self._chance.random() * 0.1)  # often right after something began
        await self._world.kill()
        await asyncio.sleep(self._chance.choice([0.1, 5, 60, 600]))
        self._world.start()

    async def _kill_with_agents(self) -> None:
        await self._world.kill()
        for agent in self._world.launcher.living():
            if self._chance.random() < 0.5:
                agent.exit(self._chance.choice([0, 1]))
        await asyncio.sleep(self._chance.choice([0.1, 60, 900]))
        self._world.start()

    async def _store(self) -> None:
        self._world.store_hangs = self._chance.choice([0.0, 0.0, 0.3, 4.0])
        self._world.store_is_broken = True
        await asyncio.sleep(self._chance.random() * 10)
        if self._chance.random() < 0.5:
            await self._die()
        await asyncio.sleep(self._chance.choice([5, 60, 300]))
        self._world.store_is_broken = False

    async def _flaky(self) -> None:
        self._world.replies_are_lost = True
        for _ in range(3):
            await asyncio.sleep(self._chance.choice([0.1, 5, 30]))
            await self._chance.choice([self._spawn, self._die, self._stop])()
        self._world.replies_are_lost = False

    async def _jump(self) -> None:
        match self._chance.choice(["sleep", "forward", "back", "stall"]):
            case "sleep":
                self._world.clock.sleep(self._chance.choice([60, 7200]))
            case "forward":
                self._world.clock.step(7200)
            case "back":
                self._world.clock.step(-3600)
            case "stall":
                self._world.loop.stall(self._chance.choice([10, 120]))

    async def _reload(self) -> None:
        some = {name: program for name, program in CONFIGS.items() if self._chance.random() < 0.7}
        self._configure(some)
        await asyncio.sleep(self._chance.choice([1, 60, 300]))
        self._configure(CONFIGS)

    def _configure(self, configs: dict[str, str]) -> None:
        self._world.settings = self._world.make_settings(configs)
        if self._world.crew:
            self._world.crew.configure(self._world.settings)

    async def _autonomy(self) -> None:
        self._world.autonomy = Level.OBSERVE
        await asyncio.sleep(self._chance.choice([1, 60, 300]))
        self._world.autonomy = Level.MODERATE

    async def _folder(self) -> None:
        self._world.folder_is_there = False
        await asyncio.sleep(self._chance.choice([1, 60, 300]))
        self._world.folder_is_there = True

    async def _slow(self) -> None:
        self._world.launcher.start_takes = self._chance.choice([5.0, 20.0, 45.0])
        await self._while_something_starts()
        self._world.launcher.start_takes = 0.01

    async def _fail(self) -> None:
        self._world.launcher.fails = "simulated: no more processes"
        await self._while_something_starts()
        self._world.launcher.fails = ""

    async def _lose(self) -> None:
        self._world.launcher.loses_replies = True
        await self._while_something_starts()
        self._world.launcher.loses_replies = False

    async def _while_something_starts(self) -> None:
        await self._chance.choice([self._spawn, self._die])()
        await asyncio.sleep(self._chance.choice([1, 12, 40]))
        await self._chance.choice([self._stop, self._kill, self._die, self._forget, self._approve])()
        await asyncio.sleep(self._chance.choice([0.1, 30, 120]))

    # Faults are over: within a bound every task has its agent, or a person was told.

    async def settle(self) -> None:
        await self._wake()
        self._world.quiet.clear()
        self._configure(CONFIGS)
        await asyncio.sleep(1500)
        for _ in range(40):
            if not self._world.known(State.SPAWNING) and not self._waiting():
                break
            await asyncio.sleep(20)  # it crashes again and again: caught between two starts
        self._world.check()
        await self._accounts()
        if acts := await self._world.store.open_acts():
            raise Broken(f"without an outcome: {acts}")
        assert self._world.crew is not None
        shown = {agent.id: agent.state.value for agent in self._world.crew.agents}
        kept = {one.id: one.data["state"] for one in await self._world.store.documents("agents")}
        if shown != kept:
            raise Broken(f"on record are {kept}, and in memory {shown}")
        await self._incidents()
        await self._words()
        if (waiting := self._world.crew._keeper.queue.qsize()) > 2:
            raise Broken(f"{waiting} messages wait")

    async def _incidents(self) -> None:
        """Every death that is not over has its one open incident, and no other is open."""
        kept = [one.data for one in await self._world.store.documents("agents")]
        troubles = {one["id"]: one["trouble"]["incident"] for one in kept if one["trouble"]}
        if dead := [one["id"] for one in kept if one["state"] == State.DEAD and one["id"] not in troubles]:
            raise Broken(f"dead without an incident: {dead}")
        found = await self._world.store.incidents(open_only=True, limit=10_000)
        if sorted(one.id for one in found) != sorted(troubles.values()):
            raise Broken(f"open are {found}, and agents have {troubles}")

    async def _words(self) -> None:
        """Who was seen, and is not on record as seen then, was seen just now."""
        assert self._world.crew is not None
        kept = {one.id: one.data["seen"] for one in await self._world.store.documents("agents")}
        for agent in self._world.crew.agents:
            if agent.seen is None or self._world.clock.boot() - agent.seen.boot < WRITTEN:
                continue
            if kept[agent.id] is None or kept[agent.id]["boot"] < agent.seen.boot:
                raise Broken(f"{agent.id} was seen at {agent.seen.boot:.1f}, and on record is {kept[agent.id]}")

    def _waiting(self) -> bool:
        return any(agent.gate in ("", "backoff", "record") for agent in self._world.known(State.DEAD))

    async def _accounts(self) -> None:
        newest: dict[str, dict[str, object]] = {}
        for live in (False, True):
            for document in await self._world.store.documents("agents", live=live):
                lineage, generation = document.data["lineage"], document.data["generation"]
                if lineage not in newest or newest[lineage]["generation"] < generation:  # type: ignore[operator]
                    newest[lineage] = document.data
        for lineage, data in newest.items():
            self._account(lineage, data)

    def _account(self, lineage: str, data: dict[str, object]) -> None:
        world = self._world
        over = world.rules.tasks[lineage].over
        living = [agent for agent in world.launcher.living() if world.rules.lineage(agent) == lineage]
        state = data["state"]
        if over == "stopped" and living:
            raise Broken(f"{lineage} was stopped, and {len(living)} of it live")
        if over or (state == State.REMOVED and (lineage in world.asked or data["task"] in world.unanswered)):
            return
        if state == State.ALIVE and [agent.vital for agent in living] == [Vital.ALIVE]:
            return
        if state == State.UNKNOWN or (state == State.DEAD and data["gate"]):
            return  # a person was told
        raise Broken(f"{lineage} is lost: {data}, living {[agent.launch.folder for agent in living]}")


async def play(loop: SimulatedLoop, seed: int, plant: Plant) -> World:
    world = World(loop, seed, plant)
    with watched(world):
        world.start()
        troubles = Troubles(world)
        await troubles.begin()
        until = loop.time() + 1.5 * HOUR
        while loop.time() < until:
            await asyncio.sleep(world.chance.choice([0.01, 1.0, 15.0, world.chance.expovariate(1 / 240)]))
            world.check()
            await troubles.one()
        await troubles.settle()
        await world.end()
    return world
