"""HTTP as tests speak it: any method, headers and body; the answer whole and in bounds, or as it comes.

A connection for each question, which is closed with it. The caller holds the deadline.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import httptools

from argus.core.cutting import beginning
from argus.host.dns import Resolver
from argus.host.seam import Failure, ProbeFailed
from argus.host.tcp import open_connection

MOST = 4 * 1024 * 1024
"""Bytes of a body that are kept."""
_AHEAD = 256 * 1024
_HEAD = 256 * 1024
_LOOK_UP = 10.0
_HOPS = 10
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MOVED = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True, slots=True)
class Call:
    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    """By their names in small letters; what came several times is joined by commas."""
    body: bytes
    seconds: float
    is_cut: bool = False
    """The body was longer than is kept."""


class Web:
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._tls: ssl.SSLContext | None = None

    async def ask(self, call: Call, *, timeout: float, follow: bool = True, most: int = MOST) -> Reply:
        """Raises ProbeFailed."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(timeout):
                for _ in range(_HOPS):
                    async with self.listen(call) as coming:
                        to = coming.headers.get("location") if follow and coming.status in _MOVED else None
                        if to is None:
                            body, is_cut = await coming.whole(most)
                            return Reply(coming.status, coming.headers, body, time.perf_counter() - began, is_cut)
                    call = _moved(call, coming.status, to)
        except TimeoutError:
            raise ProbeFailed(Failure.TIMEOUT, f"no answer within {timeout:g} s") from None
        raise ProbeFailed(Failure.CLOSED, f"sent elsewhere more than {_HOPS} times")

    @contextlib.asynccontextmanager
    async def listen(self, call: Call) -> AsyncIterator[Answer]:
        """Entered when the headers are there. Raises ProbeFailed."""
        parts, port = _parts(call.url)
        wire = _wire(call, parts)
        host = parts.hostname or ""
        addresses = await self._resolver.addresses(host, port, timeout=_LOOK_UP)
        loop = asyncio.get_running_loop()
        tls = self._context() if parts.scheme == "https" else None
        transport, coming = await open_connection(addresses, lambda: Answer(loop, call.method), host, port, tls=tls)
        try:
            transport.write(wire)
            await coming.begun
            yield coming
        finally:
            transport.abort()

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


