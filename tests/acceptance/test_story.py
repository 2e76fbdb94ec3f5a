"""One incident, one story: what was seen, decided, done and told of it, in order, with the evidence."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import pytest
import yaml

from tests.acceptance.crew import Crew
from tests.acceptance.harness import Argus, Hook, WebServer, eventually, is_alive
from tests.acceptance.test_environment_guardian import BREAKS, SCRIPT, breaks, restarting
from tests.acceptance.test_environment_guardian import signal as send
from tests.acceptance.yard import Yard
from tests.docker_engine import Engine

_SECRET = "hunter2hunter2"
_GIVEN = "kxv9-Wq3-correct"
"""Told to the agent by the configuration, and printed without saying what it is."""
_TALKS = f"""
import os, sys, time
for n in range(30):
    print(f"line {{n}}", flush=True)
print("password={_SECRET}", flush=True)
print("logged in with", os.environ.get("DB_PASSWORD"), flush=True)
with open(sys.argv[1], "a") as file:
    file.write(f"{{os.getpid()}} {{os.environ['ARGUS_AGENT_ID']}} {{sys.argv[2]}}\\n")
time.sleep(600)
"""


@pytest.fixture
def crew(argus: Argus) -> Crew:
    made = Crew(argus)
    talks = argus.folder / "talks.py"
    talks.write_text(_TALKS)
    made.command = [sys.executable, "-I", "-S", str(talks), str(made.starts), "{{task}}"]
    return made


def incidents(argus: Argus, kind: str) -> list[dict[str, Any]]:
    return [one for one in argus.get("/api/incidents")["incidents"] if one["kind"] == kind]


def closed(argus: Argus, kind: str, count: int = 1) -> list[dict[str, Any]]:
    """The newest first."""
    return eventually(
        lambda: len(found := incidents(argus, kind)) == count and all(one["closed"] for one in found) and found,
        f"{count} of {kind} are over",
    )


def story(argus: Argus, id: str) -> list[tuple[str, str]]:
    return [(one["part"], one["type"]) for one in argus.get(f"/api/incidents/{id}")["events"]]


def test_a_death_is_an_incident_until_its_task_goes_on_and_keeps_the_last_lines(crew: Crew) -> None:
    argus = crew.argus
    crew.configure(config={"env": {"DB_PASSWORD": _GIVEN}})
    argus.up()
    agent = crew.spawn()
    os.kill(agent["pid"], signal.SIGKILL)
    argus.wait_for("agent_respawned")
    (one,) = closed(argus, "agent_death")
    assert (one["subject"], one["cause"]) == ("team-sntgreen001", "exit status 137")
    assert one["data"]["ended"] == "respawned as team-sntgreen002"
    assert story(argus, one["id"]) == [
        ("observation", "agent_died"),
        ("decision", "spawn_started"),
        ("outcome", "agent_respawned"),
    ]
    (died, *_) = argus.get(f"/api/incidents/{one['id']}")["events"]
    assert len(died["data"]["logs"]) == 20
    assert "line 29" in died["data"]["logs"]
    shown = argus.cli("explain", one["id"]).stdout
    assert "line 29" in shown
    assert "exit status 137" in shown
    logs = argus.cli("agents", "logs", "team-sntgreen002").stdout
    assert "logged in with" in logs
    assert [secret for secret in (_SECRET, _GIVEN) for said in (str(died), shown, logs) if secret in said] == []
    assert argus.cli("explain", "last").stdout == argus.cli("explain").stdout == shown
    assert "agent_death" in argus.cli("incidents").stdout


def test_a_death_that_is_held_back_is_one_incident_over_a_killed_argus(crew: Crew) -> None:
    argus = crew.argus
    crew.configure(autonomy="observe")
    argus.up()
    agent = crew.spawn()
    os.kill(agent["pid"], signal.SIGKILL)
    held = argus.wait_for("respawn_held_back").data
    argus.kill()
    argus.up()
    eventually(lambda: crew.states() == {"team-sntgreen001": "dead"}, "it is still dead")
    (one,) = incidents(argus, "agent_death")
    assert (one["id"], one["closed"], one["data"]["gate"]) == (held["incident"], None, "autonomy")
    assert crew.agent("team-sntgreen001")["incident"] == one["id"]
    (entry,) = [e for e in argus.get(f"/api/incidents/{one['id']}")["story"] if e["part"] == "decision"]
    assert "autonomy" in entry["text"]
    assert held["hint"] in entry["text"]
    assert argus.cli("agents", "forget", "team-sntgreen001").code == 0
    (one,) = closed(argus, "agent_death")
    assert one["data"]["ended"] == "removed: removed by hand"
    assert story(argus, one["id"])[-1] == ("outcome", "agent_removed")


def test_a_death_that_was_noticed_by_the_next_argus_is_one_incident(crew: Crew) -> None:
    argus = crew.argus
    crew.configure()
    argus.up()
    agent = crew.spawn()
    argus.kill()
    os.kill(agent["pid"], signal.SIGKILL)
    eventually(lambda: not is_alive(agent["pid"]), "the agent is dead")
    argus.up()
    argus.wait_for("agent_respawned")
    (one,) = closed(argus, "agent_death")
    assert one["data"]["ended"] == "respawned as team-sntgreen002"


def test_the_story_of_an_outage_has_its_readings_its_decision_its_act_its_outcome_and_who_was_told(
    argus: Argus, web: WebServer, hook: Hook
) -> None:
    argus.configure([web.service("repair")], autonomy="moderate", channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    argus.wait_for("service_recovered")
    eventually(lambda: len(argus.journal("notification_sent")) == 2, "both messages are on record")
    (one,) = closed(argus, "service_outage")
    told = story(argus, one["id"])
    seen = [entry for entry in told if entry[0] != "notification"]
    assert seen == [
        ("observation", "service_down"),
        ("act", "restart_started"),
        ("outcome", "restart_finished"),
        ("outcome", "service_recovered"),
    ]
    assert [type for part, type in told if part == "notification"] == ["notification_sent"] * 2
    whole = argus.get(f"/api/incidents/{one['id']}")
    readings = whole["events"][0]["data"]["readings"]
    assert readings[0]["state"] == "up"
    assert readings[-1]["state"] == "down"
    assert "refused" in readings[-1]["detail"]
    shown = argus.cli("explain").stdout
    assert shown.index("connection refused") < shown.index("restart") < shown.index("SERVICE RECOVERED: web")
    assert hook.url not in shown


@pytest.fixture
def yard(resting: Yard, docker: Engine) -> Yard:
    """A container that crashes when it is told to, an environment that needs a service, an agent that needs both."""
    docker.image(BREAKS, "sh", "-c", SCRIPT)
    alive, folder = resting.folder / "alive", resting.folder / "project"
    folder.mkdir()
    alive.touch()
    db = {"name": "queue", "type": "command", "command": ["test", "-e", str(alive)], "interval": "200ms"}
    agent = {"command": ["sleep", "600"], "cwd": str(folder), "dependsOn": ["environment:shop"]}
    said = {
        "server": {"port": 0},
        "health": {"services": [{**db, "failuresBeforeAction": 1}]},
        "agents": {"configs": {"worker": agent}},
        "environments": [{"path": "project", "dependsOn": ["queue"]}],
    }
    resting.write(yaml.safe_dump(said, sort_keys=False))
    resting.up()
    return resting


def test_a_containers_failure_is_an_incident_until_it_is_well_and_explains_who_needs_it(
    yard: Yard, docker: Engine
) -> None:
    shop = yard.project(services=[breaks("db")], resilience=restarting("2s"))
    shop.up()
    yard.rest("POST", "/api/agents/spawn", {"config_name": "worker", "task": "a task"})
    yard.wait_for("agent_spawned")
    send(docker, "db", "USR1")
    lost = yard.wait_for("dependency_lost").data
    yard.wait_for("restart_success")
    yard.wait_for("dependency_back")
    (one,) = closed(yard, "container_failure")
    assert (one["subject"], one["id"], one["data"]["ended"]) == ("shop/db", lost["incident"], "it is well again")
    told = story(yard, one["id"])
    assert told[0] == ("observation", "restart_attempt")
    assert ("outcome", "restart_success") in told
    assert [type for part, type in told if part == "explained"] == ["dependency_lost", "dependency_back"]
    whole = yard.get(f"/api/incidents/{one['id']}")
    assert [entry["part"] for entry in whole["story"][:2]] == ["observation", "decision"]
    assert whole["story"][1]["text"] == "start it again in 2 s, attempt 1 of 3"
    (act,) = [entry for entry in whole["story"] if entry["part"] == "act"]
    assert act["timestamp"] - whole["story"][1]["timestamp"] >= 1900  # when it was ordered, not when it was planned
    assert {"exit status 3", "| it begins"} <= {line.partition(", after")[0] for line in whole["story"][0]["evidence"]}
    assert [(other["kind"], other["name"]) for other in whole["explains"]] == [("agent", "team-worker001")]
    shown = yard.cli("explain").stdout
    assert "| it begins" in shown
    assert _SECRET not in shown


def test_one_that_was_given_up_stays_one_open_incident_over_a_killed_argus_until_its_run_is_cleaned(
    yard: Yard, docker: Engine
) -> None:
    shop = yard.project(services=[breaks("db")], resilience=restarting("50ms", maxRestarts=1))
    shop.up()
    (yard.folder / "alive").unlink()
    root = yard.wait_for("service_down").data["incident"]
    send(docker, "db", "USR2")
    told = yard.wait_for("restart_exhausted").data
    yard.kill()
    yard.up()
    (one,) = incidents(yard, "container_failure")
    assert (one["id"], one["closed"], one["data"]["givenUp"]) == (told["incident"], None, True)
    explains = yard.get(f"/api/incidents/{root}")["explains"]
    assert ("container", "shop/db", one["id"]) in [
        (other["kind"], other["name"], other["incident"]) for other in explains
    ]
    (part,) = [found for found in shop.status["services"] if found["name"] == "db"]
    assert part["guard"]["incident"] == one["id"]
    assert shop.env("clean").code == 0
    (one,) = closed(yard, "container_failure")
    assert one["data"]["ended"] == "its run was cleaned or replaced"
