"""A first start that waits for what the agent needs, and the stories in which it stands meanwhile."""

from __future__ import annotations

import pytest
from tests.unit.agents.rig import Rig, simulated


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
    outcome = "failed" if how == "failed" else "removed"
    assert (await story(rig, "of-db"))[:2] == [("spawn_waits", ""), ("spawn_wait_ended", outcome)]
