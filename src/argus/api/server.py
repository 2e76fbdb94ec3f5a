"""uvicorn, as much of it as Argus needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, ClassVar

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from argus.core.clock import Clock, SystemClock, milliseconds
from argus.core.errors import ArgusError, Code

CONNECTIONS = 512
"""Beyond that the oldest silent one is closed: strangers' connections must not take the checks' descriptors."""
_HEAD = 64 * 1024
_HEAD_SECONDS = 15.0
"""In which the whole head of a request must have arrived."""


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with bounds on what a client without a token can take: connections, headers and time."""

    _silent: ClassVar[dict[BoundedProtocol, None]] = {}
    """Those that have not sent a request yet, the oldest first: they make room, so that a crowd locks nobody out."""
    _head = 0
    _in_head = True
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._silent[self] = None
        self._patience = self.loop.call_later(_HEAD_SECONDS, transport.abort)
        if len(self.connections) > CONNECTIONS:
            next(iter(self._silent)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._spoke()
        super().connection_lost(exc)

    def _spoke(self) -> None:
        self._silent.pop(self, None)
        if self._patience is not None:
            self._patience.cancel()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head += len(data)
            if self._head > _HEAD:
                self.send_400_response("the request's head has more than 64 KiB")

    def on_message_begin(self) -> None:
        self._head, self._in_head = 0, True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._spoke()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as HTTP gets a structured error too."""
        error = ArgusError(Code.INVALID_REQUEST, msg).structured(milliseconds(SystemClock().wall()))
        body = json.dumps({"error": error}).encode()
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()


class Server(uvicorn.Server):
    """Without signal handlers of its own, and without its tick of ten a second, which alone costs 0.25 % of a core."""

    def __init__(self, app: ASGIApp, stopping: asyncio.Event, *, grace: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                date_header=False,
                server_header=False,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=int(grace),
            )
        )
        self._stopping = stopping

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield

    async def main_loop(self) -> None:
        await self._stopping.wait()


class Activity:
    """When somebody last asked for something."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock
        self._under_way = 0
        self._last = clock.monotonic()

    def idle(self) -> float:
        return 0.0 if self._under_way else self._clock.monotonic() - self._last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1
            self._last = self._clock.monotonic()
