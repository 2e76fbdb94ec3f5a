"""The barest check on uvloop: connect, send bytes that were rendered beforehand, look at the status, leave."""

from __future__ import annotations

import asyncio
from typing import Any


class HttpCheck(asyncio.Protocol):
    def __init__(self, wire: bytes) -> None:
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._wire = wire

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(self._wire)

    def data_received(self, data: bytes) -> None:
        if not self.done.done():
            self.done.set_result(int(data[9:12]))
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionResetError())


async def http(port: int) -> None:
    wire = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: bare\r\nConnection: close\r\n\r\n" % port
    _, check = await asyncio.get_running_loop().create_connection(lambda: HttpCheck(wire), "127.0.0.1", port)
    assert await check.done == 200


async def tcp(port: int) -> None:
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, "127.0.0.1", port)
    transport.abort()
