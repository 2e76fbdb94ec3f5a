"""Respawning as a state machine: whatever befalls agents and Argus, in any order, against what is true.

The crew runs unchanged on simulated time; the rules are what happens to it. Each bug that is put in on purpose is
found.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.unit.agents.respawning import Claimed, Recorded, World

from argus.agents import book, policy
from argus.agents.crew import Crew
from argus.agents.model import Agent
from argus.core.autonomy import Level
from argus.core.backoff import Backoff
from argus.core.errors import ArgusError
from argus.core.vital import Vital
from argus.testing import Behaves, FakeAgent, SimulatedLoop

HOUR, HEALTHY, STALE = 3600.0, 600.0, 120.0
BASE, CAP, JITTER = 10.0, 300.0, 1.25
_HAIR = 1e-6
_SETTLED = 900.0
"""Seconds in which a death is noticed by silence, and the longest wait is over."""

whiches = st.integers(0, 5)


class Respawning(RuleBasedStateMachine):
    """Argus and the agents it looks after. Whoever is `up` may be asked; whoever is killed comes back by a rule."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=SimulatedLoop)

    @initialize(most=st.sampled_from([2, 5]), cap=st.sampled_from([CAP, 20.0]))
    def begin(self, most: int, cap: float) -> None:
        loop = self.runner.get_loop()
        assert isinstance(loop, SimulatedLoop)
        self.most, self.cap = most, cap
        self.world = World(loop, most, cap)
        self.do(self.world.start())

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.do(self.world.end())
        self.runner.close()

    def do(self, what: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(what)

    def one(self, which: int) -> tuple[str, FakeAgent]:
        alive = sorted(self.world.alive().items())
        return alive[which % len(alive)]

    def respawns(self) -> dict[str, list[Claimed]]:
        found: dict[str, list[Claimed]] = defaultdict(list)
        for one in self.world.truth.claimed:
            if one.wait is not None:
                found[one.lineage].append(one)
        return found

    def is_up(self) -> bool:
        return self.world.is_up

    def has_agents(self) -> bool:
        return bool(self.world.alive())

    def theirs(self) -> list[str]:
        """Who lives, and was started by somebody else."""
        return sorted(id for id, one in self.world.alive().items() if one.launch.folder.startswith("foreign/"))

    # Agents.

    @precondition(lambda self: self.is_up() and len(self.world.truth.tasks) < 3)
    @rule(task=st.sampled_from(["mend it", "-x; $(y) '\"", "two\nlines"]))
    def a_task_is_given(self, task: str) -> None:
        self.do(self.world.crew.spawn("work", "/project", task, "me"))

    @precondition(lambda self: len(self.world.truth.tasks) < 3)
    @rule()
    def somebody_else_starts_one_that_beats(self) -> None:
        self.do(self._admit(f"theirs{len(self.world.truth.tasks)}"))

    async def _admit(self, id: str) -> None:
        self.world.launcher.admit(id)

    @precondition(has_agents)
    @rule(which=whiches, how=st.sampled_from(["nonzero", "killed", "unseen"]))
    def one_dies(self, which: int, how: str) -> None:
        self.die(self.one(which)[1], how)

    def die(self, agent: FakeAgent, how: str) -> None:
        if how == "unseen":
            agent.kill_shim()
        if how == "nonzero":
            agent.exit(1)
        else:
            agent.signal(signal.SIGKILL)

    @precondition(lambda self: self.is_up() and self.has_agents())
    @rule(which=whiches, chances=st.lists(st.sampled_from([0.0, 0.5, 0.999]), min_size=2, max_size=6))
    def its_task_dies_again_and_again(self, which: int, chances: list[float]) -> None:
        lineage = self.world.truth.lineages[self.one(which)[0]]
        self.do(self._die_again(lineage, chances))

    async def _die_again(self, lineage: str, chances: list[float]) -> None:
        for self.world.chance in chances:
            for id, agent in self.world.alive().items():
                if self.world.truth.lineages[id] == lineage:
                    self.die(agent, "nonzero")
            await self.world.passes(self.cap + 60.0)

    @precondition(has_agents)
    @rule(which=whiches)
    def one_finishes(self, which: int) -> None:
        self.one(which)[1].exit(0)
        self.do(self.world.passes(BASE * JITTER + 1.0))

    @precondition(lambda self: self.is_up() and self.has_agents())
    @rule(which=whiches, status=st.sampled_from(["", "working", "completed"]), then=st.booleans())
    def one_beats(self, which: int, status: str, then: bool) -> None:
        id, agent = self.one(which)
        self.do(self.world.beat(id, agent, status))
        if status == "completed" and then:
            self.die(agent, "nonzero")

    @precondition(lambda self: self.theirs())
    @rule(which=whiches, seconds=st.sampled_from([0.0, 200.0]))
    def only_its_beats_stop_or_come_again(self, which: int, seconds: float) -> None:
        theirs = self.theirs()
        self.world.quiet ^= {theirs[which % len(theirs)]}
        self.do(self.world.passes(seconds))

    @precondition(has_agents)
    @rule(which=whiches)
    def one_hangs_or_goes_on(self, which: int) -> None:
        _, agent = self.one(which)
        agent.signal(signal.SIGCONT if agent.vital is Vital.STOPPED else signal.SIGSTOP)

    # People.

    @precondition(lambda self: self.is_up() and self.world.crew.agents)
    @rule(which=whiches, approved=st.sampled_from([True, True, False]))
    def a_stop_is_asked_for_and_answered(self, which: int, approved: bool) -> None:
        agents = self.world.crew.agents
        agent = agents[which % len(agents)]
        # An earlier stop may have its effect only now, and then there is nobody to ask for.
        with contextlib.suppress(ArgusError):
            self.do(self._answer(agent.id, approved))
            if approved:
                task = self.world.truth.tasks[agent.lineage]
                task.over = task.over or "stopped"

    async def _answer(self, id: str, approved: bool) -> None:
        asked = await self.world.crew.stops.ask(id, "done", "", "")
        await self.world.crew.stops.answer(asked.id, approved, "", "me")

    @rule(
        level=st.sampled_from([Level.MODERATE, Level.MODERATE, Level.OBSERVE]),
        fails=st.sampled_from(["", "", "no more processes"]),
        lasts=st.sampled_from([None, None, 1.0, 620.0]),
        chance=st.sampled_from([0.0, 0.5, 0.999]),
    )
    def from_now_on_it_is_so(self, level: Level, fails: str, lasts: float | None, chance: float) -> None:
        """What Argus may do; whether anything can be started; how long that lasts; and how chance has it."""
        self.world.level, self.world.chance = level, chance
        self.world.launcher.fails = fails
        self.world.launcher.programs["work"] = Behaves(lasts, 1)

    # Time.

    @rule(seconds=st.sampled_from([0.0, 0.5, 9.0, 11.0, 31.0, 130.0, 400.0, 700.0, 3700.0]))
    def time_passes(self, seconds: float) -> None:
        self.do(self.world.passes(seconds))

    @rule(
        kind=st.sampled_from(["sleep", "step", "back", "stall"]),
        seconds=st.sampled_from([60.0, 600.0, 7200.0]),
        dies=st.none() | whiches,
    )
    def time_jumps(self, kind: str, seconds: float, dies: int | None) -> None:
        """And one may die just before whose end nobody here sees: then all are silent, and one of them is dead."""
        clock = self.world.clock
        if dies is not None and (theirs := self.theirs()):
            self.die(self.world.alive()[theirs[dies % len(theirs)]], "nonzero")
        match kind:
            case "sleep":
                clock.sleep(seconds)
            case "stall":
                self.world.loop.stall(seconds)
            case _:
                clock.step(seconds if kind == "step" else -seconds)
        self.world.truth.trusted = clock.boot()
        self.do(self.world.passes(60.0))

    # Argus itself.

    @precondition(is_up)
    @rule()
    def argus_is_killed(self) -> None:
        self.do(self.world.kill())

    @precondition(lambda self: not self.is_up())
    @rule()
    def argus_is_started(self) -> None:
        self.do(self.world.start())

    @precondition(lambda self: self.is_up() and self.has_agents())
    @rule(which=whiches, down=st.sampled_from([0.1, 30.0, 100.0]))
    def argus_is_killed_between_claim_and_start(self, which: int, down: float) -> None:
        self.do(self._cut(self.one(which)[1], down))

    async def _cut(self, agent: FakeAgent, down: float) -> None:
        world, record = self.world, self.world.record
        record.is_cut, record.is_reached = True, False
        self.die(agent, "nonzero")
        until = world.clock.boot() + CAP * JITTER + STALE + 60.0
        while not record.is_reached and world.clock.boot() < until:
            await world.passes(1.0)
        await world.kill()
        record.is_cut = False
        await world.passes(down)
        await world.start()

    @precondition(lambda self: self.is_up() and self.has_agents())
    @rule(which=whiches, after=st.sampled_from([0.5, 1.5]), down=st.sampled_from([0.1, 1.0, 100.0]))
    def argus_is_killed_while_it_starts_one(self, which: int, after: float, down: float) -> None:
        self.do(self._interrupt(self.one(which)[1], after, down))

    async def _interrupt(self, agent: FakeAgent, after: float, down: float) -> None:
        world = self.world
        world.launcher.start_takes = 1.0
        known = len(world.truth.claimed)
        self.die(agent, "killed")
        until = world.clock.boot() + CAP * JITTER + STALE + 60.0
        while len(world.truth.claimed) == known and world.clock.boot() < until:
            await world.passes(0.1)
        await world.passes(after)
        await world.kill()
        world.launcher.start_takes = 0.01
        await world.passes(down)
        await world.start()

    @precondition(lambda self: self.is_up() and self.has_agents())
    @rule(which=whiches, seconds=st.sampled_from([30.0, 200.0]))
    def a_second_argus_runs_beside_it_while_one_dies(self, which: int, seconds: float) -> None:
        self.do(self._beside(self.one(which)[1], seconds))

    async def _beside(self, agent: FakeAgent, seconds: float) -> None:
        beside = self.world.loop.create_task(self.world.runs_beside(seconds))
        await self.world.passes(1.0)
        self.die(agent, "nonzero")
        await beside
        # What the other one started is known to who comes after: a store has one Argus, but for such a moment.
        await self.world.kill()
        await self.world.start()

    @rule()
    def when_everything_is_well_again_every_task_goes_on_is_over_or_is_escalated(self) -> None:
        world = self.world
        world.launcher.fails, world.level = "", Level.MODERATE
        world.launcher.programs["work"] = Behaves()
        for agent in world.alive().values():
            agent.signal(signal.SIGCONT)
        if not world.is_up:
            self.do(world.start())
        self.do(world.passes(_SETTLED))
        living = Counter(world.truth.lineages[id] for id in world.alive())
        for lineage, task in world.truth.tasks.items():
            if task.over:
                # What somebody else started is told to end with its next beat, and may not beat any more.
                assert not living[lineage] or lineage in world.quiet or task.over == "finished"
            elif task.is_known and task.ended is not None:  # else it lives, or is being started this instant
                last = [lineage, *(one.id for one in world.truth.claimed if one.lineage == lineage)][-1]
                assert len(self.in_the_last_hour(lineage)) >= self.most
                assert last in world.truth.escalated
        assert not [act for act in self.do(world.store.open_acts()) if act.kind != "stop_agent"]

    def in_the_last_hour(self, lineage: str) -> list[Claimed]:
        now = self.world.clock.boot()
        return [one for one in self.respawns()[lineage] if now - one.at <= HOUR]

    # What always holds.

    @invariant()
    def at_most_one_agent_lives_for_a_task(self) -> None:
        living = Counter(self.world.truth.lineages[id] for id in self.world.alive())
        assert max(living.values(), default=0) <= 1, living

    @invariant()
    def every_start_is_claimed_before_it_is_made(self) -> None:
        assert self.world.truth.unclaimed == []

    @invariant()
    def generations_are_claimed_once_each_and_in_order(self) -> None:
        found: dict[str, list[int]] = defaultdict(list)
        for one in self.world.truth.claimed:
            found[one.lineage].append(one.generation)
        for lineage, generations in found.items():
            first = 2 if self.world.truth.tasks[lineage].is_foreign else 1
            assert generations == list(range(first, first + len(generations)))

    @invariant()
    def ids_count_up_and_never_repeat(self) -> None:
        numbers: dict[str, list[int]] = defaultdict(list)
        for one in self.world.truth.claimed:
            stem, digits = policy.split(one.id)
            numbers[stem].append(int(digits))
        for found in numbers.values():
            assert found == sorted(set(found))

    @invariant()
    def the_task_is_passed_on_unchanged(self) -> None:
        for agent in self.world.launcher.agents:
            assert agent.launch.argv[1] == self.world.truth.task(agent.launch.folder.rpartition("/")[2]).text

    @invariant()
    def no_hour_holds_more_respawns_than_it_may(self) -> None:
        for found in self.respawns().values():
            for last in found:
                assert len([one for one in found if 0 <= last.at - one.at <= HOUR]) <= self.most

    @invariant()
    def a_person_is_told_once_of_one_that_is_not_started_again(self) -> None:
        assert max(Counter(self.world.truth.escalated).values(), default=0) <= 1

    @invariant()
    def waits_grow_inside_an_outage_and_are_kept(self) -> None:
        for found in self.respawns().values():
            tries, before = 0, 0.0
            for one in found:
                assert one.wait is not None
                if one.lived >= HEALTHY and one.wait <= BASE * JITTER:
                    tries, before = 0, 0.0
                least = min(self.cap, BASE * 2**tries)
                assert max(least, before) <= one.wait <= least * JITTER
                assert one.rested >= one.wait - _HAIR
                tries, before = tries + 1, one.wait

    @invariant()
    def what_was_stopped_or_has_finished_is_never_started_again(self) -> None:
        assert [one.over for one in self.world.truth.claimed if one.over] == []

    @invariant()
    def nobody_is_judged_by_a_silence_that_may_be_ours(self) -> None:
        assert min(self.world.truth.judged, default=STALE) >= STALE - _HAIR

    @invariant()
    def below_moderate_nothing_is_started_again(self) -> None:
        assert all(one.level.allows(Level.MODERATE) for one in self.world.truth.claimed if one.wait is not None)


_FEW = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    stateful_step_count=30,
    database=None,
    suppress_health_check=list(HealthCheck),
)
Respawning.TestCase.settings = _FEW
TestRespawning = Respawning.TestCase


