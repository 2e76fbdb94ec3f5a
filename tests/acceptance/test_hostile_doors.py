"""The doors, with somebody before them who wants in, or wants them stuck."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, WebServer, eventually, is_alive

_KIBIBYTE = 1024
_MEBIBYTE = 1024 * 1024


def settle(argus: Argus) -> Argus:
    web = WebServer(argus, "web").start()
    argus.configure([web.service()], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    return argus


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argus]:
    """One daemon for all: whatever is done to it, it goes on."""
    one = Argus(tmp_path_factory.mktemp("doors") / "argus")
    try:
        yield settle(one)
    finally:
        one.end()


def connect(argus: Argus) -> socket.socket:
    parts = urlsplit(argus.url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=DEADLINE)


def goes_on(argus: Argus) -> None:
    assert is_alive(argus.pid)
    assert argus.rest("GET", "/healthz", token=False).status == 200
    before = argus.service("web")["lastCheck"]
    eventually(lambda: argus.service("web")["lastCheck"] > before, "checks go on")
    assert argus.service("web")["state"] == "up"
    assert argus.journal("service_down", "infrastructure_event") == []


@pytest.mark.parametrize(
    ("first", "more"),
    [
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: %s\r\nX: ", b"y" * _KIBIBYTE, id="one-header"),
        pytest.param(
            b"GET /healthz HTTP/1.1\r\nHost: %s\r\n", b"X-Header: " + b"y" * 1012 + b"\r\n", id="many-headers"
        ),
        pytest.param(b"GET /healthz HTTP/1.1\r\nHost: %s\r\n", b"a:\r\n" * 256, id="many-short-headers"),
        pytest.param(b"GET /healthz?", b"y" * _KIBIBYTE, id="the-target"),
    ],
)
def test_a_head_without_end_is_refused_long_before_a_mebibyte(shared: Argus, first: bytes, more: bytes) -> None:
    received = b""
    with connect(shared) as connection:
        # Reset or closed while we still speak is as good an answer.
        with contextlib.suppress(ConnectionError):
            connection.sendall(first.replace(b"%s", urlsplit(shared.url).netloc.encode()))
            for _ in range(256):
                connection.sendall(more)
        # Not more than 256 KiB were offered, and nothing more will come: who still waits for the rest took it all.
        with contextlib.suppress(ConnectionError):
            while data := connection.recv(65536):
                received += data
    assert not received or received.split(b" ")[1] in (b"400", b"414", b"431")
    goes_on(shared)


def test_a_request_with_a_mebibyte_of_header_gets_no_answer_but_a_refusal(shared: Argus) -> None:
    parts = urlsplit(shared.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=DEADLINE)
    status = 431
    with contextlib.closing(connection), contextlib.suppress(ConnectionError, http.client.BadStatusLine):
        connection.request("GET", "/healthz", headers={"X": "y" * (_MEBIBYTE + 1)})
        status = connection.getresponse().status
    assert status in (400, 431)
    goes_on(shared)


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


class Kept:
    """One connection that stays: who is in is heard, however many stand before the door."""

    def __init__(self, argus: Argus) -> None:
        parts = urlsplit(argus.url)
        self._headers = argus.authorization
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=DEADLINE)
        self._connection.connect()
        # Else it would connect anew by itself, where the test means this connection.
        self._connection.auto_open = 0

    def get(self, path: str) -> Any:
        self._connection.request("GET", path, headers=self._headers)
        response = self._connection.getresponse()
        assert response.status == 200
        return json.loads(response.read())

    def close(self) -> None:
        self._connection.close()


def test_hundreds_of_idle_connections_take_neither_the_daemon_nor_its_checks(shared: Argus) -> None:
    with contextlib.closing(Kept(shared)) as kept, contextlib.ExitStack() as crowd:
        assert kept.get("/healthz")["status"] == "ok"
        connections = [crowd.enter_context(connect(shared)) for _ in range(600)]
        eventually(lambda: sum(map(is_closed, connections)) >= 600 - 512, "the excess is closed")
        assert kept.get("/healthz")["status"] == "ok"
        before = kept.get("/api/services/web")["lastCheck"]
        eventually(lambda: kept.get("/api/services/web")["lastCheck"] > before, "checks go on")
        assert kept.get("/api/services/web")["state"] == "up"
    eventually(lambda: answers(shared), "there is room again")
    goes_on(shared)


@contextlib.contextmanager
def room_for(descriptors: int) -> Iterator[None]:
    """In this process, which is the crowd."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < descriptors:
        pytest.skip(f"a crowd needs {descriptors} descriptors, and this process may have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, descriptors), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Visitor:
    """Somebody with a question, who comes anew each time, in the middle of the crowd."""

    def __init__(self, argus: Argus) -> None:
        self.answers: list[int] = []
        self._argus = argus
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._over.wait(0.02):
            try:
                self.answers.append(self._argus.rest("GET", "/api/state").status)
            except (OSError, http.client.HTTPException):
                self.answers.append(0)

    def __enter__(self) -> Visitor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def test_ten_thousand_idle_connections_keep_nobody_out_and_take_no_more_than_their_share(shared: Argus) -> None:
    daemon = psutil.Process(shared.pid)
    memory, most = daemon.memory_info().rss, 0
    with room_for(11_000), contextlib.ExitStack() as crowd:
        with Visitor(shared) as visitor:
            for place in range(10_000):
                crowd.enter_context(connect(shared))
                if place % 250 == 0:
                    most = max(most, daemon.num_fds())
            seen = len(visitor.answers)
            eventually(lambda: len(visitor.answers) >= seen + 20, "questions are answered while the crowd stands there")
        assert set(visitor.answers) == {200}
        assert max(most, daemon.num_fds()) < 512 + 100
        assert daemon.memory_info().rss - memory < 32 * _MEBIBYTE
    goes_on(shared)


def answers(argus: Argus) -> bool:
    try:
        return argus.rest("GET", "/healthz", token=False).status == 200
    except (OSError, http.client.HTTPException):
        return False


def test_a_number_with_thousands_of_digits_is_a_wrong_request(shared: Argus) -> None:
    for digits in ("9" * 5000, "0" * 4999 + "1", "-1", "1e3"):
        reply = shared.rest("GET", f"/api/events?last={digits}&follow=false")
        assert (reply.status, reply.error["code"]) == (400, "INVALID_REQUEST"), digits[:10]


def test_json_may_be_asked_for_before_the_verb(shared: Argus) -> None:
    ran = shared.cli("services", "--json", "list")
    assert ran.code == 0, ran
    assert [one["name"] for one in ran.json["services"]] == ["web"]
    assert shared.cli("services", "--json", "check", "web").json["state"] == "up"


@pytest.mark.parametrize("limit", ["0", "-1", "x", "9" * 5000])
def test_a_limit_that_is_none_is_wrong_use(shared: Argus, limit: str) -> None:
    ran = shared.cli("incidents", "--limit", limit, "--json")
    assert (ran.code, ran.error["code"]) == (2, "INVALID_REQUEST")
    assert shared.cli("incidents", "--limit", "1", "--json").code == 0


class Relay:
    """`argus mcp` by hand. It is killed when it says nothing for too long: then its output ends."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, id: Any, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a proper request; what else is said before it is passed over."""
        self.say(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}).encode())
        result: dict[str, Any] = self.hear(id)["result"]
        return result

    def hear(self, id: Any, code: int | None = None) -> dict[str, Any]:
        """The next message with this id, or the next error with this code, whatever its id."""
        assert self.process.stdout is not None
        others = []
        for line in self.process.stdout:
            said: dict[str, Any] = json.loads(line)
            assert said["jsonrpc"] == "2.0"
            if said.get("error", {}).get("code") == code if code is not None else said.get("id") == id:
                return said
            others.append(line[:200])
        raise AssertionError(f"no answer with id {id!r} or code {code}; these came: {others}")

    def initialize(self, id: Any) -> None:
        client = {"name": "hostile", "version": "1"}
        answer = self.ask(id, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        assert answer["serverInfo"]
        self.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')


@pytest.fixture
def relay(shared: Argus) -> Iterator[Relay]:
    process = subprocess.Popen(
        [PROGRAM, "mcp"],
        cwd=shared.folder,
        env=shared.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    guard = threading.Timer(DEADLINE, os.killpg, (process.pid, signal.SIGKILL))
    guard.start()
    try:
        yield Relay(process)
    finally:
        guard.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError), process:
            process.wait(DEADLINE)


def ends(relay: Relay) -> None:
    assert relay.process.stdin is not None
    relay.process.stdin.close()
    assert relay.process.wait(15) == 0


def test_nonsense_on_an_agent_s_line_is_answered_and_the_next_line_is_heard(relay: Relay) -> None:
    relay.initialize("first")
    relay.say(b"this is not JSON")
    assert relay.hear(None)["error"]["code"] == -32700
    relay.say(b"\xff\xfe{]")
    assert relay.hear(None)["error"]["code"] == -32700
    relay.say(b"[" * 200_000)
    assert relay.ask("deep", "ping") == {}
    big = {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"text": "x" * (_MEBIBYTE + 1)}}
    relay.say(json.dumps(big).encode())
    assert relay.hear(7)["error"]["code"]
    assert relay.ask("big", "ping") == {}
    relay.say(b'{"id": 8, "method": "ping"}')
    assert relay.hear(8, code=-32600)["id"] in (8, None)
    for line in (b"3", b'"text"', b"null", b"{}", b'{"jsonrpc": "2.0"}'):
        relay.say(line)
    assert relay.ask("last", "ping") == {}
    names = {tool["name"] for tool in relay.ask("tools", "tools/list")["tools"]}
    assert "argus_context" in names
    ends(relay)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"not JSON", id="not-json"),
        pytest.param(b"[" * 200_000, id="deep"),
        pytest.param(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "' + b"x" * _MEBIBYTE + b'"}', id="big"),
        pytest.param(b'{"id": 1, "method": "ping"}', id="without-jsonrpc"),
    ],
)
def test_whatever_came_first_the_handshake_works_and_the_end_is_the_end(relay: Relay, line: bytes) -> None:
    relay.say(line)
    relay.initialize("hello")
    assert relay.ask("ping", "ping") == {}
    relay.say(line)
    ends(relay)
