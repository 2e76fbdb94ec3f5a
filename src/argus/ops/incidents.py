"""Operations on incidents: what happened, as one story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from argus.core.clock import rfc3339
from argus.core.errors import ABOUT_INCIDENTS, ArgusError, Code
from argus.core.events import Event
from argus.ops import because, story
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.services.correlation import Correlator
from argus.services.plans import OUTAGE
from argus.store.interface import Store
from argus.store.records import Incident

LAST = "last"
_AROUND = 500
"""Of the newest incidents, in which those are looked for that this one explains."""
_EVENTS = 3000
_OF_A_MEMBER = 200
_ROLES = {"agents": "agent", "sessions": "session", "resilience": "environment"}
_TIMES = ("failingSince", "waitsSince")
"""Kept in seconds, in which the next Argus counts; shown as every time is."""
_KINDS = {"service_outage": "service", "agent_death": "agent", "container_failure": "container"}


class IncidentView(Answer):
    id: str
    kind: str = Field(
        description="service_outage, service_flapping, infrastructure_event, agent_death or container_failure"
    )
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
    part: str = Field(
        description="In the story: observation, decision, act, outcome, notification, or explained: who stands still "
        "because of it"
    )


class EntryView(Answer):
    part: str = Field(description="observation, decision, act, outcome, notification or explained")
    timestamp: int
    subject: str
    text: str = Field(description="In words; a decision says its gate, and how that opens")
    evidence: list[str] = Field(description="What it rests on: readings, output, diagnostics, last lines")
    event: str = Field(description="The event that says it")


class Explained(Answer):
    kind: str = Field(description="service, agent, session, environment or container")
    name: str
    incident: str | None = Field(description="Its own, where it has one")
    what: str = Field(description="What it means for it")


class Story(Answer):
    incident: IncidentView
    explains: list[Explained] = Field(description="What else is wrong because of it, each once")
    story: list[EntryView] = Field(description="What was seen, decided, done and told, in order and in words")
    events: list[EventView] = Field(description="The events that it is made of")


class IncidentsAsk(Ask):
    limit: int = Field(default=50, ge=1, le=500, description="How many")
    before: str | None = Field(default=None, max_length=64, description="Only those before this incident")
    open: bool = Field(default=False, description="Only those that are not over")


class IncidentAsk(Ask):
    id: str = Field(
        default=LAST, max_length=64, description="The incident's id; last is the newest, or what explains that"
    )


def incident_view(one: Incident) -> IncidentView:
    return IncidentView(
        id=one.id,
        kind=one.kind,
        subject=one.subject,
        opened=rfc3339(one.opened),
        closed=rfc3339(one.closed) if one.closed is not None else None,
        cause=one.cause,
        data={key: rfc3339(value) if key in _TIMES else value for key, value in one.data.items()},
    )


@operation("incidents.list", "GET /api/incidents", verb="incidents", read_only=True, errors=(Code.NOT_FOUND,))
async def list_incidents(house: House, ask: IncidentsAsk) -> IncidentList:
    """Lists incidents, the newest first."""
    if ask.before is not None and await house.store.incident(ask.before) is None:
        raise _no_such_page(ask.before)
    found = await house.store.incidents(open_only=ask.open, limit=ask.limit + 1, before=ask.before)
    page = found[: ask.limit]
    following = page[-1].id if len(found) > ask.limit else None
    return IncidentList(incidents=[incident_view(one) for one in page], next=following)


def _no_such_page(before: str) -> ArgusError:
    message = f"before: there is no incident {before!r}; it is an id as the list gives it, such as 3fa94c0d1b27"
    error = ArgusError(Code.NOT_FOUND, message, incident=before)
    error.actions = ABOUT_INCIDENTS
    return error


@operation("incidents.explain", "GET /api/incidents/{id}", verb="explain", read_only=True, errors=(Code.NOT_FOUND,))
async def explain(house: House, ask: IncidentAsk) -> Story:
    """Tells one incident as a story: what was seen, decided, done and told, in order."""
    found = await find(house.store, ask.id)
    if found is None:
        why = "there was no incident" if ask.id == LAST else f"there is no incident {ask.id!r}"
        missing = ArgusError(Code.NOT_FOUND, why, incident=ask.id)
        missing.actions = ABOUT_INCIDENTS
        raise missing
    events = await house.store.story(found.id, limit=_EVENTS)
    below = under(found, await house.store.incidents(limit=_AROUND))
    # Who waits for a member of an infrastructure event heard of that service, and stands in its story.
    members = [one.id for one in below if found.kind == Correlator.KIND and one.kind == OUTAGE]
    theirs = [event for id in members for event in await house.store.story(id, limit=_OF_A_MEMBER)]
    return Story(
        incident=incident_view(found),
        explains=explained(found, sorted([*events, *theirs], key=lambda one: one.n), below),
        story=[entry for event in events for entry in _entries(house, event)],
        events=[_event(one) for one in events],
    )


async def find(store: Store, id: str) -> Incident | None:
    if id != LAST:
        return await store.incident(id)
    newest = await store.incidents(limit=1)
    return await _root(store, newest[0]) if newest else None


async def _root(store: Store, one: Incident) -> Incident:
    """What explains it, as long as that goes on or both are over: what outlasts its root is a story of its own."""
    seen = {one.id}
    while (above := one.data.get("explainedBy")) and above not in seen:
        root = await store.incident(above)
        if root is None or (root.closed is not None and one.closed is None):
            break
        one = root
        seen.add(above)
    return one


async def with_roots(store: Store, newest: Sequence[Incident], event: str | None) -> list[Incident]:
    """With what explains them: a root is older than what fell with it, and that may be hundreds. `event`: the open
    infrastructure event. At most one more for each, and that."""
    known = {one.id: one for one in newest}
    wanted = [event] if event else []
    wanted += [str(above) for one in newest if (above := one.data.get("explainedBy"))]
    for id in dict.fromkeys(wanted):
        if id not in known and (root := await store.incident(id)) is not None:
            known[id] = root
    return sorted(known.values(), key=lambda one: (one.closed is not None, bool(one.data.get("explainedBy"))))


def _event(one: Event) -> EventView:
    return EventView(
        id=one.id,
        channel=one.channel,
        type=one.type,
        subject=one.subject,
        data=dict(one.data),
        timestamp=one.timestamp,
        part=story.part(one.name).value,
    )


def _entries(house: House, event: Event) -> list[EntryView]:
    return [
        EntryView(
            part=one.part.value,
            timestamp=event.timestamp,
            subject=event.subject,
            text=house.clean(one.text),
            evidence=[house.clean(line) for line in one.evidence],
            event=event.id,
        )
        for one in story.tell(event)
    ]


def explained(root: Incident, events: Sequence[Event], under: Sequence[Incident]) -> list[Explained]:
    """`events`: of its story and of those under it, in their order. `under`: the incidents that it explains."""
    is_over = root.closed is not None
    troubles = [
        Explained(
            kind=_KINDS.get(one.kind, "service"), name=one.subject, incident=one.id, what=because.trouble(one, is_over)
        )
        for one in under
    ]
    known = {one.id for one in under}
    elsewhere = {
        event.subject: Explained(kind="service", name=event.subject, incident=event.data.get("outage"), what=what)
        for event in events
        if (what := because.otherwise(event)) and event.data.get("outage") not in known
    }
    troubles += elsewhere.values()
    named = {(one.kind, one.name) for one in troubles}
    waiting = {
        (_ROLES[event.channel], event.subject): what
        for event in events
        if event.channel in _ROLES and (what := because.waiting(event, is_over))
    }
    others = [
        Explained(kind=kind, name=name, incident=None, what=what)
        for (kind, name), what in waiting.items()
        if (kind, name) not in named
    ]
    return [*troubles, *others]


def under(root: Incident, around: Sequence[Incident]) -> list[Incident]:
    """Also what is under one that stands under it: an agent that died of a service in an infrastructure event."""
    ids, found = {root.id}, list[Incident]()
    while more := [one for one in around if one.data.get("explainedBy") in ids and one.id not in ids]:
        found += more
        ids.update(one.id for one in more)
    return found


OPERATIONS = (list_incidents, explain)
