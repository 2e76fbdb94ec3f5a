"""What came of a run of suites: the answer that everybody gets. Values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from argus.core.errors import ArgusError
from argus.environments.testing import results
from argus.environments.testing.results import SuiteResult, Verdict


class Restart(Protocol):
    """Of a container, as the guardian tells it."""

    def public(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    suites: tuple[SuiteResult, ...]
    seconds: float
    restarts: tuple[Restart, ...] = ()
    problems: tuple[ArgusError, ...] = ()
    """Of each container that is not well at the end: CONTAINER_RESTART_EXHAUSTED, or how it failed."""
    warnings: tuple[str, ...] = ()

    @property
    def status(self) -> Verdict:
        """Of an environment with a part missing nobody can say that it passed."""
        failed = self.problems or any(one.status is Verdict.FAILED for one in self.suites)
        return Verdict.FAILED if failed else Verdict.PASSED

    @property
    def totals(self) -> dict[str, int]:
        return results.count(self.suites)

    def public(self) -> dict[str, Any]:
        return {
            "status": self.status.value,
            "totals": self.totals,
            "duration": round(self.seconds * 1000, 1),
            "suites": [one.public() for one in self.suites],
            "restarts": [one.public() for one in self.restarts],
            "warnings": list(self.warnings),
        }


class Guard(Protocol):
    """What the guardian of an environment's containers tells a run, by the id of what is up."""

    def restarts(self, run_id: str, since: float = 0.0) -> Sequence[Restart]: ...

    def problems(self, run_id: str) -> Sequence[ArgusError]:
        """Of each container that is not well now."""
        ...

    async def settled(self, run_id: str) -> None:
        """Returns when that will not change any more, within bounds."""
        ...
