"""Sessions to MCP servers, by the official SDK. Importing this takes most of a second: `mcp_opener` does, in a thread.

Each session lives in a task of its own, in which the SDK's tasks live too; callers only send through it. When the other
side goes away that task ends, and says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from typing import Any

import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from argus import __version__
from argus.core.cutting import beginning
from argus.host import piped
from argus.host.mcp_http import Streams, Wire, by_http
from argus.host.mcp_lines import ANSWER_TOO_LARGE, by_pipes
from argus.host.mcp_seam import (
    CannotStart,
    Closed,
    Died,
    Forgotten,
    NotMcp,
    Reach,
    Refused,
    Reply,
    Tool,
    TooLarge,
    Unreachable,
)

# What it would log is told to whoever calls.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
logging.getLogger("httpx2").setLevel(logging.WARNING)
_GRACE = 1.0
"""Seconds that an ending may take before it is forced."""
_PAGES = 100
_CUT = 300
_STAND_INS = ("Unexpected content type", "Redirect to", "server answered a request with 202", "Failed to parse")
"""How errors begin that the SDK makes up in the place of an answer that is none."""


class _Client(ClientSession):
    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """What a tool answered is for its caller to judge: it was done, whatever it looks like."""


async def open_session(pipes: piped.Pipes, reach: Reach) -> _Session:
    session: _Session = _Remote(reach) if reach.url else _Program(pipes, reach)
    try:
        await session.begin()
    except BaseException:
        await session.close(at_once=True)
        raise
    return session


class _Session(ABC):
    def __init__(self) -> None:
        self.tools_changed = 0
        self._over = asyncio.Event()
        self._greeted: asyncio.Future[_Client] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._problem: Unreachable | None = None
        self._is_closing = self._at_once = False

    async def begin(self) -> None:
        self._task = asyncio.ensure_future(self._live())
        awaited: set[asyncio.Future[Any]] = {self._task, self._greeted}
        await asyncio.wait(awaited, return_when="FIRST_COMPLETED")
        if not self._greeted.done():
            raise self._problem or Unreachable("it went away before it had answered", said=self.said)

    @property
    def is_open(self) -> bool:
        return self._task is not None and not self._task.done() and not self._over.is_set()

    @property
    @abstractmethod
    def said(self) -> str: ...

    @abstractmethod
    def _streams(self) -> contextlib.AbstractAsyncContextManager[Streams]: ...

    @abstractmethod
    async def _ended(self, error: Exception | None) -> Unreachable:
        """Why it is over."""

    async def _live(self) -> None:
        error: Exception | None = None
        try:
            who = types.Implementation(name="argus", version=__version__)
            async with (
                self._streams() as (reads, writes),
                _Client(reads, writes, client_info=who, message_handler=self._heard) as client,
            ):
                await self._greet(client)
                self._greeted.set_result(client)
                await self._over.wait()
        except Exception as broken:  # noqa: BLE001 - it is told to whoever calls
            error = _first(broken)
        finally:
            self._over.set()
        self._problem = await self._ended(error)

    async def _greet(self, client: _Client) -> None:
        try:
            await client.initialize()
        except MCPError as refused:
            if refused.code != types.UNSUPPORTED_PROTOCOL_VERSION:
                raise
            await client.discover()  # it has done away with the greeting

    async def _heard(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.tools_changed += 1

    async def tools(self) -> list[Tool]:
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            asked = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            try:
                page = await self._sent(self._client.list_tools(params=asked))
            except Refused as refused:
                if refused.code == types.METHOD_NOT_FOUND:
                    return []  # it has none
                raise
            found += [_tool(one) for one in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        answer = await self._sent(self._client.call_tool(tool, dict(arguments)))
        content = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in answer.content]
        return Reply(content, answer.structured_content, bool(answer.is_error))

    @property
    def _client(self) -> _Client:
        return self._greeted.result()

    async def _sent(self, request: Any) -> Any:
        try:
            return await request
        except MCPError as error:
            raise self._meant(error) or await self._why(error.message) from None
        except (ValidationError, RuntimeError, ValueError) as error:
            raise NotMcp(f"its answer cannot be understood: {_short(error)}", said=self.said) from None

    def _meant(self, error: MCPError) -> Exception | None:
        """None: the connection is gone."""
        return None if error.code == types.CONNECTION_CLOSED else Refused(error.code, error.message)

    async def _why(self, fallback: str) -> Unreachable:
        assert self._task is not None
        # An answer that is cut off is no end of the session; the end of the session cuts every answer off.
        is_whole = fallback == "Connection closed" or self._over.is_set()
        await asyncio.wait({self._task}, timeout=2 * _GRACE if is_whole else 0.0)
        if self._is_closing:
            return Closed("its session was ended meanwhile", said=self.said)
        return self._problem or Unreachable(fallback, said=self.said)

    async def close(self, *, at_once: bool = False) -> None:
        self._at_once = at_once
        if not self._over.is_set():
            self._is_closing = True
            self._over.set()
        if self._task is None:
            return
        try:
            await asyncio.wait({self._task}, timeout=0.0 if at_once else 2 * _GRACE)
        finally:
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=_GRACE)


class _Program(_Session):
    def __init__(self, pipes: piped.Pipes, reach: Reach) -> None:
        super().__init__()
        try:
            self._program = pipes.start(reach.command, folder=reach.folder, environ=reach.environ)
        except piped.CannotStart as error:
            raise CannotStart(str(error)) from None
        self._junk = ""

    @property
    def said(self) -> str:
        return self._program.said

    @contextlib.asynccontextmanager
    async def _streams(self) -> AsyncIterator[Streams]:
        async with by_pipes(self._program, self._over.set, self._heard_junk) as streams:
            yield streams

    def _heard_junk(self, line: bytes) -> None:
        self._junk = self._junk or beginning(line[: 8 * _CUT].decode("utf-8", "replace"), _CUT)

    async def _live(self) -> None:
        try:
            await super()._live()
        finally:
            self._program.end()

    async def _ended(self, error: Exception | None) -> Unreachable:
        # What was strange about it while it lived says more than how it ended when we had done with it.
        is_strange = error is not None and not isinstance(error, MCPError) and not self._program.ended.done()
        if not self._at_once:
            self._program.close_input()
            await asyncio.wait({self._program.ended}, timeout=_GRACE)
        status = self._program.ended.result() if self._program.ended.done() else None
        self._program.end()
        how = "" if status is None else f"signal {-status}" if status < 0 else f"exit status {status}"
        if self._junk and not self._greeted.done():
            return NotMcp(f"what its program says is no MCP: {self._junk!r}", said=self.said)
        if is_strange or (isinstance(error, MCPError) and not _is_cut(error)):
            return NotMcp(f"it did not greet: {_short(error)}", said=self.said)
        if how:
            return Died(f"its program ended ({how})", said=self.said)
        return Died("its program closed its output", said=self.said)

    def _meant(self, error: MCPError) -> Exception | None:
        if error.code == ANSWER_TOO_LARGE:
            return TooLarge(error.message)
        return None if _is_cut(error) else Refused(error.code, error.message)


class _Remote(_Session):
    def __init__(self, reach: Reach) -> None:
        super().__init__()
        self._reach = reach
        self._wire = Wire()

    @property
    def said(self) -> str:
        return ""

    def _streams(self) -> contextlib.AbstractAsyncContextManager[Streams]:
        return by_http(self._reach.url, self._reach.headers, self._wire)

    async def _ended(self, error: Exception | None) -> Unreachable:
        if isinstance(error, MCPError):
            meant = self._meant(error) or Unreachable(_short(error))
            return meant if isinstance(meant, Unreachable) else NotMcp(f"it did not greet: {_short(error)}")
        if error is None:
            return Unreachable("it closed the connection")
        return Unreachable(f"{type(error).__name__}: {_short(error)}")

    def _meant(self, error: MCPError) -> Exception | None:
        if self._wire.is_forgotten:
            return Forgotten("it does not know the session any more")
        if self._wire.is_too_large(error.message):
            return TooLarge(error.message)
        if error.message in ("Server returned an error response", "Not Found"):
            return Unreachable(f"it answered HTTP {self._wire.status}")
        if error.message.startswith(_STAND_INS):
            return NotMcp(f"its answer cannot be understood: {_short(error)}")
        return super()._meant(error)


def _tool(one: types.Tool) -> Tool:
    marks = one.annotations.model_dump(by_alias=True, exclude_none=True) if one.annotations else {}
    return Tool(one.name, one.description or "", one.input_schema, one.output_schema, marks)


def _first(error: BaseException) -> Exception:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else Unreachable("it was ended")


def _is_cut(error: MCPError) -> bool:
    """The SDK's own word for pipes that are gone. Servers use its number for whatever they like."""
    return bool(error.code == types.CONNECTION_CLOSED and error.message == "Connection closed")


def _short(error: BaseException | None) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return beginning(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", _CUT)
    return beginning(" ".join(str(error).split()), _CUT) or type(error).__name__
