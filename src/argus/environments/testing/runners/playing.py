"""A suite that is a command: run in the caller's folder and with its environment, as often as it may, and judged."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from argus.core.clock import Clock
from argus.environments.e2e.suites import Retry, Suite
from argus.environments.testing import retrying
from argus.environments.testing.playing import Around
from argus.environments.testing.results import Failure, SuiteResult, Verdict, overall
from argus.environments.testing.runners import choosing, judging
from argus.environments.testing.runners.choosing import Command, Unfit
from argus.environments.testing.runners.judging import Ended
from argus.environments.testing.runners.tail import Tail
from argus.host import scratch
from argus.host.commands import Printed
from argus.host.finding import Finder

LONGEST = 3600.0
"""Seconds for one attempt of a suite: test programs have limits of their own, and this is for one that hangs."""
_REPORT = 16 * 1024 * 1024


class Commands(Protocol):
    @property
    def mark(self) -> str: ...

    async def run(
        self,
        argv: Sequence[str],
        *,
        folder: str,
        environ: Mapping[str, str],
        timeout: float,
        heard: Callable[[bytes], None] | None = None,
    ) -> Printed: ...


@dataclass(frozen=True, slots=True)
class Trial:
    suite: Suite
    file: str | None
    """As a full path."""
    folder: str
    environ: Mapping[str, str]
    retry: Retry | None = None
    timeout: float = LONGEST


async def play(
    trial: Trial,
    commands: Commands,
    *,
    clock: Clock,
    around: Around,
    said: Callable[[str], None] = lambda line: None,
    again: Callable[[int, float], None] = lambda attempt, delay: None,
) -> SuiteResult:
    """Never raises but when it is cancelled; then nothing of the command is left. `said`: a line that it printed."""
    began = clock.monotonic()
    tried = 0
    while True:
        tried += 1
        # Nobody outside knows where its cases begin and end: whoever waits for one waits for all of them.
        async with around(trial.suite.name):
            result = await _attempt(trial, commands, clock, said)
        retry = trial.retry
        if result.status is not Verdict.FAILED or retry is None or tried >= retrying.attempts(retry):
            return replace(result, attempts=tried, seconds=clock.monotonic() - began)
        delay = retrying.pause(retry, tried)
        again(tried + 1, delay)
        await asyncio.sleep(delay)


async def _attempt(trial: Trial, commands: Commands, clock: Clock, said: Callable[[str], None]) -> SuiteResult:
    began, suite = clock.monotonic(), trial.suite
    try:
        async with scratch.folder(commands.mark) as made:
            report = os.path.join(made, "report.xml")
            command = await asyncio.to_thread(_choose, trial, report)
            ended = await _run(trial, command, commands, said)
            if command.report is None:
                cases, error = [judging.alone(suite.name, ended)], None
            else:
                found = await asyncio.to_thread(scratch.read, report, _REPORT)
                if isinstance(found, str):
                    ended = replace(ended, problem=ended.problem or f"the report of {suite.runner} is {found}")
                    found = None
                cases, error = judging.reported(suite.runner, ended, found)
    except (Unfit, OSError) as unfit:
        cases, error = [], Failure(str(unfit))
    status = Verdict.FAILED if error is not None else overall(cases)
    return SuiteResult(suite.id, suite.name, status, clock.monotonic() - began, tuple(cases), error)


def _choose(trial: Trial, report: str) -> Command:
    command = choosing.choose(trial.suite, trial.file, report, Finder(trial.folder, trial.environ))
    # pytest takes a single test behind its file: tests/test_api.py::test_login
    file = trial.file.partition("::")[0] if trial.file and trial.suite.runner == "pytest" else trial.file
    if file is not None and not os.path.exists(file):
        raise Unfit(f"there is no file {file}")
    return command


async def _run(trial: Trial, command: Command, commands: Commands, said: Callable[[str], None]) -> Ended:
    tail = Tail(said)
    printed = await commands.run(
        command.argv,
        folder=trial.folder,
        environ={**trial.environ, **command.environ},
        timeout=trial.timeout,
        heard=tail.take,
    )
    tail.end()
    return Ended(printed.exit_code, printed.seconds, tail.text, printed.problem)
