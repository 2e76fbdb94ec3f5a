"""What agents say in their beats: kept at once, on record within a second, and never lost to something else."""

import pytest
from tests.unit.agents.rig import Rig, simulated

from argus.agents.messages import Beat
from argus.agents.model import State
from argus.core.clock import stamp
from argus.core.errors import ArgusError
from argus.store.records import PutSetting


def status(rig: Rig, id: str) -> str:
    return rig.crew.find(id).status


@simulated
async def test_what_an_agent_says_it_does_is_known_at_once_and_on_record_within_a_second(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    before = len(await rig.said())
    for number in range(5):
        assert (await rig.crew.beat(Beat(id, f"step {number}", f"task {number}"))).ok
    assert (rig.crew.find(id).status, rig.crew.find(id).doing) == ("step 4", "task 4")
    await rig.passes(1)
    await rig.kill()
    await rig.start()
    await rig.passes(1)
    assert (rig.crew.find(id).status, rig.crew.find(id).doing) == ("step 4", "task 4")
    assert len(await rig.said()) == before, "the journal holds no beats"


@simulated
async def test_an_empty_beat_erases_nothing_that_was_said_in_the_one_before(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    await rig.crew.beat(Beat(id, "working", "another task"))
    await rig.crew.beat(Beat(id))
    await rig.crew.beat(Beat(id, "reading"))
    assert (rig.crew.find(id).status, rig.crew.find(id).doing) == ("reading", "another task")


@simulated
async def test_what_is_said_while_something_else_of_it_is_being_recorded_is_not_lost(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    asked = await rig.crew.stops.ask(id, "done", "", "")
    rig.store.slow = 5.0
    answering = rig.loop.create_task(rig.crew.stops.answer(asked.id, True, "", "me"))
    await rig.passes(1)
    await rig.crew.beat(Beat(id, "tidying up"))
    assert [one.status for one in rig.crew.agents] == ["tidying up"]  # and who looks meanwhile takes nothing away
    await answering
    agent = rig.crew.find(id)
    assert (agent.status, agent.stop) == ("tidying up", "shutdown_requested")


@simulated
async def test_that_an_agent_has_completed_its_task_is_on_record_before_it_is_answered(rig: Rig):
    rig.respawn = {"backoff": "0s"}
    await rig.start()
    id = await rig.spawn()
    await rig.passes(0.1)  # between two writes of what was said
    await rig.crew.beat(Beat(id, "completed"))
    await rig.kill()
    rig.process(id).exit(1)
    await rig.start()
    await rig.passes(300)
    assert (rig.ever, rig.state(id)) == ([id], "over")


@simulated
async def test_what_was_said_while_the_disk_was_full_is_written_when_there_is_room_again(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.store.full = True
    await rig.crew.beat(Beat(id, "writing"))
    await rig.passes(10)
    assert status(rig, id) == "writing"
    rig.store.full = False
    await rig.passes(3)
    assert (await rig.recorded(id))["status"] == "writing"


@simulated
async def test_the_last_words_of_hundreds_are_all_on_record_within_a_second(rig: Rig):
    await rig.start()
    ids = [f"foreign{number}" for number in range(350)]
    for id in ids:
        await rig.crew.beat(Beat(id))
    for id in ids:
        await rig.crew.beat(Beat(id, "reading"))
    await rig.passes(1)
    assert {(await rig.recorded(id))["status"] for id in ids} == {"reading"}


@simulated
async def test_at_the_end_of_argus_the_last_words_are_written(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    await rig.crew.beat(Beat(id, "nearly done"))
    await rig.crew.written()
    await rig.kill()
    await rig.start()
    await rig.passes(1)
    assert status(rig, id) == "nearly done"


@pytest.mark.parametrize("said", [{"config": "gpt4"}, {"project": "/elsewhere"}, {"session": "s-2"}], ids=str)
@simulated
async def test_what_a_respawn_needs_is_on_record_before_it_is_answered(rig: Rig, said: dict[str, str]):
    await rig.start()
    await rig.crew.beat(Beat("foreign001"))
    await rig.crew.beat(Beat("foreign001", **said))
    assert said.items() <= (await rig.recorded("foreign001")).items()
    assert rig.crew.find("foreign001").state is State.ALIVE


@simulated
async def test_what_an_agent_says_changes_nothing_of_what_its_successor_is_given(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    for said in (Beat(id, task="running tests", config="gpt4", project="/"), Beat(id, config="garbage")):
        assert (await rig.crew.beat(said)).ok
    rig.process(id).exit(1)
    await rig.passes(11)
    following = rig.process("team-work002").launch
    assert (following.argv, following.cwd) == (("work", "mend it"), "/project")


@simulated
async def test_a_beat_does_not_bring_back_what_has_ended_here(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(1)
    pulse = await rig.crew.beat(Beat(id, pid=1))
    assert (pulse.ok, rig.state(id)) == (False, "dead")
    await rig.passes(10)
    assert rig.living == ["team-work002"]


@simulated
async def test_an_approved_wish_to_end_ends_what_the_daemon_started(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    asked = await rig.crew.stops.ask(id, "done", "", "all")
    await rig.crew.stops.answer(asked.id, True, "", "me")
    await rig.passes(60)
    assert (rig.living, rig.state(id)) == ([], "over")


@simulated
async def test_wishes_to_end_do_not_pile_up(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    for _ in range(10):
        await rig.crew.stops.ask(id, "done", "", "")
    with pytest.raises(ArgusError, match="wait for an answer already"):
        await rig.crew.stops.ask(id, "done", "", "")


@simulated
async def test_a_living_agent_of_ours_is_not_forgotten(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    with pytest.raises(ArgusError, match="is alive"):
        await rig.crew.forget(id, "me")
    assert rig.state(id) == "alive"


@simulated
async def test_ids_of_agents_whose_record_was_lost_are_not_given_again(rig: Rig):
    rig.runs = ["team-work001", "team-work007"]
    await rig.start()
    assert await rig.spawn() == "team-work008"


@simulated
async def test_after_a_record_was_lost_nothing_is_respawned_for_an_hour(rig: Rig):
    now = stamp(rig.clock)
    mark = {"boot_id": now.boot_id, "boot": now.boot, "wall": now.wall}
    await rig.store.commit(PutSetting("store.set_aside", mark))
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(600)
    assert (rig.living, rig.crew.find(id).gate) == ([], "too many respawns")


@simulated
async def test_one_that_runs_is_found_also_when_its_config_is_gone_by_then(rig: Rig):
    """Killed between the start and its outcome; and the next Argus has another configuration."""
    await rig.start()
    rig.store.full = True
    with pytest.raises(ArgusError):
        await rig.spawn()
    rig.store.full = False
    await rig.crew.spawn("work", "/project", "mend it", "me")
    await rig.passes(0.005)
    await rig.kill()
    await rig.passes(5)
    del rig.configs["work"]
    await rig.start()
    await rig.passes(5)
    assert [rig.state(id) for id in rig.living] == ["alive"] * len(rig.living)


@simulated
async def test_a_foreign_agent_that_beats_is_not_judged_by_a_pid_that_has_ended(rig: Rig):
    await rig.start()
    for _ in range(100):
        await rig.crew.beat(Beat("hook001", config="work", project="/project", pid=99))
        await rig.passes(10)
    assert (rig.ever, rig.state("hook001")) == ([], "alive")


@simulated
async def test_what_an_agent_started_itself_speaks_for_it_and_anybody_else_is_a_twin(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    own = rig.process(id)
    other = await rig.spawn()
    stranger = rig.process(other).running.agent.pid
    assert (await rig.crew.beat(Beat(id, pid=own.running.agent.pid))).ok
    pulse = await rig.crew.beat(Beat(id, pid=stranger))
    assert (pulse.ok, pulse.reason) == (False, "another process has this id and is alive")
    rig.launcher.carries = lambda pid, nonce: nonce == own.launch.nonce  # type: ignore[method-assign]
    assert (await rig.crew.beat(Beat(id, pid=stranger))).ok
    process = rig.crew.find(id).process
    assert process is not None
    assert process.pid == own.running.agent.pid, "what we launched stays what we know"


@simulated
async def test_a_machine_that_is_renamed_still_knows_its_own(rig: Rig):
    rig.space = "pid:[1]"
    await rig.start()
    id = await rig.spawn()
    await rig.kill()
    rig.host = "renamed"
    await rig.start()
    rig.process(id).exit(1)
    await rig.passes(11)
    assert rig.living == ["team-work002"]


@simulated
async def test_a_process_of_another_machine_or_container_is_not_looked_at_here(rig: Rig):
    rig.space = "pid:[1]"
    await rig.start()
    id = await rig.spawn()
    await rig.kill()
    rig.host, rig.space = "another", "pid:[2]"
    await rig.start()
    await rig.passes(600)
    assert (rig.state(id), rig.ever) == ("unknown", [id])
