"""Operations on other MCP servers: which there are, what they can do, and calls to their tools, without a model."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from pydantic import Field

from argus.bridge.keeper import Seen
from argus.bridge.whence import Whence
from argus.core.breaker import State
from argus.core.errors import IN_BRIDGE, ArgusError, Code
from argus.core.patterns import NO_NUL
from argus.ops.caller import Role, Scope
from argus.ops.environments import ShellAsk
from argus.ops.house import House
from argus.ops.operation import CLI_FOLDER, CLI_SHELL, Answer, Ask, operation
from argus.ops.owning import own_folder, owns
from argus.schema import PositiveDuration

_CONFIG = (Code.NOT_FOUND, Code.CONFIG_INVALID, Code.FORBIDDEN)
_REACHED = (*_CONFIG, Code.CIRCUIT_OPEN, Code.MCP_FAILED)


class FolderAsk(Ask):
    project_path: str | None = Field(
        default=None,
        max_length=4096,
        pattern=NO_NUL,
        description="The folder whose .mcp.json is meant, with those above it; where you work if left out",
        json_schema_extra={"cli": CLI_FOLDER, "format": "path"},
    )
    shell: ShellAsk | None = Field(
        default=None, description="The caller's folder and environment", json_schema_extra={"cli": CLI_SHELL}
    )


class ServerAsk(FolderAsk):
    server: str = Field(min_length=1, max_length=100, pattern=NO_NUL, description="The MCP server's name")


class ToolsAsk(ServerAsk):
    timeout: PositiveDuration | None = Field(default=None, description='How long it may take, such as "30s"')


class CallAsk(ToolsAsk):
    tool: str = Field(min_length=1, max_length=200, pattern=NO_NUL, description="The tool's name, as its server says")
    arguments: dict[str, Any] = Field(default={}, description="What the tool is given, as its schema says")


class CallView(Answer):
    server: str
    tool: str
    is_error: bool = Field(description="The tool did not do it, and says why in its content; its server is well")
    content: list[dict[str, Any]] = Field(description="As the server answered: text, images, resources")
    structured_content: Any = Field(default=None, description="The answer as data, where the tool gives it so")
    duration: float = Field(description="Milliseconds")


class McpServerView(Answer):
    name: str
    kind: str = Field(description="stdio: a program; http: an address")
    source: str = Field(description="The file that names it")
    available: bool = Field(
        description="Whether a call would be tried: it can be started, and its breaker lets it pass"
    )
    problem: str | None = Field(description="Why it cannot be used as it is written")
    breaker: State = Field(description="closed: calls pass; open: none does; half-open: one does, to see")
    failures: int = Field(description="Consecutive failures")
    retry_in_seconds: float | None = Field(description="Until one call is let through, while its breaker is open")


class McpServerList(Answer):
    servers: list[McpServerView]
    notices: list[str] = Field(description="Files that could not be read, and why")


class McpToolView(Answer):
    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    annotations: dict[str, Any]


class McpToolList(Answer):
    server: str
    tools: list[McpToolView]


def whence(house: House, ask: FolderAsk) -> Whence:
    """An agent names a folder of its own project, and sees no file above it."""
    shell = ask.shell or house.shell
    own = own_folder(house) if house.caller.role is Role.AGENT else None
    if ask.project_path is not None:
        folder = os.path.join(shell.folder, ask.project_path)
    else:
        folder = shell.folder if own is None or owns(house, "", shell.folder) else own
    folder = os.path.realpath(folder)
    if own is not None and not (own and owns(house, "", folder)):
        message = "an agent uses the MCP servers of its own project"
        raise ArgusError(Code.FORBIDDEN, message, project=house.caller.project, asked=folder)
    return Whence(folder, shell.environ, own)


def server_view(house: House, one: Seen) -> McpServerView:
    return McpServerView(
        name=one.definition.name,
        kind=one.definition.kind,
        source=one.definition.source,
        available=one.is_available,
        problem=house.clean(one.problem) or None,
        breaker=one.state,
        failures=one.failures,
        retry_in_seconds=None if one.retry_in is None else round(one.retry_in, 1),
    )


@operation(
    "bridge.call", "POST /api/call", verb="call", places=("server", "tool", "arguments"), tool="argus_call_mcp",
    scope=Scope.ENVIRONMENT, destructive=True, ends_with_caller=True, open_world=True,
    errors=(*_REACHED, Code.INVALID_REQUEST),
)  # fmt: skip
async def call(house: House, ask: CallAsk) -> CallView:
    """Calls one tool of another MCP server directly, without a model, and returns what it answered.

    Changes what that tool changes. The server is one of argus.yaml or of a .mcp.json of your folder; it is started when
    it does not run. The arguments are checked against the tool's schema before they are sent. `isError` true: the tool
    itself said no, read its content. MCP_FAILED: the server could not be reached, died, hung or refused; details say
    why, with the end of its error output and whether the call may have been carried out. It is never sent twice. After
    three such failures in a row the server's breaker opens: every call is CIRCUIT_OPEN at once until
    details.retryInSeconds is over; do something else meanwhile, or mend the server, and do not loop.
    """
    done = await house.bridge.call(whence(house, ask), ask.server, ask.tool, ask.arguments, ask.timeout)
    return CallView(
        server=ask.server,
        tool=ask.tool,
        is_error=done.reply.is_error,
        content=done.reply.content,
        structured_content=done.reply.structured,
        duration=round(done.seconds * 1000, 1),
    )


@operation(
    "bridge.servers", "POST /api/bridge/servers", verb="bridge servers", tool="argus_mcp_servers",
    scope=Scope.ENVIRONMENT, read_only=True, errors=(Code.FORBIDDEN,),
)  # fmt: skip
async def servers(house: House, ask: FolderAsk) -> McpServerList:
    """Lists the other MCP servers that can be called from a folder, and whether each is available.

    Changes nothing and starts nothing. They stand in argus.yaml and in the .mcp.json files of the folder and above it.
    """
    found, notices = await house.bridge.servers(whence(house, ask))
    return McpServerList(servers=[server_view(house, one) for one in found], notices=[house.clean(n) for n in notices])


@operation(
    "bridge.server", "POST /api/bridge/server", verb="bridge server", places=("server",),
    scope=Scope.ENVIRONMENT, read_only=True, errors=(Code.NOT_FOUND, Code.FORBIDDEN),
)  # fmt: skip
async def server(house: House, ask: ServerAsk) -> McpServerView:
    """Says whether one MCP server is available. Changes nothing and starts nothing."""
    return server_view(house, await house.bridge.server(whence(house, ask), ask.server))


@operation(
    "bridge.tools", "POST /api/bridge/tools", verb="bridge tools", places=("server",), tool="argus_mcp_tools",
    scope=Scope.ENVIRONMENT, ends_with_caller=True, idempotent=True, open_world=True, errors=_REACHED,
)  # fmt: skip
async def tools(house: House, ask: ToolsAsk) -> McpToolList:
    """Lists the tools of another MCP server, with the schemas of their arguments.

    Changes nothing but that it starts the server when it does not run. MCP_FAILED and CIRCUIT_OPEN are as with
    argus_call_mcp.
    """
    found = await house.bridge.tools(whence(house, ask), ask.server, ask.timeout)
    views = [
        McpToolView(
            name=one.name,
            description=one.description,
            input_schema=dict(one.input_schema),
            output_schema=None if one.output_schema is None else dict(one.output_schema),
            annotations=dict(one.annotations),
        )
        for one in found
    ]
    return McpToolList(server=ask.server, tools=views)


OPERATIONS = tuple(replace(one, advice=IN_BRIDGE) for one in (call, servers, server, tools))
