"""A death and the start that follows it: one commit, and two where one of them cannot be."""

from tests.unit.agents.rig import Rig, simulated


@simulated
async def test_a_death_and_the_start_that_follows_at_once_are_one_commit(rig: Rig):
    rig.respawn = {"backoff": "0s"}
    await rig.start()
    rig.process(await rig.spawn()).exit(1)
    await rig.passes(1)
    assert rig.living == ["team-work002"]
    (together,) = [commit for commit in rig.store.commits if "agent_died" in commit]
    assert together.index("agent_died") < together.index("spawn_started")
    assert {"Claim", "OpenAct"} <= set(together)


@simulated
async def test_a_death_is_on_record_at_once_also_when_the_start_is_not(rig: Rig):
    rig.respawn = {"backoff": "0s"}
    await rig.start()
    id = await rig.spawn()
    rig.store.fails_once_for = 1
    rig.process(id).exit(1)
    await rig.passes(0.1)
    assert "agent_died" in await rig.said()
    await rig.passes(120)
    assert await rig.said() == ["spawn_started", "agent_spawned", "agent_died", "spawn_started", "agent_respawned"]
    assert rig.living == ["team-work002"]


@simulated
async def test_a_death_with_a_wait_is_recorded_before_the_wait_and_the_start_after_it(rig: Rig):
    await rig.start()
    rig.process(await rig.spawn()).exit(1)
    await rig.passes(60)
    (death,) = [commit for commit in rig.store.commits if "agent_died" in commit]
    assert "OpenAct" not in death
    assert rig.living == ["team-work002"]
