"""The nine points of the source's testing checklist, one by one, with its times divided by 30."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.crew import Crew
from tests.acceptance.harness import Argus, eventually, is_alive, never

TASK = "SEC-1: \"make\" a 'key'\n$(touch /tmp/no) `x` \\ {{task}} ; # %s\t" + "0123456789 é€😀" * 5_000


@pytest.fixture
def crew(argus: Argus) -> Crew:
    one = Crew(argus)
    one.configure()
    argus.up()
    return one


@pytest.fixture
def foreign(argus: Argus) -> Iterator[subprocess.Popen[bytes]]:
    """A process that somebody else started."""
    with subprocess.Popen(["sleep", "600"], env=argus.env) as process:
        yield process
        process.kill()


def beat(crew: Crew, **said: Any) -> dict[str, Any]:
    answer: dict[str, Any] = crew.argus.rest("POST", "/api/heartbeat", said).json
    return answer


def known(crew: Crew, foreign: subprocess.Popen[bytes]) -> dict[str, Any]:
    """All that a respawn of it needs, from its beats."""
    place = {"config_name": "SNTGreen", "project_path": str(crew.project)}
    return {"agent_id": "green007", "current_task": "t", "pid": foreign.pid, **place}


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@pytest.mark.req("HB-01")
def test_1_a_heartbeat_is_accepted_and_updates_what_is_known(crew: Crew) -> None:
    assert beat(crew, agent_id="a", status="working")["ok"] is True
    first = crew.agent("a")
    assert beat(crew, agent_id="a", status="testing")["ok"] is True
    second = crew.agent("a")
    assert (first["status"], second["status"]) == ("working", "testing")
    assert second["last_seen"] > first["last_seen"]


@pytest.mark.req("HB-02")
def test_2_all_heartbeats_are_listed(crew: Crew) -> None:
    for id in ("c", "a", "b"):
        beat(crew, agent_id=id, current_task=f"task of {id}")
    listed = crew.argus.get("/api/heartbeats")
    assert listed["count"] == 3
    assert [(one["agent_id"], one["current_task"], one["state"]) for one in listed["heartbeats"]] == [
        ("c", "task of c", "alive"),
        ("a", "task of a", "alive"),
        ("b", "task of b", "alive"),
    ]
    crew.argus.kill()
    crew.argus.up()
    assert [one["agent_id"] for one in crew.argus.get("/api/heartbeats")["heartbeats"]] == ["c", "a", "b"]


@pytest.mark.req("HB-03")
def test_3_the_companion_beats_every_second(crew: Crew, foreign: subprocess.Popen[bytes]) -> None:
    words = ["agent", "heartbeat", "--agent-id", "green007", "--pid", str(foreign.pid)]
    with crew.argus.background(*words) as companion:
        eventually(lambda: "green007" in crew.states(), "the first beat")
        seen: set[str] = set()
        # Longer than the threshold: only beats keep it alive.
        eventually(lambda: seen.add(crew.agent("green007")["last_seen"]) or len(seen) >= 6, "six beats")
        assert crew.states() == {"green007": "alive"}
        end(foreign)
        assert companion.wait(30) == 0


@pytest.mark.req("HB-04")
def test_4_the_launcher_starts_the_companion_with_the_agent_and_both_end_together(crew: Crew) -> None:
    with crew.argus.background("agent", "run", "SNTGreen", "--task", "t") as launcher:
        crew.works("team-sntgreen001")
        seen: set[str] = set()
        eventually(lambda: seen.add(crew.agent("team-sntgreen001")["last_seen"]) or len(seen) >= 4, "four beats")
        launcher.send_signal(signal.SIGTERM)
        launcher.wait(60)
    (pid, *_), *_ = crew.started()
    assert not is_alive(pid)


@pytest.mark.req("HB-05")
def test_5_the_stale_checker_runs_by_itself(crew: Crew) -> None:
    beat(crew, agent_id="far001", host="elsewhere")
    assert crew.argus.wait_for("agent_unknown").data["agent_id"] == "far001"
    assert beat(crew, agent_id="far001")["ok"] is True
    assert crew.states() == {"far001": "alive"}
    crew.argus.wait_for("agent_unknown", count=2)


@pytest.mark.req("HB-05", "HB-08")
def test_6_an_agent_whose_beats_have_stopped_is_respawned_when_it_is_dead(
    crew: Crew, foreign: subprocess.Popen[bytes]
) -> None:
    beat(crew, **known(crew, foreign))
    end(foreign)
    said = crew.argus.wait_for("agent_respawned").data
    assert said["message"] == "Agent green007 died, respawned as green008 to continue task"
    crew.works("green008")


@pytest.mark.req("HB-06")
def test_7_an_approved_stop_request_prevents_the_respawn(crew: Crew, foreign: subprocess.Popen[bytes]) -> None:
    beat(crew, **known(crew, foreign))
    asked = crew.argus.rest("POST", "/api/stop-requests", {"agent_id": "green007", "reason": "done"})
    assert asked.status == 201
    answer = {"approved": True, "response": "well done"}
    assert crew.argus.rest("POST", f"/api/stop-requests/{asked.json['id']}/respond", answer).status == 200
    told = beat(crew, agent_id="green007")
    assert (told["ok"], told["stop"], told["reason"]) == (False, True, "shutdown_requested")
    end(foreign)
    assert crew.argus.wait_for("agent_removed").data["agent_id"] == "green007"
    assert crew.started() == []


@pytest.mark.req("HB-07")
async def test_8_a_living_process_is_never_respawned(crew: Crew, foreign: subprocess.Popen[bytes]) -> None:
    beat(crew, **known(crew, foreign))
    assert crew.argus.wait_for("agent_silent").data["agent_id"] == "green007"
    await never(lambda: bool(crew.started()), "it was respawned", 5.0)
    assert crew.states() == {"green007": "stale"}
    assert foreign.poll() is None


@pytest.mark.req("HB-08")
def test_9_the_respawned_agent_continues_the_same_task_byte_for_byte(crew: Crew) -> None:
    assert len(TASK.encode()) > 100_000
    agent = crew.spawn(TASK)
    os.kill(agent["pid"], signal.SIGKILL)
    crew.works("team-sntgreen002")
    assert [(id, task) for _, id, task in crew.started()] == [
        ("team-sntgreen001", TASK),
        ("team-sntgreen002", TASK),
    ]
    assert crew.agent("team-sntgreen002")["current_task"] == TASK


LAST_PID = "/proc/sys/kernel/ns_last_pid"


@pytest.mark.skipif(not os.access(LAST_PID, os.W_OK), reason="choosing a PID needs root")
def test_a_recycled_pid_is_not_taken_for_the_agent_and_gets_no_signal(
    crew: Crew, foreign: subprocess.Popen[bytes]
) -> None:
    beat(crew, **known(crew, foreign))
    crew.argus.kill()
    began = started(foreign.pid)
    end(foreign)
    stranger = recycled(foreign.pid, began)
    try:
        crew.argus.up()
        assert crew.argus.wait_for("agent_respawned").data["previous"] == "green007"
        assert crew.argus.cli("agents", "stop", "green008", "--no-graceful").code == 0
        crew.argus.wait_for("agent_removed")
        assert stranger.poll() is None
    finally:
        end(stranger)


def started(pid: int) -> str:
    """In the kernel's ticks, of which there are a hundred a second."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def recycled(pid: int, began: str) -> subprocess.Popen[bytes]:
    """A process of that number; others start processes too, so it may take a few tries. Not of the same tick: the
    kernel gives nobody's number away so soon by itself, and nobody could tell the two apart."""
    for _ in range(200):
        with open(LAST_PID, "w") as file:
            file.write(str(pid - 1))
        process = subprocess.Popen(["sleep", "600"])
        if process.pid == pid and started(pid) != began:
            return process
        end(process)
    pytest.skip("somebody else was always faster")
