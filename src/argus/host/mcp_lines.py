"""MCP by the pipes of a program: one message a line. Of the client; see `mcp_client`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from argus.host.mcp_http import Streams
from argus.host.piped import MOST, Piped, TooLong

ANSWER_TOO_LARGE = -32099
"""Our own, in the place of an answer that was passed over."""
_ROOM = 64
_AT_HEAD = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,')
_AT_TAIL = re.compile(rb',\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


@contextlib.asynccontextmanager
async def by_pipes(
    program: Piped, over: Callable[[], None], heard_junk: Callable[[bytes], None]
) -> AsyncIterator[Streams]:
    """`over`: its output has come to an end. `heard_junk`: a line was no message."""
    inbound, session_reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    # With room: a program that does not read must not hold up whoever takes a call back.
    session_writes, outbound = anyio.create_memory_object_stream[SessionMessage](_ROOM)
    waiting: set[Any] = set()

    async def read() -> None:
        async with inbound:
            # The session may be gone already: then nobody wants to know.
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in program.lines():
                    for message in _read(line, waiting, heard_junk):
                        await inbound.send(SessionMessage(message))
        over()

    async def write() -> None:
        async with outbound:
            with contextlib.suppress(OSError):  # it does not listen any more: its output says the rest
                async for sent in outbound:
                    message = sent.message
                    if isinstance(message, types.JSONRPCRequest):
                        waiting.add(message.id)
                    text = message.model_dump_json(by_alias=True, exclude_unset=True)
                    await program.write(text.encode() + b"\n")

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        try:
            yield session_reads, session_writes
        finally:
            group.cancel_scope.cancel()


def _read(line: bytes | TooLong, waiting: set[Any], heard_junk: Callable[[bytes], None]) -> list[Any]:
    if isinstance(line, TooLong):
        said = types.ErrorData(code=ANSWER_TOO_LARGE, message=f"its answer was larger than {MOST // 2**20} MiB")
        whose = _whose(line, waiting)
        waiting -= whose
        return [types.JSONRPCError(jsonrpc="2.0", id=one, error=said) for one in whose]
    if not line.strip():
        return []
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        heard_junk(line)
        return []
    if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
        waiting.discard(message.id)
    return [message]


def _whose(line: TooLong, waiting: set[Any]) -> set[Any]:
    """Who waited for it. Where it does not say so at either end, everybody who waits is told."""
    found = _AT_HEAD.match(line.head) or _AT_TAIL.search(line.tail)
    if found is None:
        return set(waiting) if b'"result"' in line.head or b'"id"' in line.tail else set()
    return waiting & {int(found[1])}
