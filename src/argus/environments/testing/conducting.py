"""Suites, one after another or side by side, to their results; and what was collected where they do not get there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from argus.core.clock import Clock
from argus.core.errors import ArgusError
from argus.environments.e2e.suites import Suite
from argus.environments.testing.lookout import Lookout
from argus.environments.testing.outcome import Guard, Outcome
from argus.environments.testing.results import CaseResult, Failure, SuiteResult, Verdict
from argus.environments.testing.running import Progress
from argus.environments.testing.telling import Teller

AT_ONCE = 4
"""Suites side by side, where the file does not say how many."""
_ENDED = "not finished: the run was ended"


class Runs(Protocol):
    """What runs one suite. Raises nothing but CancelledError, and by then has tidied up."""

    async def __call__(self, suite: Suite, told: Callable[[Progress], None]) -> SuiteResult: ...


@dataclass(slots=True)
class Conductor:
    suites: Sequence[Suite]
    at_once: int
    run_one: Runs
    teller: Teller
    clock: Clock
    guard: Guard
    run_id: str | None = None
    """Of the containers that are up. None: there are none."""
    lookout: Lookout | None = None
    warnings: tuple[str, ...] = ()
    _began: float = field(default=0.0, init=False)
    _since: float = field(default=0.0, init=False)
    _is_over: bool = field(default=False, init=False)
    """The engine has gone: whoever gets the room that is given back for that does not begin any more."""
    _done: dict[str, SuiteResult] = field(default_factory=dict, init=False)
    _begun: dict[str, float] = field(default_factory=dict, init=False)
    _cases: dict[str, list[CaseResult]] = field(default_factory=dict, init=False)
    _open: dict[str, dict[int, Progress]] = field(default_factory=dict, init=False)
    """The cases that are known and have not ended, by their numbers."""

    async def run(self, timeout: float | None) -> Outcome:
        """Raises DOCKER_UNAVAILABLE, with what was collected, when the engine goes away."""
        self._began, self._since = self.clock.monotonic(), self.clock.wall()
        self.teller.run_started(self.suites)
        try:
            async with asyncio.timeout(timeout):
                await self._all()
        except TimeoutError:
            if self.lookout is not None and self.lookout.is_away:
                raise self._interrupted(self.lookout.gone()) from None  # what is collected is no result
            return self._ended(self._so_far(f"not finished within {timeout:g} s"))
        except ArgusError as error:
            raise self._interrupted(error) from None
        except asyncio.CancelledError:
            self.teller.run_ended("cancelled", self._so_far(_ENDED))
            raise
        return self._ended(self._so_far(""))

    def collected(self) -> Outcome:
        """For who ended it from outside."""
        return self._so_far(_ENDED)

    def _interrupted(self, error: ArgusError) -> ArgusError:
        outcome = self._so_far("not finished: the engine went away")
        self.teller.run_ended("interrupted", outcome)
        return error.adding(results=outcome.public())

    def _ended(self, outcome: Outcome) -> Outcome:
        self.teller.run_ended(outcome.status.value, outcome)
        return outcome

    async def _all(self) -> None:
        room = asyncio.Semaphore(self.at_once)
        try:
            async with self._watched():
                async with asyncio.TaskGroup() as group:
                    for suite in self.suites:
                        group.create_task(self._one(suite, room))
                if self.run_id is not None:
                    # What is being restarted now may have been broken for all of them.
                    await self.guard.settled(self.run_id)
        except BaseExceptionGroup as several:
            raise _first(several) from None

    @contextlib.asynccontextmanager
    async def _watched(self) -> AsyncIterator[None]:
        if self.lookout is None:
            yield
            return
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(self.lookout.run())
            yield
            looking.cancel()

    async def _one(self, suite: Suite, room: asyncio.Semaphore) -> None:
        async with room:
            if self._is_over:
                return
            self._begun[suite.id] = self.clock.monotonic()
            self.teller.suite_started(suite)
            told = len(self._cases.setdefault(suite.id, []))
            result = await self.run_one(suite, self._told)
            self._done[suite.id] = result
            if len(self._cases[suite.id]) == told:
                # A program's cases are known when it has ended.
                for number, one in enumerate(result.cases, 1):
                    self.teller.case(Progress("ended", suite.id, one.name, number, len(result.cases), one))
            self.teller.suite_ended(result)
            if result.status is Verdict.FAILED and self.lookout is not None:
                await self._look(self.lookout)

    async def _look(self, lookout: Lookout) -> None:
        """A suite may have failed because the engine is gone."""
        try:
            await lookout.look()
        except ArgusError:
            self._is_over = True
            raise

    def _told(self, progress: Progress) -> None:
        still = self._open.setdefault(progress.suite, {})
        if progress.kind != "known":
            self.teller.case(progress)
        if progress.result is None:
            still[progress.number] = progress
            return
        still.pop(progress.number, None)
        self._cases[progress.suite].append(progress.result)
        if progress.result.status is Verdict.FAILED and self.lookout is not None:
            self.lookout.look_now()

    def _so_far(self, why: str) -> Outcome:
        restarts = tuple(self.guard.restarts(self.run_id, self._since)) if self.run_id else ()
        problems = tuple(self.guard.problems(self.run_id)) if self.run_id else ()
        suites = tuple(self._done.get(one.id) or self._unfinished(one, why) for one in self.suites)
        seconds = self.clock.monotonic() - self._began
        return Outcome(suites, seconds, restarts, problems, self.warnings)

    def _unfinished(self, suite: Suite, why: str) -> SuiteResult:
        if suite.id not in self._begun:
            return SuiteResult(suite.id, suite.name, Verdict.SKIPPED, 0.0, attempts=0, warnings=(f"not begun; {why}",))
        seconds = self.clock.monotonic() - self._begun[suite.id]
        still = [_unfinished(one, why) for _, one in sorted(self._open.get(suite.id, {}).items())]
        cases = (*self._cases[suite.id], *still)
        return SuiteResult(suite.id, suite.name, Verdict.FAILED, seconds, cases, Failure(why))


def _unfinished(case: Progress, why: str) -> CaseResult:
    if case.kind == "known":
        return CaseResult(case.case, Verdict.SKIPPED, 0.0, attempts=0, reason=f"not begun; {why}", line=case.line)
    return CaseResult(case.case, Verdict.FAILED, 0.0, failures=(Failure(why),), line=case.line)


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """What ended them all: the others were cancelled for it."""
    found: BaseException = several
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
