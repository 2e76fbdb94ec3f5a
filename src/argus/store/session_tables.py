"""The tables of sessions, spawns and the audit trail: their SQL, once for both stores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from argus.core.redact import Redactor
from argus.store import records, rows
from argus.store.dialects import Statement
from argus.store.records import HealthCheck, SessionRow, SpawnRow

_SESSION = (
    "project, session_type, session_id, started_at, last_activity, last_context_check, context_usage, "
    "estimated_tokens_used, data"
)
_SPAWN = "id, project, task_id, task_type, description, spawn_time, last_output_change, output_file, status, data"
_CHECK = "id, project, told(check_time), check_type, status, details, action_taken"
_GOES_ON = "('running', 'stalled')"


def write(write: records.SessionWrite, redactor: Redactor) -> Statement:
    match write:
        case records.PutSession(row):
            return _put_session(row, redactor)
        case records.RemoveSession(project):
            return "DELETE FROM argus.ps_sessions WHERE project = $1", (rows.plain(project),)
        case records.PutSpawn(row):
            return _put_spawn(row, redactor)
        case records.AddHealthCheck(row):
            return _add_check(row, redactor)


def _put_session(row: SessionRow, redactor: Redactor) -> Statement:
    return (
        f"INSERT INTO argus.ps_sessions ({_SESSION}) "  # noqa: S608
        "VALUES ($1, $2, $3, time($4), time($5), time($6), $7, $8, $9) "
        "ON CONFLICT (project) DO UPDATE SET session_type = excluded.session_type, session_id = excluded.session_id, "
        "started_at = excluded.started_at, last_activity = excluded.last_activity, "
        "last_context_check = excluded.last_context_check, context_usage = excluded.context_usage, "
        "estimated_tokens_used = excluded.estimated_tokens_used, data = excluded.data",
        (
            rows.plain(row.project),
            rows.plain(row.session_type),
            rows.plain(redactor.text(row.session_id)),
            row.started_at,
            row.last_activity,
            row.last_context_check,
            row.context_usage,
            row.estimated_tokens_used,
            rows.encoded(row.data),
        ),
    )


def _put_spawn(row: SpawnRow, redactor: Redactor) -> Statement:
    return (
        f"INSERT INTO argus.active_spawns ({_SPAWN}) "  # noqa: S608
        "VALUES ($1, $2, $3, $4, $5, time($6), time($7), $8, $9, $10) "
        "ON CONFLICT (id) DO UPDATE SET task_type = excluded.task_type, description = excluded.description, "
        "spawn_time = excluded.spawn_time, last_output_change = excluded.last_output_change, "
        "output_file = excluded.output_file, status = excluded.status, data = excluded.data",
        (
            row.id,
            rows.plain(row.project),
            rows.plain(row.task_id),
            rows.plain(row.task_type),
            rows.plain(redactor.text(row.description)),
            row.spawn_time,
            row.last_output_change,
            rows.plain(row.output_file),
            rows.plain(row.status),
            rows.encoded(row.data),
        ),
    )


def _add_check(row: HealthCheck, redactor: Redactor) -> Statement:
    return (
        "INSERT INTO argus.health_checks (project, check_time, check_type, status, details, action_taken) "
        "VALUES ($1, time($2), $3, $4, $5::text::jsonb, $6)",
        (
            rows.plain(row.project),
            row.check_time,
            rows.plain(row.check_type),
            rows.plain(row.status),
            rows.encoded(_sound(redactor.value(row.details))),
            rows.plain(redactor.text(row.action_taken)),
        ),
    )


def _sound(value: Any) -> Any:
    """PostgreSQL's JSON holds neither NUL nor half a character."""
    if isinstance(value, str):
        return rows.plain(value)
    if isinstance(value, Mapping):
        return {rows.plain(str(key)): _sound(one) for key, one in value.items()}
    return [_sound(one) for one in value] if isinstance(value, list | tuple) else value


SESSIONS: Statement = "SELECT data FROM argus.ps_sessions ORDER BY id", ()


def spawns(limit: int, *, open_only: bool) -> Statement:
    """The newest, oldest first is for who reads them."""
    only = f"WHERE status IN {_GOES_ON} " if open_only else ""
    return f"SELECT data FROM argus.active_spawns {only}ORDER BY id DESC LIMIT $1", (limit,)  # noqa: S608


def checks(
    *, project: str | None, type: str | None, status: str | None, since: float, limit: int, before: int | None
) -> Statement:
    return (
        f"SELECT {_CHECK} FROM argus.health_checks WHERE ($1::text IS NULL OR project = $1::text) "  # noqa: S608
        "AND ($2::text IS NULL OR check_type = $2::text) AND ($3::text IS NULL OR status = $3::text) "
        "AND check_time >= time($4) AND id < $5 ORDER BY id DESC LIMIT $6",
        (project, type, status, since, before if before is not None else (1 << 31) - 1, limit),
    )


def data(found: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    return [json.loads(row[0]) for row in found]


def check(row: Sequence[Any]) -> HealthCheck:
    id, project, at, type, status, details, action = row
    when = datetime.strptime(at, "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC).timestamp()
    return HealthCheck(project, type, status, json.loads(details), action, when, id)
