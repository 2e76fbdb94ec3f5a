"""The journal's words for what depends on what. Names are fixed: other programs read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from argus.core.clock import rfc3339
from argus.core.depending import Broke
from argus.core.events import Channel, Draft
from argus.graph.model import Dependant, Gone, Role, Told

_CHANNELS: dict[Role, Channel] = {Role.AGENT: "agents", Role.SESSION: "sessions", Role.ENVIRONMENT: "resilience"}
_KEYS = {Role.AGENT: "agent_id", Role.SESSION: "project", Role.ENVIRONMENT: "environment"}


def lost(who: Dependant, roots: Broke, text: str) -> list[Draft]:
    """One for each root: it stands in that one's story."""
    return [
        _draft(
            "dependency_lost",
            who,
            root.incident,
            dependency=root.thing.written,
            since=rfc3339(root.since),
            why=root.why,
            doing=root.doing,
            text=text,
        )
        for root in roots
    ]


def back(
    who: Dependant, told: Told, names: Iterable[str], text: str, is_well: Callable[[str], bool], still: list[str]
) -> list[Draft]:
    """`is_back`: not only needed no longer. `still_waits_for`: what else it was told of, and is down or goes up and
    down."""
    return [
        _draft(
            "dependency_back",
            who,
            str(told.things[name].get("incident", "")),
            dependency=name,
            is_back=is_well(name),
            still_waits_for=still,
            text=text,
        )
        for name in names
    ]


def gone(who: Dependant, told: Told, how: Gone) -> list[Draft]:
    """It is not there any more while it waits: one for each thing, in whose story it stands as waiting."""
    by = {"by": how.by} if how.by else {}
    return [
        _draft("dependency_wait_ended", who, told.incident(name), dependency=name, outcome=how.outcome, **by)
        for name in told.things
    ]


def _draft(type: str, who: Dependant, incident: str, **data: Any) -> Draft:
    known = {_KEYS[who.role]: who.name}
    story = {"incident": incident} if incident else {}
    return Draft(_CHANNELS[who.role], type, who.name, {**known, **data, **story})