def _parts(url: str) -> tuple[SplitResult, int]:
    try:
        parts = urlsplit(url.strip())
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise ProbeFailed(Failure.OURS, f"not a URL: {beginning(url, 200)!r}: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ProbeFailed(Failure.OURS, f"not a URL that begins with http:// or https://: {beginning(url, 200)!r}")
    return parts, port


def _wire(call: Call, parts: SplitResult) -> bytes:
    # What people write in a path, blanks and letters of every language, and what is quoted already.
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._") + (
        f"?{quote(parts.query, safe='/?%:@!$&()*+,;=~-._[]')}" if parts.query else ""
    )
    given = {name.lower() for name in call.headers}
    host = parts.netloc.rpartition("@")[2].encode("idna" if not parts.netloc.isascii() else "ascii").decode("ascii")
    # identity: what is not compressed need not be unpacked, and cannot be a bomb.
    usual = {"Host": host, "User-Agent": "argus", "Accept": "*/*", "Accept-Encoding": "identity"}
    if parts.username:
        who = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        usual["Authorization"] = f"Basic {base64.b64encode(who).decode()}"
    headers = [(name, value) for name, value in usual.items() if name.lower() not in given]
    headers += [(name, value) for name, value in call.headers.items() if name.lower() not in _OURS]
    if call.body is not None or call.method in ("POST", "PUT", "PATCH"):
        headers.append(("Content-Length", str(len(call.body or b""))))
    headers.append(("Connection", "close"))
    for name, value in headers:
        # A line break would begin another header, or another request.
        if not _NAME.fullmatch(name) or any(letter in value for letter in "\r\n\0"):
            raise ProbeFailed(Failure.OURS, f"not a header that can be sent: {name[:100]!r}")
    lines = [f"{call.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("utf-8") + (call.body or b"")


_OURS = frozenset(("content-length", "connection", "transfer-encoding"))


def _moved(call: Call, status: int, to: str) -> Call:
    """As browsers do: what was sent goes again only where the server asks for just that."""
    there = urljoin(call.url, to)
    before, after = urlsplit(call.url), urlsplit(there)
    headers = dict(call.headers)
    if (before.scheme, before.netloc) != (after.scheme, after.netloc):
        headers = {name: one for name, one in headers.items() if name.lower() not in _SECRET}
    if status in (307, 308) or call.method in ("GET", "HEAD"):
        return Call(there, call.method, headers, call.body)
    return Call(there, "GET", {name: one for name, one in headers.items() if name.lower() != "content-type"})


_SECRET = frozenset(("authorization", "cookie", "proxy-authorization", "host"))


class Answer(asyncio.Protocol):
    """An answer under way."""

    def __init__(self, loop: asyncio.AbstractEventLoop, method: str) -> None:
        self.begun: asyncio.Future[None] = loop.create_future()
        self.status = 0
        self.headers: dict[str, str] = {}
        self._method = method
        self._head = 0
        self._waiting = bytearray()
        self._news = asyncio.Event()
        self._is_whole = self._is_counted = self._is_paused = False
        self._problem: ProbeFailed | None = None
        self._transport: asyncio.Transport | None = None
        self._unpack: zlib._Decompress | None = None
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)

    async def whole(self, most: int) -> tuple[bytes, bool]:
        """And whether there was more."""
        body = bytearray()
        while piece := await self.piece():
            body += piece
            if len(body) > most:
                return bytes(body[:most]), True
        return bytes(body), False

    async def piece(self) -> bytes:
        """What has come since the last one; empty at the end."""
        while True:
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
            piece = bytes(self._waiting[:_AHEAD])
            del self._waiting[:_AHEAD]
            if self._unpack is None:
                return piece
            try:
                plain = self._unpack.decompress(piece, _AHEAD)
            except zlib.error as error:
                raise ProbeFailed(Failure.NOT_HTTP, f"the body cannot be unpacked: {error}") from None
            self._waiting[:0] = self._unpack.unconsumed_tail
            if plain:
                return plain

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's do not inherit

    def data_received(self, data: bytes) -> None:
        if self._parser is None or self._is_whole or self._problem is not None:
            return
        self._head += 0 if self.status else len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._end(ProbeFailed(Failure.NOT_HTTP, "the server changes to another protocol"))
        except httptools.HttpParserError as error:
            self._end(ProbeFailed(Failure.NOT_HTTP, f"the answer is not HTTP: {error}"))
        if self._head > _HEAD:
            self._end(ProbeFailed(Failure.NOT_HTTP, f"the answer has more than {_HEAD} bytes of headers"))

    def on_header(self, name: bytes, value: bytes) -> None:
        key, text = name.decode("latin-1").lower(), value.decode("utf-8", "replace")
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        status = self._parser.get_status_code()
        if status < 200:
            self.headers.clear()  # 1xx is a preface; the answer follows
            return
        self.status = status
        self._is_counted = "content-length" in self.headers or "transfer-encoding" in self.headers
        packed = self.headers.get("content-encoding", "").lower()
        if packed in ("gzip", "x-gzip", "deflate"):
            self._unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        if self._method == "HEAD" or status in (204, 304):
            self._is_whole = True
        if not self.begun.done():
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
        self._parser = None  # it holds us by its callbacks
        if self.status and not self._is_counted and error is None:
            self.on_message_complete()  # an answer without a length ends with the connection
        self._end(ProbeFailed(Failure.CLOSED, "the connection was closed before the answer was whole"))

    def _end(self, problem: ProbeFailed) -> None:
        if self._is_whole or self._problem is not None:
            return
        self._problem = problem
        self._news.set()
        if not self.begun.done():
            self.begun.set_exception(problem)
            # The deadline may have fired already; then nobody is left to fetch this.
            self.begun.exception()
