"""Stands where the engine should be, and behaves in every way that an engine should not."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
import ssl
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

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
