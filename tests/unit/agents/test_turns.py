"""Turns of agents, on record when one begins and when it ends: the next Argus waits for them as well."""

from __future__ import annotations

from tests.unit.agents.rig import Rig, simulated

from argus.agents.messages import Beat
from argus.agents.model import Agent

_KIND, _CONVERSATION = "plain", "c1"


async def begun(rig: Rig, config: str = "work") -> str:
    rig.needs = {"work": ["db"]}
    await rig.start()
    id = await rig.spawn(config)
    await rig.crew.beat(Beat(id, session=_CONVERSATION))
    return id


def speaking(rig: Rig) -> Agent:
    found = rig.crew.speaking(_KIND, _CONVERSATION)
    assert found is not None
    return found


async def tells(rig: Rig, *, in_turn: bool) -> None:
    rig.crew.turned(speaking(rig), in_turn=in_turn)
    await rig.passes(0.1)


@simulated
async def test_the_next_argus_knows_who_was_in_a_turn(rig: Rig):
    id = await begun(rig)
    assert not speaking(rig).in_turn
    await tells(rig, in_turn=True)
    await rig.kill()
    await rig.start()
    assert rig.crew.find(id).in_turn
    await tells(rig, in_turn=False)
    await rig.kill()
    await rig.start()
    await rig.passes(1)
    assert not rig.crew.find(id).in_turn


@simulated
async def test_one_that_ends_before_its_beginning_is_written_is_over(rig: Rig):
    id = await begun(rig)
    rig.store.slow = 1.0
    agent = speaking(rig)
    rig.crew.turned(agent, in_turn=True)
    rig.crew.turned(agent, in_turn=False)
    await rig.passes(5)
    assert not rig.crew.find(id).in_turn
    assert not (await rig.recorded(id))["in_turn"]


@simulated
async def test_it_is_written_when_it_begins_and_when_it_ends_alone(rig: Rig):
    await begun(rig)
    await rig.passes(5)
    before = len(rig.store.commits)
    for in_turn in (True, True, True, False, False):
        await tells(rig, in_turn=in_turn)
    assert len(rig.store.commits) - before == 2


@simulated
async def test_one_that_is_respawned_is_in_no_turn_before_it_tells_so(rig: Rig):
    id = await begun(rig)
    await tells(rig, in_turn=True)
    rig.process(id).exit(1)
    await rig.passes(60)
    assert rig.living == ["team-work002"]
    assert not rig.crew.find("team-work002").in_turn


@simulated
async def test_of_one_that_depends_on_nothing_nobody_asks(rig: Rig):
    await begun(rig, "gpt4")
    assert rig.crew.speaking(_KIND, _CONVERSATION) is None


@simulated
async def test_a_conversation_of_another_kind_is_somebody_elses(rig: Rig):
    await begun(rig)
    assert rig.crew.speaking("claude", _CONVERSATION) is None
