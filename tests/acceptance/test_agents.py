"""Agents: heartbeats, starts, exactly one respawn, and what was stopped stays stopped."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.acceptance.crew import Crew
from tests.acceptance.harness import Argus, eventually, is_alive, never
from tests.faults import Injection


@pytest.fixture
def crew(argus: Argus) -> Crew:
    return Crew(argus)


@pytest.mark.req("HB-01", "HB-02")
def test_a_beat_is_taken_and_listed_and_never_erases(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    said = argus.rest("POST", "/api/heartbeat", {"agent_id": "test", "status": "working", "current_task": "a task"})
    assert (said.status, said.json["ok"]) == (200, True)
    assert argus.rest("POST", "/api/heartbeat", {"agent_id": "test", "current_task": ""}).json["ok"] is True
    listed = argus.get("/api/heartbeats")
    assert listed["count"] == 1
    (one,) = listed["heartbeats"]
    assert (one["agent_id"], one["status"], one["current_task"], one["state"]) == ("test", "working", "a task", "alive")
    assert one["last_seen"] is not None
    for body in [{}, {"agent_id": ""}, {"agent_id": "../x"}, {"agent_id": "a", "pid": "x"}, {"agent": "a"}]:
        refused = argus.rest("POST", "/api/heartbeat", body)
        assert (refused.status, refused.error["code"]) == (400, "INVALID_REQUEST"), body
    argus.kill()
    argus.up()
    (kept,) = argus.get("/api/heartbeats")["heartbeats"]
    assert kept["current_task"] == "a task"


@pytest.mark.req("HB-04", "HB-08")
@pytest.mark.fault("AG1")
def test_a_killed_agent_is_respawned_once_with_the_same_task_under_the_next_id(crew: Crew, injected: Injection) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    task = 'say "hi"; $(touch x)\nand `more` -- '
    first = crew.spawn(task)
    assert (first["agent_id"], first["state"], first["generation"]) == ("team-sntgreen001", "alive", 1)
    with injected:
        os.kill(first["pid"], signal.SIGKILL)
        event = argus.wait_for("agent_respawned")
        crew.works("team-sntgreen002")
    assert event.data["message"] == "Agent team-sntgreen001 died, respawned as team-sntgreen002 to continue task"
    second = crew.agent("team-sntgreen002")
    assert (second["lineage"], second["generation"], second["current_task"]) == ("team-sntgreen001", 2, task)
    assert [(id, given) for _, id, given in crew.started()] == [("team-sntgreen001", task), ("team-sntgreen002", task)]
    order = [event.type for event in argus.journal("agent_died", "spawn_started", "agent_respawned")]
    assert order == ["spawn_started", "agent_died", "spawn_started", "agent_respawned"]
    fenced = argus.rest("POST", "/api/heartbeat", {"agent_id": "team-sntgreen001"}).json
    assert (fenced["ok"], fenced["stop"]) == (False, True)


@pytest.mark.req("HB-06")
async def test_what_a_person_stopped_stays_stopped(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    agent = crew.spawn()
    assert argus.cli("agents", "stop", agent["agent_id"], "--json").code == 0
    eventually(lambda: not is_alive(agent["pid"]), "the agent is gone")
    argus.wait_for("agent_removed")
    await never(lambda: len(crew.started()) > 1, "a respawn of what was stopped", 3.0)
    assert crew.states() == {}


@pytest.mark.req("HB-06")
async def test_an_approved_stop_request_prevents_the_respawn(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    agent = crew.spawn()
    asked = argus.rest(
        "POST", "/api/stop-requests", {"agent_id": agent["agent_id"], "reason": "done", "work_completed": "all of it"}
    )
    assert asked.status == 201
    id = asked.json["id"]
    assert argus.get("/api/stop-requests")["stop_requests"][0]["status"] == "pending"
    assert argus.rest("POST", f"/api/stop-requests/{id}/respond", {"approved": 0}).status == 400
    answered = argus.rest("POST", f"/api/stop-requests/{id}/respond", {"approved": True, "response": "go"})
    assert (answered.status, answered.json["status"]) == (200, "approved")
    assert argus.rest("POST", f"/api/stop-requests/{id}/respond", {"approved": False}).status == 409
    assert argus.rest("POST", "/api/stop-requests/none/respond", {"approved": False}).status == 404
    told = argus.rest("POST", "/api/heartbeat", {"agent_id": agent["agent_id"]}).json
    assert (told["ok"], told["stop"], told["reason"]) == (False, True, "shutdown_requested")
    # Nobody beats for it but Argus itself, so Argus asks it to end.
    eventually(lambda: not is_alive(agent["pid"]), "it has ended")
    argus.wait_for("agent_removed")
    await never(lambda: len(crew.started()) > 1, "a respawn of what was stopped", 2.0)


@pytest.mark.req("HB-06")
def test_an_agent_that_finished_is_not_respawned(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    Path(f"{crew.starts}.exit").write_text("0")
    argus.up()
    argus.rest("POST", "/api/agents/spawn", {"config_name": "SNTGreen", "task": "t"})
    assert argus.wait_for("agent_removed").data["reason"] == "finished"
    assert len(crew.started()) == 1


@pytest.mark.fault("AG17")
def test_an_agent_that_always_exits_is_respawned_at_most_five_times_and_then_escalated(
    crew: Crew, injected: Injection
) -> None:
    argus = crew.argus
    crew.configure(backoff="10ms", maxBackoff="50ms")
    Path(f"{crew.starts}.exit").write_text("7")
    argus.up()
    with injected:
        argus.rest("POST", "/api/agents/spawn", {"config_name": "SNTGreen", "task": "t"})
        event = argus.wait_for("agent_escalated")
    assert (event.data["gate"], event.data["exit_status"]) == ("too many respawns", 7)
    assert len(crew.started()) == 6
    assert crew.states() == {"team-sntgreen006": "dead"}


@pytest.mark.req("HB-07")
@pytest.mark.fault("AG2")
async def test_an_agent_whose_beats_stop_while_it_lives_is_warned_of_once_and_not_respawned(
    crew: Crew, injected: Injection
) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    beat = {"agent_id": "foreign001", "config_name": "SNTGreen", "project_path": str(crew.project), "current_task": "t"}
    assert argus.rest("POST", "/api/heartbeat", {**beat, "pid": os.getpid()}).json["ok"] is True
    with injected:
        argus.wait_for("agent_silent")
    await never(lambda: crew.started() or len(argus.journal("agent_silent")) > 1, "a respawn, or told twice", 5.0)
    assert crew.states() == {"foreign001": "stale"}


@pytest.mark.fault("AG3")
def test_a_stopped_agent_is_hung_and_comes_back(crew: Crew, injected: Injection) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    agent = crew.spawn()
    try:
        with injected:
            os.kill(agent["pid"], signal.SIGSTOP)
            assert argus.wait_for("agent_hung").data["code"] == "AGENT_HUNG"
    finally:
        os.kill(agent["pid"], signal.SIGCONT)
    argus.wait_for("agent_back")
    assert crew.states() == {agent["agent_id"]: "alive"}
    assert len(crew.started()) == 1


@pytest.mark.req("HB-05")
def test_a_silent_agent_that_nobody_here_can_look_at_is_reported_and_never_respawned(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    argus.rest("POST", "/api/heartbeat", {"agent_id": "far001", "config_name": "SNTGreen", "host": "elsewhere"})
    assert argus.wait_for("agent_unknown").data["agent_id"] == "far001"
    assert crew.states() == {"far001": "unknown"}
    assert argus.rest("POST", "/api/heartbeat", {"agent_id": "far001", "host": "elsewhere"}).json["ok"] is True
    assert crew.states() == {"far001": "alive"}


@pytest.mark.fault("AG8")
async def test_fifty_agents_outlive_a_killed_argus_and_are_taken_over_again(crew: Crew, injected: Injection) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    for number in range(50):
        argus.rest("POST", "/api/agents/spawn", {"config_name": "SNTGreen", "task": f"task {number}"})
    eventually(lambda: list(crew.states().values()) == ["alive"] * 50, "fifty agents", seconds=90)
    eventually(lambda: len(crew.started()) == 50, "all of them work")
    before = {one["agent_id"]: one["pid"] for one in argus.get("/api/agents")["agents"]}
    with injected:
        argus.kill()
        argus.up()
        after = argus.get("/api/agents")["agents"]
        assert {one["agent_id"]: (one["pid"], one["state"]) for one in after} == {
            id: (pid, "alive") for id, pid in before.items()
        }
        # They are kept again: the one that ends now is noticed, and no other was started meanwhile.
        os.kill(before["team-sntgreen003"], signal.SIGKILL)
        respawned = argus.wait_for("agent_respawned").data
        crew.works(respawned["agent_id"])
    assert respawned["previous"] == "team-sntgreen003"
    await never(lambda: len(crew.started()) != 51, "an agent was started again", 3.0)
    (again,) = argus.journal("agent_respawned")
    assert again.data["agent_id"] == "team-sntgreen051"
    assert argus.journal("agent_silent", "agent_unknown") == []
    living = {id: pid for id, pid in before.items() if id != "team-sntgreen003"}
    assert all(is_alive(pid) for pid in living.values())


def test_an_agent_that_died_while_argus_was_dead_is_respawned(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    agent = crew.spawn()
    argus.kill()
    os.kill(agent["pid"], signal.SIGKILL)
    eventually(lambda: not is_alive(agent["pid"]), "the agent is dead")
    argus.up()
    assert argus.wait_for("agent_respawned").data["agent_id"] == "team-sntgreen002"
    crew.works("team-sntgreen002")
    assert len(crew.started()) == 2


def test_below_moderate_the_person_is_told_and_can_approve(crew: Crew) -> None:
    argus = crew.argus
    crew.configure(autonomy="observe")
    argus.up()
    agent = crew.spawn()
    os.kill(agent["pid"], signal.SIGKILL)
    held = argus.wait_for("respawn_held_back")
    assert held.data["gate"] == "autonomy"
    assert crew.states() == {"team-sntgreen001": "dead"}
    assert argus.cli("agents", "respawn", "team-sntgreen001").code == 0
    argus.wait_for("agent_respawned")
    crew.works("team-sntgreen002")
    assert len(crew.started()) == 2


@pytest.mark.fault("AP2")
def test_an_agents_token_beats_for_that_agent_alone(crew: Crew, injected: Injection) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    token = argus.cli("token", "--agent", "a1").stdout.strip()
    headers = {"Authorization": f"Bearer {token}"}
    assert argus.rest("POST", "/api/heartbeat", {"agent_id": "a1"}, token=False, headers=headers).status == 200
    with injected:
        other = argus.rest("POST", "/api/heartbeat", {"agent_id": "a2"}, token=False, headers=headers)
    assert (other.status, other.error["code"]) == (403, "FORBIDDEN")
    asked = argus.rest(
        "POST", "/api/agents/spawn", {"config_name": "SNTGreen", "task": "t"}, token=False, headers=headers
    )
    assert asked.status == 403


def test_what_cannot_be_started_is_said_and_what_is_gone_is_escalated(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    unknown = argus.rest("POST", "/api/agents/spawn", {"config_name": "Nobody", "task": "t"})
    assert (unknown.status, unknown.error["code"]) == (404, "CONFIG_NOT_FOUND")
    assert "SNTGreen" in unknown.error["details"]["known"]
    assert unknown.error["suggestedActions"] == ["check_name", "add_agent"]
    nowhere = argus.rest("POST", "/api/agents/spawn", {"config_name": "SNTGreen", "project_path": "/no", "task": "t"})
    assert (nowhere.status, nowhere.error["code"]) == (400, "INVALID_REQUEST")
    agent = crew.spawn()
    crew.project.rename(argus.folder / "moved")
    os.kill(agent["pid"], signal.SIGKILL)
    assert argus.wait_for("agent_escalated").data["gate"] == "project path is gone"
    assert len(crew.started()) == 1


@pytest.mark.parametrize(
    ("cwd", "code", "message", "actions"),
    [
        pytest.param(
            None,
            "INVALID_REQUEST",
            "project_path: it is not given, and agents.configs.SNTGreen has no cwd",
            ["name_project", "set_cwd"],
            id="not-said",
        ),
        pytest.param(
            "/no",
            "CONFIG_INVALID",
            "agents.configs.SNTGreen.cwd: /no is not a folder here",
            ["set_cwd", "name_project"],
            id="not-there",
        ),
        pytest.param(
            "green",
            "CONFIG_INVALID",
            "agents.configs.SNTGreen.cwd: green is not an absolute path",
            ["set_cwd", "name_project"],
            id="relative",
        ),
    ],
)
def test_where_an_agent_works_is_asked_for_where_it_has_to_be_said(
    crew: Crew, cwd: str | None, code: str, message: str, actions: list[str]
) -> None:
    argus = crew.argus
    crew.configure(config={"cwd": cwd})
    argus.up()
    refused = argus.cli("agents", "spawn", "SNTGreen", "--task", "t", "--json")
    assert (refused.code, refused.error["code"], refused.error["message"]) == (2, code, message)
    assert refused.error["suggestedActions"] == actions
    said = argus.cli("agents", "spawn", "SNTGreen", "--task", "t").stderr
    assert "--project-path" in said
    assert "cwd" in said
    assert "--help" not in said
    run = argus.cli("agent", "run", "SNTGreen", "--task", "t", "--project", "/nowhere").stderr
    assert "project_path: /nowhere is not a folder here" in run
    if cwd is not None:
        assert message in argus.cli("agent", "run", "SNTGreen", "--task", "t").stderr
    named = argus.cli("agents", "spawn", "SNTGreen", "--task", "t", "--project-path", str(crew.project), "--json")
    assert named.json["project_path"] == str(crew.project)


def test_a_task_that_no_program_could_take_is_refused_at_once(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    fits = "é" * 65_530  # 131,060 bytes: with its name as a variable, the most that Linux takes
    for task in (fits + "é", "x" * 150_000, "nothing\0here"):
        refused = argus.rest("POST", "/api/agents/spawn", {"config_name": "SNTGreen", "task": task})
        assert (refused.status, refused.error["code"]) == (400, "INVALID_REQUEST")
    assert crew.states() == {}
    assert crew.spawn(fits)["current_task"] == fits
    assert [task for _, _, task in crew.started()] == [fits]


_STRANGE = ["-f", "$(x)", "../", "../x"]


@pytest.mark.fault("AP3")
@pytest.mark.parametrize("name", _STRANGE)
def test_a_name_that_could_be_an_option_a_command_or_a_path_is_none(crew: Crew, injected: Injection, name: str) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    before = sorted(argus.home.rglob("*"))
    place = quote(name, safe="")
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("/api/heartbeat", {"agent_id": name}),
        ("/api/agents/spawn", {"config_name": name, "task": "t"}),
        ("/api/stop-requests", {"agent_id": name, "reason": "r"}),
        ("/api/tokens", {"agent": name}),
    ]
    with injected:
        named = [argus.rest("POST", path, body) for path, body in bodies]
        placed = [
            argus.rest("POST", f"/api/services/{place}/restart"),
            argus.rest("POST", f"/api/agents/{place}/stop", {}),
            argus.rest("DELETE", f"/api/heartbeats/{place}"),
            argus.rest("POST", f"/api/hooks/{place}", {"hook_event_name": "Stop"}),
        ]
        said = argus.cli("token", f"--agent={name}", "--json")
    assert {(reply.status, reply.error["code"]) for reply in named} == {(400, "INVALID_REQUEST")}
    # An encoded slash is a part of the name, and makes no other path of it.
    assert {(reply.status, reply.error["code"]) for reply in placed} == {(400, "INVALID_REQUEST")}
    assert (said.code, said.error["code"]) == (2, "INVALID_REQUEST")
    assert crew.states() == {}
    assert crew.started() == []
    assert sorted(argus.home.rglob("*")) == before


@pytest.mark.fault("AP4")
def test_a_secret_that_an_agent_is_given_appears_nowhere(crew: Crew, injected: Injection) -> None:
    argus, canary = crew.argus, "canary-5Tw2hYp8"
    crew.configure(config={"env": {"API_KEY": f"{canary}-key", "PLACE": f"https://user:{canary}-password@host/"}})
    argus.up()
    agent = crew.spawn()
    with injected:
        os.kill(agent["pid"], signal.SIGKILL)
        argus.wait_for("agent_respawned")
        crew.works("team-sntgreen002")
    paths = ("/api/state", "/api/context", "/api/events?last=10000&follow=false", "/openapi.json")
    sinks = {path: argus.rest("GET", path).body.decode() for path in paths}
    sinks |= {path: argus.rest("GET", path).body.decode() for path in ("/api/agents", "/api/heartbeats")}
    argus.down()
    sinks |= {str(path): path.read_text(errors="replace") for path in argus.home.rglob("*") if path.is_file()}
    assert {name for name, said in sinks.items() if canary in said} == set()


def test_an_agent_that_spoils_its_notes_is_no_trouble_to_the_others_and_is_seen_to_die(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    spoilt, other = crew.spawn("spoilt"), crew.spawn("other")
    note = argus.home / "agents" / spoilt["agent_id"] / "began"
    note.unlink()
    note.mkdir()
    argus.kill()
    argus.up()
    assert crew.states() == {spoilt["agent_id"]: "alive", other["agent_id"]: "alive"}
    for one in (spoilt, other):
        os.kill(one["pid"], signal.SIGKILL)
    eventually(lambda: len(crew.started()) == 4, "both are followed")
    eventually(lambda: list(crew.states().values()) == ["alive", "alive"], "both live")
    assert sorted(task for _, _, task in crew.started()) == ["other", "other", "spoilt", "spoilt"]


def test_one_run_folder_that_was_replaced_leaves_the_logs_of_the_others_bounded(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    replaced, other = crew.spawn("replaced"), crew.spawn("other")
    folder = argus.home / "agents" / replaced["agent_id"]
    folder.rename(argus.folder / "away")
    folder.write_text("not a folder")
    log = argus.home / "agents" / other["agent_id"] / "log"
    with log.open("ab") as file:
        file.write(bytes(30 * 1024 * 1024))
    eventually(lambda: log.stat().st_size <= 5 * 1024 * 1024, "the log is cut")


def test_what_a_killed_agent_put_apart_does_not_go_on_beside_its_successor(crew: Crew) -> None:
    argus = crew.argus
    apart = argus.folder / "apart"
    script = f"setsid sh -c 'echo $$ >>{apart}; exec sleep 600' & exec \"$@\""
    crew.command = ["sh", "-c", script, "sh", *crew.command]
    crew.configure()
    argus.up()
    first = crew.spawn()
    (left,) = eventually(lambda: apart.exists() and apart.read_text().split(), "it has put something apart")
    os.kill(first["pid"], signal.SIGKILL)
    crew.works("team-sntgreen002")
    eventually(lambda: not is_alive(int(left)), "what it left is ended")
    assert crew.states() == {"team-sntgreen002": "alive"}
