"""Environments as agents use them: MCP over stdio from the agent's own folder, and the same over REST."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.acceptance.harness import DEADLINE, Reply
from tests.acceptance.test_agents_door import data, error
from tests.acceptance.test_environment_orphans import leave
from tests.acceptance.yard import NOTHING, Project, Yard, ours, service, stays
from tests.docker_engine import IMAGE, Engine

OPERATIONS = (
    "init", "build", "setup", "run", "run_suite", "status", "logs", "mock_requests", "clean", "preflight_check",
    "reset_circuit",
)  # fmt: skip
AWAY = "unix:///nowhere/docker.sock"


@contextlib.asynccontextmanager
async def agent(yard: Yard, folder: Path, **env: str) -> AsyncIterator[Client]:
    """An agent at work in a folder; it started its own `argus mcp` there."""
    command, *arguments = yard.words("mcp")
    program = StdioServerParameters(command=command, args=arguments, env={**yard.env, **env}, cwd=folder)
    async with Client(program, read_timeout_seconds=2 * DEADLINE) as client:
        yield client


def checks(report: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["status"] for one in report["checks"]}


@pytest.mark.req("SC-R08", "US8.1", "US8.2", "US8.4", "FR-R25", "FR-R26", "FR-R27")
async def test_an_agent_brings_an_environment_up_and_takes_it_away(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[service("api", "made:1", "13080:1", vars={"x": "y"})], surprise=1)
    (shop.folder / "Dockerfile").write_text(
        f'FROM {IMAGE}\nCMD ["sh", "-c", "echo hello; trap exit TERM; while :; do sleep 600 & wait; done"]\n'
    )
    # The daemon was started elsewhere and without an engine: folder and DOCKER_HOST are the agent's own.
    here = {"projectPath": "."}
    async with agent(yard, shop.folder) as client:
        known = {one.name for one in (await client.list_tools()).tools}
        assert {f"argus_{name}" for name in OPERATIONS} <= known
        begun = data(await client.call_tool("argus_init", here))
        assert (begun["project"], begun["services"], begun["folder"]) == ("shop", ["api"], str(shop.folder))
        assert any(one.startswith("surprise (line") for one in begun["warnings"])
        (built,) = data(await client.call_tool("argus_build", here))["images"]
        assert (built["image"], built["existed"]) == ("made:1", False)
        report = data(await client.call_tool("argus_preflight_check", here))["healthReport"]
        assert set(checks(report)) == {"docker_daemon", "disk_space", "orphan_resources", "ports", "network"}
        assert (report["overall"], set(checks(report).values())) == ("healthy", {"pass"})
        fewer = {**here, "skipDiskCheck": True, "skipOrphanCheck": True}
        report = data(await client.call_tool("argus_preflight_check", fewer))["healthReport"]
        assert set(checks(report)) == {"docker_daemon", "ports", "network"}
        done = data(await client.call_tool("argus_setup", here))
        assert done["portMappings"][0] == {
            "service": "api", "originalPort": 13080, "actualPort": 13080, "reassigned": False
        }  # fmt: skip
        status = data(await client.call_tool("argus_status", here))
        assert (status["state"], status["runId"]) == ("up", done["runId"])
        logs = data(await client.call_tool("argus_logs", {**here, "container": "api"}))
        assert logs["lines"] == ["hello"]
        asked = data(await client.call_tool("argus_mock_requests", here))
        assert (asked["requests"], asked["mocks"]) == ([], [])
        refused = error(await client.call_tool("argus_mock_requests", {**here, "mockName": "pay"}))
        assert refused["code"] == "MOCK_NOT_FOUND"
        reset = data(await client.call_tool("argus_reset_circuit", here))
        assert (reset["previousState"], reset["currentState"]) == ("closed", "closed")
        assert "nothing to reset" in reset["message"]
        gone = data(await client.call_tool("argus_clean", here))
        assert {one["name"] for one in gone["removed"]} == {"api", done["network"]}
    assert ours(docker) == NOTHING


@pytest.mark.req("US8.5", "FR-R26")
async def test_an_agent_has_leftovers_removed(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[stays("db", "15432:5432")])
    leave(docker, containers=1, networks=1, volumes=1)
    async with agent(yard, shop.folder) as client:
        fixed = data(await client.call_tool("argus_preflight_check", {"projectPath": ".", "autoFix": True}))
    assert fixed["autoFixApplied"] is True
    assert {one["name"] for one in fixed["fixed"]["removed"]} == {"left0", "left-net0", "left-data0"}
    assert checks(fixed["found"])["orphan_resources"] == "warn"
    assert checks(fixed["healthReport"])["orphan_resources"] == "pass"
    assert ours(docker) == NOTHING


@pytest.mark.req("US8.3", "US1.1", "US1.5", "SC-R06", "SC-R08")
async def test_an_agent_whose_engine_is_away_gets_the_same_errors_as_everybody(yard: Yard) -> None:
    shop = yard.project(services=[stays("db", "15432:5432")], resilience={"circuitBreaker": {"resetTimeoutMs": 0}})
    here = {"projectPath": "."}
    async with agent(yard, shop.folder, DOCKER_HOST=AWAY) as client:
        for _ in range(5):
            refused = error(await client.call_tool("argus_setup", here))
            assert refused["code"] == "DOCKER_UNAVAILABLE"
        refused = error(await client.call_tool("argus_build", here))
        assert (refused["code"], refused["details"]["severity"]) == ("CIRCUIT_OPEN", "recoverable")
        assert "reset_circuit" in refused["details"]["suggestedActions"]
        reset = data(await client.call_tool("argus_reset_circuit", here))
        assert (reset["previousState"], reset["currentState"]) == ("open", "half-open")
        assert len(reset["failureHistory"]) == 5
    async with agent(yard, shop.folder) as client:
        done = data(await client.call_tool("argus_setup", here))
        assert done["services"][0]["state"] == "running"


async def test_what_an_agent_asks_wrongly_is_a_structured_error(yard: Yard, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    async with agent(yard, tmp_path / "empty") as client:
        refused = error(await client.call_tool("argus_setup", {"projectPath": "."}))
        assert refused["code"] == "CONFIG_NOT_FOUND"
        looked = refused["details"]["details"]["lookedFor"]
        assert looked == [str(tmp_path / "empty" / name) for name in ("e2e.yaml", "e2e.yml")]
        for arguments in (
            {},
            {"projectPath": 7},
            {"projectPath": ".", "timeout": "never"},
            {"projectPath": ".", "x": 1},
        ):
            assert error(await client.call_tool("argus_setup", arguments))["code"] == "INVALID_REQUEST", arguments
        refused = error(await client.call_tool("argus_logs", {"projectPath": ".", "container": "api"}))
        assert refused["code"] == "CONFIG_NOT_FOUND"


def token(yard: Yard, project: Project) -> str:
    ran = yard.cli("token", "--agent", "team-green001", "--project", str(project.folder))
    assert ran.code == 0, ran
    return ran.stdout.strip()


@pytest.fixture
def own(yard: Yard) -> Project:
    return yard.project(name="own", folder="own", services=[stays("own", "15001:1")])


@pytest.fixture
def other(yard: Yard) -> Project:
    return yard.project(name="other", folder="own2", services=[stays("other", "15002:1")])


@pytest.mark.req("IF-02")
async def test_an_agents_token_is_good_for_its_own_project_alone(
    yard: Yard, docker: Engine, own: Project, other: Project
) -> None:
    (own.folder / "link").symlink_to(other.folder)
    (own.folder / "sub").mkdir()
    other.up()
    outside = [str(other.folder), "../own2", "sub/../../own2", "link", "/", "..", str(own.folder) + "2"]
    async with agent(yard, own.folder, ARGUS_TOKEN=token(yard, own)) as client:
        for path in outside:
            for name in OPERATIONS:
                more = {"logs": {"container": "other"}, "run_suite": {"suiteId": "any"}}.get(name, {})
                refused = error(await client.call_tool(f"argus_{name}", {"projectPath": path, **more}))
                assert refused["code"] == "FORBIDDEN", (path, name, refused)
        for file in ("../own2/e2e.yaml", str(other.folder / "e2e.yaml"), "link/e2e.yaml"):
            refused = error(await client.call_tool("argus_clean", {"projectPath": ".", "configFile": file}))
            assert refused["code"] == "FORBIDDEN", file
        done = data(await client.call_tool("argus_setup", {"projectPath": "sub/.."}))
        assert done["services"][0]["state"] == "running"
        assert data(await client.call_tool("argus_clean", {"projectPath": "."}))["failed"] == []
    assert ours(docker, "other")["containers"] == ["other"]
    assert ours(docker, "own") == NOTHING


@pytest.mark.req("IF-02")
def test_an_agent_that_writes_anothers_name_into_its_file_reaches_nothing_of_that_one(
    yard: Yard, docker: Engine, own: Project, other: Project
) -> None:
    other.write(project={"name": "other"}, services=[stays("other", "15002:1", container={"volumes": ["kept:/data"]})])
    other.up()
    other.env("clean")
    yard.kill()
    yard.up()
    own.write(project={"name": "other"}, services=[stays("mine", "15001:1")])
    here = {"projectPath": ".", "shell": {"folder": str(own.folder), "environ": yard.env}}
    mine = token(yard, own)
    for name, more in (("preflight_check", {"autoFix": True}), ("clean", {"force": True}), ("reset_circuit", {})):
        refused = rest(yard, name, {**here, **more}, mine)
        assert (refused.status, refused.error["code"]) == (403, "FORBIDDEN"), name
    # In a worktree of its own it may work on the same project, beside the others.
    assert rest(yard, "setup", here, mine).status == 200
    assert rest(yard, "clean", here, mine).status == 200
    assert ours(docker, "other") == {"containers": [], "networks": [], "volumes": ["kept"]}
    assert rest(yard, "clean", {**here, "force": True}).status == 200, "its owner may"
    assert ours(docker, "other") == NOTHING


def rest(yard: Yard, operation: str, body: Any, bearer: str = "") -> Reply:
    headers = {"Authorization": f"Bearer {bearer or yard.token}"}
    return yard.rest("POST", f"/api/environments/{operation}", body, token=False, headers=headers)


@pytest.mark.req("IF-01", "SC-R06")
def test_over_rest_it_is_the_same(yard: Yard, docker: Engine, own: Project, other: Project) -> None:
    shell = {"folder": str(own.folder), "environ": yard.env}
    here = {"projectPath": ".", "shell": shell}
    done = rest(yard, "setup", here)
    assert (done.status, done.json["services"][0]["state"]) == (200, "running")
    by_command, by_rest = own.env("status").json, rest(yard, "status", here).json
    for one in (by_command, by_rest):
        assert one["circuitBreaker"].pop("secondsInState") >= 0  # which goes on between the two
    assert by_rest == by_command
    assert rest(yard, "logs", {**here, "container": "nobody"}).error["code"] == "CONTAINER_NOT_FOUND"
    mine = token(yard, own)
    for path in (str(other.folder), "../own2"):
        refused = rest(yard, "setup", {**here, "projectPath": path}, mine)
        assert (refused.status, refused.error["code"]) == (403, "FORBIDDEN"), path
    # What it says about its folder is its own word: the project is by the token.
    lying = {"projectPath": ".", "shell": {**shell, "folder": str(other.folder)}}
    assert rest(yard, "clean", lying, mine).status == 403
    assert rest(yard, "clean", here, mine).status == 200
    assert ours(docker, "own") == NOTHING


def test_without_a_shell_the_daemons_own_is_meant(yard: Yard, own: Project) -> None:
    said = rest(yard, "init", {"projectPath": str(own.folder)})
    assert (said.status, said.json["project"]) == (200, "own")


@pytest.mark.req("IF-02")
def test_a_reporting_token_and_none_at_all_reach_no_environment(yard: Yard, own: Project) -> None:
    reporting = yard.cli("token", "--report").stdout.strip()
    for name in OPERATIONS:
        body = {"projectPath": str(own.folder), **({"container": "own"} if name == "logs" else {})}
        assert rest(yard, name, body, reporting).status == 403, name
        assert rest(yard, name, body, "nonsense").status == 401, name


async def test_an_agent_that_goes_away_in_a_setup_takes_it_back(yard: Yard, docker: Engine) -> None:
    api = service("api", "stays:1", "13080:8080")
    api["container"]["healthcheck"] = {"path": "/", "port": 8080}
    shop = yard.project(services=[api])
    with yard.events(live="true") as stream:
        process = begin_mcp(yard, shop, "argus_setup", {"projectPath": "."})
        stream.until(lambda one: one.type == "service_waiting", "it waits")
    process.kill()
    process.communicate()
    shop.write(project={"name": "shop"}, services=[stays("db", "15432:5432")])
    done = shop.up()
    assert done["orphanCleanup"]["removed"] == []
    assert ours(docker)["containers"] == ["db"]


async def test_an_agent_is_told_what_a_setup_and_a_clean_do_while_they_do_it(yard: Yard) -> None:
    shop = yard.project(services=[stays("db", "15432:5432")])
    heard: dict[str, list[tuple[float, str]]] = {"argus_setup": [], "argus_clean": []}
    async with agent(yard, shop.folder) as client:
        for tool, told in heard.items():

            async def progress(steps: float, total: float | None, message: str | None, told: Any = told) -> None:
                told.append((steps, message or ""))

            data(await client.call_tool(tool, {"projectPath": "."}, progress_callback=progress))
    for told in heard.values():
        steps = [one for one, _ in told]
        assert steps
        assert steps == sorted(set(steps))
    assert heard["argus_setup"][-1][1].startswith("db: "), heard
    assert any("container db" in text or "network" in text for _, text in heard["argus_clean"]), heard


def begin_mcp(yard: Yard, shop: Project, tool: str, arguments: dict[str, Any]) -> subprocess.Popen[str]:
    """`argus mcp` by hand, so that it can be killed."""
    process = subprocess.Popen(
        yard.words("mcp"), cwd=shop.folder, env=yard.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    for message in (
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()
    return process
