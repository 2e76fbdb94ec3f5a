"""What agents read of Argus by its address, and what becomes of requests that make no sense."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from tests.acceptance.harness import Argus, free_port, whole
from tests.acceptance.test_agents_door import Connect, data, error, over_stdio
from tests.acceptance.test_agents_long_work import Raw, named, over_http
from tests.acceptance.test_hostile_doors import Relay, relay  # noqa: F401 - a fixture

_EVERY_WAY = pytest.mark.parametrize(
    "connect",
    [over_stdio("auto"), over_stdio("legacy"), over_http("auto"), over_http("legacy")],
    ids=["stdio-auto", "stdio-legacy", "http-auto", "http-legacy"],
)
_STORY = "argus://incidents/{id}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argus]:
    """Watches one service that is down: there is an incident to tell of."""
    one = Argus(tmp_path_factory.mktemp("resources") / "argus")
    gone = {"name": "gone", "type": "tcp", "host": "127.0.0.1", "port": free_port(), "interval": "200ms"}
    one.configure([gone], autonomy="observe", failuresBeforeAction=1)
    one.up()
    one.wait_until("gone", "down")
    try:
        yield one
    finally:
        one.end()


def contents(result: Any) -> dict[str, str]:
    return {one.mime_type: one.text for one in result.contents}


@_EVERY_WAY
async def test_resources_are_listed_and_say_what_the_operations_say(shared: Argus, connect: Connect) -> None:
    async with connect(shared) as client:
        listed = {str(one.uri): one for one in (await client.list_resources()).resources}
        (template,) = (await client.list_resource_templates()).resource_templates
        read = {uri: contents(await client.read_resource(uri)) for uri in listed}
        (incident,) = json.loads(read["argus://incidents"]["application/json"])["incidents"]
        story = contents(await client.read_resource(f"argus://incidents/{incident['id']}"))
        ref = types.ResourceTemplateReference(uri=_STORY)
        completed = await client.complete(ref, {"name": "id", "value": incident["id"][:4]})
        none = await client.complete(ref, {"name": "id", "value": "no such"})
    assert set(listed) == {
        "argus://context", "argus://incidents", "argus://schema/argus.yaml", "argus://schema/e2e.yaml",
    }  # fmt: skip
    assert template.uri_template == _STORY
    for uri, one in listed.items():
        assert one.name
        assert one.description
        assert one.mime_type in read[uri], uri
    assert "gone: DOWN" in read["argus://context"]["text/plain"]
    assert json.loads(read["argus://context"]["application/json"])["text"] == read["argus://context"]["text/plain"]
    assert incident["subject"] == "gone"
    told = json.loads(story["application/json"])
    said = shared.cli("explain", incident["id"], "--json").json
    assert told["incident"] == said["incident"]
    assert told["events"][0] == said["events"][0]
    for name in ("argus", "e2e"):
        printed = json.loads(shared.cli("schema", name).stdout)
        assert json.loads(read[f"argus://schema/{name}.yaml"]["application/schema+json"]) == printed
    assert completed.completion.values == [incident["id"]]
    assert none.completion.values == []


@_EVERY_WAY
async def test_a_resource_that_is_not_there_is_a_clear_error_and_the_connection_goes_on(
    shared: Argus, connect: Connect
) -> None:
    async with connect(shared) as client:
        for uri in ("argus://incidents/no-such", "argus://nothing", "file:///etc/passwd", "argus://incidents/a/b"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.code == types.INVALID_PARAMS
            assert "NOT_FOUND" in refused.value.message
            assert whole(refused.value.data)["code"] == "NOT_FOUND"
        assert data(await client.call_tool("argus_services", {}))["services"]


async def test_an_agents_own_token_reads_resources_and_manages_nothing(shared: Argus) -> None:
    token = shared.cli("token", "--agent", "team-green001").stdout.strip()
    async with over_stdio("auto", ARGUS_TOKEN=token)(shared) as client:
        mine = contents(await client.read_resource("argus://context"))["text/plain"]
        assert mine == data(await client.call_tool("argus_context", {}))["text"]
        refused = error(await client.call_tool("argus_autonomy", {"level": "full"}))
        assert refused["code"] == "FORBIDDEN"


async def test_an_agent_beats_reports_and_asks_to_end_over_mcp(shared: Argus) -> None:
    async with over_http("auto")(shared) as client:
        beat = {"agent_id": "team-blue001", "status": "working", "current_task": "the tests"}
        assert data(await client.call_tool("argus_heartbeat", beat))["ok"] is True
        (known,) = [
            one for one in data(await client.call_tool("argus_agents", {}))["agents"]
            if one["agent_id"] == "team-blue001"
        ]  # fmt: skip
        assert known["current_task"] == "the tests"
        asked = data(await client.call_tool("argus_request_stop", {"agent_id": "team-blue001", "reason": "done"}))
        assert asked["status"] == "pending"
        unknown = await client.call_tool("argus_request_stop", {"agent_id": "nobody"})
        assert error(unknown)["code"] == "AGENT_NOT_FOUND"
        made = shared.rest("POST", "/api/sessions", {"project": "shop", "session_type": "sdk"})
        assert made.status == 201, made
        reading = {"project": "shop", "used": 100_000, "total": 200_000}
        assert data(await client.call_tool("argus_report_context", reading))["context_usage"] == 0.5
        assert data(await client.call_tool("argus_admission", {"project": "shop", "size": "tiny"}))["accept"] is True
        nothing = await client.call_tool("argus_report_context", {"project": "none-such"})
        assert error(nothing)["code"] == "NOT_FOUND"


async def test_one_agents_token_beats_for_no_other(shared: Argus) -> None:
    token = shared.cli("token", "--agent", "team-green001").stdout.strip()
    async with over_stdio("auto", ARGUS_TOKEN=token)(shared) as client:
        for tool in ("argus_heartbeat", "argus_request_stop"):
            refused = error(await client.call_tool(tool, {"agent_id": "team-blue001"}))
            assert refused["code"] == "FORBIDDEN", tool


_WRONG: list[tuple[str, dict[str, Any]]] = [
    ("no/such/method", {}),
    ("tools/call", {}),
    ("tools/call", {"name": 3}),
    ("tools/call", {"name": "argus_context", "arguments": "text"}),
    ("tools/call", {"name": "argus_context", "arguments": [1]}),
    ("resources/read", {}),
    ("resources/read", {"uri": 7}),
    ("resources/read", {"uri": "x" * 100_000}),
    ("completion/complete", {"ref": {"type": "ref/nothing"}, "argument": {}}),
    ("prompts/get", {"name": "none"}),
]
_NAMES = [f"{method} {str(params)[:40]}" for method, params in _WRONG]


@pytest.mark.parametrize(("method", "params"), _WRONG, ids=_NAMES)
def test_over_http_what_makes_no_sense_is_an_error_and_the_next_is_answered(
    shared: Argus, method: str, params: dict[str, Any]
) -> None:
    session = named(shared)
    raw = Raw(shared, session)
    reply = raw.post(id=1, method=method, params=params).read()
    assert b'"error"' in reply
    assert b"-32" in reply
    assert b'"text"' in raw.post(id=2, method="tools/call", params={"name": "argus_context"}).read()
    raw.close()


def test_over_stdio_what_makes_no_sense_is_an_error_and_the_next_is_answered(relay: Relay) -> None:  # noqa: F811
    relay.initialize("first")
    for number, (method, params) in enumerate(_WRONG):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        relay.say(json.dumps(message).encode())
        said = relay.hear(number)
        assert said["error"]["code"] in (-32601, -32602), said
        assert said["error"]["message"]
    relay.say(json.dumps({"jsonrpc": "2.0", "id": "big", "method": "ping", "params": {"x": "y" * 2_000_000}}).encode())
    assert relay.hear("big")["error"]["code"] == -32600
    for params in ({}, {"requestId": "none"}, {"requestId": []}, {"requestId": None}):
        relay.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode())
    relay.say(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}')
    assert relay.ask("last", "tools/call", name="argus_context")["structuredContent"]["success"] is True


def test_over_http_there_is_no_stream_to_get(shared: Argus) -> None:
    reply = shared.rest("GET", "/mcp", headers={"Accept": "text/event-stream"})
    assert (reply.status, reply.error["code"], reply.headers["allow"]) == (405, "METHOD_NOT_ALLOWED", "POST, DELETE")
