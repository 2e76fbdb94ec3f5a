"""One suite over the fake machine and the real one, so that the fake cannot lie; then what only the real one can do.

The real one runs on both loops: the daemon's is uvloop.
"""

import asyncio
import contextlib
import gc
import gzip
import inspect
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httptools
import pytest
import uvloop
from tests.certificates import certificate

from argus.host.identity import Identity, identify, is_alive, send
from argus.host.machine import MachineHost
from argus.host.seam import Failure, Host, HttpReply, HttpRequest, ProbeFailed, Ran
from argus.testing import Answers, FakeHost

ENOUGH = 10.0
"""Seconds that nothing here takes; a deadline that is not kept runs into it."""
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LOOPS = {"fake": None, "machine": None, "machine-on-uvloop": uvloop.new_event_loop}
MACHINES = ("machine", "machine-on-uvloop")
SHELL = "/bin/sh"


class World:
    """A machine, with what a test puts on it."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.fake = FakeHost() if kind == "fake" else None
        self.host: Host = self.fake or MachineHost()
        self.folder = folder
        self.log = folder / "logs" / "program.log"
        self._servers: list[asyncio.Server] = []

    async def serve(self, handler: Handler, host: str = "127.0.0.1", **more: Any) -> int:
        """A server of the test's own on loopback, which drops its connections whatever becomes of it."""

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                    await handler(reader, writer)
            finally:
                writer.transport.abort()

        server = await asyncio.start_server(handle, host, 0, **more)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def says(self, answer: bytes, *, then: str = "close", **more: Any) -> int:
        """A server that reads a request's head, says the same to everyone, and then closes or says nothing more."""

        async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            if then == "close":
                writer.close()
                await writer.wait_closed()
            else:
                await reader.read()

        return await self.serve(handler, **more)

    async def port(self, answers: Answers) -> int:
        """A port that behaves like this, on either machine."""
        if self.fake is not None:
            self.fake.ports[8000] = answers
            return 8000
        if answers.failure is Failure.REFUSED:
            return free_port()
        if answers.failure is Failure.CLOSED:
            return await self.says(b"")
        if answers.failure is Failure.NOT_HTTP:
            return await self.says(b"SSH-2.0-OpenSSH_9.6\r\n")
        if answers.hangs:
            return await self.says(b"", then="silence")
        head = f"HTTP/1.1 {answers.status} X\r\nContent-Length: {len(answers.body)}\r\n\r\n"
        return await self.says(head.encode() + answers.body)

    def program(self, what: str) -> list[str]:
        """A program that behaves like this, on either machine."""
        if self.fake is None:
            return {
                "works": [SHELL, "-c", "exit 0"],
                "fails": [SHELL, "-c", "exit 7"],
                "hangs": [SHELL, "-c", "while :; do sleep 1000; done"],
                "missing": ["/nowhere/there-is-no-such-program"],
            }[what]

        async def run(argv: list[str]) -> Ran:
            if argv[1] == "hangs":
                await asyncio.sleep(1000)
            return Ran(7 if argv[1] == "fails" else 0, "", 0.0)

        self.fake.programs["program"] = run
        return [what, what] if what == "missing" else ["program", what]

    async def ask(self, port: int, *, body: int = 0, timeout: float = ENOUGH, **more: Any) -> HttpReply:
        url = more.pop("url", f"http://127.0.0.1:{port}/")
        return await self.host.http(HttpRequest(url, body_limit=body, **more), timeout=timeout)

    async def run(self, argv: list[str], timeout: float = ENOUGH) -> Ran:
        return await self.host.run(argv, timeout=timeout, log=str(self.log))

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        if isinstance(self.host, MachineHost):
            self.host.close()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def over(*kinds: Any) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    def make(scenario: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        def test(kind: str, tmp_path: Path, **given: Any) -> None:
            async def whole() -> None:
                world = World(kind, tmp_path)
                try:
                    async with asyncio.timeout(3 * ENOUGH):
                        await scenario(world, **given)
                finally:
                    await world.close()

            with asyncio.Runner(loop_factory=LOOPS[kind]) as runner:
                runner.run(whole())

        own = list(inspect.signature(scenario).parameters.values())[1:]
        common = list(inspect.signature(test).parameters.values())[:2]
        test.__name__, test.__doc__, test.__module__ = scenario.__name__, scenario.__doc__, scenario.__module__
        test.__signature__ = inspect.Signature(common + own)  # type: ignore[attr-defined]
        return pytest.mark.parametrize("kind", kinds)(test)

    return make


on_every_machine = over("fake", *MACHINES)
on_the_real_machine = over(*MACHINES)


# Both machines.


@pytest.mark.req("INFRA-01.3")
@pytest.mark.parametrize("status", [200, 204, 301, 404, 500, 503])
@on_every_machine
async def test_any_status_is_an_answer(world: World, status: int):
    reply = await world.ask(await world.port(Answers(status=status)))
    assert reply.status == status
    assert 0 < reply.latency < ENOUGH


@pytest.mark.parametrize(
    ("limit", "body"),
    [
        pytest.param(0, b"", id="nothing-wanted-nothing-read"),
        pytest.param(5, b"hello", id="not-more-than-was-wanted"),
        pytest.param(11, b"hello world", id="exactly-all"),
        pytest.param(65536, b"hello world", id="all-there-is"),
    ],
)
@on_every_machine
async def test_a_body_is_read_as_far_as_it_is_wanted(world: World, limit: int, body: bytes):
    assert (await world.ask(await world.port(Answers(body=b"hello world")), body=limit)).body == body


@pytest.mark.req("INFRA-01.3")
@pytest.mark.parametrize("failure", [Failure.REFUSED, Failure.CLOSED, Failure.NOT_HTTP])
@on_every_machine
async def test_http_says_why_there_was_no_answer(world: World, failure: Failure):
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(await world.port(Answers(failure=failure)), body=10)
    assert failed.value.failure is failure
    assert failed.value.detail


@on_every_machine
async def test_http_leaves_nothing_to_the_collector(world: World):
    ports = [await world.port(Answers()), await world.port(Answers(failure=Failure.REFUSED))]
    gc.collect()
    gc.disable()
    try:
        for port in ports:
            with contextlib.suppress(ProbeFailed):
                await world.ask(port)
        async with asyncio.timeout(ENOUGH):
            # The end of a connection is told later; no event says so here.
            while any(isinstance(one, httptools.HttpResponseParser) for one in gc.get_objects()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    finally:
        gc.enable()


@pytest.mark.req("INFRA-01.3")
@on_every_machine
async def test_http_keeps_its_deadline_with_a_port_that_says_nothing(world: World):
    port = await world.port(Answers(hangs=True))
    began = time.monotonic()
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(port, timeout=0.3)
    assert failed.value.failure is Failure.TIMEOUT
    assert 0.29 <= time.monotonic() - began < ENOUGH / 2


@on_every_machine
async def test_tcp_tells_how_long_connecting_took(world: World):
    port = await world.port(Answers())
    assert 0 < await world.host.tcp("127.0.0.1", port, timeout=ENOUGH) < ENOUGH


@on_every_machine
async def test_tcp_says_that_it_was_refused(world: World):
    port = await world.port(Answers(failure=Failure.REFUSED))
    with pytest.raises(ProbeFailed) as failed:
        await world.host.tcp("127.0.0.1", port, timeout=ENOUGH)
    assert failed.value.failure is Failure.REFUSED


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(Answers(hangs=True), id="that-then-says-nothing"),
        pytest.param(Answers(failure=Failure.NOT_HTTP), id="that-speaks-no-http"),
        pytest.param(Answers(failure=Failure.CLOSED), id="that-closes-after-the-question"),
    ],
)
@on_every_machine
async def test_tcp_connects_to_whatever_accepts(world: World, answers: Answers):
    await world.host.tcp("127.0.0.1", await world.port(answers), timeout=0.5)


