"""One question to the engine over a connection of its own, and the whole answer, in bounds.

No pool: a connection that nobody waits for is closed at once, and there is none that a frozen engine could keep. The
caller holds the deadline.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import httptools

from argus.host.dns import Resolver
from argus.host.engine.seam import EngineUnavailable
from argus.host.engine.where import Place, context
from argus.host.seam import Failure, ProbeFailed
from argus.host.tcp import open_connection, reason

_LARGEST = 16 * 1024 * 1024
"""Bytes of an answer: a list of thousands of containers, and no more memory than that."""
_LOOK_UP = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


async def ask(place: Place, resolver: Resolver, method: str, target: str) -> Answer:
    transport: asyncio.Transport | None = None
    try:
        transport, exchange = await _connect(place, resolver)
        transport.write(f"{method} {target} HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n".encode("ascii"))
        await exchange.done
        return Answer(exchange.status, bytes(exchange.body))
    finally:
        if transport is not None:
            transport.abort()


async def _connect(place: Place, resolver: Resolver) -> tuple[asyncio.Transport, _Exchange]:
    loop = asyncio.get_running_loop()

    def exchange() -> _Exchange:
        return _Exchange(loop, str(place))

    try:
        if place.path:
            return await loop.create_unix_connection(exchange, place.path)
        addresses = await resolver.addresses(place.host, place.port, timeout=_LOOK_UP)
        tls = context(place.certificates) if place.certificates else None
        return await open_connection(addresses, exchange, place.host, place.port, tls=tls)
    except ProbeFailed as failed:
        raise _unavailable(place, failed.detail, failed.failure) from None
    except OSError as error:
        why = reason(error)
        raise _unavailable(place, error.strerror or why.value, why) from None


def _unavailable(place: Place, detail: str, why: Failure) -> EngineUnavailable:
    message = f"the Docker engine at {place} cannot be reached: {detail}"
    return EngineUnavailable(message, is_the_engines=why is not Failure.OURS, address=str(place))


class _Exchange(asyncio.Protocol):
    def __init__(self, loop: asyncio.AbstractEventLoop, place: str) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.status = 0
        self.body = bytearray()
        self._place = place
        self._size = 0
        self._parser = httptools.HttpResponseParser(self)

    def data_received(self, data: bytes) -> None:
        if self.done.done():
            return
        self._size += len(data)
        if self._size > _LARGEST:
            self._fail(f"answers with more than {_LARGEST} bytes")
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"does not speak HTTP: {error}")

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        # 1xx is a preface; the answer follows.
        if status >= 200 and not self.done.done():
            self.status = status
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        self._fail("closed the connection before its answer was whole")

    def _fail(self, what: str) -> None:
        if not self.done.done():
            self.done.set_exception(
                EngineUnavailable(f"the Docker engine at {self._place} {what}", address=self._place)
            )
            # The deadline may have fired already; then nobody is left to fetch this.
            self.done.exception()
