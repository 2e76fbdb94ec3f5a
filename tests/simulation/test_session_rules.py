"""What is done for sessions, told once, on a simulated clock: limits, questions, estimates, spawns, staggering."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import pytest
from tests.simulation.sessions_world import WINDOW, Agent, World

from argus.core.clock import stamp
from argus.sessions.model import Activity, ContextReading, Source
from argus.sessions.session import Place
from argus.sessions.settings import Sessions as Settings
from argus.sessions.signals import Sign
from argus.sessions.tools import Seen
from argus.testing import run_simulated

HOUR = 3600.0


class Quiet(World):
    """In which agents do only what a test has them do, and everything that is typed is noted."""

    def __init__(self, loop: asyncio.AbstractEventLoop, agents: int) -> None:
        super().__init__(loop, 0, agents, troubles=False)
        self.typed: list[tuple[float, str, str]] = []

    async def type(self, place: Place, text: str, **more: object) -> object:  # type: ignore[override]
        self.typed.append((self.clock.boot(), place.project, text))
        return await super().type(place, text, **more)  # type: ignore[arg-type]

    async def look(self, place: Place, conversation: str) -> Seen:
        return await super().look(place, conversation) if place.type == "cli" else Seen()

    def say(self, agent: Agent, activity: Activity, used: int = 20_000, **more: object) -> None:
        assert self.argus is not None
        now = stamp(self.clock)
        reading = ContextReading(used, WINDOW, Source.HOOK, now, agent.id)
        agent.state = activity
        sign = Sign(activity, Source.HOOK, now, agent.id, "told", context=reading, **more)  # type: ignore[arg-type]
        self.argus.heard("claude", agent.folder, sign)

    async def told(self, type: str) -> list[str]:
        return [event.subject for event in await self.store.events(0, limit=10_000) if event.type == type]


def simulated(story: Callable[[Quiet], Awaitable[None]], agents: int = 3) -> None:
    async def play(loop: asyncio.AbstractEventLoop) -> None:
        world = Quiet(loop, agents)
        await world.up()
        await story(world)
        await world.kill()

    run_simulated(play)


def test_after_a_limit_each_session_is_told_to_go_on_once_one_after_the_other() -> None:
    async def story(world: Quiet) -> None:
        ends = world.clock.wall() + 2 * HOUR
        for agent in world.agents.values():
            world.say(agent, Activity.RATE_LIMITED, resets_at=ends)
        await asyncio.sleep(2 * HOUR - 60)
        assert world.typed == []
        await asyncio.sleep(HOUR)
        went_on = [(at, project) for at, project, text in world.typed if "limit is over" in text]
        assert sorted(project for _, project in went_on) == ["p0", "p1", "p2"]
        assert all(later - earlier >= 5 for earlier, later in itertools.pairwise(sorted(at for at, _ in went_on)))

    simulated(story)


def test_a_question_is_told_once_however_long_it_stands_and_again_when_it_is_another() -> None:
    async def story(world: Quiet) -> None:
        agent = world.agents["p0"]
        for question in ("May I run rm?", "May I run rm?", "May I push?"):
            world.say(agent, Activity.WAITING_FOR_PERMISSION, question=question, tool="Bash", call=question)
            await asyncio.sleep(HOUR)
            assert world.argus is not None
            assert world.argus.find("p0").session.state is Activity.WAITING_FOR_PERMISSION, (
                "hours of waiting are no stall"
            )
        assert await world.told("session_needs_you") == ["p0", "p0"]
        assert world.typed == []

    simulated(story, agents=1)


@pytest.mark.req("PS-10")
def test_a_row_every_ten_minutes_for_projects_with_activity_and_none_for_others() -> None:
    async def story(world: Quiet) -> None:
        busy, silent = world.agents["p0"], world.agents["p1"]
        assert world.argus is not None
        assert world.argus.find("p0").session.place.session == "p0-ps"
        world.say(silent, Activity.IDLE)
        for _ in range(60):
            world.say(busy, Activity.WORKING)
            await asyncio.sleep(180)
        rows = {one: await world.store.health_checks(project=one, type="context", limit=100) for one in ("p0", "p1")}
        checked = [row.check_time for row in reversed(rows["p0"])]
        assert all(570 <= later - earlier <= 690 for earlier, later in itertools.pairwise(checked))
        assert 16 <= len(checked) <= 19, "three hours"
        assert 5 <= len(rows["p1"]) <= 7, "an hour"

    simulated(story, agents=2)


@pytest.mark.req("PS-11")
def test_a_session_nobody_can_type_into_is_estimated_and_warned_of() -> None:
    async def story(world: Quiet) -> None:
        assert world.argus is not None
        await world.argus.add(Place("web", "sdk", "a browser"), "test")
        await asyncio.sleep(2.2 * HOUR)
        rows = await world.store.health_checks(project="web", type="context")
        assert rows
        assert rows[0].details["source"] == "estimate"
        assert rows[0].status == "ok"
        await asyncio.sleep(5.5 * HOUR)
        (row, *_) = await world.store.health_checks(project="web", type="context")
        assert (row.status, round(row.details["usage"], 2)) == ("warning", 0.77)
        await asyncio.sleep(2 * HOUR)
        (row, *_) = await world.store.health_checks(project="web", type="context")
        assert row.status == "critical"
        assert world.typed == []

    simulated(story, agents=0)


@pytest.mark.req("PS-13")
def test_handoffs_of_several_sessions_are_staggered() -> None:
    async def story(world: Quiet) -> None:
        for agent in world.agents.values():
            agent.used = 175_000
            world.say(agent, Activity.IDLE, used=175_000)
        await asyncio.sleep(600)
        events = [one for one in await world.store.events(0, limit=10_000) if one.type == "handoff_started"]
        assert sorted(one.subject for one in events) == ["p0", "p1", "p2"]
        times = [one.timestamp / 1000 for one in events]
        assert all(later - earlier >= 5 for earlier, later in itertools.pairwise(times))
        assert all(agent.handoffs == 1 for agent in world.agents.values())

    simulated(story)


@pytest.mark.req("PS-02")
def test_every_spawn_that_stalls_is_found_within_one_check() -> None:
    async def story(world: Quiet) -> None:
        assert world.argus is not None
        for n in range(20):
            await world.argus.spawns.add(
                "p0", f"T-{n}", task_type="", description="", output_file=f"/work/p0/{n}.log", by="test"
            )
        await asyncio.sleep(15 * 60 + 10 * 60 + 1)
        assert [one.status.value for one in await world.argus.spawns.all(100)] == ["stalled"] * 20
        told = [text for _, _, text in world.typed if "has not produced output" in text]
        assert len(told) == 20
        await asyncio.sleep(3 * HOUR)
        assert [one.status.value for one in await world.argus.spawns.all(100)] == ["abandoned"] * 20
        assert len([text for _, _, text in world.typed if "has not produced output" in text]) == 20, (
            "once for each change"
        )

    simulated(story, agents=1)


def test_a_reload_in_the_middle_of_a_look_is_not_undone_by_it() -> None:
    async def story(world: Quiet) -> None:
        assert world.argus is not None
        for agent in world.agents.values():
            agent.used = 175_000
            world.say(agent, Activity.IDLE, used=175_000)
        while not world.typed:  # noqa: ASYNC110 - from the next moment on it is being typed into
            await asyncio.sleep(0.05)
        moved = {"projects": {"p0": {"path": "/work/elsewhere"}}, "lookEvery": "60s"}
        world.argus.configure(Settings.model_validate(moved))
        await asyncio.sleep(300)
        assert world.argus.find("p0").session.place.folder == "/work/elsewhere"

    simulated(story, agents=1)


def test_who_was_in_a_turn_when_argus_was_killed_is_in_it_for_the_next_one_before_its_first_look() -> None:
    async def story(world: Quiet) -> None:
        for name, activity in (("p0", Activity.WORKING), ("p1", Activity.IDLE)):
            world.say(world.agents[name], activity)
        await asyncio.sleep(60)
        await world.kill()
        await world.up()
        assert world.argus is not None
        assert [world.argus.find(name).is_at_work for name in ("p0", "p1")] == [True, False]

    simulated(story, agents=2)
