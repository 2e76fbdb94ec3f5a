"""Dumps a store of the version that this code makes, in every kind of store."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from pathlib import Path

from argus.store import numbered
from argus.store.postgres import PostgresStore
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock
from tests.old_stores import EPOCH, FOLDER, NOON, dump_postgres, dump_sqlite, fill
from tests.postgresql import Server, find_programs


class _PassingClock(FakeClock):
    """Every event has a time of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._seconds = itertools.count()

    def wall(self) -> float:
        return NOON + next(self._seconds)


async def _sqlite(version: int, path: Path) -> str:
    store = SqliteStore(path, clock=_PassingClock(), token=lambda: EPOCH)
    await fill(store, version)
    await store.close()
    return dump_sqlite(path)


async def _postgres(version: int, url: str) -> str:
    store = await PostgresStore.open(url, clock=_PassingClock(), token=lambda: EPOCH)
    await fill(store, version)
    await store.close()
    return dump_postgres(url)


def main() -> None:
    version = len(numbered.migrations("sqlite"))
    with tempfile.TemporaryDirectory() as folder:
        dump = asyncio.run(_sqlite(version, Path(folder) / "argus.db"))
    (FOLDER / f"sqlite-{version}.sql").write_text(dump, encoding="utf-8")
    programs = find_programs()
    assert programs is not None, "PostgreSQL is missing"
    server = Server(programs)
    try:
        dump = asyncio.run(_postgres(version, server.new_database()))
    finally:
        server.end()
    (FOLDER / f"postgres-{version}.sql").write_text(dump, encoding="utf-8")


if __name__ == "__main__":
    main()
