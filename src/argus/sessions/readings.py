"""The context of a session, out of the readings that were taken of it."""

from __future__ import annotations

from dataclasses import replace

from argus.core.clock import Stamp, age
from argus.sessions.model import ContextReading, Limit, Source
from argus.sessions.signals import Sign

_HANDICAP = {Source.STATUS_LINE: 0.0, Source.HOOK: 0.0, Source.TRANSCRIPT: 5.0, Source.REPORTED: 3600.0}
"""Seconds by which a reading has to be newer than one of a better source. What anybody may report says something only
where nothing can be read."""
LARGE = 1_000_000
_OTHERS = 30.0
_NEVER = 1e12
_ONE_COMPACTION = 5.0
"""Seconds within which hook and transcript tell of the same one."""


def context_of(heard: list[Sign], now: Stamp, window: int = 0) -> ContextReading | None:
    """Of signs in the order of their time. A conversation that starts over, or was compacted, has no context until it
    says so: nothing of before is believed. `window`: the whole, as it was told in an earlier conversation."""
    found: list[ContextReading] = []
    left: list[ContextReading] = []
    for sign in heard:
        if sign.clears:
            found = []
        elif sign.starts:
            found = [one for one in found if one.session == sign.session != ""]
        if sign.compacts:
            found = [one for one in left if age(one.at, now) - age(sign.at, now) <= _ONE_COMPACTION]
        if sign.context is not None:
            found.append(sign.context)
            left += [sign.context] if sign.compacts else []
    if not found:
        return None
    best = max(_newest(found), key=lambda one: (-age(one.at, now) - _handicap(one.source), -one.source.rank))
    if best.source is not Source.TRANSCRIPT:
        return best
    # A transcript of Claude Code does not tell how large the whole is; the status line does.
    known = [one.context.total for one in heard if one.context and one.context.source is Source.STATUS_LINE]
    total = known[-1] if known else window or best.total
    # More than the whole: then it is one of the larger windows.
    return replace(best, total=total if best.used <= total else max(total, LARGE))


def _newest(found: list[ContextReading]) -> list[ContextReading]:
    """One of each source and boot. Of the same moment the larger one, whatever order they came in."""
    newest: dict[tuple[Source, str], ContextReading] = {}
    for one in found:
        key = (one.source, one.at.boot_id)
        other = newest.get(key)
        if other is None or (one.at.boot, one.used, one.total) > (other.at.boot, other.used, other.total):
            newest[key] = one
    return list(newest.values())


def limits_of(heard: list[Sign]) -> tuple[Limit, ...]:
    return next((sign.limits for sign in reversed(heard) if sign.limits), ())


def _handicap(source: Source) -> float:
    return _NEVER if source is Source.ESTIMATE else _HANDICAP.get(source, _OTHERS)