@pytest.mark.parametrize(("what", "code"), [("works", 0), ("fails", 7)])
@on_every_machine
async def test_a_program_s_end_is_its_exit_code(world: World, what: str, code: int):
    ran = await world.run(world.program(what))
    assert (ran.exit_code, ran.problem) == (code, "")
    assert 0 <= ran.seconds < ENOUGH


@on_every_machine
async def test_a_program_that_is_not_there_is_a_problem_and_no_exception(world: World):
    ran = await world.run(world.program("missing"))
    assert ran.exit_code is None
    assert ran.problem


@on_every_machine
async def test_a_program_past_its_deadline_is_ended_and_has_no_exit_code(world: World):
    ran = await world.run(world.program("hangs"), timeout=0.3)
    assert ran.exit_code is None
    assert ran.problem
    assert 0.29 <= ran.seconds < ENOUGH / 2


# The real machine: HTTP.

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        pytest.param(OK + b"Content-Length: 2\r\n\r\nok", 200, b"ok", id="a-body-of-known-length"),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 200, b"abcde", id="chunks"
        ),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, b"until the end", id="a-body-until-it-is-closed"),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok", 200, b"ok", id="a-preface-first"
        ),
        pytest.param(
            b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 X\r\n\r\nno",
            404,
            b"no",
            id="two-prefaces-first",
        ),
        pytest.param(OK + b"Content-Length: 100\r\n\r\nshort", 200, b"short", id="a-body-that-ends-too-early"),
        pytest.param(
            b"HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\nx",
            426,
            b"x",
            id="an-offer-to-upgrade",
        ),
        pytest.param(b"HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:1/\r\n\r\n", 302, b"", id="not-followed"),
        pytest.param(b"HTTP/1.1 304 Not Modified\r\n\r\n", 304, b"", id="an-answer-without-a-body"),
    ],
)
@on_the_real_machine
async def test_an_answer_is_understood(world: World, answer: bytes, status: int, body: bytes):
    reply = await world.ask(await world.says(answer), body=65536)
    assert (reply.status, reply.body) == (status, body)
    assert (await world.ask(await world.says(answer))).status == status


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        pytest.param(b"", Failure.CLOSED, id="closed-without-a-word"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Le", Failure.CLOSED, id="closed-within-the-head"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", Failure.CLOSED, id="closed-after-the-preface"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", Failure.NOT_HTTP, id="another-protocol"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01", Failure.NOT_HTTP, id="tls-where-none-was-expected"),
        pytest.param(b"HTTP/1.1 abc OK\r\n\r\n", Failure.NOT_HTTP, id="a-status-that-is-no-number"),
        pytest.param(b"\x00" * 100, Failure.NOT_HTTP, id="zeros"),
        pytest.param(b"RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n", Failure.NOT_HTTP, id="a-camera"),
        pytest.param(b"ICE/1.0 200 OK\r\n\r\n", Failure.NOT_HTTP, id="a-radio"),
        pytest.param(b"ICY 200 OK\r\n\r\n", Failure.NOT_HTTP, id="an-old-radio"),
        pytest.param(b"SIP/2.0 200 OK\r\n\r\n", Failure.NOT_HTTP, id="a-telephone"),
    ],
)
@on_the_real_machine
async def test_what_is_no_answer_is_named(world: World, answer: bytes, failure: Failure):
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(await world.says(answer), body=10)
    assert failed.value.failure is failure
    assert not any(other in failed.value.detail for other in ("RTSP", "ICE/")), "no words of a parser"


