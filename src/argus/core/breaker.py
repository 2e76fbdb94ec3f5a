"""The circuit breaker: a pure state machine over values.

Callers ask `admit` before they call and say `succeeded`, `failed` or `abandoned` after. Exactly one probe passes in
half-open, because passing is itself a change of state: whoever writes the new state back first has the probe, and a
probe that never reports gives its place up after `probe_timeout`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, slots=True)
class Failure:
    at: float
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Limits:
    failures: int = 5
    reset_after: float = 30.0
    """Seconds until an open breaker lets one probe through; 0 means only by hand."""
    probe_timeout: float = 60.0
    history: int = 20


@dataclass(frozen=True, slots=True)
class Breaker:
    state: State = State.CLOSED
    consecutive: int = 0
    since: float = 0.0
    probe: int = 0
    """Which probe is under way; 0 when none. A report of an older probe changes nothing."""
    probe_since: float = 0.0
    probes: int = 0
    history: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave to call. `probe` is 0 for an ordinary call and the probe's number in half-open."""

    probe: int = 0
    era: int = 0
    """How many probes there had been: a report from before the last of them says nothing about now."""


@dataclass(frozen=True, slots=True)
class Refused:
    retry_in: float | None
    """Seconds until a probe may pass; None when only a person can reset it or a probe is under way."""


_CLOSED = State.CLOSED  # asking the class for a member costs as much as the rest of a call through a closed breaker


@lru_cache(maxsize=64)
def _leave(era: int) -> Pass:
    """Leave for an ordinary call: the same for all of an era, and the dearest part of a call if made for each."""
    return Pass(era=era)


def admit(breaker: Breaker, limits: Limits, now: float) -> tuple[Breaker, Pass | Refused]:
    if breaker.state is _CLOSED:
        return breaker, _leave(breaker.probes)
    if breaker.state is State.OPEN:
        if limits.reset_after <= 0:
            return breaker, Refused(None)
        elapsed = now - breaker.since
        # A clock that was set back, or another boot's, must not keep it open longer than it should be.
        if 0 <= elapsed < limits.reset_after:
            return breaker, Refused(limits.reset_after - elapsed)
        breaker = replace(breaker, state=State.HALF_OPEN, since=now, probe=0)
    if breaker.probe and 0 <= now - breaker.probe_since < limits.probe_timeout:
        return breaker, Refused(None)
    number = breaker.probes + 1
    return replace(breaker, probe=number, probes=number, probe_since=now), Pass(number, number)


def retry_in(breaker: Breaker, limits: Limits, now: float) -> float | None:
    """Seconds until an open breaker lets a call through by itself; None when it is not open, or only by hand."""
    if breaker.state is not State.OPEN or limits.reset_after <= 0:
        return None
    elapsed = now - breaker.since
    return limits.reset_after - elapsed if 0 <= elapsed < limits.reset_after else 0.0


def succeeded(breaker: Breaker, leave: Pass, now: float) -> Breaker:
    if breaker.state is _CLOSED:
        return replace(breaker, consecutive=0) if breaker.consecutive and _is_current(breaker, leave) else breaker
    if breaker.state is State.HALF_OPEN and leave.probe and leave.probe == breaker.probe:
        return Breaker(since=now, probes=breaker.probes)
    # A call that was let through before the breaker opened says nothing about now.
    return breaker


def failed(breaker: Breaker, limits: Limits, leave: Pass, failure: Failure) -> Breaker:
    if breaker.state is State.CLOSED and not _is_current(breaker, leave):
        return breaker
    history = (*breaker.history, failure)[-limits.history :] if limits.history else ()
    if breaker.state is State.CLOSED:
        consecutive = breaker.consecutive + 1
        if consecutive >= limits.failures:
            return replace(breaker, state=State.OPEN, consecutive=consecutive, since=failure.at, history=history)
        return replace(breaker, consecutive=consecutive, history=history)
    if breaker.state is State.HALF_OPEN and leave.probe and leave.probe == breaker.probe:
        return replace(
            breaker,
            state=State.OPEN,
            consecutive=breaker.consecutive + 1,
            since=failure.at,
            probe=0,
            history=history,
        )
    return replace(breaker, history=history)


def abandoned(breaker: Breaker, leave: Pass) -> Breaker:
    """A call ended without a word about the other side. If it was the probe, the next caller may probe at once."""
    if breaker.state is State.HALF_OPEN and leave.probe and leave.probe == breaker.probe:
        return replace(breaker, probe=0)
    return breaker


def _is_current(breaker: Breaker, leave: Pass) -> bool:
    """Whether an ordinary call was let through since the breaker last closed."""
    return not leave.probe and leave.era == breaker.probes


def reset(breaker: Breaker, now: float) -> Breaker:
    """By hand: an open breaker lets one probe through. A closed or half-open one stays as it is."""
    if breaker.state is not State.OPEN:
        return breaker
    return replace(breaker, state=State.HALF_OPEN, since=now, probe=0)
