"""Appends to the journal through the store, synced, from committers that each wait for their own commit.

Compared with a bare script that writes the same rows into the same tables, in transactions of as many rows as the
store came to by itself, with the same settings: it has its rows ready as text, and redacts and answers nobody. A
second script makes each row from a value and asks for its number, as a journal must.
"""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from collections.abc import Callable, Coroutine, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import uvloop

from argus.core.clock import SystemClock
from argus.core.events import Draft
from argus.core.redact import Redactor
from argus.store.interface import Store
from argus.store.records import Append
from argus.store.sqlite import SqliteStore
from benchmarks.measure import Stopwatch, in_child, interleave
from benchmarks.plan import Plan, Skipped
from benchmarks.rows import Goal, Row

_COMMITTERS = 256
_DATA = {
    "service": "web",
    "from": "up",
    "to": "down",
    "detail": "connection refused",
    "code": "SERVICE_DOWN",
    "failures": 3,
    "incident": "5f2a77c01b9e",
}
_DRAFT = Draft("services", "service_state_changed", "web", _DATA)
_ROW = (1_700_000_000_000, _DRAFT.channel, _DRAFT.type, _DRAFT.subject, _DATA["incident"], json.dumps(_DATA))
_COLUMNS = "(timestamp, channel, type, subject, incident, data)"
_INSERT = f"INSERT INTO journal {_COLUMNS} VALUES (?, ?, ?, ?, ?, ?)"


async def _append(store: Store, appends: int) -> Stopwatch:
    """That many commits of one append, each waited for, by committers side by side."""

    async def commit(count: int) -> None:
        for _ in range(count):
            await store.commit(Append(_DRAFT))

    with Stopwatch() as watch:
        async with asyncio.TaskGroup() as group:
            for _ in range(_COMMITTERS):
                group.create_task(commit(appends // _COMMITTERS))
    return watch


def _answer(watch: Stopwatch, appends: int, transactions: int) -> dict[str, float]:
    return {"cpu": appends / watch.cpu, "wall": appends / watch.wall, "batch": appends / transactions}


class _Counted(SqliteStore):
    """Counts its transactions, so that the bare script can be given as many rows in each."""

    transactions = 0

    def _commit(self, batch: Any) -> None:
        self.transactions += 1
        super()._commit(batch)


def _run(work: Callable[[], Coroutine[Any, Any, dict[str, float]]]) -> dict[str, float]:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work())


def sqlite_store(path: str, appends: int) -> dict[str, float]:
    async def work() -> dict[str, float]:
        store = _Counted(Path(path), redactor=_redactor())
        try:
            return _answer(await _append(store, appends), appends, store.transactions)
        finally:
            await store.close()

    return _run(work)


def _redactor() -> Redactor:
    """One that knows a secret or two, as in a daemon: its token, and the password of a channel."""
    redactor = Redactor()
    for secret in ("3b1c5a0e9d7f4c2188aa", "correct horse battery"):
        redactor.learn(secret)
    return redactor


def sqlite_script(path: str, appends: int, batch: int) -> dict[str, float]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        transactions = math.ceil(appends / batch)
        with Stopwatch() as watch:
            for _ in range(transactions):
                db.execute("BEGIN IMMEDIATE")
                db.executemany(_INSERT, [_ROW] * batch)
                db.execute("COMMIT")
    return _answer(watch, transactions * batch, transactions)


def sqlite_rendering(path: str, appends: int, batch: int) -> dict[str, float]:
    """The same, but every row is made from a value and written by itself, because its number is wanted."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        transactions = math.ceil(appends / batch)
        numbers: list[int | None] = []
        with Stopwatch() as watch:
            for _ in range(transactions):
                db.execute("BEGIN IMMEDIATE")
                for _ in range(batch):
                    row = (*_ROW[:-1], json.dumps(_DATA))
                    numbers.append(db.execute(_INSERT, row).lastrowid)
                db.execute("COMMIT")
    return _answer(watch, transactions * batch, transactions)


def measure(plan: Plan) -> Iterable[Row]:
    appends = plan.size(_COMMITTERS * 80, _COMMITTERS)
    path = str(plan.folder / "argus.db")
    # Makes the tables, and says how many commits the store puts into one transaction.
    batch = round(in_child(sqlite_store, path=path, appends=appends)["batch"])
    found = interleave(
        {
            "script": lambda: in_child(sqlite_script, path=path, appends=appends, batch=batch),
            "row by row": lambda: in_child(sqlite_rendering, path=path, appends=appends, batch=batch),
            "argus": lambda: in_child(sqlite_store, path=path, appends=appends),
        },
        plan.rounds,
        warm=False,
    )
    yield from _rows("SQLite", "bare sqlite3", found, batch, Goal(1 / 3, of="bare sqlite3", at_least=True))


def _rows(
    title: str, floor: str, found: dict[str, list[dict[str, float]]], batch: int, goal: Goal | None
) -> Iterable[Row]:
    note = (
        f"{_COMMITTERS} committers of one row each; both sync every transaction, and the bare script writes {batch} "
        "rows in each, because that is what the store came to"
    )
    for key, unit in (("cpu", "appends per CPU s"), ("wall", "appends/s, wall")):
        argus, script = ([one[key] for one in found[name]] for name in ("argus", "script"))
        yield Row(
            f"journal, {title}",
            unit,
            argus,
            floor=(floor, script),
            peers={name: [one[key] for one in series] for name, series in found.items() if name == "row by row"},
            goal=goal,
            note=note if key == "cpu" else "",
        )


def postgres_store(url: str, appends: int) -> dict[str, float]:
    from argus.store.postgres import PostgresStore

    async def work() -> dict[str, float]:
        store = await PostgresStore.open(url, clock=SystemClock(), redactor=_redactor(), alone=True)
        try:
            newest = (await store.span())[1]
            watch = await _append(store, appends)
        finally:
            await store.close()
        return _answer(watch, appends, await _transactions(url, newest))

    return _run(work)


async def _transactions(url: str, after: int) -> int:
    import asyncpg

    db = await asyncpg.connect(url)
    try:
        return int(await db.fetchval("SELECT count(DISTINCT xmin::text) FROM argus.journal WHERE n > $1", after))
    finally:
        await db.close()


def postgres_script(url: str, appends: int, batch: int) -> dict[str, float]:
    import asyncpg

    async def work() -> dict[str, float]:
        db = await asyncpg.connect(url)
        transactions = math.ceil(appends / batch)
        with Stopwatch() as watch:
            for _ in range(transactions):
                async with db.transaction():
                    await db.executemany(
                        f"INSERT INTO argus.journal {_COLUMNS} VALUES ($1, $2, $3, $4, $5, $6)", [_ROW] * batch
                    )
        await db.close()
        return _answer(watch, transactions * batch, transactions)

    return _run(work)


def measure_postgres(plan: Plan) -> Iterable[Row]:
    from tests import postgresql

    programs = postgresql.find_programs()
    if programs is None:
        raise Skipped("PostgreSQL's programs are not here (Debian: apt-get install postgresql)")
    appends = plan.size(_COMMITTERS * 20, _COMMITTERS)
    server = postgresql.Server(programs)
    try:
        url = server.new_database()
        batch = round(in_child(postgres_store, url=url, appends=appends)["batch"])
        found = interleave(
            {
                "script": lambda: in_child(postgres_script, url=url, appends=appends, batch=batch),
                "argus": lambda: in_child(postgres_store, url=url, appends=appends),
            },
            plan.rounds,
            warm=False,
        )
    finally:
        server.end()
    yield from _rows("PostgreSQL", "bare asyncpg", found, batch, None)
