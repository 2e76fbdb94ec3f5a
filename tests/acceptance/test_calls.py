"""Other MCP servers called directly, through CLI, REST and MCP: a real server of our own that fails in every way."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.acceptance.harness import Argus, eventually, free_port, is_alive, words_of
from tests.acceptance.test_agents_door import data, error, over_stdio
from tests.contract.test_mcp_client import PEER, Peer

SECRET = "s3cr3t-of-the-peer-0123"


class Bridged(Argus):
    """With the server `peer`, which notes when it is started and what it is asked."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.log = folder / "peer.log"
        self.broken = folder / "broken"
        env = {"PEER_LOG": str(self.log), "PEER_BROKEN": str(self.broken), "PEER_TOKEN": "${SAID:-" + SECRET + "}"}
        self.peer: dict[str, Any] = {"command": sys.executable, "args": [str(PEER)], "env": env}
        self.servers({"peer": self.peer})

    def servers(self, servers: dict[str, Any], folder: Path | None = None) -> None:
        path = (folder or self.folder) / ".mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")

    def settle(self, **bridge: Any) -> None:
        self.write(yaml.safe_dump({"server": {"port": 0}, "health": {"services": []}, "bridge": bridge}))

    def call(self, tool: str, arguments: dict[str, Any] | None = None, server: str = "peer", **more: Any) -> Any:
        body = {"server": server, "tool": tool, "arguments": arguments or {}, "projectPath": str(self.folder), **more}
        return self.rest("POST", "/api/call", body)

    @property
    def noted(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").split("\n") if self.log.exists() else []

    @property
    def starts(self) -> int:
        return self.noted.count("started")

    def breaker(self) -> dict[str, Any]:
        return next(dict(one) for one in self.get("/api/breakers")["breakers"] if one["name"] == "mcp:peer")

    def children(self) -> list[int]:
        found = psutil.Process(self.pid).children(recursive=True)
        return [one.pid for one in found if words_of(one)[1:] == [str(PEER)]]


@pytest.fixture
def argus(tmp_path: Path) -> Iterator[Bridged]:
    one = Bridged(tmp_path / "argus")
    yield one
    one.end()


@pytest.mark.req("INFRA-03.5")
@pytest.mark.anyio
async def test_a_tool_is_called_on_every_face_over_one_session(argus: Bridged) -> None:
    argus.settle()
    argus.up()
    shown = argus.cli("call", "peer", "add", '{"a": 1, "b": 2}')
    assert (shown.code, shown.stdout) == (0, "3\n")
    answered = argus.call("add", {"a": 2, "b": 2})
    assert answered.status == 200
    assert answered.json == {
        **answered.json,
        **{"server": "peer", "tool": "add", "isError": False, "structuredContent": {"sum": 4}},
        "content": [{"type": "text", "text": "4"}],
    }
    async with over_stdio("auto")(argus) as client:
        listed = {one.name: one for one in (await client.list_tools()).tools}
        marks = listed["argus_call_mcp"].annotations
        assert marks is not None
        assert marks.destructive_hint is True
        asked = {"server": "peer", "tool": "add", "arguments": {"a": 3, "b": 3}}
        assert data(await client.call_tool("argus_call_mcp", asked))["content"][0]["text"] == "6"
        known = data(await client.call_tool("argus_mcp_servers", {}))["servers"]
        assert [(one["name"], one["available"]) for one in known] == [("peer", True)]
        tools = data(await client.call_tool("argus_mcp_tools", {"server": "peer"}))["tools"]
        assert "add" in [one["name"] for one in tools]
        unknown = error(await client.call_tool("argus_call_mcp", {"server": "none", "tool": "x"}))
        assert (unknown["code"], unknown["details"]["details"]["known"]) == ("NOT_FOUND", ["peer"])
    said = argus.call("refuse").json
    assert (said["isError"], argus.cli("call", "peer", "refuse").code) == (True, 1)
    # The CLI and REST say other environments than each other; who says the same shares a session.
    assert argus.starts <= 3


@pytest.mark.req("INFRA-03.3")
@pytest.mark.req("INFRA-03.4")
def test_the_third_failure_opens_the_fourth_starts_nothing_and_one_probe_closes(argus: Bridged) -> None:
    argus.settle(resetAfter="3s")
    argus.up()
    argus.broken.touch()
    for count in range(1, 4):
        failed = argus.call("add", {"a": 1, "b": 2})
        assert (failed.status, failed.error["code"], failed.error["details"]["reason"]) == (503, "MCP_FAILED", "died")
        assert "broken" in failed.error["details"]["said"]
        assert argus.breaker()["failures"] == count
    assert (argus.breaker()["state"], argus.starts) == ("open", 3)
    refused = argus.call("add", {"a": 1, "b": 2}).error
    assert (refused["code"], refused["details"]["breaker"], argus.starts) == ("CIRCUIT_OPEN", "mcp:peer", 3)
    shown = argus.cli("bridge", "server", "peer", "--json")
    assert (shown.code, shown.json["available"], shown.json["breaker"]) == (1, False, "open")
    assert "mcp:peer: open, 3 failures in a row" in argus.cli("breakers").stdout
    assert "- peer: UNAVAILABLE (3 failures in a row" in argus.cli("context").stdout
    # It is still broken when the first is let through to see, and whole when the next is.
    eventually(lambda: argus.call("add", {"a": 1, "b": 2}).error["code"] == "MCP_FAILED", "a probe was let through")
    assert (argus.starts, argus.breaker()["state"]) == (4, "open")
    argus.broken.unlink()
    eventually(lambda: argus.call("add", {"a": 1, "b": 2}).status == 200, "a probe succeeds")
    assert (argus.starts, argus.breaker()["state"], argus.breaker()["failures"]) == (5, "closed", 0)
    assert argus.cli("bridge", "server", "peer").code == 0
    assert "- peer: available" in argus.cli("context").stdout
    assert len(argus.journal("breaker_opened")) == 1
    assert len(argus.journal("breaker_closed")) == 1


def test_an_open_breaker_outlives_argus_and_is_reset_by_hand(argus: Bridged) -> None:
    argus.settle(failures=1)
    argus.up()
    assert argus.call("die").error["details"]["mayHaveRun"] is True
    argus.wait_for("breaker_opened")
    argus.kill()
    argus.up()
    assert argus.call("add", {"a": 1, "b": 2}).error["code"] == "CIRCUIT_OPEN"
    assert argus.cli("breakers", "reset", "mcp:peer").code == 0
    assert argus.call("add", {"a": 1, "b": 2}).status == 200
    # Other limits are taken up by a reload, by breakers that are there already.
    argus.settle(failures=2)
    assert argus.cli("reload").code == 0
    argus.call("die")
    assert argus.breaker()["state"] == "closed"
    argus.call("die")
    assert argus.breaker()["state"] == "open"


def test_a_server_that_dies_or_hangs_is_started_anew_and_nothing_is_sent_twice(argus: Bridged) -> None:
    argus.settle(failures=10, slowAfter="2s")
    argus.up()
    assert argus.call("add", {"a": 1, "b": 2}).status == 200
    died = argus.call("die").error
    assert (died["code"], died["details"]["reason"]) == ("MCP_FAILED", "died")
    assert "hunter2" not in json.dumps(died)
    assert argus.call("add", {"a": 1, "b": 2}).status == 200
    (hanging,) = argus.children()
    counted = argus.breaker()["failures"]
    assert argus.call("hang", timeout="10ms").error["details"]["reason"] == "timeout"
    assert (argus.breaker()["failures"], is_alive(hanging)) == (counted, True), "that was the caller's own haste"
    hung = argus.call("hang", timeout="2s").error
    assert (hung["details"]["reason"], hung["details"]["mayHaveRun"]) == ("timeout", True)
    eventually(lambda: not is_alive(hanging), "the program that hung is ended")
    assert argus.call("add", {"a": 1, "b": 2}).status == 200
    assert (argus.starts, argus.noted.count("call die"), argus.noted.count("call hang")) == (3, 1, 2)


def test_a_server_by_http_dies_comes_back_and_is_asked_again(argus: Bridged) -> None:
    port = free_port()
    argus.servers({"peer": {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"}})
    argus.settle(failures=10)
    argus.up()
    assert argus.call("add", {"a": 1, "b": 2}).error["details"]["reason"] == "unreachable"
    peer = Peer(port)
    try:
        assert argus.call("add", {"a": 1, "b": 2}).json["structuredContent"] == {"sum": 3}
        peer.end()
        peer.start()
        # It knows nothing of the session that we had with it.
        assert argus.call("add", {"a": 1, "b": 2}).status == 200
        assert argus.breaker()["failures"] == 0
        large = argus.call("bytes", {"n": 50_000_000}).error
        assert (large["code"], large["details"]["reason"]) == ("MCP_FAILED", "answer_too_large")
        assert argus.call("hang", timeout="2s").error["details"]["reason"] == "timeout"
        assert argus.call("add", {"a": 1, "b": 2}).status == 200
    finally:
        peer.end()


def test_a_slow_answer_is_passed_on_and_counts(argus: Bridged) -> None:
    argus.settle(slowAfter="100ms")
    argus.up()
    assert argus.call("sleep", {"n": 0.5}).json["isError"] is False
    assert argus.breaker()["failures"] == 1


def test_who_goes_away_is_told_to_the_server_and_counts_nothing(argus: Bridged) -> None:
    argus.settle()
    argus.up()
    caller = argus.background("call", "peer", "hang")
    eventually(lambda: "call hang" in argus.noted, "the call is under way")
    caller.terminate()
    caller.communicate()
    eventually(lambda: "cancelled hang" in argus.noted, "the server is told")
    assert (argus.breaker()["failures"], argus.starts) == (0, 1)


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_no_server_outlives_argus(argus: Bridged, how: str) -> None:
    argus.settle()
    argus.up()
    argus.call("add", {"a": 1, "b": 2})
    (child,) = argus.children()
    if how == "killed":
        argus.kill()
    else:
        argus.down()
    eventually(lambda: not is_alive(child), "it has ended")


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "field"),
    [
        ("add", {"a": 1}, "INVALID_REQUEST", "arguments.b"),
        ("add", {"a": 1, "b": "two"}, "INVALID_REQUEST", "arguments.b"),
        ("bytes", {"n": 50_000_000}, "MCP_FAILED", None),
        ("none", {}, "NOT_FOUND", None),
    ],
    ids=["an argument is missing", "an argument is of another type", "an answer of 50 MB", "there is no such tool"],
)
def test_bad_input_is_said_and_counts_nothing(
    shared: Bridged, tool: str, arguments: dict[str, Any], code: str, field: str | None
) -> None:
    failed = shared.call(tool, arguments).error
    assert failed["code"] == code
    if field:
        assert failed["details"]["errors"][0]["field"] == field
    if code == "NOT_FOUND":
        assert "add" in failed["details"]["known"]
    assert shared.breaker()["failures"] == 0
    assert psutil.Process(shared.pid).memory_info().rss < 400 * 2**20


@pytest.mark.parametrize("said", ["{", "[1]", "3", "[" * 100_000], ids=["cut", "a list", "a number", "deep"])
def test_arguments_that_are_no_object_are_wrong_use(shared: Bridged, said: str) -> None:
    ran = shared.cli("call", "peer", "add", said)
    assert (ran.code, ran.stdout) == (2, "")
    assert "JSON" in ran.stderr


def test_what_is_wrong_with_a_file_is_said_where_it_is_looked_for(shared: Bridged) -> None:
    folder = shared.folder / "project"
    folder.mkdir(exist_ok=True)
    shared.servers({"old": {"type": "sse", "url": "http://x"}, "gone": {"command": "/no/such"}}, folder)
    listed = shared.cli("bridge", "servers", "--project-path", str(folder), "--json").json["servers"]
    assert {one["name"]: one["available"] for one in listed} == {"old": False, "gone": False, "peer": True}
    refused = shared.rest("POST", "/api/call", {"server": "old", "tool": "x", "projectPath": str(folder)}).error
    assert (refused["code"], refused["details"]["source"]) == ("CONFIG_INVALID", str(folder / ".mcp.json"))
    (folder / ".mcp.json").write_text("{")
    found = shared.cli("bridge", "servers", "--project-path", str(folder), "--json").json
    assert (len(found["notices"]), [one["name"] for one in found["servers"]]) == (1, ["peer"])


def test_an_agent_calls_the_servers_of_its_own_project_alone(shared: Bridged) -> None:
    own, other = shared.folder / "own", shared.folder / "other"
    for one in (own, other):
        one.mkdir()
        shared.servers({one.name: shared.peer}, one)
    made = shared.rest("POST", "/api/tokens", {"role": "agent", "agent": "a", "project": str(own)})
    token = {"Authorization": f"Bearer {made.json['token']}"}

    def asked(path: str, **body: Any) -> Any:
        return shared.rest("POST", path, body, headers=token)

    listed = asked("/api/bridge/servers").json["servers"]
    # Not those of the folder above, which are not its project's; what is next to argus.yaml is everybody's.
    assert {one["name"] for one in listed} == {"own", "peer"}
    added = {"tool": "add", "arguments": {"a": 1, "b": 2}}
    assert asked("/api/call", server="own", **added).status == 200
    assert asked("/api/call", server="other", **added).status == 404
    assert asked("/api/call", server="other", projectPath=str(other), **added).error["code"] == "FORBIDDEN"
    assert asked("/api/call", server="own", projectPath=str(own / ".." / "other"), **added).status == 403


def test_a_server_of_argus_yaml_is_for_everybody_and_its_secrets_stay_in(argus: Bridged, tmp_path: Path) -> None:
    argus.servers({})
    argus.settle(servers={"peer": {**argus.peer, "env": {**argus.peer["env"], "API_KEY": SECRET}}})
    argus.up()
    seen = argus.rest("POST", "/api/call", {"server": "peer", "tool": "seen", "projectPath": str(tmp_path)}).json
    assert SECRET in seen["content"][0]["text"]
    assert str(argus.folder) in seen["content"][0]["text"]
    for path in ("/api/state", "/api/breakers", "/api/context"):
        assert SECRET not in json.dumps(argus.get(path))
    assert all(SECRET not in one.read_text() for one in (argus.home / "logs").glob("*"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridged]:
    """One for what changes nothing; its server is started once."""
    one = Bridged(tmp_path_factory.mktemp("shared") / "argus")
    one.settle()
    one.up()
    yield one
    one.end()
