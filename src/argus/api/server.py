"""uvicorn, as much of it as Argus needs."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from argus.core.clock import Clock


class Server(uvicorn.Server):
    """Without signal handlers of its own, and without its tick of ten a second, which alone costs 0.25 % of a core."""

    def __init__(self, app: ASGIApp, stopping: asyncio.Event, *, grace: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
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
