"""The values the services' part thinks in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple


class Status(StrEnum):
    PENDING = "pending"
    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"
    UNKNOWN = "unknown"

    @property
    def alive(self) -> bool:
        return self in (Status.UP, Status.DEGRADED)


class Gate(StrEnum):
    """What can hold a restart back, in the order in which they are asked."""

    MAINTENANCE = "maintenance"
    SELF = "self-exclusion"
    INFRASTRUCTURE = "infrastructure event"
    DEPENDENCY = "dependency down"
    FLAPPING = "flapping"
    AUTONOMY = "autonomy"
    NO_RESTART = "no restart configured"
    ALREADY = "already restarted in this outage"
    BUDGET = "budget"
    IN_USE = "in use"
    RECORD = "record"


OPENED_BY_A_PERSON = frozenset({Gate.SELF, Gate.AUTONOMY, Gate.NO_RESTART, Gate.ALREADY, Gate.BUDGET})
"""The others open by themselves."""


@dataclass(frozen=True, slots=True)
class Use:
    """Somebody who is in the middle of working with a service."""

    who: str
    """In words, such as `session shop`."""
    does: str = "is at work"

    def __str__(self) -> str:
        return f"{self.who} {self.does}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one probe saw. `cause` is short and stable for one kind of failure; `detail` is for people."""

    status: Status
    latency: float | None = None
    cause: str = ""
    detail: str = ""
    code: str | None = None
    tls_expires: float | None = None
    """When the certificate ends that it showed, as wall time."""
    bad: str = ""
    """Of a service of several parts, those that a restart would act on, for people."""


@dataclass(frozen=True, slots=True)
class Observation:
    seen: Seen
    at: float
    """When the check was started, by the monotonic clock: that is when it fell due, however long it then took."""
    wall: float
    """When its result was there."""


@dataclass(frozen=True, slots=True)
class Outage:
    """From the confirmation that a service is down to its recovery."""

    incident: str
    opened: float
    restarts: int = 0
    restarted: bool = False
    """One of them was really carried out; none that failed to run."""
    helped: bool = False
    """It was up when it was looked at after the last of them: what comes back later came back by other means."""
    gate: Gate | None = None
    """What held the last decision back; None when it was a restart."""
    told: bool = False
    escalated: bool = False
    cause: str = ""
    """What the check that confirmed it saw."""
    explained_by: str = ""
    """The incident of what it depends on, or of the event, if there was one, the last one; also when that is over."""
    in_story_of: str = ""
    """The incident in whose story it stands: the same, once that is known for sure. Not on record."""
    explained_before: str = ""
    """The incident of another trouble that had explained it, while it was down already."""
    waits_since: float | None = None
    """Since when, by the wall clock, its restart waits for who works with it."""
    failing_since: float | None = None
    """When the first of the checks that confirmed it failed, by the wall clock; None in records of earlier versions."""

    def data(self) -> dict[str, Any]:
        gate = self.gate.value if self.gate else None
        return {
            "restarts": self.restarts,
            "restarted": self.restarted,
            "gate": gate,
            "told": self.told,
            "escalated": self.escalated,
            **({"helped": True} if self.helped else {}),
            **({"explainedBy": self.explained_by} if self.explained_by else {}),
            **({"explainedBefore": self.explained_before} if self.explained_before else {}),
            **({"waitsSince": self.waits_since} if self.waits_since is not None else {}),
            **({"failingSince": self.failing_since} if self.failing_since is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class Flapping:
    """A service that changes its mind too often: announced once, and not restarted while it lasts."""

    incident: str
    opened: float
    since: float
    """By the monotonic clock; after a restart of Argus, from that moment."""


class Health(NamedTuple):
    """One service, as it is judged now. A tuple, because every check makes another one: it takes a quarter of the time
    of a dataclass that cannot be changed."""

    status: Status = Status.PENDING
    since: float = 0.0
    failures: int = 0
    failing_since: float | None = None
    successes: int = 0
    """In a row, during an outage."""
    answers: bool | None = None
    """The last plain result."""
    flips: tuple[float, ...] = ()
    """When plain results differed from the one before, lately."""
    flapping: Flapping | None = None
    certificate: float | None = None
    """The end of its certificate that somebody was told of."""
    unknowns: int = 0
    """Readings in a row that told nothing."""
    last: Observation | None = None
    outage: Outage | None = None
    repair: str | None = None
    """The act under way; while there is one, readings are noted and not judged."""
    judged_from: float = float("-inf")
    """Checks that were started before this moment say nothing any more: a restart lies between them and now."""
    tried: float = float("-inf")
    """When it was looked at after its last restart outside of an outage, by the monotonic clock."""
    carried_out: bool = False
    """Whether that restart really was."""
    recorded: Status | None = None
    """What the record says, so that a restart of Argus is not a change of state."""
