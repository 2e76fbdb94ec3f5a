"""What is known and kept of a guarded container. Values, and how they are written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from argus.core.clock import milliseconds
from argus.core.trouble import Trouble

KEPT = 20
"""Attempts that are kept of one container: twice as many as a file may allow in a row."""


class State(StrEnum):
    WELL = "well"
    WAITING = "waiting"
    """For its next start."""
    STARTING = "starting"
    LEFT = "left alone"
    """Somebody stopped or removed it, or it ended by itself with 0."""
    FAILED = "failed"
    """And is not to be restarted."""
    EXHAUSTED = "exhausted"
    UNWATCHED = "unwatched"
    """It was well, and nobody can look at it just now. Only shown, never on record."""

    @property
    def is_given_up(self) -> bool:
        """Nothing more happens to it by itself."""
        return self in (State.FAILED, State.EXHAUSTED)

    @property
    def is_well(self) -> bool:
        return self is State.WELL

    @property
    def is_left(self) -> bool:
        """Somebody stopped or removed it."""
        return self is State.LEFT

    @property
    def is_fine(self) -> bool:
        """Or as somebody wanted it."""
        return self in (State.WELL, State.LEFT)


@dataclass(frozen=True, slots=True)
class Settings:
    """`resilience.container` of the file."""

    restart: bool = True
    most: int = 3
    delay: float = 2.0
    growth: Literal["exponential", "linear"] = "exponential"


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What was seen of a container that failed, before anything was done about it."""

    container_id: str
    container_name: str
    exit_code: int | None
    """None: it runs."""
    oom_killed: bool
    logs: tuple[str, ...]
    memory_limit: int | None
    memory_peak: int | None
    at: float
    """By the wall clock."""
    ran: float | None = None
    """Seconds from its start to its end."""
    health_output: str = ""

    def public(self) -> dict[str, Any]:
        known = self.memory_limit is not None or self.memory_peak is not None
        memory = {"limit": self.memory_limit, "peak": self.memory_peak} if known else None
        return {
            "containerId": self.container_id,
            "containerName": self.container_name,
            "exitCode": self.exit_code,
            "oomKilled": self.oom_killed,
            "logs": list(self.logs),
            "memoryStats": memory,
            "timestamp": milliseconds(self.at),
            "ranSeconds": None if self.ran is None else round(self.ran, 3),
            **({"healthOutput": self.health_output} if self.health_output else {}),
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """One restart, from what made it necessary to what came of it."""

    number: int
    delay: float
    code: str
    reason: str
    at: float
    diagnostics: Diagnostics
    outcome: str = ""
    """recovered; crashed, it ended again; not_ready, it did not answer; refused, the engine could not start it;
    not_needed, it was well before anything was done; interrupted, it was ordered, and nobody knows what became of that;
    stopped or removed, by somebody; empty while it is under way."""
    seconds: float = 0.0
    """From the failure to the outcome, the delay included."""
    problem: str = ""
    is_forgiven: bool = False
    """It followed from its engine's end, and is not counted."""
    incident: str = ""
    """In whose story it stands; empty in records of earlier versions."""

    def public(self) -> dict[str, Any]:
        return {
            **self.diagnostics.public(),
            "attemptNumber": self.number,
            "delayMs": round(self.delay * 1000),
            "code": self.code,
            "reason": self.reason,
            "outcome": self.outcome or None,
            "problem": self.problem or None,
            "incident": self.incident or None,
        }


@dataclass(frozen=True, slots=True)
class Restart:
    """An attempt, for who reports on a run."""

    service: str
    container: str
    reason: str
    code: str
    attempt: int
    delay: float
    seconds: float
    at: float
    outcome: str
    diagnostics: Mapping[str, Any]
    crash_loop: bool = False

    def public(self) -> dict[str, Any]:
        return {
            "service": self.service,
            "container": self.container,
            "reason": self.reason,
            "code": self.code,
            "attempt": self.attempt,
            "delay": round(self.delay * 1000),
            "duration": round(self.seconds * 1000, 1),
            "timestamp": milliseconds(self.at),
            "outcome": self.outcome or None,
            "crashLoop": self.crash_loop,
            "diagnostics": dict(self.diagnostics),
        }


@dataclass(frozen=True, slots=True)
class Charge:
    """A container and all that the guardian has done about it. This is what is on record."""

    service: str
    container: str
    id: str
    state: State = State.WELL
    why: str = ""
    """Of a state that is not well."""
    code: str = ""
    key: str = ""
    """Which failure that is about: the same one is not counted twice."""
    spent: int = 0
    """Attempts since it was well for long."""
    attempts: tuple[Attempt, ...] = ()
    due: float = 0.0
    """When the next start is, by the wall clock."""
    act: str = ""
    """The open intent."""
    last: Diagnostics | None = None
    """Of the failure after which nothing more is done."""
    is_loop: bool = False
    before: int | None = None
    """Attempts spent before it fell with its engine, until it is well again: those since are then forgiven."""
    trouble: Trouble | None = None
    """Its failure, until it is well again."""

    @property
    def under_way(self) -> Attempt | None:
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and not last.outcome else None

    @property
    def counted(self) -> tuple[Attempt, ...]:
        """Those that count towards the limit."""
        several = tuple(one for one in self.attempts if not one.is_forgiven and one.outcome != "not_needed")
        return several[-self.spent :] if self.spent else ()

    @property
    def earlier(self) -> tuple[Attempt, ...]:
        """Those of them that were made for earlier failures, and stand in the stories of those."""
        mine = self.trouble.incident if self.trouble else ""
        return tuple(one for one in self.counted if one.incident != mine)

    def forgiven(self) -> Charge:
        """It is well: what was tried since it fell with its engine is not counted."""
        if self.before is None:
            return self
        first = len(self.attempts) - max(0, self.spent - self.before)
        several = tuple(replace(one, is_forgiven=n >= first) for n, one in enumerate(self.attempts))
        return replace(self, attempts=several, spent=self.before, before=None)

    def with_attempt(self, attempt: Attempt, **more: Any) -> Charge:
        """One more, or the last one as it is now."""
        others = self.attempts
        if others and (others[-1].number, others[-1].at) == (attempt.number, attempt.at):
            others = others[:-1]
        return replace(self, attempts=(*others, attempt)[-KEPT:], **more)

    def cleaned(self, clean: Callable[[str], str]) -> Charge:
        """As an earlier Argus may have written it down: its words had secrets in them."""
        several = tuple(replace(one, reason=clean(one.reason), problem=clean(one.problem)) for one in self.attempts)
        trouble = replace(self.trouble, cause=clean(self.trouble.cause)) if self.trouble else None
        return replace(self, why=clean(self.why), attempts=several, trouble=trouble)

    def written(self) -> dict[str, Any]:
        return {**asdict(self), "state": self.state.value}


def read(data: Mapping[str, Any]) -> Charge:
    attempts = tuple(
        Attempt(**{**one, "diagnostics": _diagnostics(one["diagnostics"])}) for one in data.get("attempts", ())
    )
    last, trouble = data.get("last"), data.get("trouble")
    return Charge(
        **{
            **data,
            "state": State(data["state"]),
            "attempts": attempts,
            "last": _diagnostics(last) if last else None,
            "trouble": Trouble(**trouble) if trouble else None,
        }
    )


def _diagnostics(data: Mapping[str, Any]) -> Diagnostics:
    return Diagnostics(**{**data, "logs": tuple(data["logs"])})
