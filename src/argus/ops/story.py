"""The events of an incident as a story: what was seen, decided, done, what came of it, and who was told. Pure.

Some events say two things at once: that a service is down, and what is decided about it. They have an entry for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from argus.core.events import Event
from argus.ops import story_words as words
from argus.ops.story_evidence import evidence


class Part(StrEnum):
    OBSERVATION = "observation"
    DECISION = "decision"
    ACT = "act"
    OUTCOME = "outcome"
    NOTIFICATION = "notification"
    EXPLAINED = "explained"


@dataclass(frozen=True, slots=True)
class Entry:
    part: Part
    text: str
    evidence: tuple[str, ...] = ()


_LONGEST = 500
Words = Callable[[Mapping[str, Any]], str]
_SEEN, _DECIDED, _DONE, _CAME = Part.OBSERVATION, Part.DECISION, Part.ACT, Part.OUTCOME
_TOLD, _EXPLAINED = Part.NOTIFICATION, Part.EXPLAINED

TABLE: dict[str, tuple[tuple[Part, Words], ...]] = {
    "services:service_down": ((_SEEN, words.down), (_DECIDED, words.verdict)),
    "services:decision_changed": ((_DECIDED, words.verdict),),
    "services:explained_otherwise": ((_EXPLAINED, words.explained_otherwise),),
    "services:service_escalated": ((_DECIDED, words.escalated),),
    "services:restart_started": ((_DONE, words.restart_started),),
    "services:restart_finished": ((_CAME, words.restart_finished),),
    "services:restart_refused": ((_DECIDED, words.refused),),
    "services:restart_waits": ((_DECIDED, words.restart_waits),),
    "services:restart_withdrawn": ((_DECIDED, words.withdrawn),),
    "services:service_recovered": ((_CAME, words.recovered),),
    "services:service_removed": ((_CAME, words.saying("it is not watched any more")),),
    "services:service_flapping": ((_SEEN, words.flapping), (_DECIDED, words.saying("left alone until it has settled"))),
    "services:service_settled": ((_CAME, words.settled),),
    "services:infrastructure_event": ((_SEEN, words.together), (_DECIDED, words.saying(words.NOTHING))),
    "services:infrastructure_event_ended": ((_CAME, words.together_ended),),
    "services:witness_failed": ((_SEEN, words.own_fault), (_DECIDED, words.saying(words.NOTHING))),
    "services:witness_answers": ((_CAME, words.together_ended),),
    "services:service_paused": ((_DECIDED, words.saying("in maintenance")),),
    "services:service_resumed": ((_DECIDED, words.saying("watched as usual")),),
    "services:service_unknown": ((_SEEN, words.detail),),
    "services:state_changed": ((_SEEN, words.detail),),
    "services:certificate_ends_soon": ((_SEEN, words.saying("its certificate ends soon")),),
    "agents:agent_died": ((_SEEN, words.died),),
    "agents:agent_hung": ((_SEEN, words.saying("its process exists and does not run")),),
    "agents:agent_silent": ((_SEEN, words.saying("no heartbeat; its process lives")),),
    "agents:agent_unknown": ((_SEEN, words.saying("no heartbeat, and nobody here can look")),),
    "agents:agent_twin": ((_SEEN, words.saying("another process has this id")),),
    "agents:agent_registered": ((_SEEN, words.saying("heard of for the first time")),),
    "agents:respawn_held_back": ((_DECIDED, words.held),),
    "agents:agent_escalated": ((_DECIDED, words.escalated_agent),),
    "agents:spawn_started": ((_DECIDED, words.respawns), (_DONE, words.spawn_started)),
    "agents:agent_spawned": ((_CAME, words.spawned),),
    "agents:agent_respawned": ((_CAME, words.spawned),),
    "agents:spawn_failed": ((_CAME, words.spawn_failed),),
    "agents:agent_back": ((_CAME, words.saying("it is alive after all")),),
    "agents:agent_removed": ((_CAME, words.removed),),
    "agents:stop_requested": ((_DECIDED, words.saying("it asks to end")),),
    "agents:stop_answered": ((_DECIDED, words.saying("its wish to end was answered")),),
    "agents:stop_started": ((_DONE, words.stop_started),),
    "agents:stop_finished": ((_CAME, words.saying("it was told to end")),),
    "agents:spawn_waits": ((_EXPLAINED, words.waits),),
    "agents:spawn_wait_ended": ((_EXPLAINED, words.waited),),
    "agents:dependency_lost": ((_EXPLAINED, words.needs),),
    "agents:dependency_back": ((_EXPLAINED, words.goes_on),),
    "agents:dependency_wait_ended": ((_EXPLAINED, words.gone),),
    "sessions:dependency_lost": ((_EXPLAINED, words.needs),),
    "sessions:session_prompted": ((_TOLD, words.heard),),
    "sessions:dependency_back": ((_EXPLAINED, words.goes_on),),
    "sessions:dependency_wait_ended": ((_EXPLAINED, words.gone),),
    "resilience:dependency_lost": ((_EXPLAINED, words.needs),),
    "resilience:dependency_back": ((_EXPLAINED, words.goes_on),),
    "resilience:dependency_wait_ended": ((_EXPLAINED, words.gone),),
    "resilience:restart_attempt": (
        (_SEEN, words.container_failed),
        (_DECIDED, words.attempts),
    ),
    "resilience:restart_ordered": ((_DONE, words.starts),),
    "resilience:restart_success": ((_CAME, words.container_well),),
    "resilience:restart_exhausted": ((_SEEN, words.container_failed), (_DECIDED, words.given_up)),
    "resilience:container_failed": ((_SEEN, words.container_failed), (_DECIDED, words.not_restarted)),
    "resilience:container_left_alone": ((_CAME, words.left_alone),),
    "resilience:port_conflict": ((_SEEN, words.port_taken),),
    "notify:notification_sent": ((_TOLD, words.sent),),
    "notify:notification_included": ((_TOLD, words.sent),),
    "notify:notification_delayed": ((_TOLD, words.delayed),),
    "notify:notification_held": ((_TOLD, words.kept),),
}
"""By channel and type. The first is what the event is about; its evidence stands there."""


def part(name: str) -> Part:
    """What an event is in the story of its incident; `name` is its channel and type."""
    known = TABLE.get(name)
    return known[0][0] if known else Part.OBSERVATION


def _line(text: str) -> str:
    """What came from outside cannot forge a line of the story."""
    return " ".join(text.split())[:_LONGEST]


def tell(event: Event) -> list[Entry]:
    said = TABLE.get(event.name)
    if said is None:
        return [Entry(Part.OBSERVATION, event.type.replace("_", " "), evidence(event.data))]
    found = [Entry(part, text) for part, make in said if (text := _line(make(event.data)))]
    return [Entry(found[0].part, found[0].text, evidence(event.data)), *found[1:]] if found else []
