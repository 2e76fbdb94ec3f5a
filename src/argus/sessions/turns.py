"""When the turn began that an agent is in. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from argus.core.clock import Stamp, age
from argus.sessions.model import Activity, Source
from argus.sessions.signals import PROMPTS, Sign


@dataclass(frozen=True, slots=True)
class Turn:
    """That an agent is in."""

    age: float | None
    """Seconds since it began, or more; None: nobody knows."""


def began(signs: Iterable[Sign], now: Stamp, session: str = "") -> Stamp | None:
    """Not later than it really did; None: nobody saw it rest before. A subagent that still runs may be of an earlier
    turn, so that is for the caller to look at.

    Only a prompt is a beginning to the moment. Of other signs it is known that it rested at the last one before.
    """
    own = [
        sign
        for sign in signs
        # That a program starts is told late, and also in the middle of a turn: when it makes its context smaller.
        if sign.session in ("", session) and not sign.subagent and sign.activity is not None and not sign.starts
    ]
    # A screen may look idle in the middle of a turn.
    told = [sign for sign in own if sign.source is not Source.PANE] or own
    rested: Stamp | None = None
    found: Stamp | None = None
    for sign in sorted(told, key=lambda one: -age(one.at, now)):
        if sign.activity is Activity.IDLE:
            rested, found = sign.at, None
        elif rested is not None and found is None:
            found = sign.at if sign.event in PROMPTS else rested
    return found


def age_of(began: Stamp | None, now: Stamp) -> float | None:
    return None if began is None else age(began, now)
