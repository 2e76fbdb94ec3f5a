"""Load that costs less than what it loads: bytes rendered beforehand, answers counted by their length."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

_DEADLINE = 120.0
T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(_DEADLINE):
            return await work

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(bounded())


def request(method: str, target: str, port: int, *, token: str = "", body: bytes = b"") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", f"host: 127.0.0.1:{port}"]
    lines += [f"authorization: Bearer {token}"] if token else []
    lines += ["content-type: application/json", f"content-length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


class _Asker(asyncio.Protocol):
    """Sends one request after another on one connection. All answers are as long as the first."""

    def __init__(self, wires: list[bytes], count: int) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wires = wires
        self._count = count
        self._sent = 0
        self._length = 0
        self._got = b""
        self._size = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._transport.write(self._wires[self._sent % len(self._wires)])
        self._sent += 1

    def data_received(self, data: bytes) -> None:
        if not self._length:
            self._learn(data)
            if not self._length:
                return
        else:
            self._size += len(data)
        if self._size < self._length:
            return
        self._size = 0
        if self._sent < self._count:
            self._send()
        else:
            self._transport.close()
            self.done.set_result(None)

    def _learn(self, data: bytes) -> None:
        self._got += data
        head, end, _ = self._got.partition(b"\r\n\r\n")
        if not end:
            return
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(f"answered {self._got[:300]!r}"))
            self._transport.abort()
            return
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        self._length = len(head) + len(end) + int(fields[b"content-length"])
        self._size = len(self._got)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(f"the server closed the connection: {error}"))


async def ask(port: int, wires: list[bytes], *, connections: int, each: int) -> None:
    """`wires` in turn, on every connection; all of their answers have one length."""
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(lambda: _Asker(wires, each), "127.0.0.1", port) for _ in range(connections)]
    await asyncio.gather(*(protocol.done for _, protocol in made))


class Reader(asyncio.Protocol):
    """Counts the events of one stream: each ends with an empty line, and so does the comment before the first."""

    def __init__(self, wire: bytes) -> None:
        self.seen = -1
        self.size = 0
        self.text = b""
        self._wire = wire
        self._last = b""
        self._wanted = 0
        self._enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._head = b""
        self._in_head = True

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self._wire)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                self._enough.set_exception(RuntimeError(f"answered {self._head[:300]!r}"))
                return
            self._in_head = False
        self.size += len(data)
        self.text = data if len(data) < 4096 else b""
        both = self._last + data
        self.seen += both.count(b"\n\n")
        self._last = both[-1:]
        if self.seen >= self._wanted and not self._enough.done():
            self._enough.set_result(None)

    async def until(self, events: int) -> None:
        """Returns when so many have come in all."""
        if self.seen < events:
            self._wanted = events
            if self._enough.done():
                self._enough.result()  # a refusal says so
                self._enough = asyncio.get_running_loop().create_future()
            await self._enough


async def follow(port: int, wire: bytes, readers: int) -> list[Reader]:
    loop = asyncio.get_running_loop()
    made = [(await loop.create_connection(lambda: Reader(wire), "127.0.0.1", port))[1] for _ in range(readers)]
    for reader in made:
        await reader.until(0)
    return made
