"""Operations on sessions: what they are doing, how full they are, and handing their work on."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Any, Literal

from pydantic import Field

from argus.core.clock import age, rfc3339, stamp
from argus.core.errors import ArgusError, Code
from argus.core.patterns import NO_NUL, PROJECT
from argus.ops.caller import Role, Scope
from argus.ops.house import House
from argus.ops.operation import operation
from argus.ops.owning import folder_of, require_own
from argus.ops.services import Nothing
from argus.ops.snake import IS_NUMBER, FullPath, SnakeAnswer, SnakeAsk
from argus.sessions.bands import MANDATORY, band
from argus.sessions.handoff import Handoff
from argus.sessions.model import WAITING, Activity
from argus.sessions.session import Place
from argus.sessions.settings import handoffs_problem
from argus.sessions.signals import words
from argus.sessions.watched import Watched
from argus.typist import Leave

_ROW = 1000
"""Characters of one row of a terminal that are shown."""


Tokens = Annotated[int, Field(ge=0, le=100_000_000), IS_NUMBER]
Window = Annotated[int, Field(ge=1_000, le=100_000_000), IS_NUMBER]


class ProjectNamed(SnakeAsk):
    project: str = Field(pattern=PROJECT, description="The project's name")


class SessionAsk(ProjectNamed):
    session_type: Literal["cli", "sdk"] = Field(default="cli", description="In tmux, or where nobody can type")
    session_id: str = Field(default="", max_length=100, pattern=NO_NUL, description="The tmux session; else PROJECT-ps")
    path: FullPath = Field(default="", description="The project's folder, in full")
    agent: Literal["claude", "codex", "plain"] = Field(default="claude", description="What runs there")
    handoffs: str = Field(default=".bmad/handoffs", min_length=1, max_length=1000, pattern=NO_NUL)
    context_window: Window = Field(default=200_000)


class ContextAsk(ProjectNamed):
    used: Tokens | None = Field(default=None, description="Tokens; left out: only read")
    total: Window = Field(default=200_000, description="The whole window")


class TellAsk(ProjectNamed):
    text: str = Field(min_length=1, max_length=65_536, pattern=NO_NUL, description="What is typed, as it is")


class TellView(SnakeAnswer):
    typed: bool
    certain: bool = Field(description="false: it may be there; look before it is typed again")
    reason: str


class AdmissionAsk(ProjectNamed):
    size: Literal["tiny", "small", "large"] = Field(default="small", description="Of the work that is to be begun")


class HandoffView(SnakeAnswer):
    id: str
    step: str = Field(description="asking, writing, clearing, resuming, done or failed")
    path: str
    since: str
    reason: str


class PromptView(SnakeAnswer):
    """A question for leave as it stands open in the session's terminal."""

    id: str = Field(description="Names these very words; to answer it, say which one was seen")
    question: str
    text: str = Field(description="All that it says, row by row")
    choices: list[str]
    can_allow: bool = Field(description="Whether Argus can answer with a plain yes, for this once")
    can_deny: bool


class SessionView(SnakeAnswer):
    """One session as it stands, with how that is known."""

    project: str
    session_type: str
    session_id: str
    agent: str
    path: str
    state: str = Field(
        description="working, waiting_for_permission, waiting_for_input, rate_limited, idle, stalled, dead or unknown"
    )
    since: str
    because: str
    source: str | None = Field(description="Where that is known from")
    age_seconds: float | None
    tool: str
    question: str
    prompt: PromptView | None = Field(description="The question for leave that stands open, if it can be read")
    resets_at: str | None
    subagents: int
    context_usage: float | None = Field(description="From 0 to 1")
    context_used: int | None
    context_total: int
    context_source: str | None
    context_age_seconds: float | None
    band: str
    predicted_handoff: str | None = Field(description="When it will be at 85 %, as it grows now")
    handoff: HandoffView | None
    started_at: str
    last_activity: str
    waits_for: list[str] = Field(description="What its work needs and is down, or has not settled since")
    needs_you: bool


class SessionContextView(SnakeAnswer):
    """How full one session is. To a token that can only report, all but the first two is null."""

    project: str
    taken: bool = Field(description="Whether a reading was taken; false: it was only shown")
    context_usage: float | None = Field(default=None, description="From 0 to 1")
    context_used: int | None = None
    context_total: int | None = None
    context_source: str | None = None
    context_age_seconds: float | None = None
    band: str | None = None


class SessionList(SnakeAnswer):
    sessions: list[SessionView]
    needs_you: list[str] = Field(description="Projects in which somebody is waited for")


