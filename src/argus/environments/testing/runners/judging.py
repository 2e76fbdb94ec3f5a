"""What a command's end means for its suite. Pure."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from argus.core.cutting import ending
from argus.environments.testing.results import CaseResult, Failure, Verdict
from argus.environments.testing.runners import reports
from argus.environments.testing.runners.reports import NotUnderstood
from argus.environments.testing.showing import clean

_NO_TESTS = 5
"""pytest's exit status when it found none."""
_END = 4096


@dataclass(frozen=True, slots=True)
class Ended:
    exit_code: int | None
    """None: it did not, and `problem` says why."""
    seconds: float
    last_words: str
    """The end of what it printed."""
    problem: str = ""


def alone(name: str, ended: Ended) -> CaseResult:
    """A command that says nothing but whether it worked."""
    if ended.exit_code == 0:
        return CaseResult(name, Verdict.PASSED, ended.seconds)
    failure = Failure(ended.problem or how(ended.exit_code), "exitCode", 0, ended.exit_code)
    return CaseResult(name, Verdict.FAILED, ended.seconds, failures=(failure,), output=end(ended.last_words))


def reported(runner: str, ended: Ended, report: bytes | None) -> tuple[list[CaseResult], Failure | None]:
    """The cases of a report; and what is wrong beside them. A test program that crashed may leave none, or a half."""
    if ended.problem:
        return _salvaged(report), _failure(ended.problem, ended)
    if report is None:
        return [], _failure(_without(runner, ended), ended)
    try:
        cases = reports.read(report)
    except NotUnderstood as unread:
        return [], _failure(f"{unread}; {how(ended.exit_code)}", ended)
    if ended.exit_code == 0 and not cases:
        return cases, _failure(f"{runner} found no tests", ended)
    failed = any(one.status is Verdict.FAILED for one in cases)
    if ended.exit_code == 0 or (failed and ended.exit_code == 1):
        return cases, None
    if runner == "pytest" and ended.exit_code == _NO_TESTS:
        return cases, _failure("pytest found no tests", ended)
    said = how(ended.exit_code)
    return cases, _failure(said if failed else f"{said}, although no case failed", ended)


def _salvaged(report: bytes | None) -> list[CaseResult]:
    try:
        return reports.read(report) if report is not None else []
    except NotUnderstood:
        return []


def _without(runner: str, ended: Ended) -> str:
    if runner == "pytest" and "No module named pytest" in ended.last_words:
        return "pytest is not installed for the Python on the PATH: pip install pytest"
    if runner == "playwright" and "unknown command 'test'" in ended.last_words:
        # Python's has the same name, and drives browsers only.
        return "the playwright on the PATH has no test runner: npm install --save-dev @playwright/test"
    return f"{runner} wrote no report; {how(ended.exit_code)}"


def _failure(message: str, ended: Ended) -> Failure:
    words = end(ended.last_words)
    return Failure(f"{message}\n{words}" if words else message, "exitCode", 0, ended.exit_code)


def how(code: int | None) -> str:
    if code is None:
        return "it did not end"
    if code < 0:
        try:
            return f"ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"ended by signal {-code}"
    return f"exit status {code}"


def end(text: str) -> str:
    return clean(ending(text, _END).strip("\n"))
