"""One HTTP question with one deadline for everything: look-up, connect, TLS, headers and body.

Its own small client, because a check wants to know why it failed, must not be held by a body that drips, and is made
thousands of times: a new connection costs a fraction of a general client's.
"""

from __future__ import annotations

import asyncio
import functools
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httptools

from argus.host.deadlines import Deadlines
from argus.host.dns import Resolver
from argus.host.seam import Failure, HttpReply, HttpRequest, ProbeFailed
from argus.host.tcp import open_connection

_STATUS_LINE = re.compile(rb"HTTP/[0-9](?:\.[0-9])? ([1-5][0-9][0-9])\b")
_BEGIN = b"HTTP/"
_PREPARED = 20_000
"""Questions that are kept ready; with more services than that, some are made anew each time."""
_HEAD_LIMIT = 64 * 1024
"""A peer that sends endless headers is not a web server."""


class HttpProber:
    def __init__(self, resolver: Resolver, deadlines: Deadlines) -> None:
        self._resolver = resolver
        self._deadlines = deadlines
        self._tls: ssl.SSLContext | None = None

    async def ask(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        loop = asyncio.get_running_loop()
        began = time.perf_counter()  # the loop's own clock counts in milliseconds
        target = _target(request.url, request.method, tuple(request.headers.items()))
        addresses = await self._resolver.addresses(target.host, target.port, timeout=timeout)
        left = max(0.0, timeout - (time.perf_counter() - began))
        transport: asyncio.Transport | None = None
        try:
            with self._deadlines.within(left):
                transport, exchange = await open_connection(
                    addresses,
                    lambda: _Exchange(loop, target.wire, request.body_limit),
                    target.host,
                    target.port,
                    tls=self._context() if target.tls else None,
                )
                expires = _certificate_end(transport) if target.tls else None
                await exchange.done
        except TimeoutError:
            raise ProbeFailed(Failure.TIMEOUT, f"no answer within {timeout:g} s") from None
        finally:
            if transport is not None:
                transport.abort()
        return HttpReply(exchange.status, time.perf_counter() - began, bytes(exchange.body), expires)

    def _context(self) -> ssl.SSLContext:
        # Loading the trust store takes tens of milliseconds: once, and only where it is used.
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


@dataclass(frozen=True, slots=True)
class _Target:
    host: str
    port: int
    tls: bool
    wire: bytes


@functools.lru_cache(_PREPARED)
def _target(url: str, method: str, headers: tuple[tuple[str, str], ...]) -> _Target:
    """Where a question goes and its bytes: the same at every check, so made once."""
    parts = urlsplit(url)
    tls = parts.scheme == "https"
    return _Target(parts.hostname or "", parts.port or (443 if tls else 80), tls, _wire(parts, method, dict(headers)))


def _wire(parts: SplitResult, method: str, own: Mapping[str, str]) -> bytes:
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    host = parts.netloc.rpartition("@")[2]
    given = {name.lower() for name in own}
    # identity: a compressed body would have to be unpacked to be read, and could be a bomb.
    standard = {"Host": host, "User-Agent": "argus", "Accept": "*/*", "Accept-Encoding": "identity"}
    headers = [(name, value) for name, value in standard.items() if name.lower() not in given]
    headers += [*own.items(), ("Connection", "close")]
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


def _certificate_end(transport: asyncio.Transport) -> float | None:
    certificate = transport.get_extra_info("peercert")
    return float(ssl.cert_time_to_seconds(certificate["notAfter"])) if certificate else None


class _Exchange(asyncio.Protocol):
    def __init__(self, loop: asyncio.AbstractEventLoop, wire: bytes, body_limit: int) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self.status = 0
        self.body = bytearray()
        self._wire = wire
        self._limit = body_limit
        self._head = 0
        self._start = bytearray()
        # It holds us by its callbacks: a circle, which lasts only as long as the connection. Else every check would
        # leave six objects to the collector.
        self._parser: httptools.HttpResponseParser | None = None
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._transport = transport
        transport.write(self._wire)

    def data_received(self, data: bytes) -> None:
        if self._parser is None or self.done.done():
            return
        self._head += len(data) if not self.status else 0
        self._start += data[: 64 - len(self._start)]
        # The parser also takes RTSP/ and ICE/: cameras and radios, which speak something else.
        if not self.status and not _BEGIN.startswith(self._start.lstrip(b"\r\n")[: len(_BEGIN)]):
            self._fail(ProbeFailed(Failure.NOT_HTTP, "the answer is not HTTP"))
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._accept(101)
        except httptools.HttpParserError:
            # Any answer means that the process lives, also one with sloppy headers: the status line is enough.
            sloppy = _STATUS_LINE.match(bytes(self._start))
            if self.status or sloppy:
                self._accept(self.status or int(sloppy[1] if sloppy else 0))
            else:
                self._fail(ProbeFailed(Failure.NOT_HTTP, "the answer is not HTTP"))
        if self._head > _HEAD_LIMIT:
            self._fail(ProbeFailed(Failure.NOT_HTTP, "the answer has more than 64 KiB of headers"))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        status = self._parser.get_status_code()
        # 1xx is a preface; the answer follows.
        if status < 200:
            return
        self.status = status
        if not self._limit:
            self._finish()

    def on_body(self, body: bytes) -> None:
        if self.status:
            self.body += body[: self._limit - len(self.body)]
            if len(self.body) >= self._limit:
                self._finish()

    def on_message_complete(self) -> None:
        if self.status:
            self._finish()

    def connection_lost(self, error: Exception | None) -> None:
        self._parser = self._transport = None
        if self.status and error is None:
            self._finish()
        else:
            self._fail(ProbeFailed(Failure.CLOSED, "the connection was closed before an answer came"))

    def _accept(self, status: int) -> None:
        self.status = status
        self._finish()

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)
            # At once, and not a round of the loop later when whoever asked gets to it: until then it would be polled.
            if self._transport is not None:
                self._transport.abort()

    def _fail(self, failure: ProbeFailed) -> None:
        if not self.done.done():
            self.done.set_exception(failure)
            # The deadline may have fired already; then nobody is left to fetch this.
            self.done.exception()