class AdmissionView(SnakeAnswer):
    accept: bool
    band: str
    reason: str


def _handoff(house: House, one: Handoff | None) -> HandoffView | None:
    if one is None:
        return None
    reason = house.clean(one.reason)
    return HandoffView(id=one.id, step=one.step.value, path=one.path, since=rfc3339(one.since.wall), reason=reason)


def _prompt(house: House, watched: Watched) -> PromptView | None:
    one = watched.dialog
    if one is None:
        return None
    return PromptView(
        id=watched.name_of(one.id),
        question=house.clean(words(one.question)),
        text=house.clean("\n".join(words(row, _ROW) for row in one.text.split("\n"))),
        choices=[house.clean(words(f"{number}. {label}")) for number, label in one.choices],
        can_allow=one.may(Leave.ALLOW),
        can_deny=one.may(Leave.DENY),
    )


def view(house: House, one: Watched) -> SessionView:
    session, standing, clean = one.session, one.standing, house.clean
    now, context = stamp(house.clock), session.context
    until = one.until_full(now)
    limit = standing.resets_at if session.state is Activity.RATE_LIMITED else None
    return SessionView(
        project=session.project,
        session_type=session.place.type,
        session_id=session.place.session,
        agent=session.place.agent,
        path=session.place.folder,
        state=session.state.value,
        since=rfc3339(session.since),
        because=clean(standing.because),
        source=standing.source.value if standing.source else None,
        age_seconds=round(standing.age, 1) if standing.age is not None else None,
        tool=clean(standing.tool),
        question=clean(standing.question),
        prompt=_prompt(house, one),
        resets_at=rfc3339(limit) if limit else None,
        subagents=standing.subagents,
        context_usage=round(context.share, 4) if context else None,
        context_used=context.used if context else None,
        context_total=context.total if context else session.place.window,
        context_source=context.source.value if context else None,
        context_age_seconds=round(age(context.at, now), 1) if context else None,
        band=band(session.share).value,
        predicted_handoff=rfc3339(now.wall + until) if until is not None and session.share else None,
        handoff=_handoff(house, session.handoff),
        started_at=rfc3339(session.started.wall),
        last_activity=rfc3339(session.active.wall),
        waits_for=house.graph.waits_for(f"session:{session.project}", house.sessions.needs(session.project)),
        needs_you=needs_you(one),
    )


def needs_you(one: Watched) -> bool:
    failed = one.session.handoff is not None and one.session.failures > 0 and (one.session.share or 0) > MANDATORY
    endless = one.standing.state is Activity.RATE_LIMITED and one.standing.resets_at is None
    return one.session.state in (*WAITING, Activity.STALLED, Activity.DEAD) or failed or endless


def _real(path: str) -> str:
    return os.path.realpath(path) if path else ""


KNOWN = (Code.NOT_FOUND, Code.STORE_UNAVAILABLE)


@operation("sessions.list", "GET /api/sessions", verb="sessions list", tool="argus_sessions", read_only=True)
async def list_sessions(house: House, ask: Nothing) -> SessionList:
    """Lists the sessions: what each is doing and how that is known, how full its context is, its handoff.

    Changes nothing. `needs_you` names those in which a person is waited for.
    """
    return _listed(house)


def _listed(house: House) -> SessionList:
    found = [view(house, one) for one in house.sessions.all]
    return SessionList(sessions=found, needs_you=[one.project for one in found if one.needs_you])


@operation(
    "sessions.add", "POST /api/sessions", verb="sessions add", places=("project",), status=201, scope=Scope.ASK,
    errors=(Code.CONFLICT, Code.FORBIDDEN, Code.STORE_UNAVAILABLE),
)  # fmt: skip
async def add(house: House, ask: SessionAsk) -> SessionView:
    """Registers a session that is not in argus.yaml: in tmux, or one that nobody can type into (sdk)."""
    require_own(house, ask.project, ask.path)
    if ask.session_type == "cli" and not ask.path:
        raise ArgusError(Code.INVALID_REQUEST, "a session in tmux needs the project's `path`", project=ask.project)
    if ask.session_type == "cli" and not await asyncio.to_thread(os.path.isdir, ask.path):
        raise ArgusError(Code.INVALID_REQUEST, f"there is no folder {ask.path} on this machine", path=ask.path)
    problem = handoffs_problem(_real(ask.path), ask.handoffs)
    if problem:
        raise ArgusError(Code.INVALID_REQUEST, f"handoffs: {problem}", handoffs=ask.handoffs)
    place = Place(
        ask.project,
        ask.session_type,
        ask.session_id or f"{ask.project}-ps",
        _real(ask.path),
        ask.agent,
        ask.handoffs,
        ask.context_window,
    )
    return view(house, await house.sessions.add(place, house.by))


