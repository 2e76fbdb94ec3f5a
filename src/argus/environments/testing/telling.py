"""A run of suites as events on the channel `test`: on record within a bound, and shown beyond it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from argus.core.cutting import beginning
from argus.core.events import Channel
from argus.environments.announcing import Tell
from argus.environments.e2e.suites import Suite
from argus.environments.testing.outcome import Outcome
from argus.environments.testing.results import CaseResult, SuiteResult, count
from argus.environments.testing.running import Progress
from argus.environments.testing.showing import cut

_RECORDED = 1000
"""Cases of one run whose beginning and end are on record. All of them are shown, and all are in the answer."""
_MESSAGE = 300


@dataclass(slots=True)
class Teller:
    tell: Tell
    show: Callable[[Channel, str, dict[str, Any]], None]
    about: dict[str, Any]
    """Of every event: which project, and where."""
    _cases: int = field(default=0, init=False)

    def run_started(self, suites: Sequence[Suite]) -> None:
        self._record("run_started", {"suites": [one.id for one in suites]})

    def run_ended(self, status: str, outcome: Outcome) -> None:
        """`status`: passed or failed; or why it did not come to its end."""
        said = {"totals": outcome.totals, "duration": _milliseconds(outcome.seconds), "restarts": len(outcome.restarts)}
        self._record("run_ended", {"status": status, **said})

    def suite_started(self, suite: Suite) -> None:
        self._record("suite_started", {"suite": suite.id, "name": suite.name, "runner": suite.runner})

    def suite_retried(self, suite: Suite, attempt: int, delay: float) -> None:
        said = {"suite": suite.id, "name": suite.name, "attempt": attempt, "delay": _milliseconds(delay)}
        self._record("suite_retried", said)

    def suite_output(self, suite: Suite, line: str) -> None:
        self.show("test", "suite_output", {**self.about, "suite": suite.id, "line": line})

    def suite_ended(self, result: SuiteResult) -> None:
        said = {
            "suite": result.id,
            "name": result.name,
            "status": result.status.value,
            "totals": count([result]),
            "duration": _milliseconds(result.seconds),
            "attempts": result.attempts,
            "message": cut(str(result.error), _MESSAGE) if result.error else None,
        }
        self._record("suite_ended", said)

    def case(self, progress: Progress) -> None:
        said: dict[str, Any] = {
            "suite": progress.suite,
            "case": cut(progress.case, _MESSAGE),
            "number": progress.number,
            "total": progress.total,
        }
        if progress.result is not None:
            said |= _ended(progress.result)
        self._cases += progress.kind == "ended"
        if self._cases <= _RECORDED:
            self._record(f"case_{progress.kind}", said)
        else:
            self.show("test", f"case_{progress.kind}", {**self.about, **said})

    def _record(self, type: str, data: dict[str, Any]) -> None:
        self.tell("test", type, {**self.about, **data})


def _ended(result: CaseResult) -> dict[str, Any]:
    return {
        "status": result.status.value,
        "duration": _milliseconds(result.seconds),
        "attempts": result.attempts,
        "message": cut(str(result.failures[0]), _MESSAGE)
        if result.failures
        else beginning(result.reason, _MESSAGE) or None,
    }


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
