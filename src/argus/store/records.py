"""What is written, as values. Both stores carry out the same ones, and a simulator can read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.core.clock import Stamp
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft

PIECE = 1000
"""Rows that one prune takes away at most: an intent may be waiting for the same writer."""


@dataclass(frozen=True, slots=True)
class Act:
    """Something Argus did or is about to do to the world. Open until it has its one outcome."""

    id: str
    kind: str
    subject: str
    begun: Stamp
    incident: str | None = None
    intent: Mapping[str, Any] = field(default_factory=dict)
    outcome: str | None = None
    ended: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Incident:
    """One outage or event, from its confirmation to its end."""

    id: str
    kind: str
    subject: str
    opened: float
    closed: float | None = None
    cause: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Condition:
    """The last recorded state of something watched, so that a restart of Argus is not a change of state."""

    domain: str
    subject: str
    state: str
    since: float


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader of the journal has come; `sending` is the event under way, 0 when there is none."""

    name: str
    n: int
    sending: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """What a number of checks saw. `timed` is how many had a latency, `latency` their sum, `slowest` the longest."""

    up: int = 0
    degraded: int = 0
    down: int = 0
    unknown: int = 0
    timed: int = 0
    latency: float = 0.0
    slowest: float = 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.up + other.up,
            self.degraded + other.degraded,
            self.down + other.down,
            self.unknown + other.unknown,
            self.timed + other.timed,
            self.latency + other.latency,
            max(self.slowest, other.slowest),
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """Checks of one subject in one bucket: `span` seconds from `start`, which is in seconds since 1970."""

    span: int
    start: int
    domain: str
    subject: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class Append:
    draft: Draft
    at: int | None = None
    """When it happened, in epoch milliseconds; when it is written, if that is not said."""


@dataclass(frozen=True, slots=True)
class OpenAct:
    act: Act


@dataclass(frozen=True, slots=True)
class CloseAct:
    """Gives an open act its outcome; an act that has one already makes the whole commit fail."""

    id: str
    outcome: str
    ended: float
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PutIncident:
    incident: Incident


@dataclass(frozen=True, slots=True)
class PutCondition:
    condition: Condition


@dataclass(frozen=True, slots=True)
class PutSetting:
    """A value that outlives the process and is not in the configuration file; None removes it."""

    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class Document:
    """What a part keeps of one of its things, in its own words. It is not shown to anybody as it is, so it is not
    redacted: an agent's task has to come back as it was."""

    domain: str
    id: str
    data: Mapping[str, Any]
    live: bool = True
    """Whether the part still works with it; else it is a tombstone, which is never pruned."""


@dataclass(frozen=True, slots=True)
class PutDocument:
    document: Document


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that is done once, whoever does it: claimed already, it makes the whole commit fail with CONFLICT."""

    key: str
    at: float


@dataclass(frozen=True, slots=True)
class PutCursor:
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class AddTallies:
    """Adds to what the buckets hold already. Many in one, because there are two for every service."""

    tallies: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session, under the names that people's own queries use. `data` is what Argus goes on with, in its own words."""

    project: str
    session_type: str
    session_id: str
    started_at: float
    last_activity: float
    last_context_check: float | None = None
    context_usage: float | None = None
    estimated_tokens_used: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpawnRow:
    """Work that a session gave away."""

    id: int
    project: str
    task_id: str
    status: str
    spawn_time: float
    task_type: str = ""
    description: str = ""
    last_output_change: float | None = None
    output_file: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One check, prompt, reply or act in the audit trail of a project."""

    project: str
    check_type: str
    status: str
    details: Mapping[str, Any]
    action_taken: str = ""
    check_time: float = 0.0
    id: int = 0
    """Given when it is written."""


@dataclass(frozen=True, slots=True)
class PutSession:
    row: SessionRow


@dataclass(frozen=True, slots=True)
class RemoveSession:
    project: str


@dataclass(frozen=True, slots=True)
class PutSpawn:
    row: SpawnRow


@dataclass(frozen=True, slots=True)
class AddHealthCheck:
    row: HealthCheck


@dataclass(frozen=True, slots=True)
class PruneEvents:
    """Takes the oldest events away, in their order, up to the first that is younger than `before` (milliseconds).

    The newest `keep` stay whatever a clock says, and never more than the newest `most`. An event from the future of
    `now` was written by a clock that was wrong: it goes with its neighbours. What tells an open incident's story stays.
    """

    now: int
    before: int
    keep: int
    most: int
    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class PruneStories:
    """Takes away what an earlier prune left for incidents that were open then and are not any more."""

    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class PruneActs:
    """Takes acts away that have their outcome and are older than `age` seconds, but the newest `keep` of each kind.

    Their age is told as budgets tell it, so that a step of the wall clock makes none old that counts.
    """

    now: Stamp
    age: float
    keep: int
    most: int
    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class PruneIncidents:
    """Takes incidents away that ended before `before`, but the newest `keep`."""

    before: float
    keep: int
    most: int
    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class PruneTallies:
    """Takes the buckets of one span away that begin before `before`, but those of the newest `keep` beginnings."""

    span: int
    before: int
    keep: int
    most: int
    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class PruneHealthChecks:
    """Takes rows of the audit trail away that are older than `before`, but the newest `keep`."""

    before: float
    keep: int
    most: int
    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class PruneSpawns:
    """Takes spawns away that began before `before` and are over, but the newest `keep`."""

    before: float
    keep: int
    most: int
    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class Pruned:
    """What one piece of a prune came to; `more` when another may follow at once.

    `up_to` is the number up to which the journal is now pruned, when this piece moved it.
    """

    rows: int = 0
    more: bool = False
    up_to: int = 0


class Undecided(ArgusError):
    """The store was lost at the very end of a commit: nobody knows whether it is on record. `was_committed` will."""

    def __init__(self, message: str, transaction: str) -> None:
        super().__init__(Code.STORE_UNAVAILABLE, message)
        self.transaction = transaction


Prune = PruneEvents | PruneStories | PruneActs | PruneIncidents | PruneTallies | PruneHealthChecks | PruneSpawns
SessionWrite = PutSession | RemoveSession | PutSpawn | AddHealthCheck
_Put = PutIncident | PutCondition | PutSetting | PutDocument | PutCursor
Write = Append | OpenAct | CloseAct | Claim | _Put | AddTallies | SessionWrite | Prune