@on_the_real_machine
async def test_a_connection_that_is_reset_is_closed(world: World):
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        peer = writer.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with pytest.raises(ProbeFailed) as failed:
        await world.ask(await world.serve(reset))
    assert failed.value.failure is Failure.CLOSED


def drips(first: bytes, drop: bytes) -> Handler:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.02)

    return handler


@pytest.mark.parametrize(
    ("first", "drop"),
    [
        pytest.param(OK + b"Content-Length: 60000\r\n\r\n", b"x", id="a-body"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", id="chunks"),
        pytest.param(OK, b"X", id="one-header"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="prefaces-for-ever"),
    ],
)
@on_the_real_machine
async def test_what_drips_does_not_move_the_deadline(world: World, first: bytes, drop: bytes):
    port = await world.serve(drips(first, drop))
    began = time.monotonic()
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(port, body=65536, timeout=0.4)
    assert failed.value.failure is Failure.TIMEOUT
    assert time.monotonic() - began < ENOUGH / 2


@on_the_real_machine
async def test_a_body_that_drips_holds_nobody_who_does_not_want_it(world: World):
    port = await world.serve(drips(OK + b"Content-Length: 60000\r\n\r\n", b"x"))
    assert (await world.ask(port)).status == 200


def floods(first: bytes, flood: bytes) -> Handler:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(flood)
            await writer.drain()

    return handler


@pytest.mark.parametrize(
    ("first", "flood"),
    [
        pytest.param(OK, b"X-Header: " + b"y" * 1000 + b"\r\n", id="many-headers"),
        pytest.param(OK + b"X: ", b"y" * 1000, id="one-header"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, id="prefaces"),
    ],
)
@on_the_real_machine
async def test_headers_without_end_are_not_http(world: World, first: bytes, flood: bytes):
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(await world.serve(floods(first, flood)))
    assert failed.value.failure is Failure.NOT_HTTP


@on_the_real_machine
async def test_a_body_without_end_is_read_to_its_bound(world: World):
    reply = await world.ask(await world.serve(floods(OK + b"\r\n", b"z" * 10_000)), body=65536)
    assert reply.body == b"z" * 65536


@on_the_real_machine
async def test_a_compressed_body_is_never_unpacked(world: World):
    bomb = gzip.compress(b"\0" * 50_000_000)
    head = OK + f"Content-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    reply = await world.ask(await world.says(head + bomb), body=65536)
    assert reply.body == bomb[:65536]


@on_the_real_machine
async def test_the_request_on_the_wire(world: World):
    heads: list[bytes] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(OK + b"\r\n")
        await writer.drain()

    port = await world.serve(handler)
    url = f"http://user:pass@127.0.0.1:{port}/a/b?c=d&e=%20#fragment"
    await world.ask(port, url=url, method="HEAD", headers={"accept": "text/plain", "X-Mine": "ü"})
    first, *lines = heads[0].decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    assert first == "HEAD /a/b?c=d&e=%20 HTTP/1.1"
    assert sorted(lines) == [
        "Accept-Encoding: identity",
        "Connection: close",
        f"Host: 127.0.0.1:{port}",
        "User-Agent: argus",
        "X-Mine: ü",
        "accept: text/plain",
    ]


@on_the_real_machine
async def test_localhost_needs_no_look_up(world: World):
    port = await world.says(OK + b"\r\n")
    assert (await world.ask(port, url=f"http://localhost:{port}/")).status == 200
    assert await world.host.tcp("localhost", port, timeout=ENOUGH) > 0


def ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as made:
            made.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not ipv6(), reason="this machine has no IPv6 loopback")
