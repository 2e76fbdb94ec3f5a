"""The wire to the engine, at its worst: silent, dripping, endless, gone. Every question ends at its deadline, and its
connection with it."""

import asyncio
import json
import shutil
import ssl
from pathlib import Path

import pytest
from tests.certificates import certificate
from tests.engine_peer import (
    WELL,
    Handler,
    Peer,
    drips,
    hangs_up,
    is_endless,
    is_silent,
    on_both_loops,
    says,
    speaks_before,
    speaks_otherwise,
)

from argus.core.breaker import Limits, State
from argus.core.errors import ArgusError, Code
from argus.host.dns import Resolver
from argus.host.engine.docker import DockerContainers
from argus.host.engine.guard import GuardedEngine
from argus.host.engine.seam import EngineRefused

ENOUGH = 30.0


def engine(url: str, limits: Limits | None = None) -> GuardedEngine:
    containers = DockerContainers(Resolver(threads=1), {"DOCKER_HOST": url})
    return GuardedEngine(containers, lambda: asyncio.get_running_loop().time(), limits)


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
