"""The keeper, unchanged, on simulated time: scripts of what befalls agents, and what comes of it."""

import signal

import pytest
from tests.unit.agents.rig import Rig, simulated

from argus.agents.messages import Beat
from argus.core.autonomy import Level
from argus.core.errors import ArgusError, Code
from argus.core.vital import Vital
from argus.host.conversations import Conversation
from argus.host.programs import LONGEST
from argus.testing import Behaves


@simulated
async def test_an_agent_that_dies_is_respawned_once_after_its_wait(rig: Rig):
    await rig.start()
    first = await rig.spawn()
    rig.process(first).exit(1)
    await rig.passes(9.9)
    assert rig.living == []
    await rig.passes(1)
    assert (first, rig.living) == ("team-work001", ["team-work002"])
    assert rig.process("team-work002").launch.argv == ("work", "mend it")
    assert await rig.said() == [
        "spawn_started",
        "agent_spawned",
        "agent_died",
        "respawn_held_back",
        "spawn_started",
        "agent_respawned",
    ]
    assert [act.outcome for act in await rig.store.acts(kind="respawn_agent")] == ["started"]


@simulated
async def test_an_agent_that_finished_is_removed_and_not_respawned(rig: Rig):
    await rig.start()
    await rig.spawn("finish")
    await rig.passes(600)
    assert (rig.ever, rig.crew.agents) == (["team-finish001"], [])


@simulated
async def test_how_an_agent_ended_is_asked_of_its_run_folder_when_a_look_is_first_to_see_it_dead(rig: Rig):
    """The look comes between the end of the process and the news of it."""
    rig.respawn = {"backoff": "0s"}
    await rig.start()
    id = await rig.spawn()
    process = rig.process(id)
    process.vital, process.exit_status = Vital.DEAD, 0  # and whoever waits for that is not told yet
    await rig.passes(120)
    assert (rig.ever, rig.state(id)) == ([id], "over")


@simulated
async def test_an_agent_that_always_ends_is_started_five_times_an_hour_and_a_person_is_told_once(rig: Rig):
    await rig.start()
    await rig.spawn("crash")
    await rig.passes(3600)
    assert len(rig.ever) == 6
    assert len(await rig.said("agent_escalated")) == 1


@simulated
async def test_a_restart_of_argus_refills_no_budget_and_shortens_no_wait(rig: Rig):
    await rig.start()
    await rig.spawn("crash")
    for _ in range(40):
        await rig.passes(60)
        await rig.kill()
        await rig.start()
    assert len(rig.ever) == 6
    waits = [act.intent["wait"] for act in await rig.store.acts(kind="respawn_agent")]
    assert sorted(waits) == [10, 20, 40, 80, 160]


