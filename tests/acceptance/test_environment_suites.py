"""Suites against a real environment: through CLI, REST and MCP, on ports that went elsewhere, when things die."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.acceptance.harness import DEADLINE, eventually, never
from tests.acceptance.test_agents_door import data
from tests.acceptance.test_environment_engine import ask
from tests.acceptance.test_environment_guardian import BREAKS, SCRIPT, breaks, restarting, signal
from tests.acceptance.yard import COMMANDS, Project, Yard, ended, service, stays, web
from tests.docker_engine import Engine

PRINTS = "echo ready > /www/x && cat /www/x"
ALL_STEPS: dict[str, Any] = {
    "name": "Steps",
    "setup": [{"waitHealthy": {"timeout": "30s"}}],
    "cases": [
        {"name": "asked", "request": {"path": "/health"}, "expect": {"status": 200}},
        {"name": "by its variable", "request": {"url": "{{config.api}}/health"}, "expect": {"status": 200}},
        {"name": "run", "exec": {"command": PRINTS}, "expect": {"output": {"matches": "^ready"}}},
        {"name": "kept", "file": {"path": "/www/x", "contains": "ready", "size": ">3"}},
        {"name": "runs", "process": {"name": "httpd", "running": True, "count": ">=1"}},
        {"name": "listens", "port": {"port": 8080}},
        {"name": "the other", "exec": {"command": "hostname", "container": "db"}, "expect": {"exitCode": 0}},
    ],
}
GIVEN = 'wget -qO- "$BASE_URL/health" && test "$API_PORT" != 13080'


def shop(yard: Yard, *suites: dict[str, Any], **more: Any) -> Project:
    """An API that answers and a database that does nothing; a suite of cases is a file of its name."""
    api = web("api", "13080:8080", vars={"api": "http://localhost:13080"})
    listed = [{"id": one["name"], **one} for one in suites]
    made = yard.project(**{"services": [api, stays("db", "15432:5432")], "tests": {"suites": []}, **more})
    for one in listed:
        cases = one.pop("cases", None)
        if cases is not None:
            one["file"] = f"{one['name']}.yaml"
            file = cases if isinstance(cases, dict) else {"name": one["name"], "cases": cases}
            (made.folder / one["file"]).write_text(yaml.safe_dump(file), encoding="utf-8")
    said = yaml.safe_load((made.folder / "e2e.yaml").read_text(encoding="utf-8"))
    made.write(**{**said, "tests": {"suites": listed}})
    return made


@contextlib.asynccontextmanager
async def agent(yard: Yard, project: Project) -> AsyncIterator[Client]:
    command, *arguments = yard.words("mcp")
    program = StdioServerParameters(command=command, args=arguments, env=yard.env, cwd=project.folder)
    async with Client(program, read_timeout_seconds=2 * DEADLINE) as client:
        yield client


def plain(done: dict[str, Any]) -> dict[str, Any]:
    """Without times."""
    suites = [
        {**one, "duration": 0, "cases": [{**case, "duration": 0} for case in one["cases"]]} for one in done["suites"]
    ]
    return {**done, "duration": 0, "suites": suites}


@pytest.mark.req("SC-R04")
async def test_every_step_works_on_a_port_that_had_to_be_another_by_every_way_in(yard: Yard, stranger: Any) -> None:
    stranger(13080)
    project = shop(yard, {"name": "steps", "cases": ALL_STEPS}, {"name": "given", "runner": "shell", "command": GIVEN})
    error = project.refused("run")
    assert (error["code"], error["suggestedActions"]) == ("INVALID_STATE", ["run_setup", "read_environment"])
    assert error["message"] == "the environment is not up: it was not set up yet, or cleaned since"
    assert project.up()["portMappings"][0]["reassigned"] is True
    ran = project.env("run")
    assert ran.code == 0, ran
    done = ran.json
    assert done["totals"] == {"passed": 8, "failed": 0, "skipped": 0, "total": 8}
    shell = {"folder": str(project.folder), "environ": yard.env}
    over_rest = yard.rest("POST", "/api/environments/run", {"projectPath": ".", "shell": shell})
    assert plain(over_rest.json) == plain(done)
    async with agent(yard, project) as client:
        by_tool = data(await client.call_tool("argus_run", {"projectPath": "."}))
        assert plain(by_tool) == plain(done)
        one = data(await client.call_tool("argus_run_suite", {"projectPath": ".", "suiteId": "given"}))
        assert [suite["id"] for suite in one["suites"]] == ["given"]


@pytest.mark.req("US3.5", "EC-R08", "NFR-R05")
def test_a_container_that_dies_meanwhile_is_restarted_and_the_run_says_so(yard: Yard, docker: Engine) -> None:
    # The first time it is held until its container dies; played anew, it finds what the first time left.
    once = "test -e /www/begun && exit 0; touch /www/begun; sleep 599"
    waits = {"name": "waits", "exec": {"command": once, "timeout": "60s"}}
    alive = {"name": "alive", "request": {"path": "/health"}, "retry": {"maxAttempts": 10, "delay": "1s"}}
    project = shop(yard, {"name": "life", "cases": [waits, alive]}, resilience={"container": {"restartDelay": "100ms"}})
    project.up()
    running = project.begin("run")
    eventually(lambda: "sleep 599" in str(docker.ask("GET", "/containers/api/top")), "the case is under way")
    docker.kill_container("api")
    ran = ended(running)
    assert ran.code == 0, ran
    done = ran.json
    assert [one["status"] for one in done["suites"][0]["cases"]] == ["passed", "passed"]
    assert "tried again" in done["suites"][0]["cases"][0]["reason"]
    (restart,) = done["restarts"]
    assert (restart["service"], restart["code"], restart["crashLoop"]) == ("api", "CONTAINER_CRASH", False)
    assert restart["outcome"] in (None, "recovered")
    assert done["problems"] == []


@pytest.mark.req("EC-R09")
async def test_a_restart_that_can_wait_waits_for_the_case_in_progress(yard: Yard, docker: Engine) -> None:
    docker.image(
        "sick:1", "sh", "-c", "mkdir -p /www; touch /www/health; trap exit TERM; httpd -f -p 8080 -h /www & wait"
    )
    health = {"path": "/health", "port": 8080, "interval": "100ms", "retries": 2}
    sick = service("api", "sick:1", "13080:8080", container={"healthcheck": health})
    until = "rm /www/health; until test -e /www/go; do sleep 0.1; done; echo whole"
    held = {"name": "held", "exec": {"command": until, "timeout": "60s"}, "expect": {"output": {"contains": "whole"}}}
    after = {"name": "after", "request": {"path": "/health"}, "expect": {"status": 200}}
    again = {"retry": {"maxAttempts": 10, "delay": "500ms"}}
    cases = [held, {**after, **again}]
    project = shop(yard, {"name": "life", "cases": cases}, services=[sick], resilience=restarting())
    project.up()
    running = project.begin("run")
    assert yard.wait_for("restart_attempt").data["code"] == "HEALTH_CHECK_TIMEOUT"
    await never(lambda: docker.happened("api", "restart"), "restarted in the middle of a case", 1.0)
    docker.execute("api", "touch", "/www/go")
    ran = ended(running)
    assert ran.code == 0, ran
    assert [one["status"] for one in ran.json["suites"][0]["cases"]] == ["passed", "passed"]
    assert [one["code"] for one in ran.json["restarts"]] == ["HEALTH_CHECK_TIMEOUT"]
    assert docker.happened("api", "restart") == 1


@pytest.mark.req("EC-R03")
def test_a_crash_loop_in_the_middle_is_named_and_fails_the_run(yard: Yard, docker: Engine) -> None:
    docker.image(BREAKS, "sh", "-c", SCRIPT)
    waits = {"name": "waits", "runner": "shell", "command": "until test -e go; do sleep 0.1; done"}
    project = shop(yard, waits, services=[breaks("db")], resilience=restarting("50ms"))
    project.up()
    running = project.begin("run")
    yard.wait_for("suite_started")
    signal(docker, "db", "USR2")
    yard.wait_for("restart_exhausted")
    (project.folder / "go").touch()
    ran = ended(running)
    assert (ran.code, ran.json["status"], ran.json["totals"]["passed"]) == (1, "failed", 1)
    assert [one["attempt"] for one in ran.json["restarts"]] == [1, 2, 3]
    assert ran.json["restarts"][-1]["crashLoop"] is True
    (problem,) = ran.json["problems"]
    assert (problem["code"], len(problem["details"]["history"]["attempts"])) == ("CONTAINER_RESTART_EXHAUSTED", 3)


def test_one_that_failed_and_is_not_to_be_restarted_fails_the_run(yard: Yard, docker: Engine) -> None:
    good = {"name": "good", "runner": "exec", "command": "true"}
    project = shop(yard, good, services=[stays("db")], resilience={"container": {"restartOnFailure": False}})
    project.up()
    assert project.env("run").code == 0
    docker.kill_container("db")
    ran = project.env("run")
    assert (ran.code, ran.json["status"], ran.json["totals"]["failed"]) == (1, "failed", 0)
    (problem,) = ran.json["problems"]
    assert (problem["code"], problem["details"]["service"]) == ("CONTAINER_CRASH", "db")


def test_suites_reach_no_container_and_no_file_of_another_project(yard: Yard, docker: Engine) -> None:
    """By an agent's token, and by a person's run: a test belongs to its environment."""
    shop(yard, {"name": "steps", "cases": [{"name": "a", "exec": {"command": "true"}}]}, services=[stays("db")]).up()
    other = yard.project("other", "other")
    case = {"name": "reach", "exec": {"command": "env", "container": "db"}}
    (other.folder / "in.yaml").write_text(yaml.safe_dump({"name": "in", "cases": [case]}), encoding="utf-8")
    files = {"in": "in.yaml", "out": "../project/steps.yaml"}
    suites = [{"id": name, "name": name, "file": file} for name, file in files.items()]
    other.write(project={"name": "other"}, tests={"suites": suites})
    ran = yard.cli("token", "--agent", "team-green001", "--project", str(other.folder))
    headers = {"Authorization": f"Bearer {ran.stdout.strip()}"}
    body = {"projectPath": str(other.folder), "shell": {"folder": str(other.folder), "environ": yard.env}}
    by_agent = yard.rest("POST", "/api/environments/run", body, token=False, headers=headers)
    assert by_agent.status == 200, by_agent
    for done in (by_agent.json, other.env("run").json):
        inside, outside = done["suites"]
        (failure,) = inside["cases"][0]["failures"]
        assert (failure["code"], failure["actual"]) == ("CONTAINER_NOT_FOUND", "db")
        assert outside["error"]["code"] == "CONFIG_INVALID"
        assert "outside of the project" in outside["error"]["message"]


@pytest.mark.req("EC-R01")
def test_an_engine_that_dies_in_a_run_is_told_with_what_was_collected(yard: Yard, docker: Engine) -> None:
    first = {"name": "first", "request": {"path": "/health"}}
    waits = {"name": "waits", "exec": {"command": "sleep 600", "timeout": "10m"}}
    project = shop(yard, {"name": "life", "cases": [first, waits]}, {"name": "later", "cases": [first]})
    project.up()
    running = project.begin("run", "--junit", "results.xml", "--timeout", "8s")
    yard.wait_for("case_ended")
    docker.kill()
    error = ended(running).error  # of two limits the nearer one: what an engine is given to come back is longer
    assert error["code"] == "DOCKER_UNAVAILABLE"
    results = error["details"]["results"]
    assert [(one["id"], one["status"]) for one in results["suites"]] == [("life", "failed"), ("later", "skipped")]
    assert results["suites"][0]["cases"][0]["status"] == "passed"
    assert (project.folder / "results.xml").exists()
    assert project.status["circuitBreaker"]["failureCount"] > 0
    docker.start()
    project.up()
    assert project.env("run-suite", "later").code == 0


@pytest.mark.req("SC-R01")
def test_a_run_whose_engine_is_restarted_goes_on_however_often_somebody_looks_meanwhile(
    mortal: Engine, tmp_path: Path
) -> None:
    yard = Yard(tmp_path / "argus", mortal)
    yard.configure([])
    for image, command in COMMANDS.items():
        mortal.image(image, *command)
    try:
        yard.up()
        first = {"name": "first", "request": {"path": "/health"}}
        waits = {"name": "waits", "exec": {"command": "sleep 5"}, "expect": {"exitCode": 0}}
        asks = {"name": "asks", "request": {"path": "/health"}, "expect": {"status": 200}}
        project = shop(yard, {"name": "life", "cases": [first, waits, asks]})
        project.up()
        running = project.begin("run")
        yard.wait_for("case_ended")
        mortal.kill()
        yard.wait_for("engine_lost")
        for _ in range(7):  # two more than a breaker takes
            status = ask(yard, project, "status").json
            assert status["problem"]["code"] == "DOCKER_UNAVAILABLE"
            assert {one["guard"]["state"] for one in status["services"]} <= {"unwatched", "waiting", "left alone"}
        assert status["circuitBreaker"]["state"] == "closed"
        mortal.start()
        ran = ended(running)
        assert (ran.code, ran.json["status"]) == (0, "passed"), ran
        assert ran.json["totals"]["passed"] == 3
        assert {one["guard"]["state"] for one in project.status["services"]} == {"well"}
        assert {one["guard"]["restarts"] for one in project.status["services"]} == {0}
        assert yard.journal("breaker_opened") == []
    finally:
        yard.end()


def test_a_setup_waits_for_its_turn_no_longer_than_it_may(yard: Yard, docker: Engine) -> None:
    project = shop(yard, {"name": "life", "cases": [{"name": "waits", "exec": {"command": "sleep 600"}}]})
    project.up()
    running = project.begin("run")
    yard.wait_for("case_started")
    error = project.env("setup", "--timeout", "1s").error
    assert error["code"] == "CONFLICT"
    assert error["message"] == "not begun within 1 s: it waited for its turn, and run is still under way"
    assert (error["details"]["waitedFor"], error["details"]["timeoutSeconds"]) == ("run", 1)
    project.env("clean")
    assert ended(running).error["code"] == "CONFLICT"


def test_a_container_that_somebody_renamed_is_shown_by_its_new_name(yard: Yard, docker: Engine) -> None:
    project = shop(yard, {"name": "life", "cases": [{"name": "first", "request": {"path": "/health"}}]})
    project.up()
    docker.ask("POST", "/containers/db/rename?name=db2")
    (db,) = [one for one in project.status["services"] if one["name"] == "db"]
    assert (db["container"], db["state"], db["guard"]["state"]) == ("db2", "running", "well")
    assert project.env("logs", "db").code == 0
