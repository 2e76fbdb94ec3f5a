"""MCP, with the official client: over stdio in both generations of the protocol, and over HTTP."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import psutil
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, WebServer, eventually, is_alive, never, whole, words_of

_TOOLS = {"argus_context", "argus_services", "argus_check_service", "argus_restart_service"}
Connect = Callable[[Argus], contextlib.AbstractAsyncContextManager[Client]]


def over_stdio(mode: str, **env: str) -> Connect:
    @contextlib.asynccontextmanager
    async def connect(argus: Argus) -> AsyncIterator[Client]:
        program = StdioServerParameters(command=PROGRAM, args=["mcp"], env={**argus.env, **env}, cwd=argus.folder)
        async with Client(program, mode=mode, read_timeout_seconds=DEADLINE) as client:
            yield client

    return connect


@contextlib.asynccontextmanager
async def over_http(argus: Argus) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=argus.authorization, trust_env=False, timeout=DEADLINE) as http:
        transport = streamable_http_client(f"{argus.url}/mcp", http_client=http)
        async with Client(transport, read_timeout_seconds=DEADLINE) as client:
            yield client


_EVERY_WAY = pytest.mark.parametrize(
    "connect", [over_stdio("auto"), over_stdio("legacy"), over_http], ids=["stdio-auto", "stdio-legacy", "http"]
)


def envelope(result: Any) -> dict[str, Any]:
    """The envelope, which stands in the text and in the structured content alike."""
    (content,) = result.content
    said: dict[str, Any] = json.loads(content.text)
    assert result.structured_content == said
    assert isinstance(said["timestamp"], int)
    assert said["success"] is not bool(result.is_error)
    return said


def data(result: Any) -> Any:
    said = envelope(result)
    assert set(said) == {"success", "data", "timestamp"}, said
    return said["data"]


def error(result: Any) -> dict[str, Any]:
    said = envelope(result)
    assert set(said) == {"success", "error", "timestamp"}, said
    assert result.is_error
    short: dict[str, Any] = said["error"]
    assert set(short) == {"code", "message", "details"}
    assert whole(short["details"])["code"] == short["code"]
    assert short["details"]["message"] == short["message"]
    return short


def settle(argus: Argus) -> Argus:
    """Watches one service that is up, and looks at it once an hour: two looks at it see the same."""
    argus.configure([WebServer(argus, "web").start().service("repair", interval="1h")], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    return argus


@pytest.fixture
def steady(argus: Argus) -> Argus:
    return settle(argus)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argus]:
    """One for all the tests that leave it as it is."""
    one = Argus(tmp_path_factory.mktemp("agents") / "argus")
    try:
        yield settle(one)
    finally:
        one.end()


@_EVERY_WAY
async def test_tools_say_what_they_do_and_what_they_answer(shared: Argus, connect: Connect) -> None:
    async with connect(shared) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) >= _TOOLS
    for tool in tools.values():
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is not None
        assert set(tool.output_schema["required"]) == {"success", "data", "timestamp"}
    hints = {name: tool.annotations for name, tool in tools.items()}
    for name in ("argus_context", "argus_services"):
        assert hints[name].read_only_hint is True
        assert hints[name].destructive_hint is False
    assert hints["argus_restart_service"].read_only_hint is False
    assert hints["argus_restart_service"].destructive_hint is True
    assert hints["argus_check_service"].destructive_hint is False


@_EVERY_WAY
async def test_answers_and_refusals_come_in_the_envelope(shared: Argus, connect: Connect) -> None:
    async with connect(shared) as client:
        assert data(await client.call_tool("argus_services", {}))["services"][0]["name"] == "web"
        assert data(await client.call_tool("argus_check_service", {"name": "web"}))["state"] == "up"
        assert "web: UP" in data(await client.call_tool("argus_context", {}))["text"]
        refused = error(await client.call_tool("argus_restart_service", {"name": "web"}))
        assert (refused["code"], refused["details"]["details"]["gate"]) == ("GATE_REFUSED", "autonomy")
        assert error(await client.call_tool("argus_check_service", {"name": "no-such"}))["code"] == "SERVICE_NOT_FOUND"
        for wrong in ({}, {"name": 3}, {"name": "web", "force": True}, {"nam": "web"}):
            assert error(await client.call_tool("argus_check_service", wrong))["code"] == "INVALID_REQUEST"
        assert error(await client.call_tool("argus_no_such_tool", {}))["code"] == "NOT_FOUND"
        assert data(await client.call_tool("argus_services", {}))["services"][0]["name"] == "web"


def without_time(one: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in one.items() if key != "timestamp"}


@pytest.mark.req("IF-01")
async def test_one_operation_answers_the_same_over_rest_mcp_and_cli(shared: Argus) -> None:
    async with over_http(shared) as client:
        services = data(await client.call_tool("argus_services", {}))
        context = data(await client.call_tool("argus_context", {}))
        missing = error(await client.call_tool("argus_check_service", {"name": "no-such"}))["details"]
        gate = error(await client.call_tool("argus_restart_service", {"name": "web"}))["details"]
    assert services == shared.get("/api/services") == shared.cli("services", "list", "--json").json
    assert services == shared.cli("services", "--json").json
    assert shared.get("/api/state")["services"] == services["services"]
    assert without_time(context) == without_time(shared.get("/api/context"))
    assert without_time(context) == without_time(shared.cli("context", "--json").json)
    assert shared.cli("context").stdout == context["text"]
    assert shared.get("/api/autonomy") == shared.cli("autonomy", "--json").json
    assert without_time(shared.get("/api/state")) == without_time(shared.cli("status", "--json").json)
    assert shared.get("/api/incidents") == shared.cli("incidents", "--json").json
    for over_mcp, path, words in (
        (missing, "/api/services/no-such/check", ("services", "check", "no-such")),
        (gate, "/api/services/web/restart", ("services", "restart", "web")),
    ):
        assert without_time(over_mcp) == without_time(shared.rest("POST", path).error)
        assert without_time(over_mcp) == without_time(shared.cli(*words, "--json").error)
    assert {event.data["by"] for event in shared.journal("restart_refused")} == {"cli", "mcp", "token"}


async def test_an_agent_can_have_its_service_restarted_through_the_gates(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service("block", interval="1h")])
    argus.up()
    argus.wait_until("web", "up")
    async with over_http(argus) as client:
        accepted = data(await client.call_tool("argus_restart_service", {"name": "web"}))
        assert (accepted["service"], accepted["accepted"]) == ("web", True)
        again = error(await client.call_tool("argus_restart_service", {"name": "web"}))
        assert again["code"] == "INVALID_STATE"
    web.let_go()
    assert argus.wait_for("restart_finished", "web").data["act"] == accepted["act"]
    assert web.runs == 1


_BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])
_ALONE = {"ARGUS_NO_AUTOSTART": "1"}


async def lost_or_answered(client: Client) -> None:
    """A call that may be lost with its daemon; then that is said at once."""
    with contextlib.suppress(MCPError):
        await client.call_tool("argus_context", {})


@_BOTH
async def test_an_agents_session_outlives_the_daemon(steady: Argus, mode: str) -> None:
    async with over_stdio(mode, **_ALONE)(steady) as client:
        assert data(await client.call_tool("argus_services", {}))["services"]
        for _ in range(2):
            steady.kill()
            steady.up()
            await lost_or_answered(client)
            assert data(await client.call_tool("argus_services", {}))["services"]
            assert {tool.name for tool in (await client.list_tools()).tools} >= _TOOLS


@_BOTH
async def test_an_agents_session_outlives_a_call_while_there_is_no_daemon(steady: Argus, mode: str) -> None:
    async with over_stdio(mode, **_ALONE)(steady) as client:
        assert data(await client.call_tool("argus_services", {}))["services"]
        steady.down()
        with pytest.raises(MCPError):
            await client.call_tool("argus_services", {})
        steady.up()
        await lost_or_answered(client)
        assert data(await client.call_tool("argus_services", {}))["services"]


@_BOTH
async def test_an_agent_that_asks_after_the_daemon_died_starts_one(steady: Argus, mode: str) -> None:
    async with over_stdio(mode)(steady) as client:
        assert data(await client.call_tool("argus_services", {}))["services"]
        before = steady.pid
        steady.kill()
        await lost_or_answered(client)
        assert data(await client.call_tool("argus_services", {}))["services"]
        assert steady.find()
        assert steady.pid != before


def relays(argus: Argus) -> list[psutil.Process]:
    return [one for one in argus.marked() if words_of(one)[-1:] == ["mcp"]]


@_BOTH
async def test_what_a_person_stopped_stays_stopped_though_an_agent_listens(steady: Argus, mode: str) -> None:
    async with over_stdio(mode)(steady) as client:
        assert data(await client.call_tool("argus_services", {}))["services"]
        (relay,) = relays(steady)
        relay.suspend()  # so that it notices the end of the daemon when there is none, not a moment before
        steady.down()
        relay.resume()
        await never(steady.find, "a daemon that nobody asked for", seconds=2.0)


async def test_an_agent_that_finds_no_daemon_starts_one(argus: Argus) -> None:
    argus.configure()
    async with over_stdio("auto")(argus) as client:
        assert data(await client.call_tool("argus_services", {})) == {"services": []}
        assert argus.find()
    assert is_alive(argus.pid)


async def test_an_agents_program_ends_with_its_agent(steady: Argus) -> None:
    async with over_stdio("auto")(steady) as client:
        await client.call_tool("argus_services", {})
        assert len(relays(steady)) == 1
    eventually(lambda: not relays(steady), "the relay has ended")


async def test_over_http_the_token_is_needed(shared: Argus) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        reply = shared.rest("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, token=False, headers=headers)
        assert (reply.status, reply.error["code"]) == (401, "UNAUTHORIZED")
