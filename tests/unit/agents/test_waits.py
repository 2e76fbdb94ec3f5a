"""A first start that waits for what the agent needs, and the stories in which it stands meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.agents.rig import Rig, simulated

from argus.store.records import PutDocument


async def waits(rig: Rig) -> str:
    rig.needs, rig.down = {"work": ["db", "api"]}, {"db": "of-db"}
    await rig.start()
    return await rig.spawn()


async def story(rig: Rig, incident: str) -> list[tuple[str, str]]:
    return [(event.type, str(event.data.get("outcome", ""))) for event in await rig.store.story(incident)]


@simulated
async def test_it_stands_in_the_story_of_every_root_it_waited_for_until_it_is_started(rig: Rig):
    id = await waits(rig)
    rig.down = {"api": "of-api"}
    rig.crew.look()
    await rig.passes(60)
    await rig.kill()
    await rig.start()
    assert rig.ever == []
    rig.down = {}
    await rig.passes(60)
    assert rig.living == [id]
    for incident in ("of-db", "of-api"):
        assert await story(rig, incident) == [("spawn_waits", ""), ("spawn_wait_ended", "started")]
    rig.process(id).exit(1)
    await rig.passes(60)
    assert len(await rig.said("spawn_wait_ended")) == 2, "its respawn did not wait"


@pytest.mark.parametrize("how", ["forgotten", "stopped", "failed"])
@simulated
async def test_the_story_says_also_that_it_never_started(rig: Rig, how: str):
    id = await waits(rig)
    if how == "forgotten":
        await rig.crew.forget(id, "me")
    elif how == "stopped":
        await rig.crew.stop(id, 0.0, "me")
    else:
        rig.launcher.fails = "no such program"
        rig.down = {}
    await rig.passes(60)
    assert rig.living == []
    outcome = "removed" if how == "forgotten" else how
    assert (await story(rig, "of-db"))[:2] == [("spawn_waits", ""), ("spawn_wait_ended", outcome)]


async def never_lived(rig: Rig, id: str) -> None:
    """Nothing failed and nobody died: a person did not want it any more."""
    assert await rig.said("spawn_failed", "agent_died", "respawn_held_back") == []
    assert await rig.store.incidents() == []
    assert await rig.store.open_acts() == []
    events = {event.type: event for event in await rig.store.events(0, channel="agents")}
    gone, ended = events["agent_removed"], events["spawn_wait_ended"]
    assert (gone.subject, gone.data["reason"], gone.data["by"]) == (id, "shutdown_requested", "me")
    assert (ended.data["outcome"], ended.data["by"]) == ("stopped", "me")


@simulated
async def test_stopped_while_it_waits_it_never_lived_and_so_has_no_death(rig: Rig):
    id = await waits(rig)
    stopped = await rig.crew.stop(id, 10.0, "me")
    assert (stopped.state, stopped.reason, rig.state(id)) == ("removed", "shutdown_requested", "over")
    rig.down = {}
    await rig.passes(60)
    await never_lived(rig, id)


@simulated
async def test_stopped_in_the_moment_in_which_it_would_have_begun_it_has_no_death_either(rig: Rig):
    id = await waits(rig)
    rig.launcher.start_takes = 100.0  # longer than anybody waits for it
    rig.down = {}
    rig.crew.look()
    await rig.passes(1)
    await rig.crew.stop(id, 10.0, "me")
    await rig.passes(60)
    assert rig.state(id) == "over"
    await never_lived(rig, id)


@simulated
async def test_a_stop_that_an_earlier_argus_left_to_the_start_is_no_death_in_the_next_one(rig: Rig):
    id = await waits(rig)
    await rig.kill()
    (known,) = await rig.store.documents("agents")
    stopping = {**known.data, "stop": "shutdown_requested", "reason": "stopped by me", "ended_by": "me"}
    await rig.store.commit(PutDocument(replace(known, data=stopping)))
    await rig.start()
    await rig.passes(60)
    assert (rig.ever, rig.state(id)) == ([], "over")
    await never_lived(rig, id)
