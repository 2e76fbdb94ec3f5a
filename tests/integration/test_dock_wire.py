"""Streams of the engine at their worst: silent, dripping, garbled, endless, cut off."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.engine_peer import Handler, Peer, hangs_up, is_endless, is_silent, on_both_loops, says, speaks_otherwise

from argus.core.breaker import State
from argus.core.circuit import Circuit
from argus.core.errors import ArgusError, Code
from argus.host.children import Children
from argus.host.dns import Resolver
from argus.host.engine.building import DockerDock
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.resources import Making
from argus.host.engine.seam import EngineUnavailable
from argus.host.engine.wire import Line
from argus.host.leftovers import Leftovers

ENOUGH = 30.0
BEGINS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def dock(url: str) -> GuardedDock:
    environ = {"DOCKER_HOST": url}
    circuit = Circuit("docker:test", asyncio.get_running_loop().time, judge)
    return GuardedDock(DockerDock(Line(Resolver(threads=1), environ), Children(), Leftovers(), environ), circuit)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(number: int, **more: str) -> bytes:
    attributes = {"name": "web", "number": str(number), **more}
    said = {"Type": "container", "Action": "start", "Actor": {"ID": "1" * 64, "Attributes": attributes}, "time": number}
    return json.dumps(said).encode() + b"\n"


async def listened(at: GuardedDock, heard: list[str], timeout: float) -> None:
    async with at.happenings({}, timeout=timeout) as told:
        async for one in told:
            heard.append(one.attributes["number"])  # noqa: PERF401 - what came before the end counts


def tells(*chunks: bytes) -> Handler:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(BEGINS + b"".join(chunk(one) for one in chunks))
        await writer.drain()
        await reader.read()

    return behave


@pytest.mark.parametrize(
    "behave",
    [is_silent, hangs_up, speaks_otherwise, says(b'{"message": "no"}', "500 Internal Server Error")],
    ids=["silent", "hangs-up", "other", "500"],
)
@on_both_loops
async def test_events_that_do_not_begin_are_a_failure_of_the_engine(tmp_path: Path, behave: Handler):
    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(behave):
        at = dock(peer.url)
        for count in range(1, 6):
            with pytest.raises(ArgusError) as failed:
                await listened(at, [], 0.5)
            assert failed.value.code is Code.DOCKER_UNAVAILABLE
            assert behave is hangs_up or at.circuit.breaker.consecutive == count
        assert behave is hangs_up or at.circuit.breaker.state is State.OPEN
        await peer.closed.wait()


@pytest.mark.parametrize(
    "chunks",
    [(b"not json\n",), (b"[]\n",), (b'{"Type": "container"}\n',), (b'{"x": "' + b"y" * 2_000_000,), (b"",)],
    ids=["no-json", "no-object", "no-event", "without-end", "ended"],
)
@on_both_loops
async def test_events_that_are_not_understood_end_the_stream(tmp_path: Path, chunks: tuple[bytes, ...]):
    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(tells(event(1), *chunks)):
        heard: list[str] = []
        with pytest.raises(EngineUnavailable):
            await listened(dock(peer.url), heard, ENOUGH)
        assert heard == ["1"]
        await peer.closed.wait()
        assert peer.open == 0


@on_both_loops
async def test_events_have_no_deadline_once_they_have_begun_and_none_is_lost(tmp_path: Path):
    """They come in any pieces, faster than they are read, and after the deadline of the beginning."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(BEGINS)
        whole = b"".join(event(number, filler="x" * 1000) for number in range(2000))
        for at in range(0, len(whole), 7001):
            writer.write(chunk(whole[at : at + 7001]))
            await writer.drain()
        await asyncio.sleep(0.7)
        writer.write(chunk(event(2000)))
        await reader.read()

    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(behave):
        seen: list[str] = []
        async with dock(peer.url).happenings({}, timeout=0.5) as told:
            async for one in told:
                seen.append(one.attributes["number"])
                if len(seen) == 2001:
                    break
                if len(seen) % 500 == 0:
                    await asyncio.sleep(0.05)  # a slow reader; the engine waits meanwhile
        assert seen == [str(number) for number in range(2001)]
        await peer.closed.wait()


@on_both_loops
async def test_health_checks_are_not_told_of(tmp_path: Path):
    peer = Peer(tmp_path)
    noise = event(1).replace(b'"start"', b'"exec_create: /bin/sh -c true"')
    async with (
        asyncio.timeout(ENOUGH),
        await peer.serve(tells(noise, noise, event(2))),
        dock(peer.url).happenings({}, timeout=ENOUGH) as told,
    ):
        assert (await anext(told)).attributes["number"] == "2"


@on_both_loops
async def test_logs_without_end_are_read_in_bounds(tmp_path: Path):
    state = {"Id": "1" * 64, "Name": "/web", "State": {"Status": "running"}, "Config": {"Tty": True}}

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = says(json.dumps(state).encode()) if peer.requests[-1].split()[1].endswith("/json") else is_endless
        await asked(reader, writer)

    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(behave):
        (line,) = await dock(peer.url).logs("web", timeout=ENOUGH)
        assert line == "x" * 256 * 1024


@on_both_loops
async def test_a_large_body_is_sent_whole_and_an_early_answer_is_heard(tmp_path: Path):
    got: list[int] = []

    async def takes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(len(await reader.readexactly(3_000_000)))
        await says(b'{"status": "sha256:1"}\n')(reader, writer)

    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(takes):
        assert await dock(peer.url).import_image(b"x" * 3_000_000, "host:5000/web", ["ENV A=b"], timeout=ENOUGH)
        assert got == [3_000_000]
        target = peer.requests[0].split()[1]
        assert target == "/images/create?fromSrc=-&repo=host%3A5000%2Fweb&tag=latest&changes=ENV+A%3Db"


@on_both_loops
async def test_what_is_made_must_be_said(tmp_path: Path):
    peer = Peer(tmp_path)
    async with asyncio.timeout(ENOUGH), await peer.serve(says(b"{}", "201 Created")):
        with pytest.raises(EngineUnavailable):
            await dock(peer.url).make(Making("web", "shop:1"), timeout=ENOUGH)
