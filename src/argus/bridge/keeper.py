"""The bridge as others see it: which MCP servers there are, what they can do, calls to them and queries with them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from argus.bridge import naming, reaching, settings
from argus.bridge.calling import Called, Calling, listed
from argus.bridge.circuits import Circuits
from argus.bridge.definition import Definition
from argus.bridge.definitions import Definitions, Found
from argus.bridge.pool import Pool
from argus.bridge.querying import Answer, Query, Querying
from argus.bridge.whence import Whence
from argus.core.breaker import State, retry_in
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.host import programs
from argus.host.mcp_seam import Reach, Tool

_NAMED = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """An MCP server as it stands. Nothing was started to find that out."""

    definition: Definition
    problem: str
    state: State
    failures: int
    retry_in: float | None

    @property
    def is_available(self) -> bool:
        """Whether a call would be tried."""
        waits = self.state is State.OPEN and (self.retry_in is None or self.retry_in > 0)
        return not (self.problem or waits)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the bridge is made of. Calls and queries share `definitions` and `circuits`."""

    definitions: Definitions
    circuits: Circuits
    pool: Pool
    calling: Calling
    querying: Querying
    now: Callable[[], float]
    environ: Mapping[str, str]
    """Ours."""
    tell: Callable[[Draft], Awaitable[None]]
    """For the record."""


class Bridge:
    def __init__(self, configured: settings.Bridge, parts: Parts) -> None:
        self._settings = configured
        self._parts = parts
        self._under_way = 0

    async def call(
        self, whence: Whence, server: str, tool: str, arguments: Mapping[str, Any], timeout: float | None = None
    ) -> Called:
        self._check(server)
        definition = await self._found(whence, server)
        limits = self._settings
        self._under_way += 1
        try:
            return await self._parts.calling.call(
                server,
                self._reach(definition, whence),
                self._parts.circuits.of(server),
                tool,
                arguments,
                timeout=timeout or limits.timeout,
                slow_after=limits.slow_after,
                patience=limits.patience,
            )
        finally:
            self._under_way -= 1

    async def query(self, query: Query) -> Answer:
        """Through a model. What it cost, and what came of it, is recorded; what was asked is not."""
        try:
            answer = await self._parts.querying.query(query)
        except ArgusError as error:
            if error.code is Code.MCP_FAILED:
                failed = {
                    "by": query.by,
                    "code": error.code.value,
                    "cause": error.details["cause"],
                    "why": error.message,
                }
                await self._parts.tell(Draft("bridge", "query_failed", ",".join(naming.servers(query.tools)), failed))
            raise
        servers = {one.name: one.state.value for one in answer.standings}
        done = {"by": query.by, "servers": servers, "costUsd": answer.cost, "seconds": round(answer.seconds, 2)}
        await self._parts.tell(Draft("bridge", "query_answered", ",".join(servers), done))
        return answer

    async def tools(self, whence: Whence, server: str, timeout: float | None = None) -> list[Tool]:
        """Of one server, which is started for it."""
        self._check(server)
        definition = await self._found(whence, server)
        reach, circuit = self._reach(definition, whence), self._parts.circuits.of(server)
        self._under_way += 1
        try:
            limits = self._settings
            return await self._parts.calling.tools(
                server, reach, circuit, timeout=timeout or limits.timeout, patience=limits.patience
            )
        finally:
            self._under_way -= 1

    async def servers(self, whence: Whence) -> tuple[list[Seen], tuple[str, ...]]:
        """With what is wrong with the files that name them."""
        found = await self._find(whence)
        ordered = [found.servers[name] for name in sorted(found.servers)]
        reaches = [self._reach(one, whence) for one in ordered]
        problems = await asyncio.to_thread(lambda: [_problem(*one) for one in zip(ordered, reaches, strict=True)])
        return [self._seen(*one) for one in zip(ordered, problems, strict=True)], found.notices

    async def server(self, whence: Whence, server: str) -> Seen:
        """Whether one is available. Raises NOT_FOUND."""
        found = await self._find(whence)
        definition = _named(found, server)
        reach = self._reach(definition, whence)
        return self._seen(definition, await asyncio.to_thread(_problem, definition, reach))

    def configure(self, configured: settings.Bridge, file: str | None) -> None:
        self._settings = configured
        self._parts.definitions.configure(configured, file)
        self._parts.circuits.configure(configured)
        self._parts.querying.configure(configured)
        # What was changed is taken up by the next call; the others begin again soon enough.
        self._parts.pool.close_idle()

    @property
    def is_idle(self) -> bool:
        return not self._under_way and self._parts.pool.is_empty and self._parts.querying.is_idle

    async def run(self) -> None:
        await self._parts.pool.run()

    async def close(self) -> None:
        await self._parts.pool.close()
        self._parts.definitions.close()

    def _check(self, server: str) -> None:
        """Before anything is read: behind an open breaker nothing is done at all."""
        circuit = self._parts.circuits.held(server)
        if circuit is not None:
            circuit.check()

    async def _find(self, whence: Whence) -> Found:
        return await self._parts.definitions.find(whence.folder, whence.environ, whence.within)

    async def _found(self, whence: Whence, server: str) -> Definition:
        definition = _named(await self._find(whence), server)
        if definition.problem:
            message = f"the MCP server {server} cannot be used as {definition.source} says: {definition.problem}"
            raise ArgusError(Code.CONFIG_INVALID, message, server=server, source=definition.source)
        return definition

    def _reach(self, definition: Definition, whence: Whence) -> Reach:
        return reaching.reach(definition, whence.environ, self._parts.environ)

    def _seen(self, definition: Definition, problem: str) -> Seen:
        circuit = self._parts.circuits.held(definition.name)
        if circuit is None:
            return Seen(definition, problem, State.CLOSED, 0, None)
        left = retry_in(circuit.breaker, circuit.limits, self._parts.now())
        return Seen(definition, problem, circuit.breaker.state, circuit.breaker.consecutive, left)


def _named(found: Found, server: str) -> Definition:
    definition = found.servers.get(server)
    if definition is None:
        known = sorted(found.servers)[:_NAMED]
        message = f"there is no MCP server {server[:100]!r} for this folder; there is: {listed(found.servers)}"
        if found.notices:
            message = f"{message} ({found.notices[0]})"
        raise ArgusError(Code.NOT_FOUND, message, known=known, notices=list(found.notices))
    return definition


def _problem(definition: Definition, reach: Reach) -> str:
    if definition.problem or definition.url:
        return definition.problem
    return programs.problem(reach.command, reach.folder, reach.environ, {})
