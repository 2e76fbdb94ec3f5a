"""Stores of every earlier version, opened by this one: nothing is lost, and the schema is that of a new store."""

import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests import old_stores
from tests.old_stores import (
    CLOSED_ACT,
    CONDITIONS,
    CURSORS,
    EPOCH,
    EVENT,
    NOON,
    OPEN,
    OPEN_ACT,
    OUTCOME,
    OVER,
    ROWS,
    SETTINGS,
)
from tests.postgresql import Server

from argus.core.errors import ArgusError, Code
from argus.store import numbered
from argus.store.interface import Store
from argus.store.postgres import PostgresStore
from argus.store.sqlite import SqliteStore

NEWEST = len(numbered.migrations("sqlite"))
EARLIER = range(1, NEWEST)
Table = tuple[str, tuple[str, ...]]
"""A table's name and its columns."""


@dataclass
class Place:
    """Where a store is, seen past the code of the store."""

    load: Callable[[str], Awaitable[None]]
    run: Callable[[str], Awaitable[list[tuple[Any, ...]]]]
    open: Callable[[], Awaitable[Store]]
    schema: Callable[[], Awaitable[object]]
    prefix: str = ""

    async def tables(self) -> dict[Table, list[tuple[Any, ...]]]:
        """Every row of every table; the version is no content."""
        found = {}
        for name, columns in (await self.columns()).items():
            rows = await self.run(f'SELECT {", ".join(columns)} FROM {self.prefix}"{name}"')
            found[name, columns] = sorted(rows, key=repr)
        return found

    async def columns(self) -> dict[str, tuple[str, ...]]:
        if self.prefix:
            asked = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'argus'"
        else:
            asked = (
                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'"
            )
        found: dict[str, list[str]] = {}
        for table, column in await self.run(asked):
            if table != "version":
                found.setdefault(table, []).append(f'"{column}"')
        return {table: tuple(sorted(columns)) for table, columns in found.items()}


def in_a_file(path: Path) -> Place:
    async def load(dump: str) -> None:
        old_stores.load_sqlite(path, dump)

    async def run(sql: str) -> list[tuple[Any, ...]]:
        db = sqlite3.connect(path)
        try:
            found = db.execute(sql).fetchall()
            db.commit()
            return found
        finally:
            db.close()

    async def open_store() -> Store:
        return SqliteStore(path)

    async def schema() -> object:
        found = await run("SELECT type, name, tbl_name, sql FROM sqlite_master")
        words = sorted((*row[:3], re.sub(r"\s+", " ", row[3] or "")) for row in found)
        return words, await run("PRAGMA user_version"), await run("PRAGMA application_id")

    return Place(load, run, open_store, schema)


def in_a_database(url: str) -> Place:
    async def run(sql: str) -> list[tuple[Any, ...]]:
        db = await asyncpg.connect(url)
        try:
            return [tuple(row) for row in await db.fetch(sql)]
        finally:
            await db.close()

    async def load(dump: str) -> None:
        db = await asyncpg.connect(url)
        try:
            await db.execute(dump)
        finally:
            await db.close()

    async def open_store() -> Store:
        return await PostgresStore.open(url)

    async def schema() -> object:
        # pg_dump says all that a catalogue holds, constraints and sequences included; rows are not its schema.
        dump = await asyncio.to_thread(old_stores.dump_postgres, url)
        version = await run("SELECT version FROM argus.version")
        return [line for line in dump.splitlines() if not re.match("INSERT|SELECT pg_catalog.setval", line)], version

    return Place(load, run, open_store, schema, "argus.")


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_place(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], Place]:
    if store == "sqlite":
        places = iter(range(100))
        return lambda: in_a_file(tmp_path / f"argus-{next(places)}.db")
    server: Server = request.getfixturevalue("postgres")
    urls = iter([server.new_database(), server.new_database()])
    return lambda: in_a_database(next(urls))


def test_both_stores_have_the_same_versions():
    assert len(numbered.migrations("postgres")) == NEWEST


@pytest.mark.parametrize("version", EARLIER)
def test_of_every_earlier_version_a_store_is_kept(store: str, version: int):
    """A new migration needs one of the version before it: `python -m tests.old_stores`, with the code of then."""
    assert re.search(r"INSERT INTO", old_stores.text(store, version))


