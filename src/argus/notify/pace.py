"""When a message may go out. Pure: times in, a time out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from argus.notify.message import IMPORTANT, INFORMATIVE
from argus.notify.settings import Channel, QuietHours, RateLimit


def due(channel: Channel, tier: int, happened: float, now: float, sent: Sequence[float]) -> float:
    """The moment at which a message may go, by the wall clock; not later than `now`: at once.

    `sent`: when the last messages went out, oldest first, by the same clock.
    """
    moment = max(now, limited_until(channel.rate_limit, sent, now))
    if tier >= INFORMATIVE:
        # From now at the latest: a clock that was set back must not hold it up for longer than that.
        moment = max(moment, min(happened, now) + channel.digest_every)
    if tier >= IMPORTANT and channel.quiet_hours is not None:
        moment = quiet_until(channel.quiet_hours, moment)
    return moment


def why(channel: Channel, tier: int, now: float, sent: Sequence[float]) -> str:
    """What holds a message up that may not go at once, in words."""
    if tier >= IMPORTANT and channel.quiet_hours is not None and quiet_until(channel.quiet_hours, now) > now:
        return "quiet hours"
    if tier >= INFORMATIVE and channel.digest_every > 0:
        return "kept for the digest"
    return "too many messages at once" if limited_until(channel.rate_limit, sent, now) > now else "quiet hours"


def limited_until(limit: RateLimit, sent: Sequence[float], now: float) -> float:
    # A clock that was set back must not hold messages up for hours.
    recent = [at for at in sent if 0 <= now - at < limit.per]
    return recent[-limit.messages] + limit.per if len(recent) >= limit.messages else now


def quiet_until(hours: QuietHours, moment: float) -> float:
    """The end of the quiet hours that hold at this moment; the moment itself when none do."""
    local = datetime.fromtimestamp(moment)  # noqa: DTZ006 - quiet hours are meant in local time
    begin, end = _time(hours.begin), _time(hours.end)
    over_night = end < begin
    now = local.time()
    is_quiet = (now >= begin or now < end) if over_night else begin <= now < end
    if not is_quiet:
        return moment
    day = local.date() + timedelta(days=1 if over_night and now >= begin else 0)
    return datetime.combine(day, end).timestamp()


def _time(text: str) -> time:
    hours, _, minutes = text.partition(":")
    return time(int(hours), int(minutes))
