"""When a limit ends, out of the sentences in which the agents' programs say it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_LONGEST = 1000
_FARTHEST = timedelta(days=60)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_EPOCH = re.compile(r"limit reached\|(\d{10})\b")
_CLOCK = re.compile(
    r"(?:resets?|try again)\s+(?:at\s+|on\s+)?"
    r"(?:(?P<month>[A-Za-z]{3})[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{4}))?,?\s+(?:at\s+)?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)?\b(?:\s*\((?P<zone>[A-Za-z0-9_+/-]{1,64})\))?",
    re.I,
)
_IN = re.compile(
    r"(?:resets?|try again)\s+in\s+(?:(?P<days>\d{1,3})\s*d(?:ays?)?)?,?\s*"
    r"(?:(?P<hours>\d{1,3})\s*h(?:ours?|rs?)?)?,?\s*(?:(?P<minutes>\d{1,4})\s*m(?:in(?:ute)?s?)?)?",
    re.I,
)


def reset_time(text: str, now: float, zone: tzinfo | None = None) -> float | None:
    """The wall time at which a limit is said to end; None where none is said. `zone`: ours, unless the text has one."""
    text = text[:_LONGEST]
    try:
        here = datetime.fromtimestamp(now, zone) if zone else datetime.fromtimestamp(now).astimezone()
        moment = _epoch(text, here) or _in(text, here) or _clock(text, here)
        if moment is None or moment - here > _FARTHEST:
            return None
        return moment.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _epoch(text: str, here: datetime) -> datetime | None:
    found = _EPOCH.search(text)
    return datetime.fromtimestamp(int(found[1]), here.tzinfo) if found else None


def _in(text: str, here: datetime) -> datetime | None:
    found = _IN.search(text)
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes = (int(found[part] or 0) for part in ("days", "hours", "minutes"))
    return here + timedelta(days=days, hours=hours, minutes=minutes)


def _clock(text: str, here: datetime) -> datetime | None:
    """The next time that the clock shows this. A date without a year is the next such date."""
    found = _CLOCK.search(text)
    if found is None or not (found["half"] or found["minute"]):
        return None  # a bare number is not a time
    hour = int(found["hour"])
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    at = here.astimezone(_zone(found["zone"], here.tzinfo))
    moment = at.replace(hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0)
    if found["month"] is None:
        return moment if moment > at else moment + timedelta(days=1)
    month = _MONTHS.get(found["month"].lower())
    if month is None:
        return None
    moment = moment.replace(year=int(found["year"] or at.year), month=month, day=int(found["day"]))
    passed = at - moment > timedelta(days=1)
    return moment.replace(year=moment.year + 1) if passed and not found["year"] else moment


def _zone(name: str | None, otherwise: tzinfo | None) -> tzinfo | None:
    if not name:
        return otherwise
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # a name that this machine does not know, or that is no name
        return otherwise