@simulated
async def test_a_dead_agent_is_respawned_by_the_argus_that_comes_after(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(2)
    await rig.kill()
    await rig.start()
    await rig.passes(10)
    assert rig.living == ["team-work002"]


@simulated
async def test_ten_healthy_minutes_start_the_waits_over(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    for lived in (1.0, 1.0, 700.0, 1.0):
        await rig.passes(lived)
        rig.process(id).exit(1)
        await rig.passes(100)
        (id,) = rig.living
    waits = [act.intent["wait"] for act in await rig.store.acts(kind="respawn_agent")]
    assert sorted(waits) == [10, 10, 20, 20]


@simulated
async def test_minutes_in_which_argus_was_away_are_not_healthy_ones(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(20)
    await rig.kill()
    rig.process("team-work002").exit(1)
    await rig.passes(900)
    await rig.start()
    await rig.passes(1)
    assert (await rig.recorded("team-work002"))["wait"] == 20


# What a person stopped stays stopped.


@simulated
async def test_what_was_stopped_while_it_was_dead_is_not_respawned(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(1)
    await rig.crew.stop(id, 0.0, "me")
    await rig.passes(600)
    assert (rig.ever, rig.state(id)) == ([id], "over")


@simulated
async def test_what_was_stopped_while_it_was_being_started_ends(rig: Rig):
    rig.launcher.start_takes = 10.0
    await rig.start()
    id = await rig.spawn()
    await rig.crew.stop(id, 5.0, "me")
    await rig.passes(600)
    assert (rig.ever, rig.living, rig.state(id)) == ([id], [], "over")
    assert await rig.store.open_acts() == []


@simulated
async def test_what_was_stopped_before_it_began_is_not_begun_by_the_next_argus(rig: Rig):
    rig.launcher.start_takes = 10.0
    await rig.start()
    id = await rig.spawn()
    await rig.crew.stop(id, 5.0, "me")
    await rig.kill()
    await rig.start()
    await rig.passes(600)
    assert (rig.ever, rig.state(id)) == ([], "over")
    assert await rig.store.open_acts() == []


@simulated
async def test_a_stop_is_not_undone_by_the_beat_that_is_written_beside_it(rig: Rig):
    rig.launcher.programs["work"] = Behaves(ignores_term=True)
    await rig.start()
    id = await rig.spawn()
    rig.store.slow = 0.7  # longer than who was seen waits to be written
    stop = rig.loop.create_task(rig.crew.stop(id, 600.0, "me"))
    await rig.passes(0.1)
    await rig.crew.beat(Beat(id, pid=rig.process(id).running.agent.pid))
    await stop
    await rig.passes(2)
    assert (await rig.recorded(id))["stop"] == "shutdown_requested"


@pytest.mark.parametrize("how", ["stopped", "its-wish-was-granted", "it-finished"])
@simulated
async def test_the_end_of_one_that_was_stopped_names_who_stopped_it(rig: Rig, how: str):
    rig.launcher.programs["work"] = Behaves(ignores_term=True)  # it ends later than whoever stopped it is answered
    await rig.start()
    id = await rig.spawn()
    if how == "stopped":
        await rig.crew.stop(id, 10.0, "me")
    elif how == "its-wish-was-granted":
        request = await rig.crew.stops.ask(id, "done", "", "")
        await rig.crew.stops.answer(request.id, True, "", "me")
    else:
        rig.process(id).exit(0)
    await rig.passes(60)
    (gone,) = [event for event in await rig.store.events(0) if event.type == "agent_removed"]
    assert gone.data["by"] == ("argus" if how == "it-finished" else "me")


@pytest.mark.parametrize(
    ("how", "end", "by"),
    [
        ("stopped", "stopped", "me"),
        ("finished", "finished", ""),
        ("died", "died", ""),
        ("respawned", "died", ""),
        ("died-and-forgotten", "removed", "me"),
        ("died-and-stopped", "stopped", "me"),
    ],
)
@simulated
async def test_what_became_of_one_is_known_as_long_as_its_record_is(rig: Rig, how: str, end: str, by: str):
    await rig.start()
    id = await rig.spawn()
    assert rig.crew.end(id) is None
    rig.level = Level.MODERATE if how == "respawned" else Level.OBSERVE
    if how == "stopped":
        await rig.crew.stop(id, 10.0, "me")
    else:
        rig.process(id).exit(0 if how == "finished" else 1)
    await rig.passes(60)
    if how == "died-and-forgotten":
        await rig.crew.forget(id, "me")
    elif how == "died-and-stopped":
        await rig.crew.stop(id, 10.0, "me")
    for _ in range(2):
        over = rig.crew.end(id)
        assert over is not None
        assert (over.end, over.by) == (end, by)
        await rig.kill()
        await rig.start()
        await rig.passes(1)


@simulated
async def test_an_approved_stop_is_not_lost_when_the_agent_dies_at_that_moment(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    request = await rig.crew.stops.ask(id, "done", "", "")
    rig.store.slow = 0.5
    rig.process(id).exit(1)
    await rig.passes(0.1)
    await rig.crew.stops.answer(request.id, True, "", "me")
    rig.store.slow = 0.0
    await rig.passes(120)
    assert (rig.ever, rig.state(id)) == ([id], "over")


@simulated
async def test_what_was_removed_while_it_was_being_started_ends_and_its_act_has_an_outcome(rig: Rig):
    rig.launcher.start_takes = 10.0
    await rig.start()
    id = await rig.spawn()
    await rig.crew.forget(id, "me")
    await rig.passes(60)
    assert (rig.ever, rig.living) == ([id], [])
    assert await rig.store.open_acts() == []


@simulated
async def test_what_was_stopped_before_its_launcher_took_it_is_not_handed_to_it(rig: Rig):
    await rig.start()
    pid = rig.process(await rig.spawn()).running.agent.pid  # stands for a launcher in a terminal
    waiting = await rig.crew.launch("work", "/project", "mend it", pid, "me")
    terminal = rig.crew.terminals.who(pid)
    following = rig.crew.terminals.following("the-one-before", terminal).start
    assert following is not None
    assert following.id == waiting.id
    await rig.crew.stop(waiting.id, 0.0, "me")
    assert rig.crew.terminals.following("the-one-before", terminal).start is None
    await rig.passes(60)
    assert rig.state(waiting.id) == "over"
    assert await rig.store.open_acts() == []


# A person asks for a respawn.


@simulated
async def test_a_person_passes_autonomy_but_not_a_config_that_is_gone(rig: Rig):
    rig.level, rig.respawn = Level.OBSERVE, {"enabled": False}
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(60)
    del rig.configs["work"]
    rig.crew.configure(rig.settings)
    with pytest.raises(ArgusError, match="config not known"):
        await rig.crew.respawn(id, "me")
    rig.configs["work"] = "work"
    rig.crew.configure(rig.settings)
    await rig.crew.respawn(id, "me")
    await rig.passes(1)
    assert rig.living == ["team-work002"]


@simulated
async def test_what_is_being_started_is_not_started_again_by_asking(rig: Rig):
    rig.launcher.start_takes = 10.0
    await rig.start()
    id = await rig.spawn()
    with pytest.raises(ArgusError, match="not respawned"):
        await rig.crew.respawn(id, "me")
    await rig.passes(60)
    assert rig.ever == [id]


@simulated
async def test_what_has_finished_unnoticed_is_not_started_again_by_asking(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(0)
    with pytest.raises(ArgusError, match="not respawned"):
        await rig.crew.respawn(id, "me")
    await rig.passes(60)
    assert (rig.ever, rig.state(id)) == ([id], "over")


# Argus and its store.


@pytest.mark.parametrize("moment", [0.0, 0.005, 0.5])
@simulated
async def test_a_start_that_was_cut_off_is_carried_out_once(rig: Rig, moment: float):
    rig.launcher.start_takes = 0.1
    await rig.start()
    rig.loop.create_task(rig.crew.spawn("work", "/project", "mend it", "me"))
    await rig.passes(moment + 0.001)
    await rig.kill()
    await rig.passes(1)
    await rig.start()
    await rig.passes(60)
    assert rig.ever == ["team-work001"]
    assert [act.outcome for act in await rig.store.acts(kind="spawn_agent")] == ["started"]


@simulated
async def test_a_respawn_whose_record_lost_its_answer_is_carried_out(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(5)
    rig.store.loses_answers = 1
    await rig.passes(90)
    assert rig.living == ["team-work002"]
    assert await rig.store.open_acts() == []


@simulated
async def test_while_it_is_open_whether_a_respawn_is_on_record_nobody_else_gets_its_name(rig: Rig):
    await rig.start()
    # Three: the second is held back because of the first, that can be noted, and so the third would be started.
    tasks = [await rig.spawn() for _ in range(3)]
    rig.level = Level.OBSERVE
    for id in tasks:
        rig.process(id).exit(1)
    await rig.passes(90)
    rig.level = Level.MODERATE  # from the next look on, which is at all of them
    rig.store.loses_the_next_intents = True
    await rig.passes(90)
    assert not rig.store.loses_the_next_intents, "this proves nothing"
    assert sorted(rig.living) == ["team-work004", "team-work005", "team-work006"]
    assert sorted([(await rig.recorded(id))["lineage"] for id in rig.living]) == tasks
    assert await rig.store.open_acts() == []


@simulated
async def test_a_stop_whose_record_lost_its_answer_is_carried_out(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.store.loses_answers = 1
    with pytest.raises(ArgusError):
        await rig.crew.stop(id, 0.0, "me")
    await rig.passes(90)
    assert (rig.ever, rig.living) == ([id], [])
    assert await rig.store.open_acts() == []


@simulated
async def test_a_store_that_was_away_for_two_short_whiles_holds_no_respawn_for_ever(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(9)
    rig.store.fails_once_for = 2  # the two next intents, and nothing else
    await rig.passes(300)
    assert (rig.store.fails_once_for, rig.living) == (0, ["team-work002"])


@simulated
async def test_an_end_that_could_not_be_recorded_is_not_lost(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.store.full = True
    rig.process(id).exit(1)
    await rig.passes(300)
    assert rig.living == []
    rig.store.full = False
    await rig.passes(60)
    assert rig.living == ["team-work002"]


# Who is alive.


@simulated
async def test_a_lost_run_folder_is_not_the_end_of_the_agent_in_it(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    await rig.kill()
    rig.launcher._runs.clear()
    await rig.start()
    await rig.passes(300)
    assert (rig.ever, rig.state(id)) == ([id], "alive")


@simulated
async def test_an_agent_of_another_host_is_not_taken_for_dead(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    await rig.kill()
    rig.host = "elsewhere"
    rig.launcher._runs.clear()
    await rig.start()
    await rig.passes(600)
    assert (rig.ever, rig.state(id)) == ([id], "unknown")


@simulated
async def test_where_no_boot_has_an_id_a_restart_of_argus_is_not_one_of_the_machine(rig: Rig):
    rig.clock.boot_id = "process-1"
    await rig.start()
    id = await rig.spawn()
    await rig.kill()
    rig.clock.boot_id = "process-2"
    await rig.start()
    await rig.passes(300)
    assert (rig.ever, rig.state(id)) == ([id], "alive")


@simulated
async def test_after_a_restart_of_the_machine_its_agents_are_dead(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    await rig.kill()
    rig.process(id).kill_shim()
    rig.process(id).exit(1)
    rig.clock.boot_id = "boot-2"
    await rig.start()
    await rig.passes(60)
    assert rig.living == ["team-work002"]


@pytest.mark.parametrize("kind", ["sleep", "step", "stall"])
@simulated
async def test_no_jump_of_time_respawns_or_reports_anybody(rig: Rig, kind: str):
    await rig.start()
    id = await rig.spawn()
    await rig.crew.beat(Beat("theirs", "working"))
    if kind == "sleep":
        rig.clock.sleep(7200)
    elif kind == "step":
        rig.clock.step(7200)
    else:
        rig.loop.stall(600)
    await rig.passes(100)
    assert (rig.ever, rig.state(id), rig.state("theirs")) == ([id], "alive", "alive")
    assert await rig.said("agent_unknown", "agent_silent", "agent_died") == []


@simulated
async def test_what_argus_took_to_come_up_is_nobodys_silence(rig: Rig):
    await rig.start()
    await rig.crew.beat(Beat("theirs", "working"))
    await rig.passes(1)
    await rig.kill()
    await rig.start()
    rig.loop.stall(100)  # it has read the record, and does not run yet
    await rig.passes(100)
    assert (rig.state("theirs"), await rig.said("agent_unknown")) == ("alive", [])
    await rig.passes(60)
    assert rig.state("theirs") == "unknown"


@pytest.mark.parametrize("slow", [0.5, 5.0], ids=["before-it-is-noticed", "after-it-was-noticed"])
@simulated
async def test_who_is_looked_at_after_time_jumped_in_the_middle_of_a_look_is_not_reported(rig: Rig, slow: float):
    await rig.start()
    pid = rig.process(await rig.spawn()).running.agent.pid
    others = [Beat("theirs", "working"), Beat("here", "working", pid=pid)]
    for beat in [Beat("silent", "working"), *others]:
        await rig.crew.beat(beat)
    rig.store.slow = slow
    while not await rig.said("agent_unknown"):
        await rig.passes(0.1)
        for beat in others:
            await rig.crew.beat(beat)
    # That the first is silent is being written; the others have yet to be looked at.
    assert rig.state("silent") == "alive"
    rig.clock.sleep(7200)
    await rig.passes(60)
    assert [rig.state(id) for id in ("silent", "theirs", "here")] == ["unknown", "alive", "alive"]
    assert await rig.said("agent_unknown", "agent_silent") == ["agent_unknown"]


@simulated
async def test_a_hung_agent_is_told_of_once_and_comes_back(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).signal(signal.SIGSTOP)
    await rig.passes(600)
    assert (rig.state(id), await rig.said("agent_hung")) == ("stale", ["agent_hung"])
    rig.process(id).signal(signal.SIGCONT)
    await rig.passes(60)
    assert (rig.state(id), rig.ever) == ("alive", [id])


@simulated
async def test_the_beat_of_an_earlier_generation_is_answered_with_an_end(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    rig.process(id).exit(1)
    await rig.passes(30)
    for _ in range(2):
        pulse = await rig.crew.beat(Beat(id, "working"))
        assert (pulse.ok, pulse.reason) == (False, "respawned as team-work002")
        await rig.kill()
        await rig.start()
        await rig.passes(1)
    assert [agent.id for agent in rig.crew.agents] == ["team-work002"]


@simulated
async def test_a_second_process_with_the_same_id_is_told_to_end(rig: Rig):
    await rig.start()
    id, other = await rig.spawn(), await rig.spawn()
    pulse = await rig.crew.beat(Beat(id, pid=rig.process(other).running.agent.pid))
    assert not pulse.ok
    assert rig.process(id).vital is Vital.ALIVE


@simulated
async def test_a_config_that_ends_in_a_digit_can_be_spawned_again(rig: Rig):
    await rig.start()
    assert [await rig.spawn("gpt4") for _ in range(3)] == ["team-gpt4001", "team-gpt4002", "team-gpt4003"]


@simulated
async def test_every_generation_of_a_task_works_in_the_same_worktree(rig: Rig):
    await rig.start()
    first = await rig.spawn("apart")
    rig.process(first).exit(1)
    await rig.passes(11)
    assert [rig.process(id).launch.cwd for id in rig.ever] == ["/worktrees/team-apart001"] * 2
    assert rig.worktrees.made == ["team-apart001"] * 2


@simulated
async def test_an_agent_whose_worktree_cannot_be_made_is_not_started_and_a_person_is_told(rig: Rig):
    rig.worktrees.failure = "git worktree add: no"
    await rig.start()
    await rig.spawn("apart")
    await rig.passes(3600)
    assert rig.ever == []
    (last,) = rig.crew.agents
    assert (last.state, last.reason, last.escalated) == ("dead", "git worktree add: no", True)


@simulated
async def test_what_an_agent_says_after_a_write_that_failed_slowly_is_written_too(rig: Rig):
    await rig.start()
    id = await rig.spawn()
    await rig.passes(5)
    rig.store.slow, rig.store.loses_answers = 0.35, 1
    await rig.crew.beat(Beat(id, "first"))
    await rig.passes(5)
    assert rig.store.loses_answers == 0, "this proves nothing"
    rig.store.slow = 0.0
    await rig.crew.beat(Beat(id, "second"))
    await rig.passes(5)
    assert (await rig.recorded(id))["status"] == "second"


@simulated
async def test_to_forget_an_agent_is_refused_while_it_cannot_be_put_on_record(rig: Rig):
    """Who was told that it is done would see it started again by the next Argus."""
    await rig.start()
    id = await rig.spawn("crash")
    await rig.passes(2)
    assert rig.state(id) == "dead"
    rig.store.full = True
    with pytest.raises(ArgusError) as refused:
        await rig.crew.forget(id, "me")
    assert refused.value.code is Code.STORE_UNAVAILABLE
    assert rig.state(id) == "dead"
    rig.store.full = False
    await rig.passes(2)
    await rig.crew.forget(id, "me")
    await rig.kill()
    await rig.start()
    await rig.passes(60)
    assert (rig.state(id), rig.ever) == ("over", [id])


@simulated
async def test_a_start_that_fails_has_one_incident_also_when_the_answer_of_the_record_is_lost(rig: Rig):
    await rig.start()
    rig.launcher.fails = "no more processes"
    rig.store.slow = 0.1
    spawning = rig.loop.create_task(rig.spawn())
    await rig.passes(0.15)  # its intent is on record
    rig.store.loses_answers = 1
    await rig.passes(5)
    id = await spawning
    assert rig.store.loses_answers == 0, "this proves nothing"
    (incident,) = await rig.store.incidents(open_only=True, limit=10)
    kept = await rig.recorded(id)
    assert (kept["state"], kept["trouble"]["incident"]) == ("dead", incident.id)
    agent = rig.crew.peek(id)
    assert agent is not None
    assert agent.trouble is not None
    assert agent.trouble.incident == incident.id


@simulated
async def test_what_a_killed_argus_had_on_its_way_does_not_begin_once_its_start_has_failed(rig: Rig):
    await rig.start()
    rig.launcher.start_takes = 20.0
    await rig.spawn("apart")
    await rig.kill()
    rig.worktrees.failure = "git worktree add: no"
    await rig.start()
    await rig.passes(30)
    assert await rig.said("spawn_failed"), "this proves nothing"
    assert rig.ever == []


@simulated
async def test_a_worktree_of_what_is_no_repository_is_refused(rig: Rig):
    rig.worktrees.is_repository = False
    await rig.start()
    with pytest.raises(ArgusError, match="no git repository"):
        await rig.spawn("apart")
    assert rig.crew.agents == []


@simulated
async def test_an_approved_stop_reaches_whoever_goes_on_with_the_task_by_then(rig: Rig):
    await rig.start()
    first = await rig.spawn()
    asked = await rig.crew.stops.ask(first, "done", "", "all of it")
    rig.process(first).exit(1)
    await rig.passes(11)
    await rig.crew.stops.answer(asked.id, True, "yes", "me")
    pulse = await rig.crew.beat(Beat("team-work002"))
    assert (pulse.ok, pulse.reason) == (False, "shutdown_requested")
    rig.process("team-work002").exit(1)
    await rig.passes(600)
    assert rig.living == []


@simulated
async def test_claude_resumes_what_it_wrote_down_and_else_begins_anew_under_a_new_session(rig: Rig):
    rig.launcher.programs["claude"] = Behaves()
    rig.configs["claude"] = "claude"
    rig.respawn = {"backoff": "0s"}
    await rig.start()
    first = rig.process(await rig.spawn("claude"))
    session = first.launch.argv[2]
    assert first.launch.argv[1] == "--session-id"
    first.exit(137)  # before it wrote anything: it would not resume that, nor begin it again under that id
    await rig.passes(1)
    second = rig.process("team-claude002")
    assert second.launch.argv[1] == "--session-id"
    assert second.launch.argv[2] != session
    rig.conversations.resumable = {second.launch.argv[2]}
    second.exit(137)
    await rig.passes(1)
    assert rig.process("team-claude003").launch.argv[1:3] == ("--resume", second.launch.argv[2])
    await rig.kill()
    rig.conversations.resumable = set()
    await rig.start()
    await rig.passes(1)
    assert rig.living == ["team-claude003"]
    assert (await rig.recorded("team-claude003"))["session"] == second.launch.argv[2]


@simulated
async def test_how_a_start_was_decided_outlives_the_argus_that_decided_it(rig: Rig):
    """The conversation grows as soon as the agent runs: looked up again, a start would turn into a resume."""
    rig.launcher.programs["claude"] = Behaves()
    rig.configs["claude"] = "claude"
    rig.respawn = {"backoff": "0s"}
    await rig.start()
    first = rig.process(await rig.spawn("claude"))
    rig.launcher.start_takes = 5.0
    first.exit(137)
    await rig.passes(1)
    await rig.kill()
    rig.conversations.resumable = {(await rig.recorded("team-claude002"))["session"]}
    await rig.start()
    await rig.passes(10)
    assert rig.process("team-claude002").launch.argv[1] == "--session-id"
    assert rig.living == ["team-claude002"]


@simulated
async def test_codex_resumes_the_conversation_that_it_began_for_its_task(rig: Rig):
    rig.launcher.programs["codex"] = Behaves()
    rig.configs["codex"] = "codex"
    rig.respawn = {"backoff": "0s"}
    await rig.start()
    rig.conversations.found = [Conversation("old", rig.clock.wall() - 60, ("mend it",))]
    one, other = await rig.spawn("codex"), await rig.spawn("codex")
    rig.conversations.found.append(Conversation("new", rig.clock.wall(), ("mend it",)))
    rig.process(one).exit(137)
    await rig.passes(1)
    assert rig.process("team-codex003").launch.argv[3:5] == ("resume", "new")
    rig.process(other).exit(137)  # "new" began after it did, too, and is another's now
    await rig.passes(1)
    assert rig.process("team-codex004").launch.argv[3:] == ("mend it",)
    rig.conversations.resumable = {"new"}
    rig.process("team-codex003").exit(137)
    await rig.passes(1)
    assert rig.process("team-codex005").launch.argv[3:5] == ("resume", "new")


@simulated
async def test_a_task_that_no_program_could_be_given_is_refused_at_once(rig: Rig):
    await rig.start()
    fits = "é" * ((LONGEST - len("ARGUS_TASK=")) // 2)
    await rig.crew.spawn("work", "/project", fits, "me")
    for task in (fits + "éé", "a\0b"):
        with pytest.raises(ArgusError) as refused:
            await rig.crew.spawn("work", "/project", task, "me")
        assert refused.value.code == "INVALID_REQUEST"
    await rig.passes(1)
    assert len(rig.ever) == 1
