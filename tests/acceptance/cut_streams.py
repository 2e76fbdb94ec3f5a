"""Readers of the events whose connections are cut again and again, a proxy that dies, and writers that go on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import struct
from collections.abc import Callable
from urllib.parse import urlsplit

import httptools

from tests.acceptance.harness import DEADLINE, Argus, Event

_AGAIN = 0.02
"""Seconds after which somebody who was cut off or could not connect tries again."""


def place_of(argus: Argus) -> tuple[str, int]:
    parts = urlsplit(argus.url)
    return parts.hostname or "", parts.port or 0


def head(argus: Argus, method: str, path: str, *lines: str) -> bytes:
    host, port = place_of(argus)
    fixed = [f"{method} {path} HTTP/1.1", f"Host: {host}:{port}", f"Authorization: Bearer {argus.token}"]
    return "\r\n".join([*fixed, *lines, "", ""]).encode()


class _Connection:
    """What came over one connection, as whole events. What a cut left of one is gone with it."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._text = b""
        self._events: list[Event] = []

    def feed(self, data: bytes) -> list[Event]:
        self._parser.feed_data(data)
        events, self._events = self._events, []
        return events

    def on_headers_complete(self) -> None:
        assert self._parser.get_status_code() == 200

    def on_body(self, body: bytes) -> None:
        *whole, self._text = (self._text + body).split(b"\n\n")
        for block in whole:
            lines = [line for line in block.decode().split("\n") if not line.startswith(":")]
            if lines:
                fields = dict(line.split(": ", 1) for line in lines)
                self._events.append(Event(fields["id"], fields["event"], json.loads(fields["data"])))


class Reader:
    """Follows the events until it is cancelled."""

    def __init__(self, argus: Argus, first: str, chance: random.Random, *, channel: str = "") -> None:
        self._argus = argus
        self._chance = chance
        self.channel = channel
        self.through: Callable[[], tuple[str, int]] = lambda: place_of(argus)
        self.pause = 0.0
        """Seconds between two reads of a slow one, who is not cut off otherwise."""
        self.last = first
        self.seen: list[Event] = []
        self.connections = 0

    async def go_on(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                await self._connect()
            await asyncio.sleep(_AGAIN)

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.closing(socket.socket()) as connection:
            connection.setblocking(False)
            if self.pause:
                # Else the kernel keeps for it what a slow reader does not read.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await loop.sock_connect(connection, self.through())
            query = f"?channel={self.channel}" if self.channel else ""
            await loop.sock_sendall(
                connection, head(self._argus, "GET", f"/api/events{query}", f"Last-Event-ID: {self.last}")
            )
            self.connections += 1
            stream = _Connection()
            left = self._patience()
            while left and (data := await loop.sock_recv(connection, min(left, 4096))):
                left -= len(data)
                self._take(stream.feed(data))
                await asyncio.sleep(self.pause)
            # A reset instead of a farewell, as when a machine is unplugged.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _take(self, events: list[Event]) -> None:
        if events:
            self.seen += events
            self.last = events[-1].id

    def _patience(self) -> int:
        """After how many bytes it is cut off: in the head, in the first events, or far into the stream."""
        if self.pause:
            return 2**40
        return self._chance.randint(1, self._chance.choice((300, 2000, 100_000, 100_000)))


class Proxy:
    """Passes bytes on, until it dies with all its connections; then another one stands in its place.

    Its listener stays for good: asyncio loses a connection whose server is closed while it is being accepted. Whoever
    comes to the dead one is reset at once.
    """

    def __init__(self, argus: Argus) -> None:
        self._argus = argus
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._under_way: set[asyncio.Task[None]] = set()
        self._address = ("127.0.0.1", 0)
        self._dead = False

    def address(self) -> tuple[str, int]:
        return self._address

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, *self._address)
        self._address = self._server.sockets[0].getsockname()

    def die(self) -> None:
        self._dead = True
        for writer in self._open:
            writer.transport.abort()

    def come_back(self) -> None:
        self._dead = False

    async def end(self) -> None:
        """When nobody connects any more: nothing of it may outlive the test's loop."""
        assert self._server is not None
        self.die()
        await asyncio.sleep(_AGAIN)  # what is being accepted is
        self._server.close()
        while self._under_way:
            await asyncio.wait(self._under_way, timeout=DEADLINE)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        self._open.add(writer)
        try:
            if self._dead:
                return
            with contextlib.suppress(OSError):
                above, beyond = await asyncio.open_connection(*place_of(self._argus))
                self._open.add(beyond)
                try:
                    async with asyncio.TaskGroup() as both:
                        both.create_task(self._pass(reader, beyond))
                        both.create_task(self._pass(above, writer))
                finally:
                    self._open.discard(beyond)
                    beyond.transport.abort()
        finally:
            self._open.discard(writer)
            writer.transport.abort()
            self._under_way.discard(task)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(4096):
                sink.write(data)
                await sink.drain()
        sink.transport.abort()


class Asker:
    """Asks for changes that are recorded, one after the other on a connection that it makes anew when it is lost."""

    def __init__(self, argus: Argus, chance: random.Random) -> None:
        self._argus = argus
        self._chance = chance
        self.enough = False

    async def go_on(self) -> None:
        """Until it is told that it is enough, and the last answer is in: else something could still be recorded.
        An answer that was lost with its connection is nobody's loss: the journal knows."""
        while not self.enough:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection(*place_of(self._argus))
                try:
                    while not self.enough:
                        writer.write(self._change())
                        status, said = await self._answer(reader)
                        # Who asks while Argus stops, or while its store does not keep up, is told so.
                        assert status == 200 or (status == 503 and "error" in json.loads(said)), said
                finally:
                    writer.transport.abort()
            await asyncio.sleep(_AGAIN)

    def _change(self) -> bytes:
        if self._chance.random() < 0.1:
            return self._request("POST", "/api/services/web/pause", {"for": "1h"})
        level = self._chance.choice(("observe", "cautious", "moderate", "full"))
        return self._request("PUT", "/api/autonomy", {"level": level})

    def _request(self, method: str, path: str, body: dict[str, str]) -> bytes:
        data = json.dumps(body).encode()
        kind = ("Content-Type: application/json", f"Content-Length: {len(data)}")
        return head(self._argus, method, path, *kind) + data

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        said = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        body = await reader.readexactly(int(said.partition("content-length: ")[2].partition("\r\n")[0]))
        return int(said.split(" ")[1]), body
