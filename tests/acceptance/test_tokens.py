"""Tokens for others than the person: an agent's own, and one that can only report."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.acceptance.harness import PROGRAM, Argus, Reply, WebServer, watched

MANAGING = [
    ("PUT", "/api/autonomy", {"level": "full"}),
    ("POST", "/api/services/web/pause", {"for": "1h"}),
    ("POST", "/api/services/web/resume", {}),
    ("POST", "/api/reload", {}),
    ("POST", "/api/login", {}),
    ("POST", "/api/tokens", {"role": "agent", "agent": "other"}),
]
READING = ["/api/state", "/api/services", "/api/context", "/api/incidents", "/api/autonomy", "/openapi.json", "/docs"]


@pytest.fixture
def up(argus: Argus, web: WebServer) -> Argus:
    argus.configure([web.service("repair")])
    argus.up()
    argus.wait_until("web", "up")
    return argus


def as_(argus: Argus, token: str, method: str, path: str, body: Any = None) -> Reply:
    return argus.rest(method, path, body, token=False, headers={"Authorization": f"Bearer {token}"})


def made(argus: Argus, *arguments: str) -> str:
    ran = argus.cli("token", *arguments)
    assert ran.code == 0, ran
    return ran.stdout.strip()


@pytest.mark.req("IF-02")
def test_an_agents_token_reads_asks_for_a_restart_and_does_nothing_else(up: Argus, web: WebServer) -> None:
    token = made(up, "--agent", "team-green001", "--project", "/srv/green")
    assert token != up.token
    for path in READING:
        assert as_(up, token, "GET", path).status == 200, path
    for method, path, body in MANAGING:
        refused = as_(up, token, method, path, body)
        assert (refused.status, refused.error["code"]) == (403, "FORBIDDEN"), path
        assert refused.error["details"]["needs"] == "manage"
    assert up.get("/api/autonomy")["level"] == "moderate"

    assert as_(up, token, "POST", "/api/services/web/check").status == 200
    assert as_(up, token, "POST", "/api/services/web/restart").status == 202
    started = up.wait_for("restart_started", "web")
    assert started.data["by"] == "agent:team-green001"
    up.wait_for("restart_finished")


@pytest.mark.req("IF-02")
async def test_an_agent_that_uses_mcp_with_its_own_token_is_held_to_it(up: Argus) -> None:
    token = made(up, "--agent", "team-green001")
    env = {**up.env, "ARGUS_TOKEN": token}
    async with Client(StdioServerParameters(command=PROGRAM, args=["mcp"], env=env, cwd=up.folder)) as client:
        read = await client.call_tool("argus_services", {})
        asked = await client.call_tool("argus_restart_service", {"name": "web"})
    assert read.structured_content is not None
    assert read.structured_content["success"] is True
    assert asked.structured_content is not None
    assert up.wait_for("restart_started", "web").data["by"] == "agent:team-green001"


@pytest.mark.req("IF-02")
def test_a_reporting_token_can_report_and_nothing_else(up: Argus) -> None:
    token = made(up, "--report")
    body = {"hook_event_name": "PreToolUse", "session_id": "s-1", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    with up.events(live="true") as stream:
        said = as_(up, token, "POST", "/api/hooks/claude", body)
        assert (said.status, said.json["ok"]) == (200, True)
        event = stream.until(lambda one: one.type == "reported", "the report")[-1]
    assert (event.name, event.id) == ("agents:reported", "")
    assert (event.data["agent"], event.data["event"], event.data["session"]) == ("claude", "PreToolUse", "s-1")
    assert "ls" not in json.dumps(event.data), "what a tool was given is the agent's own business"

    for path in [*READING, "/api/events?follow=false"]:
        refused = as_(up, token, "GET", path)
        assert (refused.status, refused.error["details"].get("needs")) == (403, "read"), path
    for method, path, body in [*MANAGING, ("POST", "/api/services/web/restart", {}), ("POST", "/mcp", {})]:
        assert as_(up, token, method, path, body).status == 403, path
    assert up.journal("reported") == [], "reports are not what the record is for"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"hook_event_name": "x" * 101},
        {"hook_event_name": 7},
        {"hook_event_name": ["Stop"]},
        {"hook_event_name": "Unheard", "session_id": ["a"]},
        {"hook_event_name": None, "context_window": "large", "cost": []},
    ],
)
def test_a_report_that_makes_no_sense_is_ignored_and_the_agent_is_not_bothered(up: Argus, body: dict[str, Any]) -> None:
    """An error would be shown to the agent's person, at every step."""
    said = up.rest("POST", "/api/hooks/claude", body)
    assert (said.status, said.json["ok"]) == (200, True)
    assert said.json["ignored"]
    assert set(said.json) == {"ok", "timestamp", "ignored"}, "nothing that an agent could take for a decision"
    (heard,) = up.get("/api/hooks")["agents"]
    assert (heard["agent"], heard["signs"], heard["ignored"]) == ("claude", 0, 1)


