"""What a look at the machine found: one value for each check, and what they come to together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from argus.core.errors import IN_ENVIRONMENTS, REGISTRY, ArgusError, Code, Severity
from argus.environments.orphans import Resource


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

    def public(self) -> dict[str, Any]:
        """What it found carries what a structured error does, so that an agent can act on it."""
        entry = REGISTRY[self.code] if self.code else None
        severity = entry and (Severity.WARNING if self.status is Verdict.WARN else entry.severity)
        return {
            "name": self.name,
            "status": self.status.value,
            "message": self.message,
            "code": self.code and self.code.value,
            "severity": severity and severity.value,
            "details": dict(self.details),
            "suggestedActions": list(IN_ENVIRONMENTS.get(self.code, entry.actions)) if entry and self.code else [],
            "duration": _milliseconds(self.duration),
        }


@dataclass(frozen=True, slots=True)
class HealthReport:
    checks: tuple[Check, ...]
    timestamp: int
    duration: float
    orphans: tuple[Resource, ...] | None = None
    """What was left behind; None where nobody looked for it, or could."""

    @property
    def overall(self) -> Overall:
        return overall(one.status for one in self.checks)

    def public(self) -> dict[str, Any]:
        checks = [one.public() for one in self.checks]
        duration = _milliseconds(self.duration)
        return {"overall": self.overall.value, "checks": checks, "timestamp": self.timestamp, "duration": duration}

    def check(self, name: str) -> Check | None:
        return next((one for one in self.checks if one.name == name), None)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)


def overall(statuses: Iterable[Verdict]) -> Overall:
    found = set(statuses)
    if Verdict.FAIL in found:
        return Overall.UNHEALTHY
    return Overall.DEGRADED if Verdict.WARN in found else Overall.HEALTHY


def gate(report: HealthReport) -> None:
    """Raises what the first failed check found, with the whole report beside it."""
    for one in report.checks:
        if one.status is Verdict.FAIL:
            code = one.code or Code.INTERNAL_ERROR
            raise ArgusError(code, one.message, **{**one.details, "check": one.name, "healthReport": report.public()})
