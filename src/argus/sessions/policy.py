"""What is done for a session just now. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argus.core.autonomy import Level
from argus.core.clock import Stamp, age
from argus.sessions.bands import MANDATORY
from argus.sessions.model import Activity, Source, Standing
from argus.sessions.session import SDK, Session

_QUIET = frozenset({Activity.IDLE, Activity.WAITING_FOR_INPUT})
_AGAIN = (300.0, 600.0, 1200.0, 1800.0)
"""Seconds after a handoff that failed before another is begun by itself; longer with each in a row."""
_UNSAID = 3600.0
_STAGGER = 7.0
"""Seconds between two sessions that go on after a limit."""
_GUESSES = frozenset({Source.ESTIMATE})


class Why(StrEnum):
    FULL = "full"
    """Beyond 85 %: it is mandatory."""
    QUIET = "quiet moment"
    """It rests, and the limit is near."""
    ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Circumstances:
    now: Stamp
    autonomy: Level
    enabled: bool = True
    """Whether handoffs are done by itself at all."""
    others_began: float | None = None
    """Seconds since another session's handoff was begun."""
    gap: float = 30.0
    ask_after: float = 600.0
    quiet_from: float = 0.70
    look_ahead: float = 1200.0
    until_full: float | None = None
    """Seconds until it is at 85 %, by its growth."""
    untold: float = 0.0
    """Seconds for which nothing of it could be read, neither its hooks nor its transcript, while it was there."""
    others_went_on: float | None = None
    """Seconds since another session was told to go on after a limit."""


@dataclass(frozen=True, slots=True)
class HandOff:
    why: Why


@dataclass(frozen=True, slots=True)
class HeldBack:
    """It is due, and not done by itself."""

    gate: str


@dataclass(frozen=True, slots=True)
class AskContext:
    pass


@dataclass(frozen=True, slots=True)
class GoOn:
    resets_at: float


Action = HandOff | HeldBack | AskContext | GoOn | None


def decide(session: Session, standing: Standing, around: Circumstances) -> Action:
    if session.place.type == SDK or session.is_handing_off or standing.state is Activity.DEAD:
        return None
    due = handoff_due(session, standing, around)
    if due is not None:
        gate = _gate(session, around)
        if gate == "gap":
            return None  # in its turn
        return HeldBack(gate) if gate else HandOff(due)
    if not around.autonomy.allows(Level.MODERATE):
        return None
    limit = _limit_is_over(session, standing, around)
    if limit is not None:
        return GoOn(limit)
    return AskContext() if _must_ask(session, standing, around) else None


def handoff_due(session: Session, standing: Standing, around: Circumstances) -> Why | None:
    context = session.context
    if context is None or context.source in _GUESSES or age(context.at, around.now) > 2 * around.ask_after:
        return None
    if context.share > MANDATORY:
        return Why.FULL
    near = around.until_full is not None and around.until_full <= around.look_ahead
    if context.share >= around.quiet_from and near and standing.state in _QUIET:
        return Why.QUIET
    return None


def _gate(session: Session, around: Circumstances) -> str:
    if not around.enabled:
        return "disabled"
    if not around.autonomy.allows(Level.MODERATE):
        return "autonomy"
    last = session.handoff
    if last is not None and session.failures:
        pause = _AGAIN[min(session.failures, len(_AGAIN)) - 1]
        if age(last.since, around.now) < pause:
            return "failed before"
    if around.others_began is not None and around.others_began < around.gap:
        return "gap"
    return ""


def _limit_is_over(session: Session, standing: Standing, around: Circumstances) -> float | None:
    """Once for each limit, one session after the other."""
    if standing.state is not Activity.RATE_LIMITED or not session.place.resume_after_limit:
        return None
    # One that does not say when it ends is tried again every hour; a person is told of it.
    said = around.now.wall - (standing.age or 0.0)
    ends = said + _UNSAID if standing.resets_at is None else standing.resets_at
    if session.resumed >= ends or around.now.wall < ends:
        return None
    is_turn = around.others_went_on is None or around.others_went_on >= _STAGGER
    return ends if is_turn else None


def _must_ask(session: Session, standing: Standing, around: Circumstances) -> bool:
    """Only where nothing else tells it, and only while it rests: a question costs tokens."""
    if standing.state not in _QUIET and standing.state is not Activity.UNKNOWN:
        return False
    context, asked = session.context, session.asked
    is_old = context is None or age(context.at, around.now) > around.ask_after
    return is_old and around.untold > around.ask_after and (asked is None or age(asked, around.now) > around.ask_after)
