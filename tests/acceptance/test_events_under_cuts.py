"""Ten thousand events, connections cut at random bytes, a proxy that dies, a daemon that is killed: every reader sees
the journal, with nothing lost and nothing twice."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest
import yaml

from tests.acceptance.cut_streams import Asker, Proxy, Reader
from tests.acceptance.harness import Argus, Event, eventually, free_port
from tests.postgresql import Server

EVENTS = 10_000
_LONG = 180.0
_WRITER = Path(__file__).with_name("journal_writer.py")


def settle(argus: Argus, store: str | None) -> str:
    """A daemon that comes back to the same place after each restart; returns the position of its first event."""
    service = {"name": "web", "type": "tcp", "port": free_port(), "interval": "1h", "timeout": "1s"}
    argus.configure([service])
    settings = yaml.safe_load(argus.config.read_text(encoding="utf-8"))
    settings["server"] = {"port": free_port()}
    argus.write(yaml.safe_dump(settings))
    if store:
        argus.env["ARGUS_STORE"] = store
    argus.up()
    epoch = argus.journal()[0].id.rpartition("-")[0]
    return f"{epoch}-0"


def reaches(argus: Argus, number: int) -> bool:
    return int(argus.get("/api/state")["cursor"].rpartition("-")[2]) >= number


async def until(look: Callable[[], bool], what: str) -> None:
    """While the readers and the askers go on."""
    await asyncio.to_thread(eventually, look, what, _LONG)


def journal(argus: Argus, first: str) -> list[Event]:
    with argus.events(after=first, follow="false") as stream:
        return list(stream)


@contextlib.asynccontextmanager
async def following(readers: list[Reader]) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(reader.go_on()) for reader in readers]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


@contextlib.asynccontextmanager
async def asking(askers: list[Asker]) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        for asker in askers:
            group.create_task(asker.go_on())
        try:
            yield
        finally:
            for asker in askers:
                asker.enough = True


async def grow(argus: Argus, proxy: Proxy) -> None:
    """Until the journal is long enough. On the way the proxy dies and the daemon is killed or stopped."""
    for share, end in ((0.25, argus.kill), (0.5, argus.down), (0.75, argus.kill), (1.0, None)):
        enough = int(EVENTS * share)
        await until(partial(reaches, argus, enough), f"{enough} events are on record")
        if end:
            proxy.die()
            await asyncio.to_thread(end)
            await asyncio.to_thread(argus.up)
            proxy.come_back()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Where the record is; None is the file in the state folder."""
    if request.param == "sqlite":
        return None
    server: Server = request.getfixturevalue("postgres")
    return server.new_database()


async def recorded(argus: Argus, database: str | None) -> list[tuple[int, str]]:
    """Numbers and names as they stand in the table, past everything that serves them."""
    if database is None:
        with contextlib.closing(sqlite3.connect(argus.home / "argus.db")) as file:
            return list(file.execute("SELECT n, channel || ':' || type FROM journal ORDER BY n"))
    db = await asyncpg.connect(database)
    try:
        rows = await db.fetch("SELECT n, channel || ':' || type AS name FROM argus.journal ORDER BY n")
    finally:
        await db.close()
    return [(row["n"], row["name"]) for row in rows]


def crowd(argus: Argus, first: str, proxy: Proxy) -> list[Reader]:
    """Two that are cut off at random bytes, two behind the proxy, a slow one, and two that chose a channel."""
    channels = ("", "", "", "", "", "services", "system")
    readers = [Reader(argus, first, random.Random(seed), channel=one) for seed, one in enumerate(channels)]
    readers[2].through = readers[3].through = proxy.address
    readers[4].pause = 0.02
    return readers


@contextlib.contextmanager
def other_hosts(database: str | None) -> Iterator[list[subprocess.Popen[bytes]]]:
    """On PostgreSQL three more processes write to the same journal at the same time."""
    names = ("first", "second", "third") if database else ()
    writers = [subprocess.Popen([sys.executable, str(_WRITER), str(database), name, "900"]) for name in names]
    try:
        yield writers
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()


@pytest.mark.req("IF-03")
async def test_cut_off_at_any_byte_every_reader_sees_ten_thousand_events_once(
    argus: Argus, database: str | None
) -> None:
    first = await asyncio.to_thread(settle, argus, database)
    proxy = Proxy(argus)
    await proxy.start()
    readers = crowd(argus, first, proxy)
    askers = [Asker(argus, random.Random(seed)) for seed in range(24)]
    with other_hosts(database) as writers:
        async with following(readers):
            async with asking(askers):
                await grow(argus, proxy)
            for writer in writers:
                assert await asyncio.to_thread(writer.wait, _LONG) == 0
            truth = await asyncio.to_thread(journal, argus, first)
            wanted = [[event for event in truth if event.name.startswith(one.channel)] for one in readers]
            await until(
                lambda: all(reader.last == events[-1].id for reader, events in zip(readers, wanted, strict=True)),
                "every reader has come to the end",
            )
    await proxy.end()

    assert len(truth) >= EVENTS
    for reader, events in zip(readers, wanted, strict=True):
        assert [event.id for event in reader.seen] == [event.id for event in events]
        assert reader.seen == events
    assert [(event.number, event.name) for event in truth] == await recorded(argus, database)
    assert all(reader.connections > 10 for reader in readers[:4])
    assert len([event for event in truth if event.type == "argus_started"]) == 4
