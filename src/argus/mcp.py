"""Argus as an MCP server: a tool for every operation that has one, answers in the envelope.

Importing the SDK takes most of a second and much memory, so `api.mcp_door` imports this module in a thread, when the
first agent comes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.message import SessionMessage
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from argus import __version__
from argus.api.answers import Errors
from argus.api.guard import BODY_LIMIT, CALLER
from argus.core.clock import milliseconds
from argus.core.errors import ArgusError, Code
from argus.environments.tools import Shell
from argus.loops import log
from argus.ops import OPERATIONS, Operation
from argus.ops.caller import Caller, Role
from argus.ops.house import House
from argus.ops.operation import CLI_SHELL, Answer

_INSTRUCTIONS = (
    "Argus watches this machine: services, their restarts and incidents. Call argus_context before you debug a failure "
    "that may not be yours; call argus_restart_service instead of restarting things yourself, and when it "
    "refuses act on the structured error's code, details and suggestedActions."
)
_TOOLS = {one.tool: one for one in OPERATIONS if one.tool}


def tools() -> list[types.Tool]:
    return [_tool(name, one) for name, one in sorted(_TOOLS.items())]


def _tool(name: str, one: Operation) -> types.Tool:
    data = one.answer.model_json_schema(by_alias=True, mode="serialization")
    definitions = data.pop("$defs", {})
    envelope = {
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "data": data,
            "timestamp": {"type": "integer", "description": "Epoch milliseconds"},
        },
        "required": ["success", "data", "timestamp"],
        "$defs": definitions,
    }
    return types.Tool(
        name=name,
        description=one.documentation,
        input_schema=_input(one),
        output_schema=envelope,
        annotations=types.ToolAnnotations(
            title=one.documentation.partition("\n")[0],
            read_only_hint=one.read_only,
            destructive_hint=one.destructive,
            idempotent_hint=one.read_only,
            open_world_hint=False,
        ),
    )


def _input(one: Operation) -> dict[str, Any]:
    """Without what an agent cannot know and its relay says for it."""
    schema = one.ask.model_json_schema(by_alias=True)
    known = {name: field for name, field in schema.get("properties", {}).items() if field.get("cli") != CLI_SHELL}
    return {**schema, "properties": known} if known != schema.get("properties") else schema


_caller: ContextVar[Caller] = ContextVar("caller")
"""Who asks: the SDK's tasks begin in the context of the request that caused them."""


_shell: ContextVar[Shell | None] = ContextVar("shell", default=None)
"""Where the agent works, as its relay said."""


def _read_shell(line: bytes) -> Shell | None:
    try:
        said = json.loads(line)["argus"]
        return Shell(str(said["folder"]), {str(name): str(value) for name, value in said["environ"].items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _as_agent(caller: Caller) -> Caller:
    """What comes by MCP with the person's own token is some agent's doing; which one is not known."""
    return Caller("mcp") if caller.role is Role.ROOT else caller


class McpServer:
    def __init__(self, house: House, errors: Errors) -> None:
        self._house = house
        self._errors = errors
        self._works: set[asyncio.Task[Answer]] = set()
        self._server: Server[Any] = Server(
            "argus",
            version=__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        # Nothing is kept between requests, so agents do not notice a restart of Argus.
        self.sessions = StreamableHTTPSessionManager(self._server, stateless=True, max_request_body_size=BODY_LIMIT)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        _caller.set(_as_agent(scope[CALLER]))
        await self.sessions.handle_request(scope, receive, send)

    async def stdio(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One stdio connection, carried as lines in the request's and the response's bodies.

        The relay knows nothing of MCP: every version of the protocol that the SDK speaks works through it.
        """
        _caller.set(_as_agent(scope[CALLER]))
        inbound, server_reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        server_writes, outbound = anyio.create_memory_object_stream[SessionMessage](0)
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/x-ndjson")]}
        )

        lines = _lines(Request(scope, receive))
        # The relay begins with where the agent works. It has to be known before the SDK's tasks begin.
        try:
            first = await anext(lines, None)
        except ClientDisconnect:
            return
        shell = _read_shell(first or b"")
        if shell is not None:
            _shell.set(shell)

        async def read() -> None:
            async with inbound:
                try:
                    if first is not None and shell is None:
                        await inbound.send(_parse(first))
                    async for line in lines:
                        await inbound.send(_parse(line))
                except (ClientDisconnect, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the agent has ended, and its server ends with it

        async def write() -> None:
            async with outbound:
                async for message in outbound:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await send({"type": "http.response.body", "body": text.encode() + b"\n", "more_body": True})

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            group.start_soon(write)
            await self._server.run(server_reads, server_writes, self._server.create_initialization_options())
            group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _list_tools(self, context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools())

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            one = _TOOLS.get(params.name)
            if one is None:
                known = sorted(_TOOLS)
                raise ArgusError(Code.NOT_FOUND, f"there is no tool {params.name[:100]!r}", known=known)
            house = self._house.asked_by(_caller.get(), _shell.get())
            work = one.call(house, dict(params.arguments or {}))
            answer = await (work if one.read_only else self._to_its_end(work, with_caller=one.ends_with_caller))
        except ArgusError as error:
            return self._failure(error)
        except Exception as error:  # noqa: BLE001 - the agent gets a structured error, whatever went wrong here
            log.exception("the tool %s crashed", params.name)
            return self._failure(ArgusError(Code.INTERNAL_ERROR, f"{params.name} failed: {type(error).__name__}"))
        return self._result({"success": True, "data": answer.model_dump(mode="json", by_alias=True)}, failed=False)

    async def _to_its_end(self, work: Coroutine[Any, Any, Answer], *, with_caller: bool) -> Answer:
        """In a task of its own: when an agent goes away, the SDK's are cancelled again and again, at every step that
        they take to leave things in order. It is told once, where it is to end with its caller."""
        task = asyncio.ensure_future(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if with_caller:
                task.cancel()
            raise

    def _failure(self, error: ArgusError) -> types.CallToolResult:
        whole = self._errors.structured(error)
        short = {"code": whole["code"], "message": whole["message"], "details": whole}
        return self._result({"success": False, "error": short}, failed=True)

    def _result(self, envelope: dict[str, Any], *, failed: bool) -> types.CallToolResult:
        envelope["timestamp"] = milliseconds(self._house.clock.wall())
        text = types.TextContent(type="text", text=json.dumps(envelope, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=envelope, is_error=failed)


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
