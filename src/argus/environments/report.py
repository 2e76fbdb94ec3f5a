"""What a look at the machine found: one value for each check, and what they come to together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from argus.core.errors import ArgusError, Code


class Verdict(StrEnum):
    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    FAIL = "fail"


class Overall(StrEnum):
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    status: Verdict
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    duration: float = 0.0
    code: Code | None = None
    """Of what it found, also when it only warns."""


@dataclass(frozen=True, slots=True)
class HealthReport:
    checks: tuple[Check, ...]
    timestamp: int
    duration: float

    @property
    def overall(self) -> Overall:
        return overall(one.status for one in self.checks)

    def check(self, name: str) -> Check | None:
        return next((one for one in self.checks if one.name == name), None)


def overall(statuses: Iterable[Verdict]) -> Overall:
    found = set(statuses)
    if Verdict.FAIL in found:
        return Overall.UNHEALTHY
    return Overall.DEGRADED if Verdict.WARN in found else Overall.HEALTHY


def gate(report: HealthReport, public: Mapping[str, Any]) -> None:
    """Raises what the first failed check found, with the whole report beside it."""
    for one in report.checks:
        if one.status is Verdict.FAIL:
            code = one.code or Code.INTERNAL_ERROR
            raise ArgusError(code, one.message, **{**one.details, "check": one.name, "healthReport": public})
