"""Between values and the columns of a table, the same in every store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json

from argus.core.clock import Stamp
from argus.core.events import Event
from argus.store.records import Act, Counts, Incident, Tally

ACT = "id, kind, subject, boot_id, boot, wall, incident, intent, outcome, ended, detail"
INCIDENT = "id, kind, subject, opened, closed, cause, data"
EVENT = "n, timestamp, channel, type, subject, data"
COUNTS = ("up", "degraded", "down", "unknown", "timed", "latency", "slowest")
TALLY = ", ".join(("span", "start", "domain", "subject", *COUNTS))
ADDED = ", ".join(f"{one} = tallies.{one} + excluded.{one}" for one in COUNTS[:-1])
"""How a tally's counts get into a bucket that is there; the slowest is the greater of the two."""
SUMS = ", ".join([*(f"SUM({one})" for one in COUNTS[:-1]), "MAX(slowest)"])
PRUNED = "journal.pruned"
"""The setting that says up to which number the journal was pruned."""


def event(row: Sequence[Any], epoch: str) -> Event:
    n, timestamp, channel, type, subject, data = row
    return Event(n, epoch, timestamp, channel, type, subject, json.loads(data))


def act(row: Sequence[Any]) -> Act:
    id, kind, subject, boot_id, boot, wall, incident, intent, outcome, ended, detail = row
    begun = Stamp(boot_id, boot, wall)
    return Act(id, kind, subject, begun, incident, json.loads(intent), outcome, ended, json.loads(detail))


def incident(row: Sequence[Any]) -> Incident:
    id, kind, subject, opened, closed, cause, data = row
    return Incident(id, kind, subject, opened, closed, cause, json.loads(data))


def counts(values: Sequence[Any]) -> Counts:
    """Sums come as PostgreSQL's exact numbers, which are not JSON's."""
    up, degraded, down, unknown, timed, latency, slowest = values
    return Counts(int(up), int(degraded), int(down), int(unknown), int(timed), float(latency), float(slowest))


def tally(one: Tally) -> tuple[Any, ...]:
    return (one.span, one.start, text(one.domain), text(one.subject), *(getattr(one.counts, name) for name in COUNTS))


def read_tally(row: Sequence[Any]) -> Tally:
    span, start, domain, subject, *values = row
    return Tally(span, start, domain, subject, counts(values))


def text(value: str) -> str:
    """Half a character, as a broken name may hold, cannot be stored: it becomes a question mark."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def plain(value: str) -> str:
    """Text that every store's columns take: PostgreSQL's hold no NUL."""
    return text(value).replace("\0", "?")


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)  # json.dumps would make one for every row


def encoded(value: Any) -> str:
    """JSON in ASCII: half characters and NUL are escapes in it, which any column of text takes."""
    try:
        quick = to_json(value)
    except ValueError:
        return _ENCODER.encode(value)  # half a character, for one
    return quick.decode() if quick.isascii() else _ENCODER.encode(value)