@pytest.mark.parametrize("version", EARLIER)
async def test_a_store_of_an_earlier_version_holds_rows_in_every_table(
    store: str, new_place: Callable[[], Place], version: int
):
    place = new_place()
    await place.load(old_stores.text(store, version))
    assert [name for (name, _), rows in (await place.tables()).items() if not rows] == []


@pytest.mark.parametrize("version", EARLIER)
async def test_no_row_of_an_earlier_version_is_lost(store: str, new_place: Callable[[], Place], version: int):
    place = new_place()
    await place.load(old_stores.text(store, version))
    before = await place.tables()
    await (await place.open()).close()
    for (name, columns), rows in before.items():
        after = await place.run(f'SELECT {", ".join(columns)} FROM {place.prefix}"{name}"')
        assert [row for row in rows if row not in after] == [], name


@pytest.mark.parametrize("version", EARLIER)
async def test_the_schema_is_that_of_a_new_store(store: str, new_place: Callable[[], Place], version: int):
    old, new = new_place(), new_place()
    await old.load(old_stores.text(store, version))
    assert await old.schema() != ()
    for place in (old, new):
        await (await place.open()).close()
    assert await old.schema() == await new.schema()


@pytest.mark.parametrize("version", EARLIER)
async def test_everything_is_still_there(store: str, new_place: Callable[[], Place], version: int):
    place = new_place()
    await place.load(old_stores.text(store, version))
    opened = await place.open()
    try:
        await check_first_rows(opened)
        (event,) = await opened.commit(ROWS[1][0])
        assert event.n == 7, "numbers go on"
    finally:
        await opened.close()


async def check_first_rows(opened: Store) -> None:
    drafts = [write.draft for write in ROWS[1] if hasattr(write, "draft")]
    events = await opened.events(0)
    assert opened.epoch == EPOCH
    assert [event.id for event in events] == [f"{EPOCH}-{n}" for n in range(1, 7)]
    assert [(e.channel, e.type, e.subject, e.data) for e in events] == [
        (draft.channel, draft.type, draft.subject, draft.data) for draft in drafts
    ]
    assert [event.timestamp for event in events] == [int(NOON + place) * 1000 for place in range(6)]
    assert await opened.span() == (1, 6)
    assert [event.n for event in await opened.story(OPEN.id)] == [5, 6]
    assert await opened.open_acts() == [OPEN_ACT]
    closed, still_open = await opened.acts(kind="restart_service")
    assert still_open == OPEN_ACT
    assert (closed.id, closed.begun, closed.intent) == (CLOSED_ACT.id, CLOSED_ACT.begun, CLOSED_ACT.intent)
    assert (closed.outcome, closed.ended, closed.detail) == (OUTCOME.outcome, OUTCOME.ended, OUTCOME.detail)
    assert await opened.incidents() == [EVENT, OPEN, OVER]
    assert await opened.incidents(open_only=True) == [OPEN]
    found = [*(await opened.conditions("services")).values(), *(await opened.conditions("agents")).values()]
    assert sorted(found, key=repr) == sorted(CONDITIONS, key=repr)
    assert {key: await opened.setting(key) for key in SETTINGS} == SETTINGS
    assert [await opened.cursor(cursor.name) for cursor in CURSORS] == list(CURSORS)


@pytest.mark.parametrize("version", EARLIER)
async def test_a_migration_that_fails_half_way_leaves_the_old_version_as_it_was(
    store: str, new_place: Callable[[], Place], version: int
):
    place = new_place()
    await place.load(old_stores.text(store, version))
    # The last thing that the newest migration makes is there already, so that it fails after everything before it.
    (*_, (_, name)) = re.findall(r"CREATE (TABLE|INDEX) (?:argus\.)?(\w+)", numbered.migrations(store)[-1])
    await place.run(f"CREATE TABLE {place.prefix}{name} (in_the_way INTEGER)")
    before = await place.tables(), await place.schema()
    with pytest.raises(ArgusError) as caught:
        await place.open()
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert (await place.tables(), await place.schema()) == before
    await place.run(f"DROP TABLE {place.prefix}{name}")
    opened = await place.open()
    try:
        await check_first_rows(opened)
    finally:
        await opened.close()
