"""A test file, played: setup, cases one after another or side by side, and teardown whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from argus.core.clock import Clock
from argus.core.errors import ArgusError
from argus.environments.e2e.suites import Retry
from argus.environments.testing import reading
from argus.environments.testing.playing import Around, Player
from argus.environments.testing.reading import TestFile, Written
from argus.environments.testing.results import CaseResult, Failure, SuiteResult, Verdict, overall
from argus.environments.testing.variables import Given, Scope, TooLarge
from argus.environments.testing.world import World

_AT_ONCE = 5
"""Cases side by side, where the file does not say how many."""
LAST_WORDS = 60.0
"""Seconds that a teardown has when nobody waits for the suite any more."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a suite is to be run, as the environment's file has it."""

    id: str
    name: str = ""
    """Where the test file has none, because it cannot be read."""
    retry: Retry | None = None
    retry_of_all: Retry | None = None
    parallel: bool = False
    concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """A case that is known, or that began or ended."""

    kind: Literal["known", "started", "ended"]
    suite: str
    case: str
    number: int
    """From 1."""
    total: int
    result: CaseResult | None = None
    line: int | None = None


@contextlib.asynccontextmanager
async def nothing_around(name: str) -> AsyncIterator[None]:
    yield


async def run_suite_file(
    file: Path,
    plan: Plan,
    world: World,
    given: Given,
    *,
    clock: Clock,
    new_id: Callable[[], str],
    around: Around = nothing_around,
    told: Callable[[Progress], None] = lambda progress: None,
    last_words: float = LAST_WORDS,
) -> SuiteResult:
    """Never raises but when it is cancelled; then its teardown has run, within `last_words`. `new_id` makes a UUID.

    `around` is entered for each attempt of each case. `told` must not raise.
    """
    began = clock.monotonic()
    try:
        read = await asyncio.to_thread(reading.load, file)
    except ArgusError as unread:
        seconds = clock.monotonic() - began
        return SuiteResult(plan.id, plan.name or plan.id, Verdict.FAILED, seconds, error=reading.error_of(unread))
    scope = Scope(given, clock.wall, new_id)
    matching = world.matching()
    try:
        player = Player(read, world, scope, matching, clock, around, (plan.retry, plan.retry_of_all))
        suite = _Suite(read, plan, player, told, last_words)
        cases, error = await suite.run()
    finally:
        matching.close()
    status = Verdict.FAILED if error is not None else overall(cases)
    warnings = (*read.warnings, *suite.warnings)
    seconds = clock.monotonic() - began
    return SuiteResult(plan.id, read.name, status, seconds, tuple(cases), error, warnings=warnings)


class _Suite:
    def __init__(
        self, file: TestFile, plan: Plan, player: Player, told: Callable[[Progress], None], last_words: float
    ) -> None:
        self._last_words = last_words
        self._file = file
        self._plan = plan
        self._player = player
        self._told = told
        self.warnings: list[str] = []

    async def run(self) -> tuple[list[CaseResult], Failure | None]:
        try:
            self._player.scope.define(self._file.variables)
        except TooLarge:
            said = f"{self._file.file}: its variables are too large once they are resolved"
            return self._skipped("the variables are too large"), Failure(said, "variables")
        for number, one in enumerate(self._file.cases, 1):
            self._tell("known", number, one)
        limit: float | None = None
        try:
            error = await self._setup()
            if error is not None:
                return self._skipped(f"setup failed: {error}"), error
            return await self._cases(), None
        except asyncio.CancelledError:
            limit = self._last_words
            raise
        finally:
            await _to_its_end(self._teardown(), limit, self._last_words)

    async def _setup(self) -> Failure | None:
        for one in self._file.setup:
            outcome = await self._player.attempt(one)
            if outcome.failures and not (outcome.step and outcome.step.ignore_error):
                first = outcome.failures[0]
                where = f"{one.name} (line {one.line}): {first.message}"
                return Failure(where, first.path, first.expected, first.actual, first.code)
        return None

    async def _teardown(self) -> None:
        for one in self._file.teardown:
            outcome = await self._player.attempt(one)
            if outcome.failures and not (outcome.step and outcome.step.ignore_error):
                self.warnings.append(f"line {one.line}: {one.name}: {outcome.failures[0]}")

    async def _cases(self) -> list[CaseResult]:
        if self._plan.parallel and not self._file.sequential:
            return await self._side_by_side()
        found: list[CaseResult] = []
        failed = ""
        for number, one in enumerate(self._file.cases, 1):
            if failed:
                result = self._skip(one, f'"{failed}" failed before, and the cases are sequential')
                self._tell("ended", number, one, result)
            else:
                result = await self._play(number, one)
            found.append(result)
            if self._file.sequential and result.status is Verdict.FAILED:
                failed = one.name
        return found

    async def _side_by_side(self) -> list[CaseResult]:
        room = asyncio.Semaphore(self._plan.concurrency or _AT_ONCE)

        async def one(number: int, written: Written) -> CaseResult:
            async with room:
                return await self._play(number, written)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(number, each)) for number, each in enumerate(self._file.cases, 1)]
        return [task.result() for task in tasks]

    async def _play(self, number: int, one: Written) -> CaseResult:
        self._tell("started", number, one)
        result = await self._player.play(one)
        self._tell("ended", number, one, result)
        return result

    def _tell(
        self, kind: Literal["known", "started", "ended"], number: int, one: Written, result: CaseResult | None = None
    ) -> None:
        self._told(Progress(kind, self._plan.id, one.name, number, len(self._file.cases), result, one.line))

    def _skipped(self, why: str) -> list[CaseResult]:
        found = [self._skip(one, why) for one in self._file.cases]
        for number, (one, result) in enumerate(zip(self._file.cases, found, strict=True), 1):
            self._tell("ended", number, one, result)
        return found

    @staticmethod
    def _skip(one: Written, why: str) -> CaseResult:
        return CaseResult(one.name, Verdict.SKIPPED, 0.0, attempts=0, reason=why, line=one.line)


async def _to_its_end(work: Coroutine[Any, Any, None], limit: float | None, last_words: float) -> None:
    """Also when we are asked to stop meanwhile; but then, and where there is a limit, not for ever."""
    loop = asyncio.get_running_loop()
    doing = asyncio.ensure_future(work)
    until = None if limit is None else loop.time() + limit
    is_stopped = False
    while not doing.done() and (until is None or loop.time() < until):
        try:
            await asyncio.wait((doing,), timeout=None if until is None else until - loop.time())
        except asyncio.CancelledError:
            is_stopped = True
            until = until or loop.time() + last_words
    doing.cancel()
    await asyncio.wait((doing,))
    if is_stopped:
        raise asyncio.CancelledError
    if not doing.cancelled():
        doing.result()
