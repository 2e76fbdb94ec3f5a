"""Operations on the test suites of an environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from argus.core.errors import IN_ENVIRONMENTS, Code
from argus.core.patterns import NO_NUL
from argus.environments.testing.outcome import Outcome
from argus.environments.testing.results import Verdict
from argus.ops.caller import Scope
from argus.ops.circuits import ProblemView, problem_view
from argus.ops.environments import CONFIG, Environment, asked
from argus.ops.house import House
from argus.ops.operation import Answer, operation
from argus.schema import PositiveDuration

_ERRORS = (
    *CONFIG, Code.SUITE_NOT_FOUND, Code.INVALID_STATE, Code.DOCKER_UNAVAILABLE, Code.CIRCUIT_OPEN, Code.CONFLICT,
    Code.NO_DAEMON,
)  # fmt: skip


class RunAsk(Environment):
    filter: str | None = Field(
        default=None, max_length=4096, pattern=NO_NUL, description="Only these suites: ids, with commas between them"
    )
    parallel: bool | None = Field(
        default=None, strict=True, description="Suites side by side, or one after another; left out: as e2e.yaml says"
    )
    timeout: PositiveDuration | None = Field(default=None, description='The whole of it, such as "5m"')


class RunSuiteAsk(Environment):
    suite_id: str = Field(max_length=200, pattern=NO_NUL, description="The suite's id")
    timeout: PositiveDuration | None = Field(default=None, description='The whole of it, such as "5m"')


class FailureView(Answer):
    message: str
    path: str = Field(description="Where in what was answered: body.items.0.id")
    expected: Any
    actual: Any
    code: str | None = Field(description="Of the errors that Argus knows, where it is one of them")


class CaseView(Answer):
    name: str
    status: Verdict
    duration: float = Field(description="Milliseconds")
    attempts: int = Field(description="0: it was never begun")
    failures: list[FailureView] = Field(description="Of the last attempt")
    reason: str = Field(description="Why it was skipped, or that an error was ignored")
    output: str = Field(description="What it answered or printed, cut, where it failed")
    line: int | None
    saved: list[str] = Field(description="The names of the variables that it made")


class SuiteView(Answer):
    id: str
    name: str
    status: Verdict
    duration: float = Field(description="Milliseconds")
    cases: list[CaseView]
    error: FailureView | None = Field(description="Why the suite as a whole could not be run, or not to its end")
    attempts: int
    warnings: list[str]


class TotalsView(Answer):
    passed: int
    failed: int
    skipped: int
    total: int


class RunView(Answer):
    status: Literal["passed", "failed"]
    totals: TotalsView = Field(
        description="Of cases; a suite that could not be run, or not to its end, counts as one more"
    )
    duration: float = Field(description="Milliseconds")
    suites: list[SuiteView]
    restarts: list[dict[str, Any]] = Field(description="Of containers, while it ran")
    problems: list[ProblemView] = Field(description="Containers that are not well at the end: the run has failed")
    warnings: list[str]


def _view(house: House, outcome: Outcome) -> RunView:
    problems = [problem_view(house, one) for one in outcome.problems]
    return RunView.model_validate({**house.clean_value(outcome.public()), "problems": problems})


@operation(
    "environments.run", "POST /api/environments/run", verb="env run", tool="argus_run",
    scope=Scope.ENVIRONMENT, ends_with_caller=True, open_world=True, errors=_ERRORS,
)  # fmt: skip
async def run(house: House, ask: RunAsk) -> RunView:
    """Runs the test suites of an environment that is up, and tells what became of every case.

    Changes what the tests change; nothing is set up and nothing is taken away. Failed tests are an answer with the
    status `failed`, not an error. INVALID_STATE: it is not up, `setup` comes first. SUITE_NOT_FOUND names the suites.
    Ends when the caller goes away; one run of an environment at a time. A project without services needs no Docker.
    """
    ids = [one.strip() for one in ask.filter.split(",") if one.strip()] if ask.filter is not None else None
    outcome = await house.environments.test(
        asked(house, ask), suites=ids, timeout=ask.timeout, side_by_side=ask.parallel
    )
    return _view(house, outcome)


@operation(
    "environments.run_suite", "POST /api/environments/run_suite", verb="env run-suite", places=("suiteId",),
    tool="argus_run_suite", scope=Scope.ENVIRONMENT, ends_with_caller=True, open_world=True, errors=_ERRORS,
)  # fmt: skip
async def run_suite(house: House, ask: RunSuiteAsk) -> RunView:
    """Runs one test suite of an environment that is up, by its id.

    Changes what its tests change. Failed tests are an answer with the status `failed`, not an error. `init` lists the
    suites. Otherwise as `run`.
    """
    done = await house.environments.test(asked(house, ask), suites=[ask.suite_id], timeout=ask.timeout)
    return _view(house, done)


_ALL = (run, run_suite)
OPERATIONS = tuple(replace(one, advice=IN_ENVIRONMENTS) for one in _ALL)
