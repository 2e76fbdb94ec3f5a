"""What is written, as values. Both stores carry out the same ones, and a simulator can read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.core.clock import Stamp
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft


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
class PutCursor:
    cursor: Cursor


class Undecided(ArgusError):
    """The store was lost at the very end of a commit: nobody knows whether it is on record. `was_committed` will."""

    def __init__(self, message: str, transaction: str) -> None:
        super().__init__(Code.STORE_UNAVAILABLE, message)
        self.transaction = transaction


Write = Append | OpenAct | CloseAct | PutIncident | PutCondition | PutSetting | PutCursor
