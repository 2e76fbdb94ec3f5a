"""An MCP server of the tests' own: by its pipes, or with a port as its argument by streamable HTTP.

Its tools add, say no, die, hang, answer much, take their time and count what was cancelled.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any


def _note(line: str) -> None:
    """For who wants to know how often it was started, and what it was asked."""
    if "PEER_LOG" in os.environ:
        with Path(os.environ["PEER_LOG"]).open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")


if __name__ == "__main__":
    _note("started")
    if Path(os.environ.get("PEER_BROKEN", "/nowhere")).exists():
        sys.exit("broken")  # before what takes long

import mcp_types as types  # noqa: E402
from mcp.server.lowlevel import Server  # noqa: E402

_SUMMANDS = {"a": {"type": "integer"}, "b": {"type": "integer"}}
_INTEGERS = {"type": "object", "properties": _SUMMANDS, "required": ["a", "b"]}
_NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
_NONE: dict[str, Any] = {"type": "object", "properties": {}}
_TOOLS = {
    "add": ("Adds two numbers.", _INTEGERS),
    "refuse": ("Always says no.", _NONE),
    "die": ("Ends its server.", _NONE),
    "hang": ("Never answers.", _NONE),
    "bytes": ("Answers with so many letters.", _NUMBER),
    "sleep": ("Answers after so many seconds.", _NUMBER),
    "seen": ("Says how many calls were cancelled, and what it was given.", _NONE),
}
_cancelled = 0


async def _list(context: Any, params: Any) -> types.ListToolsResult:
    tools = [types.Tool(name=name, description=text, input_schema=schema) for name, (text, schema) in _TOOLS.items()]
    return types.ListToolsResult(tools=tools)


async def _call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    global _cancelled
    given = params.arguments or {}
    _note(f"call {params.name}")
    try:
        answer: Any = await _done(params.name, given)
    except asyncio.CancelledError:
        _cancelled += 1
        _note(f"cancelled {params.name}")
        raise
    text = types.TextContent(type="text", text=str(answer))
    structured = {"sum": answer} if params.name == "add" else None
    return types.CallToolResult(content=[text], structured_content=structured, is_error=params.name == "refuse")


async def _done(name: str, given: dict[str, Any]) -> Any:
    if name == "add":
        return given["a"] + given["b"]
    if name == "bytes":
        return "x" * int(given["n"])
    if name == "sleep":
        await asyncio.sleep(given["n"])
    elif name == "hang":
        await asyncio.Event().wait()
    elif name == "die":
        print("dying, with password=hunter2hunter2", file=sys.stderr, flush=True)
        os._exit(7)
    elif name == "seen":
        return f"{_cancelled} cancelled, pid {os.getpid()}, token {os.environ.get('PEER_TOKEN')}, in {os.getcwd()}"
    return "no"


def _server() -> Server[Any]:
    return Server("peer", on_list_tools=_list, on_call_tool=_call)


async def _by_pipes() -> None:
    from mcp.server.stdio import stdio_server

    server = _server()
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


def _by_http(port: int) -> None:
    import contextlib

    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Mount

    manager = StreamableHTTPSessionManager(_server(), json_response="--json" in sys.argv)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> Any:
        async with manager.run():
            yield

    app = Starlette(routes=[Mount("/mcp", app=manager.handle_request)], lifespan=lifespan)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _by_http(int(sys.argv[1]))
    else:
        asyncio.run(_by_pipes())