def test_what_agents_report_is_counted_and_can_be_asked_for(up: Argus) -> None:
    for event in ("SessionStart", "UserPromptSubmit"):
        assert up.rest("POST", "/api/hooks/claude", {"hook_event_name": event, "session_id": "s-1"}).status == 200
    (heard,) = up.get("/api/hooks")["agents"]
    assert (heard["signs"], heard["conversations"], heard["last_event"]) == (2, 1, "UserPromptSubmit")
    assert heard["age_seconds"] < 60


@pytest.mark.parametrize("raw", [b"[]", b"7", b"nonsense", b'{"a": NaN}'])
def test_a_report_that_is_no_object_is_refused(up: Argus, raw: bytes) -> None:
    refused = up.rest("POST", "/api/hooks/claude", raw=raw)
    assert (refused.status, refused.error["code"]) == (400, "INVALID_REQUEST")


def test_tokens_outlive_a_restart_and_end_with_the_root_token(up: Argus) -> None:
    token = made(up, "--agent", "a1")
    up.down()
    up.up()
    assert as_(up, token, "GET", "/api/state").status == 200
    up.down()
    (up.home / "token").unlink()
    up.up()
    assert as_(up, token, "GET", "/api/state").status == 401


def test_a_token_that_was_tampered_with_is_none(up: Argus) -> None:
    token = made(up, "--agent", "a1")
    other = made(up, "--report")
    mark, claims, proof = token.split(".")
    for wrong in [
        f"{mark}.{claims}.{other.split('.')[2]}",
        f"{mark}.{other.split('.')[1]}.{proof}",
        f"{mark}.{claims}.",
        f"{mark}.{claims}",
        f"{mark}..{proof}",
        f"{mark}.{'A' * 60000}.{proof}",
        "argus.e30.",
        token[:-1],
    ]:
        assert as_(up, wrong, "GET", "/api/state").status == 401, wrong[:80]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"role": "root"},
        {"role": "agent"},
        {"role": "agent", "agent": "-f"},
        {"role": "agent", "agent": "a1", "project": "relative"},
        {"role": "report", "agent": "a1"},
    ],
)
def test_a_token_for_nobody_in_particular_is_not_made(up: Argus, body: dict[str, Any]) -> None:
    refused = up.rest("POST", "/api/tokens", body)
    assert (refused.status, refused.error["code"]) == (400, "INVALID_REQUEST")


def test_an_agents_token_appears_in_no_sink(up: Argus) -> None:
    token = made(up, "--agent", "a1", "--project", "/srv/green")
    body = {"hook_event_name": "Stop", "session_id": token}
    with up.events(live="true") as stream:
        assert as_(up, token, "POST", "/api/hooks/claude", body).status == 200
        event = stream.until(lambda one: one.type == "reported", "the report")[-1]
    assert token not in json.dumps(event.data)
    refused = as_(up, token, "POST", f"/api/services/{token}/check")
    assert token.encode() not in refused.body
    with up.events(last="1000", follow="false") as stream:
        assert token not in json.dumps([one.data for one in stream])
    assert token not in (up.home / "logs" / "argus.log").read_text()


def test_readings_go_out_live_to_who_asks_for_them_and_only_there(argus: Argus, web: WebServer) -> None:
    argus.configure([watched("web", web.url)])
    argus.up()
    argus.wait_until("web", "up")
    with argus.events(live="true") as stream:
        event = stream.until(lambda one: one.type == "checked", "a reading")[-1]
    assert (event.name, event.id) == ("services:checked", "")
    assert (event.data["service"], event.data["state"]) == ("web", "up")
    assert event.data["latencyMs"] > 0
    assert argus.journal("checked") == []
    with argus.events() as stream:
        argus.cli("autonomy", "full")
        seen = stream.until(lambda one: one.type == "autonomy_changed", "the change")
    assert [one.type for one in seen] == ["autonomy_changed"]


def test_an_agent_is_told_why_it_is_not_let_in(up: Argus) -> None:
    for token, code in [("argus.x.y", "UNAUTHORIZED"), (made(up, "--report"), "FORBIDDEN")]:
        ran = subprocess.run(
            [PROGRAM, "mcp"],
            input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n",
            env={**up.env, "ARGUS_TOKEN": token},
            cwd=up.folder,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert json.loads(ran.stdout)["error"]["data"]["code"] == code


def test_an_agents_token_does_not_stop_argus(up: Argus) -> None:
    refused = up.cli("down", "--json", env={"ARGUS_TOKEN": made(up, "--agent", "a1")})
    assert refused.error["code"] == "FORBIDDEN"
    assert up.get("/api/state")["argus"]["pid"] == up.pid