@on_the_real_machine
async def test_ipv6_is_reached_by_address_and_by_localhost(world: World):
    port = await world.says(OK + b"\r\n", host="::1")
    assert (await world.ask(port, url=f"http://[::1]:{port}/")).status == 200
    assert await world.host.tcp("::1", port, timeout=ENOUGH) > 0
    assert await world.host.tcp("localhost", port, timeout=ENOUGH) > 0


@pytest.mark.req("INFRA-01.3")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("argus-test.invalid", id="a-name-that-cannot-exist"),
        pytest.param("a..b", id="an-empty-label"),
        pytest.param(f"{'x' * 64}.invalid", id="a-label-too-long"),
    ],
)
@on_the_real_machine
async def test_a_name_without_an_address_is_a_dns_failure(world: World, name: str):
    for probe in (world.ask(80, url=f"http://{name}/"), world.host.tcp(name, 80, timeout=ENOUGH)):
        with pytest.raises(ProbeFailed) as failed:
            await probe
        assert failed.value.failure is Failure.DNS


# The real machine: TLS.


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
@on_the_real_machine
async def test_a_certificate_nobody_trusts_is_a_tls_failure(world: World, name: str):
    context, _, _ = certificate(world.folder)
    port = await world.says(OK + b"\r\n", ssl=context)
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(port, url=f"https://{name}:{port}/")
    assert failed.value.failure is Failure.TLS


