"""One case, from what is written to what came of it: its attempts, its failures, what it saved."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol

from argus.core.clock import Clock
from argus.core.errors import Code
from argus.environments.e2e.suites import Retry
from argus.environments.testing import assertions, patterns, preparing, reading, retrying, steps
from argus.environments.testing.model import Preparing
from argus.environments.testing.reading import TestFile, Unfit, Written
from argus.environments.testing.results import CaseResult, Failure, Verdict
from argus.environments.testing.seeing import Failed, Seen, take
from argus.environments.testing.showing import clean, cut
from argus.environments.testing.variables import Scope, TooLarge
from argus.environments.testing.world import Matching, World
from argus.host.matching import TooSlow

log = logging.getLogger("argus")
_DISTURBED = 2
"""How often a case is played anew that failed while something of its environment did."""
_OUTPUT = 4096
"""Characters of what was answered or printed that a result keeps."""


class Turn(Protocol):
    """The time of one attempt."""

    async def was_disturbed(self) -> bool:
        """Whether something of the environment failed meanwhile, and is brought back."""
        ...


Around = Callable[[str], AbstractAsyncContextManager[Turn | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one attempt."""

    failures: tuple[Failure, ...] = ()
    output: str = ""
    saved: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    cut: str = ""
    """What of the answer was not looked at."""
    step: Preparing | None = None
    """None where it could not be understood."""


@dataclass(frozen=True, slots=True)
class Player:
    file: TestFile
    world: World
    scope: Scope
    matching: Matching
    clock: Clock
    around: Around
    retry: tuple[Retry | None, ...] = field(default=())
    """Of the suite and of all: the nearest first."""

    async def play(self, written: Written) -> CaseResult:
        began = self.clock.monotonic()
        tried, disturbed = 0, 0
        while True:
            tried += 1
            # Around each attempt: between two of them, whoever waits for a case to end may act.
            async with self.around(written.name) as turn:
                outcome = await self.attempt(written)
            if outcome.failures and disturbed < _DISTURBED and turn is not None and await turn.was_disturbed():
                disturbed += 1  # not counted as one of its attempts: it is not the case that failed
                tried -= 1
                continue
            retry = retrying.chosen(outcome.step.retry, *self.retry) if outcome.step else None
            if not outcome.failures or retry is None or tried >= retrying.attempts(retry):
                result = self._result(written, outcome, self.clock.monotonic() - began, tried)
                return replace(result, reason=_again(result.reason)) if disturbed else result
            await asyncio.sleep(retrying.pause(retry, tried))

    def _result(self, written: Written, outcome: Outcome, seconds: float, tried: int) -> CaseResult:
        is_ignored = bool(outcome.failures) and outcome.step is not None and outcome.step.ignore_error
        reason = ""
        if is_ignored:
            reason = f"an error was ignored: {outcome.failures[0]}"
        elif outcome.failures and outcome.unresolved:
            names = ", ".join(f"{{{{{name}}}}}" for name in dict.fromkeys(outcome.unresolved))
            reason = f"not resolved, and used as written: {cut(names, 500)}"
        # Also where it passed: what was expected not to be there may be in the rest.
        reason = "; ".join(filter(None, (reason, outcome.cut)))
        return CaseResult(
            name=written.name,
            status=Verdict.FAILED if outcome.failures and not is_ignored else Verdict.PASSED,
            seconds=seconds,
            attempts=tried,
            failures=outcome.failures,
            reason=cut(reason, 1000),
            output=outcome.output if outcome.failures else "",
            line=written.line,
            saved=outcome.saved,
        )

    async def attempt(self, written: Written) -> Outcome:
        """Also of a step of setup or teardown. Whatever goes wrong is in the outcome."""
        try:
            return await self._attempt(written)
        except Unfit as unfit:
            return Outcome(unfit.failures)
        except TooLarge:
            said = f"{self.file.file}:{written.line}: too large once its variables are resolved"
            return Outcome((Failure(said, code=Code.CONFIG_INVALID.value),))
        except Exception as error:
            # A mistake of ours is one case's failure, and not the end of all the others.
            log.exception("a test case could not be run")
            return Outcome((Failure(clean(f"{type(error).__name__}: {error}"), code=Code.INTERNAL_ERROR.value),))

    async def _attempt(self, written: Written) -> Outcome:
        resolved = self.scope.resolved(written.tree)
        step = reading.understand(self.file, written, resolved.value)
        seen = Seen()
        saved: tuple[str, ...] = ()
        try:
            await asyncio.sleep(step.delay)
            if await preparing.wait(step, self.world):
                return Outcome(step=step)
            seen, wrong = await steps.act(step, self.world, self._search)
            wrong = wrong or await asyncio.to_thread(self._judge, step, seen)
            saved = () if wrong else self._save(step, seen, wrong)
        except Failed as failed:
            wrong = [failed.failure]
        except TooSlow as slow:
            wrong = [Failure(clean(str(slow)), "matches", code=Code.CONFIG_INVALID.value)]
        where = f"{self.file.file}:{written.line}: "
        placed = [_placed(one, where) for one in wrong]
        return Outcome(tuple(placed), _output(seen), saved, tuple(resolved.unresolved), seen.cut, step)

    def _search(self, pattern: str, text: str) -> bool:
        return self.matching.search(patterns.python(pattern), text)

    def _judge(self, step: Preparing, seen: Seen) -> list[Failure]:
        """In a thread: large answers and searches take their time."""
        if step.expect is None:
            return []
        return assertions.judge(seen, step.expect, self._search, self.scope.saved)

    def _save(self, step: Preparing, seen: Seen, wrong: list[Failure]) -> tuple[str, ...]:
        values, missing = take(seen, step.save)
        wrong += missing
        self.scope.saved.update(values)
        return tuple(values)


def _placed(failure: Failure, where: str) -> Failure:
    """A mistake that shows only when it is used, told with its place in the file."""
    is_mistake = failure.code == Code.CONFIG_INVALID.value
    return replace(failure, message=where + failure.message) if is_mistake else failure


def _again(reason: str) -> str:
    said = "tried again: a container failed meanwhile, or the engine"
    return f"{reason}; {said}" if reason else said


def _output(seen: Seen) -> str:
    return "\n".join(
        part for part in (cut(seen.text, _OUTPUT), *(f"({note})" for note in (seen.cut, *seen.notes) if note)) if part
    )
