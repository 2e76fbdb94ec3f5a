"""The server: who asks, what they asked for, and the answer in the envelope."""

from __future__ import annotations

import json
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from argus import __version__
from argus.api.answers import Errors
from argus.api.guard import BODY_LIMIT, CALLER
from argus.core.clock import milliseconds
from argus.core.errors import ArgusError, Code
from argus.environments.tools import Shell
from argus.loops import log
from argus.mcp import resources, streaming
from argus.mcp.calls import Asked, Calls, Withdrawn
from argus.mcp.progress import reported
from argus.mcp.stdio import Line
from argus.mcp.tools import INSTRUCTIONS, TOOLS, listed
from argus.ops import Operation
from argus.ops.caller import Caller, Role
from argus.ops.house import House
from argus.ops.operation import Answer

Context = ServerRequestContext[Any, Any]

_caller: ContextVar[Caller] = ContextVar("caller")
"""Who asks: the SDK's tasks begin in the context of the request that caused them."""
_shell: ContextVar[Shell | None] = ContextVar("shell", default=None)
"""Where the agent works, as its relay said."""
_session: ContextVar[str] = ContextVar("session", default="")
"""What a client over HTTP is called. Over stdio the SDK itself knows whose a cancellation is."""

_COMPLETED = 100
"""The most values of one completion, as the protocol says."""


def _as_agent(caller: Caller) -> Caller:
    """What comes by MCP with the person's own token is some agent's doing; which one is not known."""
    return Caller("mcp") if caller.role is Role.ROOT else caller


class McpServer:
    def __init__(self, house: House, errors: Errors) -> None:
        self._house = house
        self._errors = errors
        self._calls = Calls()
        self._server: Server[Any] = Server(
            "argus",
            version=__version__,
            title="Argus",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_completion=self._complete,
        )
        # Nothing is kept between requests, so agents do not notice a restart of Argus.
        self.sessions = StreamableHTTPSessionManager(self._server, stateless=True, max_request_body_size=BODY_LIMIT)

    # The two ways in.

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller, session = _as_agent(scope[CALLER]), streaming.session_of(scope)
        if session and scope["method"] == "DELETE":
            self._calls.withdraw_all(repr(caller), session)
        if await streaming.answered(scope, receive, send):
            return
        _caller.set(caller)
        _session.set(session)
        raw = await streaming.body(receive)
        withdrawn = streaming.cancelled(raw) if session else None
        if withdrawn is not None:
            self._calls.withdraw(Asked(repr(caller), session, withdrawn))
        await self.sessions.handle_request(scope, streaming.again(raw, receive), streaming.naming(scope, send))

    async def stdio(self, scope: Scope, receive: Receive, send: Send) -> None:
        _caller.set(_as_agent(scope[CALLER]))
        line = Line(scope, receive, send)
        try:
            # It has to be known before the SDK's tasks begin.
            _shell.set(await line.begin())
        except ClientDisconnect:
            return
        await line.serve(self._server)

    # What may be asked.

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed())

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            one = TOOLS.get(params.name)
            if one is None:
                raise ArgusError(Code.NOT_FOUND, f"there is no tool {params.name[:100]!r}", known=sorted(TOOLS))
            answer = await self._work(context, one, dict(params.arguments or {}))
        except ArgusError as error:
            return self._failure(error)
        except Withdrawn:
            raise MCPError(REQUEST_CANCELLED, "Request cancelled") from None
        except Exception as error:  # noqa: BLE001 - the agent gets a structured error, whatever went wrong here
            log.exception("the tool %s crashed", params.name)
            return self._failure(ArgusError(Code.INTERNAL_ERROR, f"{params.name} failed: {type(error).__name__}"))
        return self._result({"success": True, "data": answer.model_dump(mode="json", by_alias=True)}, failed=False)

    async def _work(self, context: Context, one: Operation, values: dict[str, Any]) -> Answer:
        caller, session = _caller.get(), _session.get()
        asked = Asked(repr(caller), session, streaming.request_name(context.request_id)) if session else None
        wants_progress = "progress_token" in (context.meta or {}) and not one.read_only

        async def report(steps: float, text: str) -> None:
            await context.session.report_progress(steps, message=text)

        async with reported(report, self._house.clean_value) if wants_progress else nullcontext():
            # Reading leaves nothing behind, so it ends with its caller too.
            return await self._calls.finish(
                one.call(self._house_of_caller(), values), asked, with_caller=one.read_only or one.ends_with_caller
            )

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.LISTED)

    async def _list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            contents = await resources.read(self._house_of_caller(), str(params.uri))
        except ArgusError as error:
            raise self._refusal(error) from None
        return types.ReadResourceResult(contents=contents)

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        named = getattr(params.ref, "uri", None) == resources.TEMPLATES[0].uri_template and params.argument.name == "id"
        try:
            found = await resources.ids(self._house_of_caller(), params.argument.value) if named else []
        except ArgusError as error:
            raise self._refusal(error) from None
        shown = types.Completion(values=found[:_COMPLETED], total=len(found), has_more=len(found) > _COMPLETED)
        return types.CompleteResult(completion=shown)

    # How it is answered.

    def _house_of_caller(self) -> House:
        return self._house.asked_by(_caller.get(), _shell.get())

    def _refusal(self, error: ArgusError) -> MCPError:
        """Where the protocol knows no envelope: its own error, which carries the structured one."""
        whole = self._errors.structured(error)
        is_theirs = error.status < 500
        code = types.INVALID_PARAMS if is_theirs else types.INTERNAL_ERROR
        return MCPError(code, f"{whole['code']}: {whole['message']}", whole)

    def _failure(self, error: ArgusError) -> types.CallToolResult:
        whole = self._errors.structured(error)
        short = {"code": whole["code"], "message": whole["message"], "details": whole}
        return self._result({"success": False, "error": short}, failed=True)

    def _result(self, envelope: dict[str, Any], *, failed: bool) -> types.CallToolResult:
        envelope["timestamp"] = milliseconds(self._house.clock.wall())
        text = types.TextContent(type="text", text=json.dumps(envelope, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=envelope, is_error=failed)
