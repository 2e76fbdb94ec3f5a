"""Questions to a model that may use MCP servers: one `claude -p` each, a few at once, the servers behind breakers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from argus.bridge import naming, schemas
from argus.bridge.circuits import Circuits
from argus.bridge.definition import Definition
from argus.bridge.judging import Cause, End, Judged, Standing, failure, judge
from argus.bridge.reading import Heard
from argus.bridge.settings import Bridge as Settings
from argus.bridge.slots import Slots
from argus.bridge.whence import Whence
from argus.core.breaker import Pass
from argus.core.circuit import Verdict
from argus.core.errors import ArgusError, Code
from argus.host.launching import NONCE
from argus.host.piped import PAPER, CannotStart, Piped, Pipes, TooLong

MOST_SAID = 1024 * 1024
_OF_ANOTHER = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", NONCE, "TMUX", "TMUX_PANE")
"""Of the environment: what says whose child somebody is. The program must not take itself for a part of another."""
_SETTINGS = json.dumps({"disableAllHooks": True, "permissions": {"deny": ["Read"]}})
"""A question is no session of the project it is asked in; and `@FILE` in it would be read before any tool is asked."""
_START = 30.0
"""Seconds that its servers have to answer when it begins, at most; and half of what there is."""
_REST = 1.0
"""Seconds in which what an ended program has still said is read."""

Known = Callable[[Whence], Awaitable[Mapping[str, Definition]]]


@dataclass(frozen=True, slots=True)
class Query:
    prompt: str
    tools: tuple[str, ...]
    model: str
    max_turns: int
    whence: Whence
    by: str
    timeout: float | None = None
    """Seconds for all of it; None: as is set."""
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    structured: Any
    standings: tuple[Standing, ...]
    turns: int | None
    cost: float | None
    waited: float
    """Seconds for a place."""
    seconds: float
    """In all."""
    is_cut: bool = False


@dataclass(slots=True)
class _Clock:
    """The time of one query, waiting for a place included."""

    timeout: float
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    @property
    def passed(self) -> float:
        return asyncio.get_running_loop().time() - self.began

    @property
    def left(self) -> float:
        return max(0.0, self.timeout - self.passed)


class Querying:
    def __init__(self, settings: Settings, circuits: Circuits, pipes: Pipes, known: Known) -> None:
        self._settings = settings
        self._circuits = circuits
        self._pipes = pipes
        self._known = known
        self._slots = Slots(settings.max_concurrent)

    def configure(self, settings: Settings) -> None:
        self._settings = settings
        self._slots.configure(settings.max_concurrent)

    @property
    def is_idle(self) -> bool:
        return not self._slots.taken

    async def query(self, query: Query) -> Answer:
        servers = naming.servers(query.tools)
        # Before anything else, and before a place is waited for: who is refused is to know it at once.
        for server in servers:
            if circuit := self._circuits.held(server):
                circuit.check()
        clock = _Clock(query.timeout or self._settings.timeout)
        misfit = await schemas.checker(query.schema) if query.schema is not None else None
        try:
            async with asyncio.timeout(clock.left) as patience, self._slots.one():
                waited = clock.passed
                patience.reschedule(None)
                heard, judged = await self._ask(query, servers, clock, misfit)
        except TimeoutError:
            message = f"no place was free within {clock.timeout:g} s: {self._slots.taken} queries are under way"
            raise failure(Cause.BUSY, message, waitedSeconds=round(clock.passed, 1)) from None
        if judged.error is not None:
            raise judged.error.adding(waitedSeconds=round(waited, 1), seconds=round(clock.passed, 1))
        assert heard.result is not None, "judged as answered"
        text = heard.result.text
        return Answer(
            text=text[:MOST_SAID],
            structured=heard.result.structured if misfit else None,
            standings=judged.standings,
            turns=heard.result.turns,
            cost=heard.result.cost,
            waited=waited,
            seconds=clock.passed,
            is_cut=len(text) > MOST_SAID,
        )

    async def _ask(
        self, query: Query, servers: tuple[str, ...], clock: _Clock, misfit: Callable[[Any], str] | None
    ) -> tuple[Heard, Judged]:
        known = await self._known(query.whence)
        definitions = {name: known[name] for name in servers if name in known}
        for one in definitions.values():
            if one.problem:
                raise ArgusError(Code.CONFIG_INVALID, f"{one.source}: {one.name}: {one.problem}", file=one.source)
        heard, judged = Heard(), None
        # A breaker is held for what is known to be there. Of the others it is known once the program has said so.
        entered = self._enter([one for one in servers if one in definitions or self._circuits.held(one)])
        try:
            end = await self._run(query, definitions, servers, clock, heard)
            judged = judge(heard, end, servers, misfit)
            return heard, judged
        finally:
            if judged is not None:
                new = [one for one in heard.servers or () if one in servers and one not in entered]
                with contextlib.suppress(ArgusError):  # others have found out meanwhile that it fails
                    entered |= self._enter(new)
            for server, leave in entered.items():
                verdict = judged.verdict(server) if judged else Verdict.NOTHING
                why = failure(Cause.SERVER, judged.charged[server]) if judged and verdict is Verdict.FAILED else None
                self._circuits.of(server).leave(leave, why, verdict)

    def _enter(self, servers: Sequence[str]) -> dict[str, Pass]:
        """All of them, or none: a probe's place is given back where another refuses."""
        entered: dict[str, Pass] = {}
        try:
            for server in servers:
                entered[server] = self._circuits.of(server).enter()
        except ArgusError:
            for server, leave in entered.items():
                self._circuits.of(server).leave(leave, None, Verdict.NOTHING)
            raise
        return entered

    async def _run(
        self,
        query: Query,
        definitions: Mapping[str, Definition],
        servers: tuple[str, ...],
        clock: _Clock,
        heard: Heard,
    ) -> End:
        folder, environ = query.whence.folder, query.whence.environ
        # A limit that is the caller's own, or that waiting for a place has eaten, says nothing about a server.
        is_patient = clock.left >= self._settings.patience
        given = {"mcpServers": {name: one.as_others_write_it(folder) for name, one in definitions.items()}}
        try:
            program = self._pipes.start(
                command(self._settings.program, query, is_whole=set(definitions) == set(servers)),
                folder=folder,
                environ=environment(environ, clock.left),
                paper=json.dumps(given).encode(),
            )
        except CannotStart as error:
            raise failure(Cause.PROGRAM, str(error)) from None
        try:
            async with asyncio.timeout(clock.left):
                await self._listen(program, query.prompt, heard)
                code = await asyncio.shield(program.ended)
            return End(code, clock.timeout, program.said, is_patient)
        except TimeoutError:
            # Answered in the last moment, and slow to leave: that is an answer.
            return End(None, clock.timeout, program.said, is_patient)
        finally:
            program.end()

    async def _listen(self, program: Piped, prompt: str, heard: Heard) -> None:
        tasks = {asyncio.ensure_future(_write(program, prompt))}
        try:
            tasks.add(reading := asyncio.ensure_future(_read(program, heard)))
            # Its end ends the answer, not the end of its output: what it left behind may hold that open.
            ends: set[asyncio.Future[Any]] = {reading, program.ended}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({reading}, timeout=_REST)
            if reading.done():
                reading.result()
        finally:
            for one in tasks:
                one.cancel()
            await asyncio.wait(tasks)


