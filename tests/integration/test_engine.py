"""The wire to the engine, at its worst: silent, dripping, endless, gone. Every question ends at its deadline, and its
connection with it."""

import asyncio
import contextlib
import functools
import inspect
import json
import shutil
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from tests.certificates import certificate

from argus.core.breaker import Limits, State
from argus.core.errors import ArgusError, Code
from argus.host.dns import Resolver
from argus.host.engine.docker import DockerContainers
from argus.host.engine.guard import GuardedEngine
from argus.host.engine.seam import EngineRefused

ENOUGH = 30.0
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
WELL = json.dumps({"Id": "1" * 64, "Name": "/web", "State": {"Status": "running"}}).encode()


class Peer:
    """Stands where the engine should be, on a socket of its own."""

    def __init__(self, folder: Path, over: str = "unix", tls: ssl.SSLContext | None = None) -> None:
        self.path = str(folder / "s")
        self._over = over
        self._tls = tls
        self.requests: list[str] = []
        self.open = 0
        self.closed = asyncio.Event()

    async def serve(self, behave: Handler) -> asyncio.Server:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.open += 1
            try:
                with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                    self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode().partition("\r\n")[0])
                    await behave(reader, writer)
            finally:
                writer.transport.abort()
                self.open -= 1
                self.closed.set()

        if self._over == "unix":
            self.url = f"unix://{self.path}"
            return await asyncio.start_unix_server(handle, self.path)
        server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=self._tls)
        self.url = f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server


def says(body: bytes, status: str = "200 OK") -> Handler:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()

    return behave


