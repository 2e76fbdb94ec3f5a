"""The open incident of something that is not a service, kept with the thing itself: both are on record together."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trouble:
    incident: str
    opened: float
    """By the wall clock."""
    subject: str
    """What it was called when it began: an agent's successor has another name."""
    cause: str
    explained_by: str = ""
    """The incident of what it depends on, if that was down."""
