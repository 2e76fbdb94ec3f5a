"""Operations on incidents: what happened, as one story."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.core.clock import rfc3339
from argus.core.errors import ArgusError, Code
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.store.records import Incident


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


class Story(Answer):
    incident: IncidentView
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
    return Story(incident=incident_view(found), events=views)


OPERATIONS = (list_incidents, explain)
