"""uvicorn, as much of it as Argus needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from argus.api.answers import Errors
from argus.core.clock import Clock, SystemClock, milliseconds
from argus.core.errors import ArgusError, Code

SILENT = 512
"""Connections that have not asked for anything yet. Beyond that the oldest of them is closed."""
CONNECTIONS = 4096
"""In all, if there are descriptors for twice as many: connections must not take those of the checks."""
WHOLE = "argus.whole"
"""Stands in the request's scope once all of its body is here: nobody has to wait for it."""
_HEAD = 64 * 1024
_HEAD_SECONDS = 15.0
"""In which the whole head of a request must have arrived."""
_REST_SECONDS = 5.0
"""In which the rest of a body has to arrive whose request is answered already: time to read the answer, not to stay."""
_STUCK_SECONDS = 20.0
"""In which a client has to take what waits for it; one that does not is cut off, and whatever it was sent is let go."""


@lru_cache(maxsize=1)
def _room() -> int:
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return CONNECTIONS if descriptors < 0 else max(1, min(CONNECTIONS, descriptors // 2))


class Together:
    """A connection on which the head of an answer waits for its body, if that comes at once: uvicorn writes them one
    after the other, and each is a call of the kernel. Never more than one piece waits, so that whoever writes much is
    still held up by a client that does not read."""

    __slots__ = ("_call_soon", "_held", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._call_soon = loop.call_soon
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.writelines((held, data))
        elif data:
            self._held = data
            self._call_soon(self._flush)

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            if not self._transport.is_closing():  # the client has gone meanwhile; uvloop would raise
                self._transport.write(held)

    def close(self) -> None:
        self._flush()
        self._transport.close()


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with bounds on what a client without a token can take: connections, headers and time."""

    _silent: ClassVar[dict[BoundedProtocol, None]] = {}
    """Those that have not sent a request yet, the oldest first: they make room, so that a crowd locks nobody out."""
    _idle: ClassVar[dict[BoundedProtocol, None]] = {}
    """Those that were answered: they make room when nobody is silent, else a crowd would ask once and stay."""
    _head = 0
    _in_head = True
    _in_body = False
    _patience: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(Together(transport, self.loop))  # type: ignore[arg-type]
        self._wait_for(_HEAD_SECONDS)
        if len(self._silent) >= min(SILENT, _room()) or len(self.connections) > _room():
            next(chain(self._silent, self._idle, (self,))).transport.abort()
        self._silent[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._spoke()
        if self._stuck is not None:
            self._stuck.cancel()
        super().connection_lost(exc)

    def _wait_for(self, seconds: float) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(seconds, self.transport.abort)

    def _came(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _spoke(self) -> None:
        self._silent.pop(self, None)
        self._idle.pop(self, None)
        self._came()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._wait_for(_HEAD_SECONDS)
            self._head += len(data)
            if self._head > _HEAD:
                self.send_400_response("the request's head has more than 64 KiB")

    def on_response_complete(self) -> None:
        waiting = bool(self.pipeline)
        super().on_response_complete()
        if not waiting and not self.transport.is_closing():
            self._idle[self] = None
            self._expect_head()
            if self._in_body:
                self._wait_for(_REST_SECONDS)

    def on_message_complete(self) -> None:
        self.scope[WHOLE] = True  # type: ignore[literal-required]
        super().on_message_complete()
        self._in_body = False
        self._came()
        self._expect_head()

    def _expect_head(self) -> None:
        """Whatever comes after a request and its answer is the head of another, also when it is only line breaks."""
        if self in self._idle and not self._in_body and not self._in_head:
            self._head, self._in_head = 0, True

    def pause_writing(self) -> None:
        # Closing would wait until the client has read the rest, and this one does not read.
        if self._stuck is None:
            self._stuck = self.loop.call_later(_STUCK_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
        super().resume_writing()

    def on_message_begin(self) -> None:
        self._head, self._in_head = 0, True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body = False, True
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
                proxy_headers=False,
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


class Farewell:
    """Tells who still waits when Argus stops; uvicorn would say a bare 500."""

    def __init__(self, app: ASGIApp, errors: Errors) -> None:
        self._app = app
        self._errors = errors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if begun:
                raise
            await self._errors.response(ArgusError(Code.NO_DAEMON, "Argus is stopping"))(scope, receive, send)
