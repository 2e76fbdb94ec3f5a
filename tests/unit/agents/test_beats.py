"""What agents say in their beats: kept at once, on record within a second, and never lost to something else."""

import pytest
from tests.unit.agents.rig import Rig, simulated

from argus.agents.messages import Beat
from argus.agents.model import State


def status(rig: Rig, id: str) -> str:
    return rig.crew.find(id).status


@simulated
async def test_what_an_agent_says_it_does_is_known_at_once_and_on_record_within_a_second(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    before = len(await rig.said())
    for number in range(5):
        assert (await rig.crew.beat(Beat(id, f"step {number}", f"task {number}"))).ok
    assert (rig.crew.find(id).status, rig.crew.find(id).task) == ("step 4", "task 4")
    await rig.passes(1)
    await rig.kill()
    await rig.start()
    await rig.passes(1)
    assert (rig.crew.find(id).status, rig.crew.find(id).task) == ("step 4", "task 4")
    assert len(await rig.said()) == before, "the journal holds no beats"


@simulated
async def test_an_empty_beat_erases_nothing_that_was_said_in_the_one_before(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    await rig.crew.beat(Beat(id, "working", "another task"))
    await rig.crew.beat(Beat(id))
    await rig.crew.beat(Beat(id, "reading"))
    assert (rig.crew.find(id).status, rig.crew.find(id).task) == ("reading", "another task")


@simulated
async def test_what_is_said_while_something_else_of_it_is_being_recorded_is_not_lost(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    asked = await rig.crew.stops.ask(id, "done", "", "")
    rig.store.slow = 5.0
    answering = rig.loop.create_task(rig.crew.stops.answer(asked.id, True, "", "me"))
    await rig.passes(1)
    await rig.crew.beat(Beat(id, "tidying up"))
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
    id = await rig.spawn()
    await rig.crew.beat(Beat(id, **said))
    assert said.items() <= (await rig.recorded(id)).items()
    assert rig.crew.find(id).state is State.ALIVE
