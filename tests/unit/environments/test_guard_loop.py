"""A container that fails, is restarted and fails again before the backoff is forgiven: what is told of it."""

from __future__ import annotations

import asyncio

import pytest
from tests.unit.environments.guard_rig import Rig, db, guarded

from argus.environments.guarding.model import State
from argus.ops import story


async def fail(rig: Rig) -> None:
    rig.one().end(7)
    await asyncio.sleep(2.5)


def test_the_story_of_a_later_failure_tells_the_restarts_that_count_and_whose_they_were():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        for _ in range(4):
            await fail(rig)
        incidents = [one.id for one in reversed(await rig.store.incidents())]
        assert len(incidents) == 4
        last = await rig.store.story(incidents[-1], limit=100)
        (given_up,) = [one for one in last if one.type == "restart_exhausted"]
        earlier = [(one["attempt"], one["incident"], one["outcome"]) for one in given_up.data["earlier"]]
        assert earlier == [(number, incidents[number - 1], "recovered") for number in (1, 2, 3)]
        lines = story.tell(given_up)[0].evidence
        assert all(any(incident in line for line in lines) for incident in incidents[:3])

    guarded(test)


def test_the_story_of_one_failure_does_not_tell_its_own_restarts_twice():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        rig.one().refuses = "no such file"
        await fail(rig)
        await asyncio.sleep(60.0)
        events = await rig.told("restart_attempt", "restart_exhausted")
        assert [one.get("earlier") for one in events] == [None] * 4

    guarded(test)


def test_what_was_not_needed_is_not_among_the_restarts_that_count():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=2.0)
        rig.one().end(7)
        await asyncio.sleep(5.0)
        rig.one().end(7)
        await asyncio.sleep(1.0)
        await rig.engine.start(rig.one().id)  # by somebody, while the next one is waited for
        await asyncio.sleep(5.0)
        rig.one().end(7)
        await asyncio.sleep(0.1)
        newest = (await rig.told("restart_attempt"))[-1]
        assert [(one["attempt"], one["outcome"]) for one in newest["earlier"]] == [(1, "recovered")]

    guarded(test)


def test_it_has_settled_at_once_after_its_first_restart_and_a_minute_after_any_later_one():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        await fail(rig)
        assert (rig.seen().state, rig.seen().is_settling) == (State.WELL, False)
        await fail(rig)
        assert (rig.seen().state, rig.seen().is_settling) == (State.WELL, True)
        await asyncio.sleep(61.0)
        assert (rig.seen().state, rig.seen().is_settling) == (State.WELL, False)

    guarded(test)


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
def test_a_clock_that_is_set_keeps_nobody_waiting(seconds: float):
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        await fail(rig)
        await fail(rig)
        rig.clock.step(seconds)
        assert not rig.seen().is_settling

    guarded(test)


def test_the_next_argus_knows_that_it_has_not_settled():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        await fail(rig)
        await fail(rig)
        await rig.kill()
        await rig.start()
        assert rig.seen().is_settling

    guarded(test)