# Bugs, put in on purpose.


def deciding(change: Callable[[policy.Facts], policy.Facts]) -> AbstractContextManager[Any]:
    decide = policy.decide
    return patch.object(policy, "decide", lambda facts: decide(change(facts)))


def delaying(delay: Callable[[Backoff, int, float, float], float]) -> AbstractContextManager[Any]:
    return patch.object(policy, "delay", delay)


@contextlib.contextmanager
def forgetting_every_respawn() -> Iterator[None]:
    """An Argus that comes back counts from zero: only what it did itself is known to it."""

    async def none(self: Recorded, **query: Any) -> list[Any]:
        return []

    with patch.object(Recorded, "acts", none, create=True):
        yield


def _dead(facts: policy.Facts) -> policy.Facts:
    return replace(facts, vital=Vital.DEAD)


def _shortened(data: Mapping[str, Any]) -> Agent:
    return _read({**data, "task": str(data["task"]).split("\n")[0]})


_read = book.read
BUGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "respawns-what-was-stopped": lambda: deciding(lambda facts: replace(facts, stop_approved=False)),
    "respawns-what-has-finished": lambda: deciding(lambda facts: replace(facts, finished=False)),
    "takes-silence-for-death": lambda: deciding(_dead),
    "ignores-the-cap": lambda: deciding(lambda facts: replace(facts, respawns=0)),
    "does-not-wait": lambda: deciding(lambda facts: replace(facts, wait=0.0)),
    "never-waits-longer": lambda: delaying(lambda backoff, tries, previous, chance: backoff.delay(1, chance=chance)),
    "counts-silence-across-a-jump": lambda: patch.object(Crew, "time_jumped", lambda self, jump: None),
    "claims-nothing": lambda: patch.object(Recorded, "claims_nothing", True),
    "forgets-the-end-of-a-task-when-it-is-killed": lambda: patch.object(book, "read", _shortened),
    "forgets-its-respawns-when-it-is-killed": forgetting_every_respawn,
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_put_in_on_purpose_is_found(bug: str) -> None:
    quick = settings(_FEW, max_examples=400, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)
    with BUGS[bug](), pytest.raises(AssertionError):
        run_state_machine_as_test(Respawning, settings=quick)
