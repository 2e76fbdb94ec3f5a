"""One question to the engine over a connection of its own, and the answer: whole and in bounds, or as it comes.

No pool: a connection that nobody waits for is closed at once, and there is none that a frozen engine could keep. The
caller holds the deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import cast

import httptools

from argus.host.dns import Resolver
from argus.host.engine import where
from argus.host.engine.seam import EngineUnavailable
from argus.host.engine.where import Place, context
from argus.host.seam import Failure, ProbeFailed
from argus.host.tcp import open_connection, reason

LARGEST = 16 * 1024 * 1024
"""Bytes of an answer: a list of thousands of containers, and no more memory than that."""
_AHEAD = 256 * 1024
"""Bytes of a stream that wait for their reader. Then the engine waits too."""
_LOOK_UP = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


class Line:
    """The way to the engine of one environment. It is looked for before every question: it may have moved."""

    def __init__(self, resolver: Resolver, environ: Mapping[str, str]) -> None:
        self._resolver = resolver
        self._environ = environ

    async def ask(self, method: str, target: str, body: bytes | None = None, kind: str = "application/json") -> Answer:
        async with self.listen(method, target, body, kind) as coming:
            return await coming.whole()

    @contextlib.asynccontextmanager
    async def listen(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        kind: str = "application/json",
        *,
        until_closed: bool = False,
    ) -> AsyncIterator[Coming]:
        """Entered when the status is known. `until_closed`: the end of the connection is the end of the answer."""
        head = f"{method} {target} HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n"
        if body is not None:
            head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        transport, coming = await _connect(where.find(self._environ), self._resolver)
        try:
            coming.until_closed = until_closed
            transport.write(f"{head}\r\n".encode("ascii") + (body or b""))
            await coming.begun
            yield coming
        finally:
            transport.abort()


async def _connect(place: Place, resolver: Resolver) -> tuple[asyncio.Transport, Coming]:
    loop = asyncio.get_running_loop()

    def coming() -> Coming:
        return Coming(loop, str(place))

    try:
        if place.path:
            return await loop.create_unix_connection(coming, place.path)
        addresses = await resolver.addresses(place.host, place.port, timeout=_LOOK_UP)
        tls = context(place.certificates) if place.certificates else None
        return await open_connection(addresses, coming, place.host, place.port, tls=tls)
    except ProbeFailed as failed:
        raise _unavailable(place, failed.detail, failed.failure) from None
    except OSError as error:
        why = reason(error)
        raise _unavailable(place, error.strerror or why.value, why) from None


def _unavailable(place: Place, detail: str, why: Failure) -> EngineUnavailable:
    message = f"the Docker engine at {place} cannot be reached: {detail}"
    return EngineUnavailable(message, is_the_engines=why is not Failure.OURS, address=str(place))


class Coming(asyncio.Protocol):
    """An answer under way."""

    def __init__(self, loop: asyncio.AbstractEventLoop, place: str) -> None:
        self.begun: asyncio.Future[None] = loop.create_future()
        self.status = 0
        self.headers: dict[str, str] = {}
        """By their names in small letters."""
        self.until_closed = False
        self._place = place
        self._waiting = bytearray()
        self._news = asyncio.Event()
        self._is_whole = False
        self._problem: EngineUnavailable | None = None
        self._transport: asyncio.Transport | None = None
        self._is_paused = False
        self._parser = httptools.HttpResponseParser(self)

    async def whole(self) -> Answer:
        body = bytearray()
        while piece := await self.piece():
            body += piece
            if len(body) > LARGEST:
                raise self._fails(f"answers with more than {LARGEST} bytes")
        return Answer(self.status, bytes(body))

    async def piece(self) -> bytes:
        """What has come since the last one. Empty: the engine ended it; to be cut off before that is an error."""
        while not self._waiting:
            if self._is_whole:
                return b""
            if self._problem is not None:
                raise self._problem
            if self._is_paused and self._transport is not None:
                self._is_paused = False
                self._transport.resume_reading()
            self._news.clear()
            await self._news.wait()
        piece = bytes(self._waiting)
        self._waiting.clear()
        return piece

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's do not inherit

    def data_received(self, data: bytes) -> None:
        if self._is_whole or self._problem is not None:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._end(self._fails(f"does not speak HTTP: {error}"))

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        # 1xx is a preface; the answer follows.
        if status >= 200 and not self.begun.done():
            self.status = status
            self.begun.set_result(None)

    def on_body(self, body: bytes) -> None:
        self._waiting += body
        self._news.set()
        if len(self._waiting) > _AHEAD and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()

    def on_message_complete(self) -> None:
        if self.status:
            self._is_whole = True
            self._news.set()

    def connection_lost(self, error: Exception | None) -> None:
        if self.until_closed and self.status == 200 and error is None:
            self.on_message_complete()
        self._end(self._fails("closed the connection before its answer was whole"))

    def _end(self, problem: EngineUnavailable) -> None:
        if self._is_whole or self._problem is not None:
            return
        self._problem = problem
        self._news.set()
        if not self.begun.done():
            self.begun.set_exception(problem)
            # The deadline may have fired already; then nobody is left to fetch this.
            self.begun.exception()

    def _fails(self, what: str) -> EngineUnavailable:
        return EngineUnavailable(f"the Docker engine at {self._place} {what}", address=self._place)