async def _read(program: Piped, heard: Heard) -> None:
    async for line in program.lines():
        if isinstance(line, TooLong):
            heard.strange += 1
        else:
            heard.take(line)


async def _write(program: Piped, prompt: str) -> None:
    try:
        # What begins with a slash would be a command of the program's own.
        text = f"\n{prompt}" if prompt.lstrip().startswith("/") else prompt
        await program.write(text.encode("utf-8", "replace"))
    except OSError:
        return  # it has ended; why is seen elsewhere
    finally:
        program.close_input()


def command(program: str, query: Query, *, is_whole: bool) -> list[str]:
    """`is_whole`: all servers that it names are known to us, so it starts no other: that is quicker, and less to fail.

    Its own tools are taken away: it answers by the servers it was given, and touches nothing else.
    """
    only = ["--strict-mcp-config"] if is_whole else []
    schema = [] if query.schema is None else ["--json-schema", json.dumps(query.schema)]
    return [
        *(program, "-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence"),
        *("--model", query.model, "--max-turns", str(query.max_turns), "--permission-mode", "default"),
        # Not the project's own settings: a folder that somebody else wrote could have commands run by them.
        *("--settings", _SETTINGS, "--setting-sources", "user", "--disable-slash-commands", "--tools", ""),
        *("--mcp-config", PAPER, *only, *schema),
        # The last: it takes all the words that follow.
        *("--allowedTools", *query.tools),
    ]


def environment(theirs: Mapping[str, str], left: float) -> dict[str, str]:
    made = {name: value for name, value in theirs.items() if name not in _OF_ANOTHER}
    # A server that hangs when it is started is known by name only if this comes before the deadline.
    made.setdefault("MCP_TIMEOUT", str(int(min(_START, left / 2) * 1000)))
    return made
