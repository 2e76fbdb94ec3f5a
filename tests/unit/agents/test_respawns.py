"""A death and the start that follows it: one commit, and two where one of them cannot be."""

from tests.unit.agents.rig import Rig, simulated

from argus.core.autonomy import Level


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


@simulated
async def test_the_wait_is_said_as_it_is_counted_from_the_death(rig: Rig):
    rig.respawn = {"backoff": "1010ms"}
    await rig.start()
    rig.process(await rig.spawn()).exit(1)
    await rig.passes(10)
    events = {one.type: one.data for one in await rig.store.events(0, limit=100)}
    assert events["agent_died"]["wait"] == 1.01
    assert events["respawn_held_back"]["hint"] == "is started again 1.1 s after its death"


@simulated
async def test_two_arguses_on_one_record_give_no_id_to_two_tasks(rig: Rig):
    """Each keeps count of the ids for itself: what the other has given away since, only the record knows."""
    await rig.start()
    first, second = await rig.spawn(), await rig.spawn()
    other = Rig(rig.loop)
    other.clock, other.launcher, other.store, other.ids = rig.clock, rig.launcher, rig.store, 1000
    await other.start()
    other.level = Level.OBSERVE
    rig.process(first).exit(1)
    await rig.passes(60)
    rig.level, other.level = other.level, rig.level
    rig.process(second).exit(1)
    await rig.passes(120)
    started = [one for one in await rig.store.events(0, limit=100) if one.type == "spawn_started"]
    assert [(one.subject, one.data["lineage"]) for one in started] == [
        ("team-work001", first),
        ("team-work002", second),
        ("team-work003", first),
        ("team-work004", second),
    ]
    assert rig.living == ["team-work003", "team-work004"]
    await other.kill()
