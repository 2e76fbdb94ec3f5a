"""The words of sessions: where a reading comes from, and what an agent can be doing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argus.core.clock import Stamp


class Source(StrEnum):
    """Where something is known from. In the order of trust, the best first."""

    PROCESS = "process"
    """The kernel: whether its process is there. Says nothing else."""
    HOOK = "hook"
    STATUS_LINE = "status_line"
    TRANSCRIPT = "transcript"
    PANE = "pane"
    ANSWER = "answer"
    """It was asked, by typing, and said so."""
    REPORTED = "reported"
    """Somebody posted it."""
    ESTIMATE = "estimate"

    @property
    def rank(self) -> int:
        """The smaller, the more it is trusted."""
        return _RANKS[self]


_RANKS = {source: rank for rank, source in enumerate(Source)}


class Activity(StrEnum):
    WORKING = "working"
    WAITING_FOR_PERMISSION = "waiting_for_permission"
    WAITING_FOR_INPUT = "waiting_for_input"
    RATE_LIMITED = "rate_limited"
    IDLE = "idle"
    STALLED = "stalled"
    DEAD = "dead"
    UNKNOWN = "unknown"


WAITING = frozenset({Activity.WAITING_FOR_PERMISSION, Activity.WAITING_FOR_INPUT})


@dataclass(frozen=True, slots=True)
class ContextReading:
    used: int
    total: int
    """The whole window. A transcript does not tell it: then it is the one that was handed in."""
    source: Source
    at: Stamp
    session: str = ""
    """The agent's own id of the conversation."""

    @property
    def share(self) -> float:
        return self.used / self.total


@dataclass(frozen=True, slots=True)
class Limit:
    """A window of a plan's use."""

    name: str
    used: float
    """In percent."""
    resets_at: float | None
    """Wall time."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What one session is doing, and how that is known."""

    state: Activity
    because: str
    source: Source | None = None
    """None: nobody said anything."""
    age: float | None = None
    """Seconds since it was said."""
    session: str = ""
    tool: str = ""
    question: str = ""
    resets_at: float | None = None
    subagents: int = 0
    context: ContextReading | None = None
    context_age: float | None = None
    limits: tuple[Limit, ...] = ()
    cost: float | None = None
