"""Questions to a Docker engine on raw protocols, many of them under way at once. Nothing is read but the status."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


def wire(method: str, target: str) -> bytes:
    return f"{method} {target} HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n".encode()


class _Asking(asyncio.Protocol):
    def __init__(self, wire: bytes, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[bytes] = loop.create_future()
        self._wire = wire
        self._got: list[bytes] = []

    def connection_made(self, transport: Any) -> None:
        transport.write(self._wire)

    def data_received(self, data: bytes) -> None:
        self._got.append(data)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(b"".join(self._got))


async def ask(path: str, wires: Iterable[bytes], at_once: int = 100) -> None:
    """Returns when all are answered. Raises when one of them is refused."""
    loop = asyncio.get_running_loop()
    turns = asyncio.Semaphore(at_once)

    async def one(wire: bytes) -> None:
        async with turns:
            _, protocol = await loop.create_unix_connection(lambda: _Asking(wire, loop), path)
            said = await protocol.done
        # 404: a network that could be made.
        if said[9:12] not in (b"200", b"204", b"404"):
            raise RuntimeError(f"{wire[:60]!r} was answered {said[:300]!r}")

    await asyncio.gather(*map(one, wires))
