"""Long work that agents ask for over MCP: it reports progress, and is taken back when they do not want it any more."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, eventually, words_of
from tests.acceptance.test_agents_door import Connect, data, over_stdio
from tests.acceptance.test_suites import Suites

# It tells that it has begun, and goes on until it is let go.
WAITS = "touch began; echo 'first line'; until test -e go; do sleep 0.05; done; echo 'last line'"


def over_http(mode: str) -> Connect:
    @contextlib.asynccontextmanager
    async def connect(argus: Argus) -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(headers=argus.authorization, trust_env=False, timeout=DEADLINE) as http:
            transport = streamable_http_client(f"{argus.url}/mcp", http_client=http)
            async with Client(transport, mode=mode, read_timeout_seconds=DEADLINE) as client:
                yield client

    return connect


_EVERY_WAY = pytest.mark.parametrize(
    "connect",
    [over_stdio("auto"), over_stdio("legacy"), over_http("auto"), over_http("legacy")],
    ids=["stdio-auto", "stdio-legacy", "http-auto", "http-legacy"],
)


class Bench(Suites):
    """A suite that waits, where no engine is."""

    def __init__(self, argus: Argus) -> None:
        super().__init__(argus, {"name": "waits", "runner": "shell", "command": WAITS})
        self.argus = argus
        self.call = {"projectPath": str(self.folder)}

    async def begun(self) -> None:
        await asyncio.to_thread(eventually, (self.folder / "began").exists, "the suite is under way")

    def let_go(self) -> None:
        (self.folder / "go").touch()

    async def ended(self, status: str) -> None:
        """As the record says; nothing that it started is left."""
        found = await asyncio.to_thread(self.argus.wait_for, "run_ended")
        assert found.data["status"] == status
        await asyncio.to_thread(eventually, lambda: not self.running(), "its programs have ended")

    def running(self) -> list[list[str]]:
        found = [words_of(one) for one in self.argus.marked()]
        return [words for words in found if "until test -e go" in " ".join(words)]


@pytest.fixture
def bench(argus: Argus) -> Bench:
    argus.env["DOCKER_HOST"] = "unix:///nowhere/docker.sock"
    looks = f"cd {argus.folder}; test -e slow || exit 0; touch looked; until test -e go; do sleep 0.05; done"
    job = {"name": "job", "type": "command", "command": ["sh", "-c", looks], "interval": "1h", "timeout": "60s"}
    argus.configure([job])
    argus.up()
    argus.wait_until("job", "up")
    return Bench(argus)


@_EVERY_WAY
async def test_progress_tells_in_words_what_is_done_while_it_is_done(bench: Bench, connect: Connect) -> None:
    heard: list[tuple[float, str]] = []
    told = asyncio.Event()

    async def progress(steps: float, total: float | None, message: str | None) -> None:
        heard.append((steps, message or ""))
        if any("first line" in one for _, one in heard):
            told.set()

    async with connect(bench.argus) as client:
        work = asyncio.ensure_future(client.call_tool("argus_run", bench.call, progress_callback=progress))
        async with asyncio.timeout(DEADLINE):
            await told.wait()  # it is told before it is over: it would not be let go else
        bench.let_go()
        done = data(await work)
    assert done["status"] == "passed"
    steps = [one for one, _ in heard]
    assert steps == sorted(set(steps))
    assert all("waits" in message for _, message in heard)


@_EVERY_WAY
async def test_who_did_not_ask_for_progress_is_told_none(bench: Bench, connect: Connect) -> None:
    bench.let_go()
    async with connect(bench.argus) as client:
        assert data(await client.call_tool("argus_run", bench.call))["status"] == "passed"


@_EVERY_WAY
async def test_a_run_that_is_withdrawn_is_ended_and_the_connection_goes_on(bench: Bench, connect: Connect) -> None:
    async with connect(bench.argus) as client:
        work = asyncio.ensure_future(client.call_tool("argus_run", bench.call))
        await bench.begun()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await bench.ended("cancelled")
        assert data(await client.call_tool("argus_services", {}))["services"]
        bench.let_go()
        assert data(await client.call_tool("argus_run", bench.call))["status"] == "passed"


@_EVERY_WAY
async def test_what_does_not_end_with_its_caller_goes_on_to_its_end(bench: Bench, connect: Connect) -> None:
    argus = bench.argus
    before = argus.service("job")["lastCheck"]
    (argus.folder / "slow").touch()
    async with connect(argus) as client:
        work = asyncio.ensure_future(client.call_tool("argus_check_service", {"name": "job"}))
        await asyncio.to_thread(eventually, (argus.folder / "looked").exists, "it is looked at")
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert data(await client.call_tool("argus_services", {}))["services"][0]["lastCheck"] == before
        (argus.folder / "go").touch()
        look = lambda: argus.service("job")["lastCheck"] != before  # noqa: E731
        await asyncio.to_thread(eventually, look, "the look has counted")
    assert argus.service("job")["state"] == "up"


class Raw:
    """Streamable HTTP by hand, in the older form of the protocol."""

    def __init__(self, argus: Argus, session: str | None = None) -> None:
        self._connection = argus.connection()
        self._headers = {
            **argus.authorization,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"} if session else {}),
        }

    def post(self, **message: Any) -> Any:
        body = json.dumps({"jsonrpc": "2.0", **message})
        self._connection.request("POST", "/mcp", body, self._headers)
        return self._connection.getresponse()

    def close(self) -> None:
        self._connection.close()


def named(argus: Argus) -> str:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    raw = Raw(argus)
    reply = raw.post(id=1, method="initialize", params=about)
    raw.close()
    name = reply.headers["Mcp-Session-Id"]
    assert name
    return str(name)


def cancel(argus: Argus, session: str | None, id: int) -> None:
    raw = Raw(argus, session)
    assert raw.post(method="notifications/cancelled", params={"requestId": id}).status == 202
    raw.close()


async def test_over_http_nobody_withdraws_what_another_client_asked_for(bench: Bench) -> None:
    argus = bench.argus
    mine, others = named(argus), named(argus)
    assert mine != others
    raw = Raw(argus, mine)
    asked = asyncio.to_thread(
        raw.post, id=7, method="tools/call", params={"name": "argus_run", "arguments": bench.call}
    )
    work = asyncio.ensure_future(asked)
    await bench.begun()
    for session, id in ((others, 7), (None, 7), (mine, 8), ("7", 7)):
        await asyncio.to_thread(cancel, argus, session, id)
    assert data_of(argus, others) == "web is not here"
    assert bench.running()
    assert argus.journal("run_ended") == []
    await asyncio.to_thread(cancel, argus, mine, 7)
    reply = await work
    assert b"-32800" in await asyncio.to_thread(reply.read)
    await bench.ended("cancelled")
    raw.close()


def data_of(argus: Argus, session: str) -> str:
    """Whatever was said to be withdrawn, others are answered."""
    raw = Raw(argus, session)
    params = {"name": "argus_check_service", "arguments": {"name": "web"}}
    body = raw.post(id=7, method="tools/call", params=params).read()
    raw.close()
    return "web is not here" if b"SERVICE_NOT_FOUND" in body else body.decode()


@pytest.mark.parametrize("ends", ["hangs-up", "ends-its-session"])
async def test_a_client_over_http_that_goes_away_takes_its_run_back(bench: Bench, ends: str) -> None:
    argus = bench.argus
    session = named(argus)
    raw = Raw(argus, session)
    params = {"name": "argus_run", "arguments": bench.call}
    reply = await asyncio.to_thread(raw.post, id=1, method="tools/call", params=params)
    await bench.begun()
    if ends == "hangs-up":
        reply.close()
        raw.close()
    else:
        answer = argus.rest("DELETE", "/mcp", headers={"Mcp-Session-Id": session})
        assert answer.status == 204
    await bench.ended("cancelled")
    raw.close()


def begin(bench: Bench, *messages: dict[str, Any]) -> subprocess.Popen[bytes]:
    """`argus mcp` by hand, which is told all this and nobody listens to."""
    argus = bench.argus
    relay = subprocess.Popen(
        [PROGRAM, "mcp"], cwd=argus.folder, env=argus.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert relay.stdin is not None
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    first = {"id": 1, "method": "initialize", "params": about}
    for message in (first, {"method": "notifications/initialized"}, *messages):
        relay.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    relay.stdin.flush()
    return relay


async def test_an_agents_program_that_is_killed_takes_its_run_back(bench: Bench) -> None:
    params = {"name": "argus_run", "arguments": bench.call}
    relay = begin(bench, {"id": 2, "method": "tools/call", "params": params})
    await bench.begun()
    relay.kill()
    relay.communicate()
    await bench.ended("cancelled")


async def test_a_client_that_does_not_read_holds_nothing_up(bench: Bench) -> None:
    """Its output fills up with what it is told; the run itself goes on to its end."""
    many = {"id": "many", "name": "many", "runner": "shell", "command": "seq 200000"}
    bench.write(project={"name": "suites"}, tests={"suites": [many]})
    params = {"name": "argus_run", "arguments": bench.call, "_meta": {"progressToken": 1}}
    lists = [{"id": 10 + number, "method": "tools/list"} for number in range(60)]
    relay = begin(bench, *lists, {"id": 2, "method": "tools/call", "params": params})
    await bench.ended("passed")
    relay.kill()
    relay.communicate()


async def test_who_withdrew_what_it_asked_for_hears_no_more_of_it(bench: Bench) -> None:
    """Not even that its answer was lost, when the daemon dies afterwards."""
    params = {"name": "argus_run", "arguments": bench.call}
    relay = begin(bench, {"id": 2, "method": "tools/call", "params": params})
    await bench.begun()
    assert relay.stdin is not None
    relay.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}\n')
    relay.stdin.write(b'{"jsonrpc": "2.0", "id": 3, "method": "ping"}\n')
    relay.stdin.flush()
    await bench.ended("cancelled")
    bench.argus.kill()
    said, _ = await asyncio.to_thread(relay.communicate)
    answered = [json.loads(line).get("id") for line in said.splitlines()]
    assert answered == [1, 3]
    assert relay.returncode == 0
