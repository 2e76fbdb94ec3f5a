"""What came of tests, whoever ran them. Values that do not change, and their form for others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that is not as it was expected."""

    message: str
    path: str = ""
    """Where in what was answered: `body.items.0.id`."""
    expected: Any = None
    actual: Any = None
    """Both are cut to a size that can be shown."""
    code: str | None = None
    """Of the errors that Argus knows, where it is one of them."""

    def public(self) -> dict[str, Any]:
        return {
            "message": self.message,
            "path": self.path,
            "expected": self.expected,
            "actual": self.actual,
            "code": self.code,
        }

    def __str__(self) -> str:
        # What is wrong with a file says the place itself, behind the line.
        return f"{self.path}: {self.message}" if self.path and f"{self.path}:" not in self.message else self.message


@dataclass(frozen=True, slots=True)
class CaseResult:
    name: str
    status: Verdict
    seconds: float
    attempts: int = 1
    """0: it was never begun."""
    failures: tuple[Failure, ...] = ()
    """Of the last attempt. One that passed has some where its error was ignored."""
    reason: str = ""
    """Why it was skipped, that an error was ignored, or that not all of an answer was looked at."""
    output: str = ""
    """What it answered or printed, cut, where that helps to understand a failure."""
    line: int | None = None
    saved: tuple[str, ...] = ()
    """The names of the variables it made. Their values may be secrets."""

    def public(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "status": self.status.value,
            "duration": _milliseconds(self.seconds),
            "attempts": self.attempts,
            "failures": [one.public() for one in self.failures],
            "reason": self.reason,
            "output": self.output,
            "line": self.line,
            "saved": list(self.saved),
        }


@dataclass(frozen=True, slots=True)
class SuiteResult:
    id: str
    name: str
    status: Verdict
    seconds: float
    cases: tuple[CaseResult, ...] = ()
    error: Failure | None = None
    """The suite as a whole could not be run."""
    attempts: int = 1
    warnings: tuple[str, ...] = ()
    """What is strange and in nobody's way: unknown keys, a teardown that did not work."""

    def public(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status.value,
            "duration": _milliseconds(self.seconds),
            "cases": [one.public() for one in self.cases],
            "error": self.error.public() if self.error else None,
            "attempts": self.attempts,
            "warnings": list(self.warnings),
        }


def alone(suite: SuiteResult) -> Verdict | None:
    """What a suite counts as beside its cases: as one that failed where it could not be run, or not to its end; as one
    that was skipped where it was never begun, and nobody knows its cases."""
    if suite.error is not None:
        return Verdict.FAILED
    return Verdict.SKIPPED if suite.status is Verdict.SKIPPED and not suite.cases else None


def count(suites: Iterable[SuiteResult]) -> dict[str, int]:
    """Cases by what became of them, and suites of which there is more to say than their cases do."""
    several = list(suites)
    found = [case.status for suite in several for case in suite.cases]
    found += [verdict for suite in several if (verdict := alone(suite)) is not None]
    return {verdict.value: found.count(verdict) for verdict in Verdict} | {"total": len(found)}


def overall(cases: Iterable[CaseResult]) -> Verdict:
    """Of a suite: one that failed is enough; and none that passed is no success, unless there was none to run."""
    found = [case.status for case in cases]
    if Verdict.FAILED in found:
        return Verdict.FAILED
    return Verdict.SKIPPED if found and set(found) == {Verdict.SKIPPED} else Verdict.PASSED


def read(said: Mapping[str, Any]) -> SuiteResult:
    """From its form for others."""
    return SuiteResult(
        id=said["id"],
        name=said["name"],
        status=Verdict(said["status"]),
        seconds=said["duration"] / 1000,
        cases=tuple(_case(one) for one in said["cases"]),
        error=_failure(said["error"]) if said["error"] else None,
        attempts=said["attempts"],
        warnings=tuple(said["warnings"]),
    )


def _case(said: Mapping[str, Any]) -> CaseResult:
    return CaseResult(
        name=said["name"],
        status=Verdict(said["status"]),
        seconds=said["duration"] / 1000,
        attempts=said["attempts"],
        failures=tuple(_failure(one) for one in said["failures"]),
        reason=said["reason"],
        output=said["output"],
        line=said["line"],
        saved=tuple(said["saved"]),
    )


def _failure(said: Mapping[str, Any]) -> Failure:
    return Failure(said["message"], said["path"], said["expected"], said["actual"], said["code"])


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
