"""The journal's words for what happens to sessions, and the rows of their audit trail. Names are fixed."""

from __future__ import annotations

from typing import Any, Final

from argus.core.clock import rfc3339
from argus.core.cutting import beginning
from argus.core.events import Draft
from argus.sessions.bands import Band, band
from argus.sessions.handoff import Handoff
from argus.sessions.model import Activity, Standing
from argus.sessions.session import Session
from argus.sessions.spawns import Spawn, Status
from argus.store.records import AddHealthCheck, HealthCheck

CHANNEL: Final = "sessions"
_WORST = {
    Status.RUNNING: "ok",
    Status.COMPLETED: "ok",
    Status.STALLED: "warning",
    Status.FAILED: "critical",
    Status.ABANDONED: "critical",
}
_BY_BAND = {Band.TINY: "warning", Band.FULL: "critical"}


def _draft(type: str, project: str, **data: Any) -> Draft:
    return Draft(CHANNEL, type, project, {"project": project, **data})


def registered(session: Session, by: str) -> Draft:
    place = session.place
    return _draft("session_registered", place.project, session_type=place.type, session_id=place.session, by=by)


def removed(project: str, by: str) -> Draft:
    return _draft("session_removed", project, by=by)


def moved(session: Session, before: Activity, standing: Standing) -> Draft:
    return _draft(
        "session_state_changed",
        session.project,
        **{"from": before.value},
        to=session.state.value,
        because=standing.because,
        source=standing.source.value if standing.source else None,
        tool=standing.tool,
        question=standing.question,
        resets_at=rfc3339(standing.resets_at) if standing.resets_at else None,
    )


def needs_you(session: Session, standing: Standing) -> Draft:
    what = standing.state.value
    return _draft(
        "session_needs_you", session.project, state=what, question=standing.question, tool=standing.tool,
        session_id=session.place.session,
    )  # fmt: skip


def context_rose(session: Session, found: Band) -> Draft:
    usage = round(session.share or 0.0, 4)
    source = session.context.source.value if session.context else None
    return _draft("context_band_changed", session.project, context_usage=usage, band=found.value, source=source)


def handoff(type: str, session: Session, one: Handoff, **more: Any) -> Draft:
    return _draft(type, session.project, handoff=one.id, step=one.step.value, path=one.path, **more)


def handoff_held_back(session: Session, gate: str, autonomy: str) -> Draft:
    usage = round(session.share or 0.0, 4)
    return _draft("handoff_held_back", session.project, context_usage=usage, gate=gate, autonomy=autonomy)


def prompted(project: str, what: str, text: str, outcome: str, reason: str, incident: str = "") -> Draft:
    story = {"incident": incident} if incident else {}
    said = beginning(text, 500)
    return _draft("session_prompted", project, what=what, text=said, outcome=outcome, reason=reason, **story)


def answered(project: str, said: dict[str, Any], outcome: str, reason: str) -> Draft:
    return _draft("session_answered", project, **said, outcome=outcome, reason=reason)


def spawn(type: str, one: Spawn, **more: Any) -> Draft:
    return _draft(
        type, one.project, spawn=one.id, task_id=one.task_id, task_type=one.task_type, status=one.status.value,
        reason=one.reason, **more,
    )  # fmt: skip


def row(project: str, type: str, status: str, wall: float, action: str = "", **details: Any) -> AddHealthCheck:
    return AddHealthCheck(HealthCheck(project, type, status, details, action, wall))


def context_row(session: Session, standing: Standing | None, wall: float, action: str = "") -> AddHealthCheck:
    context = session.context
    return row(
        session.project,
        "context",
        _BY_BAND.get(band(session.share), "ok"),
        wall,
        action,
        usage=round(context.share, 4) if context else None,
        used=context.used if context else None,
        total=context.total if context else session.place.window,
        source=context.source.value if context else None,
        band=band(session.share).value,
        state=session.state.value,
        because=standing.because if standing else "",
    )


def spawn_row(one: Spawn, wall: float, action: str = "") -> AddHealthCheck:
    return row(
        one.project, "spawn", _WORST[one.status], wall, action, spawn=one.id, task_id=one.task_id,
        spawn_status=one.status.value, reason=one.reason,
    )  # fmt: skip


def step_row(session: Session, one: Handoff, status: str, wall: float, action: str) -> AddHealthCheck:
    return row(
        session.project, "handoff", status, wall, action, handoff=one.id, step=one.step.value, path=one.path,
        reason=one.reason,
    )  # fmt: skip


def orphaned_row(one: Spawn, state: Activity, wall: float) -> AddHealthCheck:
    return row(
        one.project, "orphaned_work", "warning", wall, "", spawn=one.id, task_id=one.task_id, session=state.value
    )
