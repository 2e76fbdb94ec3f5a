"""Where agents come in. What is behind it is loaded when the first one does: it costs a second and 60 MB."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from argus.api.answers import Errors
from argus.ops.house import House

if TYPE_CHECKING:
    from argus.mcp.server import McpServer


class McpDoor:
    def __init__(self, house: House, errors: Errors, stopping: asyncio.Event) -> None:
        self._house = house
        self._errors = errors
        self._stopping = stopping
        self._wanted = asyncio.Event()
        self._ready: asyncio.Future[McpServer] | None = None

    async def run(self) -> None:
        """The task in which the SDK's own tasks live."""
        await self._wanted.wait()
        assert self._ready is not None
        try:
            # In a thread: inline it would hold the loop, and every check with it, for most of a second.
            module = await asyncio.to_thread(importlib.import_module, "argus.mcp.server")
            server: McpServer = module.McpServer(self._house, self._errors)
        except Exception as error:
            self._ready.set_exception(error)
            raise
        async with server.sessions.run():
            self._ready.set_result(server)
            await self._stopping.wait()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._server()).http(scope, receive, send)

    async def stdio(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An agent holds this connection for as long as it lives, so a stop of Argus has to end it."""
        server = await self._server()
        serving = asyncio.ensure_future(server.stdio(scope, receive, send))
        stopped = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({serving, stopped}, return_when="FIRST_COMPLETED")
            if serving.done():
                await serving
                return
            serving.cancel()
            await asyncio.wait({serving})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            serving.cancel()
            stopped.cancel()

    async def _server(self) -> McpServer:
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._wanted.set()
        return await asyncio.shield(self._ready)
