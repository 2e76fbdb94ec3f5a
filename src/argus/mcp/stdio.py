"""One stdio connection of an agent, carried as lines in the body of a request and of its response."""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from argus.api.guard import BODY_LIMIT
from argus.environments.tools import Shell

_HEADERS = [(b"content-type", b"application/x-ndjson")]


class Line:
    """The relay knows nothing of MCP: every version of the protocol that the SDK speaks works through it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._lines = _lines(Request(scope, receive))
        self._send = send
        self._first: bytes | None = None

    async def begin(self) -> Shell | None:
        """The relay begins with where its agent works. Raises ClientDisconnect."""
        await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        first = await anext(self._lines, None)
        shell = _read_shell(first or b"")
        self._first = first if shell is None else None
        return shell

    async def serve(self, server: Server[Any]) -> None:
        inbound, server_reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        server_writes, outbound = anyio.create_memory_object_stream[SessionMessage](0)

        async def read() -> None:
            async with inbound:
                try:
                    if self._first is not None:
                        await inbound.send(_parse(self._first))
                    async for line in self._lines:
                        await inbound.send(_parse(line))
                except (ClientDisconnect, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the agent has ended, and its server ends with it

        async def write() -> None:
            async with outbound:
                async for message in outbound:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._send({"type": "http.response.body", "body": text.encode() + b"\n", "more_body": True})

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            group.start_soon(write)
            await server.run(server_reads, server_writes, server.create_initialization_options())
            group.cancel_scope.cancel()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _read_shell(line: bytes) -> Shell | None:
    try:
        said = json.loads(line)["argus"]
        return Shell(str(said["folder"]), {str(name): str(value) for name, value in said["environ"].items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _lines(request: Request) -> Any:
    """Lines of the body as they come; one that is too long is answered like any other that cannot be read."""
    kept, skipping = bytearray(), False
    async for chunk in request.stream():
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if not skipping and kept + piece:
                yield bytes(kept + piece)
            kept.clear()
            skipping = False
        kept += rest if not skipping else b""
        if len(kept) > BODY_LIMIT:
            yield b"(a line of more than 1 MiB)"
            kept.clear()
            skipping = True