@on_the_real_machine
async def test_a_server_without_tls_is_a_tls_failure(world: World):
    port = await world.serve(drips(b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(port, url=f"https://127.0.0.1:{port}/")
    assert failed.value.failure is Failure.TLS


@on_the_real_machine
async def test_a_handshake_that_never_comes_keeps_the_deadline(world: World):
    port = await world.says(b"", then="silence")
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(port, url=f"https://127.0.0.1:{port}/", timeout=0.3)
    assert failed.value.failure is Failure.TIMEOUT


@on_the_real_machine
async def test_a_trusted_certificate_s_end_is_told(world: World, monkeypatch: pytest.MonkeyPatch):
    context, chain, ends = certificate(world.folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(chain))
    port = await world.says(OK + b"\r\n", ssl=context)
    reply = await world.ask(port, url=f"https://localhost:{port}/")
    assert (reply.status, reply.tls_expires) == (200, ends.timestamp())


@on_the_real_machine
async def test_an_expired_certificate_is_a_tls_failure(world: World, monkeypatch: pytest.MonkeyPatch):
    context, chain, _ = certificate(world.folder, days=-1)
    monkeypatch.setenv("SSL_CERT_FILE", str(chain))
    port = await world.says(OK + b"\r\n", ssl=context)
    with pytest.raises(ProbeFailed) as failed:
        await world.ask(port, url=f"https://localhost:{port}/")
    assert failed.value.failure is Failure.TLS


# The real machine: programs.


def ended(process: Identity, within: float = ENOUGH) -> bool:
    """Waits in the kernel for the end of a process that may not be our child."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    try:
        if not is_alive(process):
            return True
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(within * 1000))
    finally:
        os.close(handle)


def children(output: str) -> list[Identity]:
    return [found for word in output.split() if (found := identify(int(word))) is not None]


@on_the_real_machine
async def test_at_the_deadline_the_whole_group_is_ended(world: World):
    """A restart command that hangs with a grandchild of its own that ignores every polite signal."""
    script = f'trap "" TERM HUP INT; {SHELL} -c \'trap "" TERM HUP; sleep 1000 & echo $! $$; wait\' & echo $!; wait'
    ran = await world.run([SHELL, "-c", script], timeout=1.0)
    assert ran.problem
    pids = [int(word) for word in ran.output.split()]
    assert len(pids) == 3
    assert all(ended(child) for child in children(ran.output))


@on_the_real_machine
async def test_what_a_program_left_behind_lives_on_and_keeps_nobody_waiting(world: World):
    ran = await world.run([SHELL, "-c", "sleep 1000 & echo $!"])
    (child,) = children(ran.output)
    try:
        assert (ran.exit_code, ran.problem) == (0, "")
        assert ran.seconds < ENOUGH / 2
        assert is_alive(child)
    finally:
        send(child, signal.SIGKILL)
    assert ended(child)


@on_the_real_machine
async def test_output_goes_to_a_private_file_and_its_end_is_told(world: World):
    code = "import os; os.write(1, b'first ' + b'x' * 9000 + b'\\xff last'); os.write(2, b' error')"
    ran = await world.run([sys.executable, "-c", code])
    written = world.log.read_bytes()
    assert written.startswith(b"first ")
    assert len(ran.output.encode("utf-8", "replace")) <= 3 * 4096
    assert ran.output.endswith("� last error")
    assert stat.S_IMODE(world.log.stat().st_mode) == 0o600
    assert stat.S_IMODE(world.log.parent.stat().st_mode) == 0o700
    assert (await world.run([SHELL, "-c", "echo second"])).output == "second\n"


@on_the_real_machine
async def test_arguments_are_passed_as_they_are_and_input_is_empty(world: World):
    hostile = ["$(touch made)", "; exit 3", "-rf", "*", "two words", "'\"`", ""]
    ran = await world.run([sys.executable, "-c", "import sys; print(sys.argv[1:], sys.stdin.read())", *hostile])
    assert ran.output == f"{hostile} \n"


def is_there(path: str) -> bool:
    return Path(path).exists()


@on_the_real_machine
async def test_a_program_is_noted_before_its_first_moment_and_no_longer_after_its_end(world: World):
    note = f"{world.log}.pid"
    ran = await world.run([SHELL, "-c", f"cat {note}; echo; echo $$"])
    noted, pid = ran.output.splitlines()
    assert json.loads(noted)["pid"] == int(pid)
    assert not is_there(note)


@on_the_real_machine
async def test_a_program_inherits_nothing_of_how_it_was_started(world: World):
    what = "grep SigIgn /proc/self/status; ls /proc/self/fd | wc -l; cut -d ' ' -f 5,6 /proc/$$/stat; echo $$"
    ran = await world.run([SHELL, "-c", what])
    ignored, descriptors, group, pid = ran.output.splitlines()
    # Only what Python ignores: make starts its children with two signals of the C library ignored, for good.
    of_python = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
    assert int(ignored.split()[1], 16) & of_python == 0
    assert int(descriptors) == 4, "its own three, and the one that lists them"
    assert group == f"{pid} {pid}", "a group and a session of its own"


@on_the_real_machine
async def test_a_program_s_own_exit_code_is_not_taken_for_one_that_could_not_be_started(world: World):
    ran = await world.run([SHELL, "-c", "exit 127"])
    assert (ran.exit_code, ran.problem) == (127, "")


@on_the_real_machine
async def test_a_program_that_was_killed_has_its_signal_as_its_end(world: World):
    assert (await world.run([SHELL, "-c", "kill -9 $$"])).exit_code == -9


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(["/"], id="a-folder"),
        pytest.param(["a\0b"], id="a-nul-in-the-name"),
        pytest.param(["/bin/sh", "a\0b"], id="a-nul-in-an-argument"),
        pytest.param([""], id="no-name"),
    ],
)
@on_the_real_machine
async def test_what_cannot_be_started_is_a_problem(world: World, argv: list[str]):
    ran = await world.run(argv)
    assert ran.exit_code is None
    assert ran.problem


@on_the_real_machine
async def test_a_log_that_cannot_be_written_is_a_problem_and_nothing_is_started(world: World):
    (world.folder / "file").touch()
    made = world.folder / "made"
    ran = await world.host.run(["/usr/bin/touch", str(made)], timeout=ENOUGH, log=str(world.folder / "file" / "x.log"))
    assert ran.exit_code is None
    assert ran.problem
    assert not made.exists()


@on_the_real_machine
async def test_fifty_programs_at_once_keep_out_of_each_other_s_way(world: World):
    async def run(place: int) -> Ran:
        log = str(world.folder / f"{place}.log")
        return await world.host.run([SHELL, "-c", f"echo {place}; exit {place}"], timeout=ENOUGH, log=log)

    ran = await asyncio.gather(*(run(place) for place in range(50)))
    assert [(one.exit_code, one.output) for one in ran] == [(place, f"{place}\n") for place in range(50)]
