"""How full a context is, and what may still be begun in it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Size = Literal["tiny", "small", "large"]
MANDATORY = 0.85


class Band(StrEnum):
    FREE = "free"
    """Any task."""
    CONSIDER = "consider"
    """Any task; a handoff is worth thinking of."""
    SMALL = "small"
    """Small tasks; before a large one a handoff."""
    TINY = "tiny"
    """Tiny tasks; a handoff after the current work."""
    FULL = "full"
    """A handoff, and nothing else."""
    UNKNOWN = "unknown"


_UP_TO = ((0.30, Band.FREE), (0.50, Band.CONSIDER), (0.70, Band.SMALL), (MANDATORY, Band.TINY))
_ACCEPTS: dict[Band, tuple[Size, ...]] = {
    Band.FREE: ("tiny", "small", "large"),
    Band.CONSIDER: ("tiny", "small", "large"),
    Band.SMALL: ("tiny", "small"),
    Band.TINY: ("tiny",),
    Band.FULL: (),
    Band.UNKNOWN: ("tiny", "small", "large"),
}
_REASONS = {
    Band.FREE: "there is room for any task",
    Band.CONSIDER: "there is room for any task; think of a handoff",
    Band.SMALL: "only small tasks: hand off before a large one",
    Band.TINY: "only tiny tasks: hand off after the current work",
    Band.FULL: "a handoff comes first: no new work",
    Band.UNKNOWN: "how full its context is, is not known",
}


@dataclass(frozen=True, slots=True)
class Admission:
    accept: bool
    band: Band
    reason: str


def band(share: float | None) -> Band:
    """The boundaries belong to the lower one: at exactly 85 % nothing is mandatory yet."""
    if share is None:
        return Band.UNKNOWN
    return next((name for limit, name in _UP_TO if share <= limit), Band.FULL)


def admission(size: Size, share: float | None, *, is_handing_off: bool = False, is_dead: bool = False) -> Admission:
    found = band(share)
    if is_dead:
        return Admission(False, found, "its process is gone: nobody is there to take it")
    if is_handing_off:
        return Admission(False, found, "it is being handed on just now")
    percent = "" if share is None else f" ({100 * share:.0f} %)"
    return Admission(size in _ACCEPTS[found], found, _REASONS[found] + percent)
