"""Sessions, spawns and the audit trail in every store: as Argus goes on with them, and as people ask for them."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from argus.core.redact import MASK, Redactor
from argus.store.interface import Store
from argus.store.postgres import PostgresStore
from argus.store.records import (
    AddHealthCheck,
    HealthCheck,
    PruneHealthChecks,
    PruneSpawns,
    PutSession,
    PutSpawn,
    RemoveSession,
    SessionRow,
    SpawnRow,
)
from argus.store.sqlite import SqliteStore

SECRET = "canary-of-this-installation"
NOON = 1_790_000_000.25


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("database")) if request.param == "postgres" else ""


@pytest.fixture
async def store(url: str, tmp_path: Path) -> AsyncIterator[Store]:
    redactor = Redactor()
    redactor.learn(SECRET)
    opened: Store
    if url:
        opened = await PostgresStore.open(url, redactor=redactor)
    else:
        opened = SqliteStore(tmp_path / "argus.db", redactor=redactor)
    yield opened
    await opened.close()


def session(project: str = "shop", **more: Any) -> SessionRow:
    return SessionRow(
        project, "cli", f"{project}-ps", NOON, NOON + 1, data={"project": project, "odd": "\x00\ud800"}, **more
    )


def spawn(id: int, status: str = "running", at: float = NOON) -> SpawnRow:
    return SpawnRow(id, "shop", f"T-{id}", status, at, data={"id": id, "status": status})


def check(project: str = "shop", status: str = "ok", at: float = NOON, **details: Any) -> AddHealthCheck:
    return AddHealthCheck(HealthCheck(project, "context", status, details, "asked", at))


async def test_a_session_is_put_replaced_and_removed(store: Store):
    await store.commit(PutSession(session()), PutSession(session("other", context_usage=0.5)))
    await store.commit(PutSession(session(context_usage=0.316, estimated_tokens_used=63_153, last_context_check=NOON)))
    assert [one["project"] for one in await store.sessions()] == ["shop", "other"]
    assert (await store.sessions())[0]["odd"] == "\x00\ud800", "as it was"
    await store.commit(RemoveSession("shop"), RemoveSession("nobody"))
    assert [one["project"] for one in await store.sessions()] == ["other"]


async def test_spawns_come_newest_first_and_those_that_are_over_stay_out_when_asked(store: Store):
    await store.commit(*(PutSpawn(spawn(n)) for n in (1, 2, 3)))
    await store.commit(PutSpawn(spawn(2, "completed")), PutSpawn(spawn(3, "stalled")))
    assert [one["id"] for one in await store.spawns()] == [3, 2, 1]
    assert [(one["id"], one["status"]) for one in await store.spawns(open_only=True)] == [
        (3, "stalled"),
        (1, "running"),
    ]
    assert [one["id"] for one in await store.spawns(limit=1)] == [3]


async def test_the_audit_trail_is_asked_by_project_type_status_and_time_and_pages(store: Store):
    await store.commit(check(), check(status="warning", usage=0.7), check("other"), check(at=NOON + 60, secret=SECRET))
    found = await store.health_checks(project="shop")
    assert [(one.status, one.check_time) for one in found] == [("ok", NOON + 60), ("warning", NOON), ("ok", NOON)]
    assert found[0].details == {"secret": MASK}
    assert [one.details for one in await store.health_checks(status="warning")] == [{"usage": 0.7}]
    assert await store.health_checks(type="spawn") == []
    assert [one.check_time for one in await store.health_checks(since=NOON + 30)] == [NOON + 60]
    assert [one.id for one in await store.health_checks(project="shop", before=found[0].id)] == [
        one.id for one in found[1:]
    ]
    assert len(await store.health_checks(limit=2)) == 2


async def test_what_no_column_could_hold_is_kept_as_near_as_it_can(store: Store):
    row = HealthCheck("sh\x00op", "spawn", "ok", {"a\x00": ["\ud800", {"b": "\x00"}]}, "half \ud800", NOON)
    await store.commit(AddHealthCheck(row))
    (found,) = await store.health_checks()
    assert (found.project, found.details, found.action_taken) == ("sh?op", {"a?": ["?", {"b": "?"}]}, "half ?")


async def test_what_is_old_goes_and_what_goes_on_stays(store: Store):
    await store.commit(*(check(at=NOON + n) for n in range(6)))
    await store.commit(*(PutSpawn(spawn(n, "completed", NOON + n)) for n in range(1, 6)), PutSpawn(spawn(6, at=NOON)))
    pruned = await store.prune(PruneHealthChecks(NOON + 4, keep=1, most=100))
    assert (pruned.rows, len(await store.health_checks())) == (4, 2)
    await store.prune(PruneHealthChecks(0, keep=1, most=1))
    assert len(await store.health_checks()) == 1
    pruned = await store.prune(PruneSpawns(NOON + 100, keep=2, most=100))
    assert pruned.rows == 4
    assert [one["id"] for one in await store.spawns()] == [6, 5]
    await store.commit(*(PutSpawn(spawn(n, at=NOON)) for n in range(7, 12)))
    await store.prune(PruneSpawns(NOON + 100, keep=2, most=2))
    assert [one["id"] for one in await store.spawns()] == [11, 10, 9, 8, 7, 6], "what runs is never taken away"


@pytest.mark.req("PS-09")
async def test_people_ask_sqlite_in_the_words_of_the_source(tmp_path: Path):
    opened = SqliteStore(tmp_path / "argus.db")
    db = sqlite3.connect(tmp_path / "argus.db")
    try:
        await opened.commit(PutSession(session(context_usage=0.75)), check(status="warning"), PutSpawn(spawn(1)))
        assert len(db.execute("SELECT * FROM health_checks WHERE status = 'warning'").fetchall()) == 1
        high = db.execute("SELECT project, started_at FROM ps_sessions WHERE context_usage > 0.7").fetchall()
        assert high == [("shop", "2026-09-21 14:13:20.250")]
        since = "SELECT task_id FROM active_spawns WHERE spawn_time > datetime('now', '-99 years')"
        assert db.execute(since).fetchall() == [("T-1",)]
    finally:
        db.close()
        await opened.close()


@pytest.mark.req("PS-09")
async def test_people_ask_postgresql_in_the_words_of_the_source(database: str):
    opened = await PostgresStore.open(database)
    db = await asyncpg.connect(database)
    await db.execute("SET search_path = public")  # a person's, whose name is not that of the schema
    try:
        await opened.commit(PutSession(session()), check(status="warning", usage=0.75), PutSpawn(spawn(1)))
        assert len(await db.fetch("SELECT * FROM health_checks WHERE status = 'warning'")) == 1
        assert await db.fetchval("SELECT details->>'usage' FROM health_checks") == "0.75"
        union = """SELECT DISTINCT project FROM active_spawns WHERE status = 'running'
            UNION SELECT project FROM ps_sessions WHERE last_activity > NOW() - INTERVAL '99 years'"""
        assert [row["project"] for row in await db.fetch(union)] == ["shop"]
        assert (await db.fetchval("SELECT started_at FROM ps_sessions")).timestamp() == NOON
    finally:
        await db.close()
        await opened.close()


async def test_a_database_that_has_such_tables_already_keeps_them(database: str):
    db = await asyncpg.connect(database)
    try:
        await db.execute("CREATE TABLE public.health_checks (mine TEXT)")
        opened = await PostgresStore.open(database)
        await opened.commit(check())
        await opened.close()
        assert await db.fetch("SELECT mine FROM public.health_checks") == []
        assert len(await db.fetch("SELECT * FROM argus.health_checks")) == 1
    finally:
        await db.close()
