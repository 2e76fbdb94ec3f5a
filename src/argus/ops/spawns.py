"""Operations on spawns, the work that sessions gave away; and the audit trail of all of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from argus.core import units
from argus.core.clock import rfc3339
from argus.core.errors import ArgusError, Code
from argus.core.patterns import AGO, NO_NUL, PROJECT
from argus.ops.caller import Role, Scope
from argus.ops.house import House
from argus.ops.operation import operation
from argus.ops.owning import folder_of, own_folder, owns
from argus.ops.snake import IS_NUMBER, FullPath, SnakeAnswer, SnakeAsk
from argus.sessions.spawning import Rate
from argus.sessions.spawns import Spawn, Status

_REACH = 10_000
"""How far back an agent's own are looked for among those of others."""


Exit = Annotated[int, Field(ge=-255, le=255), IS_NUMBER]


class SpawnsAsk(SnakeAsk):
    limit: int = Field(default=100, ge=1, le=1000, description="The newest")


class SpawnedAsk(SnakeAsk):
    project: str = Field(pattern=PROJECT, description="Whose session gave it away")
    task_id: str = Field(min_length=1, max_length=100, pattern=NO_NUL, description="What the project calls it")
    task_type: str = Field(default="", max_length=50, pattern=NO_NUL, description="For success rates")
    description: str = Field(default="", max_length=4000, pattern=NO_NUL, description="What it is to do")
    output_file: FullPath = Field(default="", description="Where it writes, in full")


class SpawnNamed(SnakeAsk):
    id: int = Field(ge=1, le=2**31 - 1, description="The spawn's number")


class SpawnPatch(SpawnNamed):
    status: Literal["running", "failed", "abandoned", "completed"] = Field(description="What became of it")
    exit_code: Exit | None = Field(default=None, description="Of its process")
    error: str = Field(default="", max_length=2000, pattern=NO_NUL, description="Why it failed")


class FailAsk(SpawnNamed):
    error: str = Field(default="", max_length=2000, pattern=NO_NUL, description="Why it failed")
    exit_code: Exit | None = Field(default=None, description="Of its process")


class SpawnView(SnakeAnswer):
    id: int
    project: str
    task_id: str
    task_type: str
    description: str
    status: str = Field(description="running, stalled, failed, abandoned or completed")
    reason: str
    spawn_time: str
    last_output_change: str | None
    output_file: str
    exit_code: int | None
    error: str
    ended: str | None
    warning: str = Field(description="Why nobody would be told of it; empty: its session is")


class RateView(SnakeAnswer):
    project: str
    task_type: str
    completed: int
    failed: int
    running: int
    success_rate: float | None


class SpawnList(SnakeAnswer):
    spawns: list[SpawnView]
    success_rates: list[RateView]


class AuditAsk(SnakeAsk):
    project: str | None = Field(default=None, max_length=50, pattern=NO_NUL, description="Only of this project")
    type: Literal["spawn", "context", "handoff", "orphaned_work"] | None = Field(default=None, description="Only these")
    status: Literal["ok", "warning", "critical"] | None = Field(default=None, description="Only these")
    since: str | None = Field(default=None, pattern=AGO, description='Only of the last, such as "24h"')
    limit: int = Field(default=100, ge=1, le=1000, description="How many, the newest first")
    before: int | None = Field(default=None, ge=1, le=2**31 - 1, description="Where the page before ended")


class CheckRow(SnakeAnswer):
    id: int
    project: str
    check_time: str
    check_type: str
    status: str
    details: dict[str, Any]
    action_taken: str


class AuditView(SnakeAnswer):
    checks: list[CheckRow]
    next: int | None = Field(description="`before` of the next page")


def _view(house: House, one: Spawn) -> SpawnView:
    return SpawnView(
        id=one.id,
        project=one.project,
        task_id=house.clean(one.task_id),
        task_type=one.task_type,
        description=house.clean(one.description),
        status=one.status.value,
        reason=house.clean(one.reason),
        spawn_time=rfc3339(one.began.wall),
        last_output_change=rfc3339(one.changed.wall) if one.mark else None,
        output_file=one.output_file,
        exit_code=one.exit_code,
        error=house.clean(one.error),
        ended=rfc3339(one.ended) if one.ended is not None else None,
        warning=_warning(house, one.project) if one.status.goes_on else "",
    )


def _warning(house: House, project: str) -> str:
    """Work may be given away before its session is known, so it is taken. A name that was misspelt looks the same."""
    if folder_of(house, project) is not None:
        return ""
    known = ", ".join(one.session.project for one in house.sessions.all) or "none"
    return f"there is no session of a project {project!r} that could be told of it; there are: {known}"


def _rate(one: Rate) -> RateView:
    return RateView(
        project=one.project, task_type=one.task_type, completed=one.completed, failed=one.failed, running=one.running,
        success_rate=one.success,
    )  # fmt: skip


_CHANGES = (Code.NOT_FOUND, Code.CONFLICT, Code.FORBIDDEN, Code.STORE_UNAVAILABLE)