@operation("sessions.get", "GET /api/sessions/{project}", read_only=True, errors=(Code.NOT_FOUND,))
async def get(house: House, ask: ProjectNamed) -> SessionView:
    """Shows one session."""
    return view(house, house.sessions.find(ask.project))


@operation("sessions.remove", "DELETE /api/sessions/{project}", verb="sessions remove", errors=(*KNOWN, Code.CONFLICT))
async def remove(house: House, ask: ProjectNamed) -> SessionList:
    """Forgets a session that was registered. What runs in it is left alone."""
    await house.sessions.remove(ask.project, house.by)
    return _listed(house)


@operation(
    "sessions.context", "POST /api/sessions/{project}/context", verb="sessions context",
    tool="argus_report_context", scope=Scope.REPORT, idempotent=True,
    errors=(*KNOWN, Code.FORBIDDEN),
)  # fmt: skip
async def context(house: House, ask: ContextAsk) -> SessionContextView:
    """Takes a reading of a session's context, from itself or somebody who knows; without `used` shows the last one.

    Changes what Argus knows of that session, and with it when its work is handed on: above 85 % a handoff comes. Report
    it when your program tells you how many tokens are used. A token that can only report is told that it was taken, and
    nothing of the session. NOT_FOUND: no session of that project is known, `sessions` lists them. FORBIDDEN: an agent
    speaks for its own project.
    """
    only_reports = house.caller.role is Role.REPORT
    if ask.used is None:
        house.caller.require(Scope.READ)
    folder = folder_of(house, ask.project)
    if only_reports and folder is None:
        raise ArgusError(Code.NOT_FOUND, f"there is no session of a project {ask.project!r}", project=ask.project)
    known = house.sessions.find(ask.project)
    if not only_reports:
        require_own(house, ask.project, known.session.place.folder)
    if ask.used is not None:
        if ask.used > 2 * ask.total:
            raise ArgusError(Code.INVALID_REQUEST, f"{ask.used} of {ask.total} tokens cannot be", used=ask.used)
        known = await house.sessions.report_context(ask.project, ask.used, ask.total)
    if only_reports:
        return SessionContextView(project=ask.project, taken=True)
    shown = view(house, known)
    said = {name: getattr(shown, name) for name in SessionContextView.model_fields if name != "taken"}
    return SessionContextView(taken=ask.used is not None, **said)


@operation(
    "sessions.handoff", "POST /api/sessions/{project}/handoff", verb="sessions handoff", status=202,
    errors=(*KNOWN, Code.CONFLICT, Code.INVALID_STATE, Code.FORBIDDEN),
)  # fmt: skip
async def handoff(house: House, ask: ProjectNamed) -> SessionView:
    """Hands a session's work on now: asks for the document, waits for it, clears, resumes. Returns once it is begun.

    Without the complete document nothing is cleared.
    """
    return view(house, await house.sessions.hand_off(ask.project, house.by))


@operation(
    "sessions.tell", "POST /api/sessions/{project}/tell", verb="sessions tell", places=("text",),
    errors=(*KNOWN, Code.PANE_NOT_READY, Code.PANE_NOT_FOUND, Code.INVALID_STATE, Code.INVALID_REQUEST),
)  # fmt: skip
async def tell(house: House, ask: TellAsk) -> TellView:
    """Types a message into a session and submits it, once.

    Never into a pane that is not the agent's, over a half-typed line or into an open dialog: then PANE_NOT_READY.
    """
    done = await house.sessions.tell(ask.project, ask.text)
    return TellView(typed=done.typed, certain=done.certain, reason=done.reason)


@operation(
    "sessions.admission", "GET /api/sessions/{project}/admission", tool="argus_admission", read_only=True,
    errors=(Code.NOT_FOUND,),
)  # fmt: skip
async def admission(house: House, ask: AdmissionAsk) -> AdmissionView:
    """Says whether work of this size may be begun in a session, by how full its context is.

    Changes nothing. Ask before a large task: above 85 % a handoff comes first. `accept: false` says why in `reason`: do
    something smaller, or let the work be handed on.
    """
    found = house.sessions.admission(ask.project, ask.size)
    return AdmissionView(accept=found.accept, band=found.band.value, reason=found.reason)


OPERATIONS: tuple[Any, ...] = (list_sessions, add, get, remove, context, handoff, tell, admission)
