"""Between values and the columns of a table, the same in every store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from argus.core.clock import Stamp
from argus.core.events import Event
from argus.store.records import Act, Incident

ACT = "id, kind, subject, boot_id, boot, wall, incident, intent, outcome, ended, detail"
INCIDENT = "id, kind, subject, opened, closed, cause, data"
EVENT = "n, timestamp, channel, type, subject, data"


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


def text(value: str) -> str:
    """Half a character, as a broken name may hold, cannot be stored: it becomes a question mark."""
    return value.encode("utf-8", "replace").decode("utf-8")


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)  # json.dumps would make one for every row


def encoded(value: Any) -> str:
    """JSON in ASCII: half characters and NUL are escapes in it, which any column of text takes."""
    return _ENCODER.encode(value)
