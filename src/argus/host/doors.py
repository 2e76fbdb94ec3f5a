"""Answering HTTP on ports of somebody else's choice: whole requests in, whole answers out, in bounds.

uvicorn's protocol is what reads and writes, as for Argus' own API: it knows keep-alive, chunks and half-closed
connections already. Connections here count by themselves, so that a crowd at a mock locks nobody out of the API.
"""

from __future__ import annotations

import asyncio
import errno
import resource
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from argus.host import ports

LARGEST = 1024 * 1024
"""Bytes of a request's body."""
_CONNECTIONS = 512
"""At one door. Those that say nothing go by themselves after a while."""
_HEAD = 64 * 1024
_LARGE_HEAD = "argus.large_head"
"""In the scope of a request whose head came at once, and is larger."""
_SECONDS = 30.0
"""In which a request has to arrive, and in which its client has to take the answer."""


class Closed(StrEnum):
    TAKEN = "taken"
    ELSEWHERE = "elsewhere"
    """The address is not one of this machine."""
    OTHER = "other"


class CannotListen(Exception):
    def __init__(self, host: str, port: int, why: Closed, detail: str) -> None:
        super().__init__(f"{host}:{port}: {detail}")
        self.host = host
        self.port = port
        self.why = why


@dataclass(frozen=True, slots=True)
class Came:
    method: str
    path: str
    """As it was sent."""
    query: str
    headers: list[tuple[str, str]]
    body: bytes
    is_too_large: bool = False


@dataclass(frozen=True, slots=True)
class Goes:
    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""


Answerer = Callable[[Came], Awaitable[Goes]]


class Door:
    """One or several addresses, behind which one answers."""

    def __init__(self) -> None:
        self._servers: list[asyncio.Server] = []
        self._state = ServerState()

    async def close(self) -> None:
        """Nobody is let in any more, and who is in goes."""
        for server in self._servers:
            server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        for task in list(self._state.tasks):
            task.cancel()

    @classmethod
    async def open(cls, addresses: Iterable[tuple[str, int]], answer: Answerer) -> Door:
        """At all of the addresses, or at none. Raises CannotListen."""
        door = cls()
        config = uvicorn.Config(
            _application(answer), ws="none", lifespan="off", log_config=None, access_log=False, date_header=False,
            server_header=False, proxy_headers=False, timeout_keep_alive=30,
        )  # fmt: skip
        config.load()

        def protocol() -> asyncio.Protocol:
            return _Protocol(config, door._state, {})

        loop = asyncio.get_running_loop()
        try:
            for host, port in addresses:
                door._servers.append(await loop.create_server(protocol, sock=_bound(host, port)))
        except CannotListen:
            await door.close()
            raise
        return door


def _bound(host: str, port: int) -> Any:
    try:
        return ports.bound(host, port)
    except OSError as error:
        known = {errno.EADDRINUSE: Closed.TAKEN, errno.EADDRNOTAVAIL: Closed.ELSEWHERE}
        why = known.get(error.errno or 0, Closed.OTHER)
        raise CannotListen(host, port, why, error.strerror or str(error)) from None


class _Protocol(HttpToolsProtocol):
    _taken = 0
    """Bytes that came while the head was not complete."""
    _head = 0
    """Of them those that are of the head."""
    _in_head = True
    _patience: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > min(_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 8):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._came()
        if self._stuck is not None:
            self._stuck.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        # Closing would wait until the client has read the rest, and this one does not read.
        if self._stuck is None:
            self._stuck = self.loop.call_later(_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._taken += len(data)
        super().data_received(data)
        if self._in_head and self._taken > _HEAD:
            self._refuse_head()

    def _refuse_head(self) -> None:
        before: Any = self.cycle  # None before the first request, whatever its type says
        if before is not None and not before.response_complete:
            self.transport.abort()  # another is being answered: what is said now would be taken for a part of that
            return
        self.transport.write(
            b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        )
        self.transport.close()

    def on_url(self, url: bytes) -> None:
        self._head += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value) + len(": \r\n")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._head > _HEAD:
            self.scope[_LARGE_HEAD] = True  # type: ignore[literal-required]
        self._in_head, self._taken, self._head = False, 0, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._came()
        super().on_message_complete()

    def on_message_begin(self) -> None:
        self._in_head = True
        self._wait()
        super().on_message_begin()

    def _wait(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(_SECONDS, self.transport.abort)

    def _came(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


def _application(answer: Answerer) -> Callable[[Any, Any, Any], Awaitable[None]]:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope.get(_LARGE_HEAD):
            goes = Goes(431, [("connection", "close")])
        else:
            goes = await answer(await _came(scope, receive))
        has_body = goes.status >= 200 and goes.status not in (204, 304)
        headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in goes.headers]
        if has_body:
            headers.append((b"content-length", str(len(goes.body)).encode()))
        await send({"type": "http.response.start", "status": goes.status, "headers": headers})
        await send({"type": "http.response.body", "body": goes.body if has_body else b""})

    return application


async def _came(scope: Any, receive: Any) -> Came:
    body, too_large = bytearray(), False
    more = True
    while more:
        said = await receive()
        if said["type"] != "http.request":
            break  # it went away; what came is all there is
        more = said.get("more_body", False)
        body += said.get("body", b"")
        if len(body) > LARGEST:
            # The rest is not waited for: the answer says so, and the connection is closed with it.
            body.clear()
            more, too_large = False, True
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
    return Came(scope["method"], path, scope["query_string"].decode("latin-1"), headers, bytes(body), too_large)
