"""Operations on incidents: what happened, as one story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from argus.core.clock import rfc3339
from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.store.records import Incident

_AROUND = 500
"""Of the newest incidents, in which those are looked for that this one explains."""
_ROLES = {"agents": "agent", "sessions": "session"}
_WAITS = {"dependency_lost": "waits until it is back", "spawn_waits": "is started when it is back"}


class IncidentView(Answer):
    id: str
    kind: str = Field(description="service_outage or infrastructure_event")
    subject: str
    opened: str
    closed: str | None
    cause: str
    data: dict[str, Any]


class IncidentList(Answer):
    incidents: list[IncidentView]
    next: str | None = Field(description="Pass it as `before` for the page after this one")


class EventView(Answer):
    id: str
    channel: str
    type: str
    subject: str
    data: dict[str, Any]
    timestamp: int


class Explained(Answer):
    kind: str = Field(description="service, agent or session")
    name: str
    incident: str | None = Field(description="Its own, where it has one")
    what: str = Field(description="What it means for it")


class Story(Answer):
    incident: IncidentView
    explains: list[Explained] = Field(description="What else is wrong because of it, each once")
    events: list[EventView] = Field(description="What was seen, decided, done and told, in order")


class IncidentsAsk(Ask):
    limit: int = Field(default=50, ge=1, le=500, description="How many")
    before: str | None = Field(default=None, max_length=64, description="Only those before this incident")
    open: bool = Field(default=False, description="Only those that are not over")


class IncidentAsk(Ask):
    id: str = Field(max_length=64, description="The incident's id")


def incident_view(one: Incident) -> IncidentView:
    return IncidentView(
        id=one.id,
        kind=one.kind,
        subject=one.subject,
        opened=rfc3339(one.opened),
        closed=rfc3339(one.closed) if one.closed is not None else None,
        cause=one.cause,
        data=dict(one.data),
    )


@operation("incidents.list", "GET /api/incidents", verb="incidents", read_only=True)
async def list_incidents(house: House, ask: IncidentsAsk) -> IncidentList:
    """Lists incidents, the newest first."""
    found = await house.store.incidents(open_only=ask.open, limit=ask.limit + 1, before=ask.before)
    page = found[: ask.limit]
    following = page[-1].id if len(found) > ask.limit else None
    return IncidentList(incidents=[incident_view(one) for one in page], next=following)


@operation("incidents.explain", "GET /api/incidents/{id}", verb="explain", read_only=True, errors=(Code.NOT_FOUND,))
async def explain(house: House, ask: IncidentAsk) -> Story:
    """Tells one incident as a story: what was seen, decided, done and told, in order."""
    found = await house.store.incident(ask.id)
    if found is None:
        raise ArgusError(Code.NOT_FOUND, f"there is no incident {ask.id!r}", incident=ask.id)
    events = await house.store.story(found.id)
    views = [
        EventView(id=e.id, channel=e.channel, type=e.type, subject=e.subject, data=dict(e.data), timestamp=e.timestamp)
        for e in events
    ]
    around = await house.store.incidents(limit=_AROUND)
    return Story(incident=incident_view(found), explains=_explained(found, events, around), events=views)


def _explained(root: Incident, events: Sequence[Event], around: Sequence[Incident]) -> list[Explained]:
    services = [
        Explained(kind="service", name=one.subject, incident=one.id, what="down, and not restarted for itself")
        for one in around
        if one.data.get("explainedBy") == root.id
    ]
    waiting = {
        (_ROLES[event.channel], event.subject): _WAITS[event.type]
        for event in events
        if event.channel in _ROLES and event.type in _WAITS
    }
    others = [Explained(kind=kind, name=name, incident=None, what=what) for (kind, name), what in waiting.items()]
    return [*services, *others]


OPERATIONS = (list_incidents, explain)
