"""MCP servers that are none: behind the same seam as the real ones, with the tools of the tests' own server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.host.mcp_seam import LARGEST, CannotStart, Closed, Died, Reach, Refused, Reply, Tool, TooLarge, Unreachable

_NONE: dict[str, Any] = {"type": "object", "properties": {}}
_NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
_SUMMANDS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
_SCHEMAS = {"add": _SUMMANDS, "bytes": _NUMBER, "sleep": _NUMBER}


@dataclass
class FakeMcp:
    """All servers at once; every way to come to one leads to a session of its own."""

    tools: tuple[str, ...] = ("add", "refuse", "die", "hang", "bytes", "sleep", "seen")
    starts_in: float = 0.0
    cannot_start: str = ""
    opened: list[FakeSession] = field(default_factory=list)
    under_way: int = 0
    """How many are being opened."""
    most_under_way: int = 0

    async def open(self, reach: Reach) -> FakeSession:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.starts_in)
        finally:
            self.under_way -= 1
        if self.cannot_start:
            raise CannotStart(self.cannot_start)
        session = FakeSession(self, reach)
        self.opened.append(session)
        return session


class FakeSession:
    def __init__(self, world: FakeMcp, reach: Reach) -> None:
        self._world = world
        self.reach = reach
        self.is_open = True
        self.tools_changed = 0
        self.said = ""
        self.asked: list[str] = []
        self.cancelled = 0
        self.closed: list[bool] = []
        """Whether at once."""
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._why: Unreachable = Closed("its session was ended meanwhile")

    async def tools(self) -> list[Tool]:
        return [Tool(name, "", _SCHEMAS.get(name, _NONE)) for name in self._world.tools]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        self.asked.append(tool)
        if not self.is_open:
            raise self._why
        work = asyncio.ensure_future(self._work(tool, arguments))
        awaited: set[asyncio.Future[Any]] = {work, self._over}
        try:
            await asyncio.wait(awaited, return_when="FIRST_COMPLETED")
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            work.cancel()
        if not work.done():
            raise self._why
        return work.result()

    async def _work(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        if tool == "add":
            total = arguments["a"] + arguments["b"]
            return _text(str(total), structured={"sum": total})
        if tool == "bytes":
            if arguments["n"] > LARGEST:
                raise TooLarge("its answer was too large")
            return _text("x" * int(arguments["n"]))
        if tool == "die":
            self.die()
        if tool in ("hang", "die"):
            await asyncio.Event().wait()
        if tool == "sleep":
            await asyncio.sleep(arguments["n"])
        if tool == "seen":
            return _text(f"{self.cancelled} cancelled")
        if tool not in self._world.tools:
            raise Refused(-32602, f"there is no tool {tool}")
        return _text("no", is_error=tool == "refuse")

    def die(self) -> None:
        self._end(Died("its program ended (exit status 7)", said="dying"))

    async def close(self, *, at_once: bool = False) -> None:
        self.closed.append(at_once)
        self._end(Closed("its session was ended meanwhile"))

    def _end(self, why: Unreachable) -> None:
        if self.is_open:
            self.is_open, self._why = False, why
            self._over.set_result(None)


def _text(text: str, *, structured: Any = None, is_error: bool = False) -> Reply:
    return Reply([{"type": "text", "text": text}], structured, is_error)
