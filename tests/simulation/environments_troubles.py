"""What befalls the environments' world, and what must be true when it is over."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from tests.simulation.environments_life import Plant
from tests.simulation.environments_rules import BY_ITSELF
from tests.simulation.environments_world import Plan, World, watched
from tests.simulation.world import Broken

from argus.environments.book import SETUP
from argus.environments.guarding.model import State
from argus.environments.labels import MANAGED, PROJECT, RUN, Owner, labels
from argus.environments.runs import State as Standing
from argus.host.engine.resources import Volume
from argus.testing import FakeContainer, FakeImage, SimulatedLoop

MINUTES = 40
KINDS = {
    "crash": 8,
    "run_out": 2,
    "finish": 1,
    "loop": 3,
    "shot": 2,
    "stop": 4,
    "remove": 1,
    "begin": 3,
    "sicken": 4,
    "heal": 2,
    "refuse": 1,
    "kill": 3,
    "snipe": 3,
    "leave": 1,
    "engine": 3,
    "reboot": 1,
    "away": 2,
    "freeze": 2,
    "unreachable": 2,
    "replies": 2,
    "events": 2,
    "store": 2,
    "answers": 1,
    "jump": 3,
    "setup": 2,
    "clean": 1,
    "look": 2,
    "rest": 1,
}
"""What happens, and how often beside the others."""


class Troubles:
    def __init__(self, world: World) -> None:
        self._world = world
        self._chance = world.chance
        self._neighbours: dict[str, str] = {}
        """Whose strangers' things are."""

    async def begin(self) -> None:
        self._settle_strangers()
        await asyncio.sleep(1)
        for plan in self._world.plans.values():
            done = await self._world.call(lambda one, plan=plan: one.setup(plan.asked, timeout=None))
            if done is None:
                raise Broken(f"{plan.key} could not be set up at the very beginning")

    async def one(self) -> None:
        (kind,) = self._chance.choices(list(KINDS), list(KINDS.values()))
        await getattr(self, f"_{kind}")()

    def _settle_strangers(self) -> None:
        """What nobody here may touch; and one leftover of a daemon that is dead, which may go."""
        world = self._world
        far = Owner("far", "boot-9", 7, "7", "/home/far")
        other = Owner("here", "boot-1", 4242, "1", "/home/other")
        dead = Owner("here", "boot-1", 4343, "1", "/home/dead")
        at = "2027-01-01T00:00:00Z"
        carried: dict[str, dict[str, str]] = {
            "nobodys": {},
            "unmanaged": {PROJECT: "shop", RUN: "r1"},
            "anothers": {MANAGED: "true", PROJECT: "bank", RUN: "r2"},
            "alike": {MANAGED: "true", PROJECT: "shop2", RUN: "r3"},
            "far": labels("shop", "r4", far, at),
            "neighbour": labels("shop", "r5", other, at),
        }
        engine = world.engine
        for name, its in carried.items():
            one = engine.add(name, labels=its, state=self._chance.choice(["running", "exited"]), starts=1)
            engine.volumes_by_name[f"{name}-data"] = Volume(f"{name}-data", its, 0.0)
            world.strangers |= {one.id: one.starts, f"{name}-data": 0}
            self._neighbours |= {one.id: name, f"{name}-data": name}
        engine.add("left", labels=labels("shop", "r6", dead, at), state="exited", starts=1)

    # Containers.

    def _guarded(self, *states: str) -> FakeContainer | None:
        found = [one for one in self._world.guarded() if not states or one.state in states]
        return self._chance.choice(found) if found else None

    async def _crash(self) -> None:
        if one := self._guarded("running"):
            one.end(7)

    async def _run_out(self) -> None:
        if one := self._guarded("running"):
            one.end(self._chance.choice([0, 1, 137]), out_of_memory=True)

    async def _shot(self) -> None:
        if (one := self._guarded("running")) and self._world.engine.is_there:
            self._world.engine.kill_by_hand(one)

    async def _finish(self) -> None:
        if one := self._guarded("running"):
            one.end(0)
            self._world.rules.mean(one, "finished")

    async def _loop(self) -> None:
        """From now on it ends soon after every start."""
        if one := self._guarded("running"):
            one.image = FakeImage(seconds=self._chance.choice([0.05, 2.0, 20.0]), exit_code=7, health=one.image.health)
            one.end(7)

    async def _sicken(self) -> None:
        one = self._guarded("running")
        if one is None:
            return
        is_curable = self._chance.random() < 0.6
        if one.image.health:
            if not is_curable:
                one.image = FakeImage(health="unhealthy", health_after=1.0)
            one.become("unhealthy", "no answer")
        elif one.ports:
            self._world.sick[one.id] = self._chance.choice(["500", "hangs"])
            self._world.rules.sick(one, is_so=True)
            if not is_curable:
                self._world.incurable.add(one.id)

    async def _heal(self) -> None:
        """By itself."""
        one = self._guarded("running")
        if one is None:
            return
        if one.image.health:
            one.image = FakeImage(health="healthy", health_after=1.0)
            one.become("healthy")
        elif one.id in self._world.sick:
            self._world.incurable.discard(one.id)
            del self._world.sick[one.id]
            self._world.rules.sick(one, is_so=False)

    async def _refuse(self) -> None:
        if one := self._guarded():
            one.refuses = "driver failed programming external connectivity"
            if one.state == "running":
                one.end(1)
            await asyncio.sleep(self._chance.choice([1, 30, 120]))
            one.refuses = ""

    # People.

    async def _stop(self) -> None:
        if one := self._guarded("running"):
            if self._chance.random() < 0.3:
                one.image = FakeImage(health=one.image.health, health_after=1.0, ignores_term=True)
            if self._chance.random() < 0.3:  # while something is done about it
                self._world.moment.clear()
                await self._moment(20)
            self._world.spawn(self._stopping(one))

    async def _stopping(self, one: FakeContainer) -> None:
        if await self._world.engine.stop_by_hand(one):
            self._world.rules.mean(one, "stopped by a person")

    async def _remove(self) -> None:
        if (one := self._guarded()) and self._world.engine.is_there:
            await self._world.engine.remove(one.id)

    async def _begin(self) -> None:
        """Somebody starts what does not run, mended or not."""
        if (one := self._guarded("exited")) and self._world.engine.is_there:
            if self._chance.random() < 0.5:
                one.image = FakeImage(health=one.image.health and "healthy", health_after=1.0)
            await self._world.engine.start_by_hand(one)

    def _ask(self, plan: Plan, kind: str) -> asyncio.Task[Any]:
        asked = plan.asked
        match kind:
            case "setup":
                limit = self._chance.choice([None, 5.0, 60.0])
                return self._world.call(lambda one: one.setup(asked, timeout=limit))
            case "clean":
                return self._world.call(lambda one: one.clean(asked, force=False))
            case "status":
                return self._world.call(lambda one: one.status(asked))
            case _:
                return self._world.call(lambda one: one.preflight(asked, skip=frozenset(), fix=False))

    def _any(self) -> Plan:
        return self._chance.choice(list(self._world.plans.values()))

    async def _setup(self) -> None:
        self._ask(self._any(), "setup")

    async def _clean(self) -> None:
        """And set it up again, perhaps before that is done."""
        plan = self._any()
        cleaning = self._ask(plan, "clean")
        if self._chance.random() < 0.5:
            await asyncio.wait([cleaning], timeout=60)
        self._ask(plan, "setup")

    async def _look(self) -> None:
        """Several at once, who want to know something or to have something done."""
        for _ in range(self._chance.randint(3, 8)):
            self._ask(self._any(), self._chance.choice(["status", "preflight", "preflight"]))
            await asyncio.sleep(self._chance.choice([0.0, 0.01, 6.0]))

    # Argus and what it stands on.

    async def _kill(self) -> None:
        await asyncio.sleep(self._chance.random() * 0.1)  # often right after something began
        with self._world.disturbance():
            await self._world.kill()
            if self._chance.random() < 0.5:
                await self._chance.choice([self._crash, self._stop, self._finish, self._shot, self._begin])()
            if self._chance.random() < 0.3:
                self._world.forget()
            await asyncio.sleep(self._chance.choice([0.1, 5, 60, 600]))
            self._world.start()
            await asyncio.sleep(1.0)

    async def _snipe(self) -> None:
        """Killed between an intent and its outcome."""
        self._world.moment.clear()
        await self._crash()
        await self._moment(70)
        await asyncio.sleep(self._chance.choice([0.01, 0.03, 0.1, 1.0]) * self._chance.random())
        await self._kill()

    async def _moment(self, most: float) -> None:
        waiting = asyncio.ensure_future(self._world.moment.wait())
        await asyncio.wait([waiting], timeout=most)
        waiting.cancel()

    async def _leave(self) -> None:
        with self._world.disturbance():
            if self._chance.random() < 0.5:
                await self._setup()
                await asyncio.sleep(self._chance.random())
            await self._world.stop()
            await asyncio.sleep(self._chance.choice([0.1, 60]))
            self._world.start()

    async def _engine(self) -> None:
        """It is ended or killed, and started."""
        if self._chance.random() < 0.3:
            await self._chance.choice([self._crash, self._sicken, self._setup])()
        then = self._chance.choice([0.5, 5.0, 40.0])
        with self._world.disturbance():
            self._world.rules.outage()
            if self._chance.random() < 0.5:
                await self._world.engine.be_killed(then)
            else:
                await self._world.engine.be_ended(self._chance.choice([0.01, 1.0, 10.0]), then)
            self._world.rules.outage()

    async def _reboot(self) -> None:
        with self._world.disturbance():
            self._world.rules.outage()
            await self._world.kill()
            await self._world.engine.be_ended(0.01, 30.0)
            self._world.clock.reboot()
            self._world.steps += 1
            for name in [name for name, owner in self._neighbours.items() if owner == "neighbour"]:
                self._world.strangers.pop(name, None)  # its daemon ended with the machine, and is not there again
            self._world.rules.outage()
            self._world.start()
            await asyncio.sleep(1.0)

    async def _away(self) -> None:
        """For a while it cannot be reached, and its containers go on."""
        with self._world.disturbance():
            self._world.rules.outage()
            self._world.engine.away = "simulated: refused"
            await self._meanwhile([self._crash, self._look, self._kill, self._finish])
            self._world.engine.away = ""
            # What ended meanwhile is told again, or nobody can tell it from what falls with an engine.
            self._world.rules.outage(is_the_same=self._world.engine.tells_again)

    async def _freeze(self) -> None:
        with self._world.disturbance():
            # Whoever begins to listen meanwhile takes it for one that is being started.
            self._world.rules.outage(is_the_same=self._world.engine.tells_again)
            self._world.engine.freeze()
            await self._meanwhile([self._crash, self._look, self._kill, self._sicken])
            self._world.engine.thaw()
            self._world.rules.outage(is_the_same=self._world.engine.tells_again)

    async def _unreachable(self) -> None:
        """The way to it is broken; people beside it use it as ever."""
        with self._world.disturbance():
            # Who is told again what it knew knows that it is the same engine. Else it might be another one.
            self._world.rules.outage(is_the_same=self._world.engine.tells_again)
            self._world.is_unreachable = True
            self._world.engine.cut()
            await self._meanwhile([self._crash, self._look, self._stop, self._begin])
            self._world.is_unreachable = False
            self._world.rules.outage(is_the_same=self._world.engine.tells_again)

    async def _replies(self) -> None:
        with self._world.disturbance():
            self._world.replies_are_lost = True
            await self._meanwhile([self._crash, self._loop, self._setup, self._clean, self._sicken])
            self._world.replies_are_lost = False

    async def _events(self) -> None:
        engine = self._world.engine
        with self._world.disturbance():
            match self._chance.choice(["late", "twice", "cut"]):
                case "late":
                    engine.late = self._chance.choice([0.5, 20.0])
                case "twice":
                    engine.is_twice = True
                case "cut":
                    engine.cut()
                    if self._chance.random() < 0.5:
                        self._world.forget()
            await self._meanwhile([self._crash, self._stop, self._loop, self._begin])
            await asyncio.sleep(2 * engine.late)
            engine.late, engine.is_twice = 0.0, False

    async def _store(self) -> None:
        with self._world.disturbance():
            self._world.store_hangs = self._chance.choice([0.0, 0.0, 0.3, 4.0])
            self._world.store_is_broken = True
            await self._meanwhile([self._crash, self._stop, self._setup, self._clean, self._sicken])
            self._world.store_is_broken = False

    async def _answers(self) -> None:
        with self._world.disturbance():
            self._world.answers_are_lost = True
            await self._meanwhile([self._crash, self._stop, self._setup, self._clean, self._sicken])
            self._world.answers_are_lost = False

    async def _meanwhile(self, kinds: list[Any]) -> None:
        for _ in range(self._chance.randint(0, 3)):
            await asyncio.sleep(self._chance.choice([0.01, 1.0, 5.0, 40.0]))
            work: Coroutine[Any, Any, None] = self._chance.choice(kinds)()
            await work
        await asyncio.sleep(self._chance.choice([0.1, 10.0, 60.0]))

    async def _jump(self) -> None:
        world = self._world
        if self._chance.random() < 0.5:
            await self._crash()
            await asyncio.sleep(self._chance.random() * 3)
        with world.disturbance():
            match self._chance.choice(["sleep", "forward", "back", "stall"]):
                case "sleep":
                    world.clock.sleep(self._chance.choice([60, 7200]))
                case "forward":
                    world.clock.step(7200)
                    world.steps += 1
                case "back":
                    world.clock.step(-3600)
                    world.steps += 1
                case "stall":
                    world.loop.stall(self._chance.choice([10, 120]))
            await asyncio.sleep(1.0)

    async def _rest(self) -> None:
        await asyncio.sleep(700)

    # Faults are over: within a bound every container is well, or left for a reason, or given up and that was told.

    async def settle(self) -> None:
        world = self._world
        for one in world.engine.containers_by_name.values():
            one.refuses = ""
        await asyncio.sleep(600)
        for _ in range(20):
            if not self._open():
                break
            await asyncio.sleep(30)
        world.check()
        await self._accounts()
        await self._anew()
        world.check()
        self._untouched()

    def _open(self) -> bool:
        states = (State.WAITING, State.STARTING, State.UNWATCHED)
        return any(seen.state in states for _, seen in self._seen()) or bool(
            self._world.life and self._world.life.callers
        )

    def _seen(self) -> list[tuple[tuple[str, str], Any]]:
        assert self._world.life is not None
        assert self._world.life.environments is not None
        environments = self._world.life.environments
        runs = [run for run in environments.runs if run.state is Standing.UP]
        return [((run.id, name), one) for run in runs for name, one in environments.guards(run).items()]

    async def _accounts(self) -> None:
        world = self._world
        if acts := await world.store.open_acts():
            raise Broken(f"without an outcome: {acts}")
        shown = dict(self._seen())
        for place, seen in shown.items():
            charge = world.rules.charges.get(place)
            if charge is None or charge["state"] != seen.state:
                raise Broken(f"{place} is {seen.state} in memory, and on record {charge and charge['state']}")
            self._account(place, seen, charge)
        kept = await world.store.documents("guarding")
        if sorted({one.data["run"] for one in kept}) != sorted({run for run, _ in shown}):
            raise Broken(f"guarded on record are {[one.data['run'] for one in kept]}, and in memory {list(shown)}")
        open_ones = sorted(one.id for one in await world.store.incidents(open_only=True, limit=10_000))
        troubles = sorted(seen.trouble.incident for seen in shown.values() if seen.trouble)
        if open_ones != troubles:
            raise Broken(f"open incidents are {open_ones}, and containers have {troubles}")

    def _account(self, place: tuple[str, str], seen: Any, charge: dict[str, Any]) -> None:
        world = self._world
        one = next((one for one in world.engine.containers_by_name.values() if one.id == charge["id"]), None)
        is_well = one is not None and world.is_well(one)
        said = f"{place} is {seen.state} ({seen.why}), and truly {one and (one.state, one.health, one.exit_code)}"
        match seen.state:
            case State.WELL if is_well:
                return
            case State.LEFT if one is None or (one.state != "running" and seen.why):
                truth = world.rules.truths[charge["id"]]
                is_asked = truth.asked is not None  # and did not listen, or was held up: who can know?
                if one is None or truth.meant or is_asked or one.exit_code in BY_ITSELF:
                    return
            case State.EXHAUSTED | State.FAILED if not is_well:
                type = "restart_exhausted" if seen.state is State.EXHAUSTED else "container_failed"
                incident = seen.trouble.incident if seen.trouble else ""
                if world.rules.told[type, *place, charge["key"], incident] == 1:
                    return
                said += ", and that was not told"
            case _:
                pass
        raise Broken(said)

    async def _anew(self) -> None:
        """Set up again everything is well, and nothing is left of what was; cleaned, nothing is left at all."""
        world = self._world
        for plan in world.plans.values():
            if await world.call(lambda one, plan=plan: one.setup(plan.asked, timeout=None)) is None:
                raise Broken(f"{plan.key} cannot be set up")
        await asyncio.sleep(60)
        bad = [(place, seen.state) for place, seen in self._seen() if seen.state is not State.WELL]
        runs = {place[0] for place, _ in self._seen()}
        if bad or len(runs) != len(world.plans):
            raise Broken(f"set up anew, {runs} are up, and not well are {bad}")
        mine = [run for run, name in world.rules.charges] + [act.intent["run"] for act in await self._setups()]
        is_cleared = all(plan.blueprint.preflight for plan in world.plans.values())
        if is_cleared and (dead := [name for name, run in self._ours() if run not in runs and run in mine]):
            raise Broken(f"left behind: {dead}")
        world.is_forced = True
        for plan in world.plans.values():
            await world.call(lambda one, plan=plan: one.clean(plan.asked, force=True))
        volumes = [(name, "") for name in world.engine.volumes_by_name if name not in world.strangers]
        if left := [one for one in self._ours() + volumes if one[0] not in ("left", "neighbour", "neighbour-data")]:
            raise Broken(f"not cleaned: {left}")
        await asyncio.sleep(5)
        if acts := await world.store.open_acts():
            raise Broken(f"without an outcome: {acts}")

    async def _setups(self) -> list[Any]:
        return list(await self._world.store.acts(kind=SETUP))

    def _ours(self) -> list[tuple[str, str]]:
        engine, world = self._world.engine, self._world
        every = [(one.id, one.name, one.labels) for one in engine.containers_by_name.values()]
        every += [(one.id, one.name, one.labels) for one in engine.networks_by_name.values()]
        return [(name, its.get(RUN, "")) for id, name, its in every if id not in world.strangers]

    def _untouched(self) -> None:
        engine = self._world.engine
        starts = {one.id: one.starts for one in engine.containers_by_name.values()}
        starts |= dict.fromkeys(engine.volumes_by_name, 0)
        if lost := [self._neighbours[id] for id, times in self._world.strangers.items() if starts.get(id) != times]:
            raise Broken(f"something happened to strangers: {lost}")


async def rest(loop: SimulatedLoop, seed: int) -> World:
    """Twenty minutes in which nothing happens to what is up."""
    world = World(loop, seed)
    with watched(world):
        world.start()
        await Troubles(world).begin()
        await asyncio.sleep(1200)
        world.check()
        await world.end()
    return world


async def play(loop: SimulatedLoop, seed: int, plant: Plant) -> World:
    world = World(loop, seed, plant)
    with watched(world):
        world.start()
        troubles = Troubles(world)
        await troubles.begin()
        until = loop.time() + MINUTES * 60
        while loop.time() < until:
            await asyncio.sleep(world.chance.choice([0.01, 1.0, 15.0, world.chance.expovariate(1 / 240)]))
            world.check()
            await troubles.one()
        await troubles.settle()
        await world.end()
    return world