async def is_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def drips(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


async def is_endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        await writer.drain()


async def hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    await writer.drain()


async def speaks_otherwise(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    await writer.drain()


async def speaks_before(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    await says(WELL)(reader, writer)


def engine(url: str, limits: Limits | None = None) -> GuardedEngine:
    containers = DockerContainers(Resolver(threads=1), {"DOCKER_HOST": url})
    return GuardedEngine(containers, lambda: asyncio.get_running_loop().time(), limits)


def on_both_loops(scenario: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The daemon's loop is uvloop."""

    @functools.wraps(scenario)
    def test(loop: Any, **given: Any) -> None:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(scenario(**given))

    first = inspect.Parameter("loop", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    test.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [first, *inspect.signature(scenario).parameters.values()]
    )
    loops = [pytest.param(None, id="asyncio"), pytest.param(uvloop.new_event_loop, id="uvloop")]
    return pytest.mark.parametrize("loop", loops)(test)


@pytest.mark.parametrize("over", ["unix", "tcp"])
@pytest.mark.parametrize("behave", [is_silent, drips, is_endless, hangs_up, speaks_otherwise, says(b"<html>")])
@on_both_loops
async def test_every_question_ends_and_its_connection_with_it(tmp_path: Path, behave: Handler, over: str):
    peer = Peer(tmp_path, over)
    async with asyncio.timeout(ENOUGH), await peer.serve(behave):
        before = len(asyncio.all_tasks())
        with pytest.raises(ArgusError) as failed:
            await engine(peer.url).named(["web"], timeout=0.5)
        assert failed.value.code is Code.DOCKER_UNAVAILABLE
        await peer.closed.wait()
        assert peer.open == 0
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) <= before


@pytest.mark.parametrize("over", ["unix", "tcp"])
@pytest.mark.parametrize("behave", [says(WELL), speaks_before])
@on_both_loops
async def test_an_answer_is_an_answer(tmp_path: Path, behave: Handler, over: str):
    peer = Peer(tmp_path, over)
    async with asyncio.timeout(ENOUGH), await peer.serve(behave):
        found = await engine(peer.url).named(["web"], timeout=ENOUGH)
        assert found["web"] is not None
        assert found["web"].state == "running"
        assert peer.requests == ["GET /containers/web/json HTTP/1.1"]


@on_both_loops
async def test_tls_shows_and_asks_for_a_certificate(tmp_path: Path):
    context, chain, _ = certificate(tmp_path)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(chain)
    for name in ("ca.pem", "cert.pem"):
        shutil.copy(chain, tmp_path / name)
    peer = Peer(tmp_path, "tcp", context)
    async with asyncio.timeout(ENOUGH), await peer.serve(says(WELL)):
        environ = {"DOCKER_HOST": peer.url, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path)}
        asked = DockerContainers(Resolver(threads=1), environ)
        assert (await asked.named(["web"]))["web"] is not None
        (tmp_path / "cert.pem").unlink()
        with pytest.raises(ArgusError, match="certificates"):
            await asked.named(["web"])


@on_both_loops
async def test_an_engine_that_is_not_there_is_unavailable(tmp_path: Path):
    for url in (f"unix://{tmp_path}/none", f"unix://{tmp_path}", "tcp://127.0.0.1:1"):
        with pytest.raises(ArgusError) as failed:
            await engine(url).named(["web"], timeout=ENOUGH)
        assert failed.value.code is Code.DOCKER_UNAVAILABLE


@on_both_loops
async def test_ten_calls_at_once_on_a_half_open_breaker_are_one_that_reaches_the_engine(tmp_path: Path):
    peer, gate = Peer(tmp_path), asyncio.Event()
    asked = engine(f"unix://{peer.path}", Limits(reset_after=0))
    for _ in range(5):
        with pytest.raises(ArgusError):
            await asked.named(["web"], timeout=ENOUGH)
    asked.circuit.reset()

    async def waits(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        await says(WELL)(reader, writer)

    async with asyncio.timeout(ENOUGH), await peer.serve(waits):
        ten = [asyncio.ensure_future(asked.named(["web"], timeout=ENOUGH)) for _ in range(10)]
        while len(under_way := [one for one in ten if not one.done()]) > 1:
            await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
        gate.set()
        ended = await asyncio.gather(*ten, return_exceptions=True)
    assert len(peer.requests) == 1
    assert sorted(type(one).__name__ for one in ended) == ["CircuitOpen"] * 9 + ["dict"]
    assert asked.circuit.breaker.state is State.CLOSED


@on_both_loops
async def test_a_deadline_that_is_too_short_for_anyone_closes_the_way_for_nobody(tmp_path: Path):
    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(is_silent):
        asked = engine(peer.url)
        for _ in range(20):
            with pytest.raises(ArgusError) as failed:
                await asked.named(["web"], timeout=0.001)
            assert failed.value.code is Code.DOCKER_UNAVAILABLE
        assert asked.circuit.breaker.state is State.CLOSED


@on_both_loops
async def test_a_restart_that_takes_too_long_is_no_failure_of_the_engine(tmp_path: Path):
    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(is_silent):
        asked = engine(peer.url)
        for _ in range(6):
            with pytest.raises(EngineRefused, match="not finished within"):
                await asked.restart("1" * 64, timeout=0.05)
        assert asked.circuit.breaker.state is State.CLOSED
        assert peer.requests[0] == f"POST /containers/{'1' * 64}/restart HTTP/1.1"


@on_both_loops
async def test_what_the_engine_says_about_a_restart_is_passed_on(tmp_path: Path):
    peer = Peer(tmp_path)
    body = json.dumps({"message": "driver failed:\nport is already allocated"}).encode()
    async with asyncio.timeout(ENOUGH), await peer.serve(says(body, "500 Internal Server Error")):
        asked = engine(peer.url)
        with pytest.raises(EngineRefused, match=r"^driver failed: port is already allocated$"):
            await asked.restart("1" * 64, timeout=ENOUGH)
        # The same answer to a plain question is the engine's own trouble.
        with pytest.raises(ArgusError) as failed:
            await asked.named(["web"], timeout=ENOUGH)
        assert failed.value.details["status"] == 500
