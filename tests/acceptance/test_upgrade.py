"""A store that an earlier version of Argus left, opened by the installed one: nothing of what it showed is lost."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from argus.core.clock import SystemClock, stamp
from tests import old_stores
from tests.acceptance.harness import Argus
from tests.old_stores import lived
from tests.postgresql import Server

Rows = dict[str, list[dict[str, Any]]]
LIVES_ON = {"conditions", "settings", "cursors", "documents", "tallies"}
"""Tables whose rows are today's state: what was there is under the same keys, and may have gone on."""


class Kept:
    """Where the old store is, seen past the program."""

    def __init__(self, argus: Argus, kind: str, request: pytest.FixtureRequest) -> None:
        self.kind = kind
        self._path = argus.home / "argus.db"
        self.url = ""
        if kind == "postgres":
            server: Server = request.getfixturevalue("postgres")
            self.url = server.new_database()

    def load(self, text: str) -> None:
        if self.kind == "sqlite":
            self._path.parent.mkdir(mode=0o700)
            old_stores.load_sqlite(self._path, text)
            self._path.chmod(0o600)
        else:
            self._ask(text)

    def rows(self) -> Rows:
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self._path)) as db:
                db.row_factory = sqlite3.Row
                names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                return {name: [dict(row) for row in db.execute(f'SELECT * FROM "{name}"')] for name in names}
        tables = self._ask("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'argus'")
        return {one["name"]: self._ask(f'SELECT * FROM argus."{one["name"]}"') for one in tables}

    def do(self, sql: str) -> None:
        if self.kind == "sqlite":
            with closing(sqlite3.connect(self._path)) as db:
                db.execute(sql)
                db.commit()
        else:
            self._ask(sql.replace("UPDATE ", "UPDATE argus."))

    def _ask(self, sql: str) -> list[dict[str, Any]]:
        import asyncio

        import asyncpg

        async def ask() -> list[dict[str, Any]]:
            db = await asyncpg.connect(self.url)
            try:
                return [dict(row) for row in await db.fetch(sql)] if sql.startswith("SELECT") else await db.execute(sql)
            finally:
                await db.close()

        return asyncio.run(ask())


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, argus: Argus) -> Kept:
    return Kept(argus, request.param, request)


def services() -> list[dict[str, Any]]:
    """Those of then, at times at which nothing happens while a test looks."""
    return [{"name": name, "type": "tcp", "port": lived.DEAD, "interval": "1h"} for name in lived.SERVICES]


def start(argus: Argus, kept: Kept) -> None:
    url = f", url: '{kept.url}'" if kept.url else ""
    store = f"store: {{retention: {lived.LONG}{url}}}\n"
    lived.configure(argus, services(), store + lived.agents(argus.folder))
    argus.up()


@pytest.mark.parametrize("version", [1, 3])
def test_what_an_earlier_version_showed_is_shown(argus: Argus, kept: Kept, version: int) -> None:
    text, before = lived.load(kept.kind, version)
    kept.load(text)
    start(argus, kept)
    after = lived.shown(argus)
    assert after["autonomy"] == before["autonomy"] == "moderate"
    assert after["paused"] == before["paused"] == ["paused", "web"]
    assert after["events"][: len(before["events"])] == before["events"], "with their ids"
    types = [one[1] for one in after["events"][len(before["events"]) :]]
    assert types[:2] == ["system:argus_stopped", "system:argus_started"], "and the journal goes on from there"
    same_incidents(before["incidents"], after["incidents"])
    for incident in before["incidents"]:
        story = argus.get(f"/api/incidents/{incident['id']}")
        told = [one[2] for one in before["events"] if one[2].get("incident") == incident["id"]]
        assert [one["type"] for one in story["events"]][: len(told)] == [one["type"] for one in told]
    assert after["services"]["database"]["incident"] == before["services"]["database"]["incident"] is not None
    assert after.get("agents") == before.get("agents", after.get("agents"))


def same_incidents(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    now = {one["id"]: one for one in after}
    assert before, "there were some"
    for one in before:
        for key in one.keys() & now[one["id"]].keys() - {"seconds", "duration"}:
            assert now[one["id"]][key] == one[key], (one["id"], key)


@pytest.mark.parametrize("version", [1, 3])
def test_every_row_of_an_earlier_version_is_still_there(argus: Argus, kept: Kept, version: int) -> None:
    text, _ = lived.load(kept.kind, version)
    kept.load(text)
    before = kept.rows()
    start(argus, kept)
    argus.down()
    after = kept.rows()
    assert {name for name, rows in before.items() if rows} >= {"journal", "incidents", "acts", "conditions", "settings"}
    for table, rows in before.items():
        if re.match("sqlite_|version$", table):
            continue
        for row in rows:
            if table in LIVES_ON:
                keys = [key for key in ("domain", "subject", "key", "name", "kind", "id", "start") if key in row]
                assert any(all(now[key] == row[key] for key in keys) for now in after[table]), (table, row)
            else:
                assert any(row.items() <= now.items() for now in after[table]), (table, row)


def test_a_restart_of_the_last_hour_still_counts_against_the_budget(argus: Argus, kept: Kept) -> None:
    text, before = lived.load(kept.kind, 1)
    assert before["budget"] == {"left": 1, "most": 2}
    kept.load(text)
    now = stamp(SystemClock())
    was = f"wall = {now.wall - 60}, boot = {now.boot - 60}, boot_id = '{now.boot_id}'"
    kept.do(f"UPDATE acts SET {was}")  # as if it were a minute ago
    start(argus, kept)
    assert argus.get("/api/state")["budget"] == {"left": 1, "most": 2}


def test_the_names_of_agents_go_on_where_they_were(argus: Argus, kept: Kept) -> None:
    text, before = lived.load(kept.kind, 3)
    kept.load(text)
    start(argus, kept)
    known = {one[2]["agent_id"] for one in before["events"] if "agent_id" in one[2]}
    made = argus.cli("agents", "spawn", lived.AGENT, "--task", "SEC-2: go on", "--json")
    assert made.code == 0, made
    assert known, "there was one"
    assert made.json["agent_id"] not in known