def _is_own(house: House, project: str) -> bool:
    return owns(house, project, folder_of(house, project))


def _require_own(house: House, project: str) -> None:
    if not _is_own(house, project):
        raise ArgusError(Code.FORBIDDEN, "an agent speaks for the spawns of its own project", project=project)


async def _known(house: House, id: int) -> Spawn:
    """A spawn that the caller may speak for."""
    found = await house.sessions.spawns.find(id)
    _require_own(house, found.project)
    return found


@operation("spawns.list", "GET /api/spawns", verb="spawns list", tool="argus_spawns", read_only=True)
async def list_spawns(house: House, ask: SpawnsAsk) -> SpawnList:
    """Lists the work that sessions gave away, newest first, with success rates by project and kind of task.

    Changes nothing. An agent sees what is its own project's. `status` and `reason` say what became of each.
    """
    spawns = house.sessions.spawns
    reach = ask.limit if house.caller.role is Role.ROOT else _REACH
    mine = [one for one in await spawns.all(reach) if _is_own(house, one.project)]
    found = [_view(house, one) for one in mine[: ask.limit]]
    rates = [_rate(one) for one in await spawns.rates() if _is_own(house, one.project)]
    return SpawnList(spawns=found, success_rates=rates)


@operation(
    "spawns.add", "POST /api/spawns", verb="spawns add", places=("project", "task_id"), tool="argus_register_spawn",
    status=201, scope=Scope.ASK, errors=(Code.CONFLICT, Code.FORBIDDEN, Code.STORE_UNAVAILABLE),
)  # fmt: skip
async def add(house: House, ask: SpawnedAsk) -> SpawnView:
    """Registers work that a session gave away, so that it is noticed when it stalls or fails.

    Changes nothing but the record. It is judged by its output file: silent for 15 minutes it is stalled, for 30 given
    up, and the session is told once. Keep the `id` of the answer for `update`. `warning` says when nobody would be
    told. CONFLICT: that task is registered and goes on. FORBIDDEN: an agent speaks for its own project.
    """
    _require_own(house, ask.project)
    made = await house.sessions.spawns.add(
        ask.project,
        ask.task_id,
        task_type=ask.task_type,
        description=ask.description,
        output_file=ask.output_file,
        by=house.by,
        folder=own_folder(house),
    )
    return _view(house, made)


@operation("spawns.update", "PATCH /api/spawns/{id}", tool="argus_update_spawn", scope=Scope.ASK, errors=_CHANGES)
async def update(house: House, ask: SpawnPatch) -> SpawnView:
    """Says what became of a spawn: completed, failed (with exit code and error), abandoned, or running again.

    Changes nothing but the record; of one that failed its session is told. Call it as soon as you know. NOT_FOUND:
    there is no spawn of that number. CONFLICT: it has ended already.
    """
    status, known = Status(ask.status), await _known(house, ask.id)
    if status is Status.COMPLETED and ask.exit_code:
        raise ArgusError(Code.INVALID_REQUEST, f"completed with exit code {ask.exit_code}: say failed", spawn=known.id)
    return _view(house, await house.sessions.spawns.update(ask.id, status, ask.exit_code, ask.error, house.by))


@operation("spawns.done", "POST /api/spawns/{id}/done", verb="spawns done", scope=Scope.ASK, errors=_CHANGES)
async def done(house: House, ask: SpawnNamed) -> SpawnView:
    """Says that a spawn has done its work."""
    await _known(house, ask.id)
    return _view(house, await house.sessions.spawns.update(ask.id, Status.COMPLETED, None, "", house.by))


@operation("spawns.fail", "POST /api/spawns/{id}/fail", verb="spawns fail", scope=Scope.ASK, errors=_CHANGES)
async def fail(house: House, ask: FailAsk) -> SpawnView:
    """Says that a spawn failed; its session is told."""
    await _known(house, ask.id)
    return _view(house, await house.sessions.spawns.update(ask.id, Status.FAILED, ask.exit_code, ask.error, house.by))


@operation("audit", "GET /api/audit", verb="audit", tool="argus_audit", read_only=True)
async def audit(house: House, ask: AuditAsk) -> AuditView:
    """Shows every check, prompt, reply and act on sessions and spawns, the newest first.

    Changes nothing. Look here to see why something was or was not done. `next` is the `before` of the next page.
    """
    since = house.clock.wall() - units.duration(ask.since) if ask.since else 0.0
    found = await house.store.health_checks(
        project=ask.project, type=ask.type, status=ask.status, since=since, limit=ask.limit, before=ask.before
    )
    rows = [
        CheckRow(
            id=one.id,
            project=one.project,
            check_time=rfc3339(one.check_time),
            check_type=one.check_type,
            status=one.status,
            details=dict(one.details),
            action_taken=one.action_taken,
        )
        for one in found
    ]
    return AuditView(checks=rows, next=found[-1].id if len(found) == ask.limit else None)


OPERATIONS: tuple[Any, ...] = (list_spawns, add, update, done, fail, audit)
