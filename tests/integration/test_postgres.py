"""PostgreSQL when things are not well, or not alone: several writers, a server that stops, freezes or loses answers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import psutil
import pytest
from tests.postgresql import PASSWORD, Server

from argus.core.clock import Stamp
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.core.redact import Redactor
from argus.store import numbered
from argus.store.postgres import PostgresStore
from argus.store.records import Act, Append, CloseAct, OpenAct, PutSetting

ENOUGH = 60.0
BOUND = 12.0
"""Seconds within which a commit is answered, whatever the server does: its deadline, and once more for a doubt."""
Open = Callable[..., Awaitable[PostgresStore]]


def note(type: str = "t", **data: Any) -> Append:
    return Append(Draft("c", type, "", data))


@pytest.fixture
async def opening(database: str) -> AsyncIterator[Open]:
    opened: list[PostgresStore] = []

    async def open_store(url: str = database, *, alone: bool = False) -> PostgresStore:
        store = await PostgresStore.open(url, alone=alone)
        opened.append(store)
        return store

    yield open_store
    await asyncio.gather(*(store.close() for store in opened))


@pytest.fixture
async def raw(database: str) -> AsyncIterator[Any]:
    """A connection of nobody's store."""
    db = await asyncpg.connect(database)
    yield db
    await db.close()


async def refused(commit: Awaitable[Any]) -> ArgusError:
    begun = time.monotonic()
    with pytest.raises(ArgusError) as caught:
        await commit
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert time.monotonic() - begun < BOUND
    return caught.value


async def works_again(store: PostgresStore) -> None:
    """It comes back by itself; when, no event tells."""
    async with asyncio.timeout(ENOUGH):
        while True:
            with contextlib.suppress(ArgusError):
                await store.commit(note("again"))
                return


# Several writers.

WRITER = """
import asyncio, sys
from argus.core.events import Draft
from argus.store.postgres import PostgresStore
from argus.store.records import Append

async def main():
    store = await PostgresStore.open(sys.argv[1])
    sys.stdin.readline()
    for place in range(400):
        await store.commit(Append(Draft("c", "t", sys.argv[2], {"place": place})))
    await store.close()

asyncio.run(main())
"""


async def test_a_reader_sees_every_event_of_three_writing_processes_once_and_in_order(database: str, opening: Open):
    reader = await opening()
    pipe = asyncio.subprocess.PIPE
    writers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, database, name, stdin=pipe) for name in "abc"
    ]
    try:
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(b"go\n")
        seen: list[Any] = []
        async with asyncio.timeout(ENOUGH):
            while len(seen) < 1_200:
                after = seen[-1].n if seen else 0
                await reader.wait(after)
                seen += await reader.events(after, limit=7)
            codes = [await writer.wait() for writer in writers]
    finally:
        for writer in writers:
            with contextlib.suppress(ProcessLookupError):
                writer.kill()
    assert codes == [0, 0, 0]
    for name in "abc":
        assert [event.data["place"] for event in seen if event.subject == name] == list(range(400))
    assert await reader.events(0, limit=2_000) == seen


async def test_events_of_another_writer_wake_who_waits_without_a_look(opening: Open):
    here, there = await opening(), await opening()
    assert here.epoch == there.epoch
    for _ in range(20):
        newest = (await here.span())[1]
        waiting = asyncio.ensure_future(here.wait(newest))
        (event,) = await there.commit(note())
        async with asyncio.timeout(2.0):  # less than the time between two looks
            await waiting
        assert await here.events(newest) == [event]
        assert await here.span() == (1, event.n)


async def test_numbers_that_a_lost_commit_used_up_are_missed_by_nobody(opening: Open):
    one, two = await opening(), await opening()
    await one.commit(note(), OpenAct(Act("taken", "k", "s", Stamp("b", 1.0, 1.0))))
    for _ in range(3):
        with pytest.raises(asyncpg.UniqueViolationError):
            await one.commit(note(), note(), OpenAct(Act("taken", "k", "s", Stamp("b", 1.0, 1.0))))
        await two.commit(note())
    numbers = [event.n for event in await one.events(0)]
    assert len(numbers) == 4
    assert numbers != list(range(1, 5)), "there are gaps"
    for place, n in enumerate(numbers):
        assert [event.n for event in await one.events(n)] == numbers[place + 1 :]
    assert await two.span() == (numbers[0], numbers[-1])


async def test_of_two_processes_outcomes_one_counts_and_the_other_is_a_conflict(opening: Open):
    one, two = await opening(), await opening()
    await one.commit(OpenAct(Act("a", "k", "s", Stamp("b", 1.0, 1.0))))
    work = [store.commit(CloseAct("a", name, 1.0), note(name)) for store, name in ((one, "x"), (two, "y"))]
    results = await asyncio.gather(*work, return_exceptions=True)
    (conflict,) = [result for result in results if isinstance(result, ArgusError)]
    assert conflict.code is Code.CONFLICT
    assert [event.type for event in await one.events(0)] == [act.outcome for act in await two.acts(kind="k")]


async def test_a_writer_that_froze_with_the_lock_is_cut_off_by_the_server(database: str, opening: Open):
    store = await opening()
    frozen = await opening()
    await frozen.commit(note())
    db = frozen._writer._db
    await db.execute("BEGIN")
    await db.execute("SELECT pg_advisory_xact_lock(1095911253)")
    async with asyncio.timeout(BOUND):
        await works_again(store)
    assert db.is_closed()


# One alone.


async def test_a_database_that_is_used_alone_is_refused_to_a_second_until_the_first_ends(opening: Open):
    first = await opening(alone=True)
    with pytest.raises(ArgusError) as caught:
        await opening(alone=True)
    assert caught.value.code is Code.ALREADY_RUNNING
    await first.commit(note())
    await first.close()
    await (await opening(alone=True)).commit(note())


async def test_who_was_alone_is_so_again_after_the_connection_was_lost(opening: Open, raw: Any):
    store = await opening(alone=True)
    await store.commit(note())
    await raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'argus%'")
    await works_again(store)
    with pytest.raises(ArgusError) as caught:
        await opening(alone=True)
    assert caught.value.code is Code.ALREADY_RUNNING


async def test_who_lost_the_database_to_another_writes_nothing_more(opening: Open, raw: Any):
    store = await opening(alone=True)
    (event,) = await store.commit(note())
    await raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'argus%'")
    other = await opening(alone=True)
    await refused(store.commit(note("lost")))
    assert [one.n for one in await other.events(0)] == [event.n]


# Opening.


async def test_two_that_open_an_empty_database_at_once_share_one_store(opening: Open):
    stores = await asyncio.gather(*(opening() for _ in range(5)))
    assert len({store.epoch for store in stores}) == 1
    for store in stores:
        await store.commit(note())
    assert len(await stores[0].events(0)) == 5


async def test_a_newer_schema_is_refused_untouched(opening: Open, raw: Any):
    await (await opening()).close()
    await raw.execute("UPDATE argus.version SET version = 99")
    before = await raw.fetch("SELECT * FROM argus.settings")
    with pytest.raises(ArgusError) as caught:
        await opening()
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert caught.value.details == {"storeVersion": 99, "knownVersion": len(numbered.migrations("postgres"))}
    assert await raw.fetch("SELECT * FROM argus.settings") == before
    assert await raw.fetchval("SELECT version FROM argus.version") == 99


async def test_another_program_s_schema_is_left_alone(opening: Open, raw: Any):
    await raw.execute("CREATE SCHEMA argus; CREATE TABLE argus.eyes (n INTEGER)")
    with pytest.raises(ArgusError) as caught:
        await opening()
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert await raw.fetchval("SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'argus'::regnamespace") == 1


async def test_other_tables_of_the_database_are_no_obstacle(opening: Open, raw: Any):
    await raw.execute("CREATE TABLE public.journal (theirs TEXT)")
    await (await opening()).commit(note())
    assert await raw.fetchval("SELECT COUNT(*) FROM public.journal") == 0


BAD = {
    "a-wrong-password": lambda server: server.url("argus_1", password="canary-wrong"),
    "no-such-database": lambda server: server.url("nowhere"),
    "no-server": lambda server: server.url("argus_1", folder=Path("/nonexistent")),
    "nobody-on-the-port": lambda server: f"postgresql://argus:{PASSWORD}@127.0.0.1:1/argus_1",
}


@pytest.mark.parametrize("url", BAD.values(), ids=BAD.keys())
async def test_a_server_that_cannot_be_used_is_said_without_the_password(
    postgres: Server, database: str, url: Callable[[Server], str]
):
    redactor = Redactor()
    given = url(postgres)
    with pytest.raises(ArgusError) as caught:
        await PostgresStore.open(given, redactor=redactor)
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert "canary" not in repr((caught.value.message, caught.value.details))
    secret = urlsplit(given).password or ""
    assert secret not in redactor.text(f"from the environment of a program: {secret}")


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("postgresql://argus:can/ary@host/db", id="a-slash-in-the-password"),
        pytest.param("postgresql://argus:can#ary@host/db", id="a-hash-in-the-password"),
        pytest.param("postgresql://argus:can?ary@host/db", id="a-question-mark-in-the-password"),
        pytest.param("postgresql://argus:canary@host:port/db", id="a-port-that-is-none"),
        pytest.param("postgresql://argus:canary@host/db?sslmode=canary", id="a-mode-that-is-none"),
    ],
)
async def test_a_url_that_is_none_is_an_error_of_the_configuration(url: str):
    with pytest.raises(ArgusError) as caught:
        await PostgresStore.open(url)
    assert caught.value.code is Code.CONFIG_INVALID
    assert not any(part in repr((caught.value.message, caught.value.details)) for part in ("can/", "can#", "ary"))


# The server goes and comes.


@pytest.mark.parametrize("how", ["fast", "immediate"])
async def test_a_server_that_stops_is_said_and_afterwards_everything_works_by_itself(
    postgres: Server, opening: Open, how: str
):
    store, other = await opening(), await opening()
    (before,) = await store.commit(note("before"))
    waiting = asyncio.ensure_future(store.wait(before.n))
    await asyncio.to_thread(postgres.stop, how)
    try:
        await asyncio.gather(*(refused(store.commit(note("lost"))) for _ in range(300)))
        assert store.problem is not None
        await refused(store.events(0))
        assert not waiting.done()
    finally:
        await asyncio.to_thread(postgres.start)
    (after,) = await store.commit(note("after"))
    assert store.problem is None
    assert [event.type for event in await store.events(0)] == ["before", "after"]
    async with asyncio.timeout(ENOUGH):
        await waiting
        waiting = asyncio.ensure_future(store.wait(after.n))
        await other.commit(note("of another"))
        await waiting


async def test_a_restart_in_the_middle_of_much_writing_loses_nothing_that_was_confirmed(
    postgres: Server, opening: Open
):
    store = await opening()
    confirmed: list[int] = []
    codes: set[Code] = set()
    stop, news = asyncio.Event(), asyncio.Event()

    async def write(place: int) -> None:
        while not stop.is_set():
            try:
                (event,) = await store.commit(note(place=place))
            except ArgusError as error:
                codes.add(error.code)
            else:
                confirmed.append(event.n)
            news.set()

    async def more(count: int) -> None:
        wanted = len(confirmed) + count
        while len(confirmed) < wanted:
            news.clear()
            await news.wait()

    async with asyncio.timeout(ENOUGH), asyncio.TaskGroup() as group:
        for place in range(10):
            group.create_task(write(place))
        for _ in range(2):
            await more(300)
            await asyncio.to_thread(postgres.stop, "immediate")
            await asyncio.to_thread(postgres.start)
        await more(300)
        stop.set()
    assert codes == {Code.STORE_UNAVAILABLE}
    await works_again(store)
    kept: set[int] = set()
    while page := await store.events(max(kept, default=0)):
        kept.update(event.n for event in page)
    assert set(confirmed) <= kept
    assert len(confirmed) == len(set(confirmed))


class Frozen:
    """Every process of the server stops, as on a machine that hangs."""

    def __init__(self, pid: int) -> None:
        self._pids = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]

    def freeze(self) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def frozen(server: Server) -> Iterator[None]:
    one = Frozen(server.pid)
    one.freeze()
    try:
        yield
    finally:
        one.thaw()


async def test_a_server_that_hangs_keeps_nobody_waiting(opening: Open, postgres: Server):
    store = await opening()
    await store.commit(note("before"))
    with frozen(postgres):
        await asyncio.gather(refused(store.events(0)), *(refused(store.commit(note("lost"))) for _ in range(300)))
    await works_again(store)
    assert {event.type for event in await store.events(0)} <= {"before", "again"}


async def test_closing_while_the_server_hangs_ends_when_its_caller_has_no_more_patience(
    opening: Open, postgres: Server
):
    store = await opening()
    await store.commit(note())
    with frozen(postgres):
        caller = asyncio.ensure_future(store.commit(note("lost")))
        await asyncio.sleep(0)
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await store.close()
        await refused(caller)
        assert time.monotonic() - begun < 2.0


# The answer to COMMIT gets lost.


class Cut:
    """Stands between: hands everything on, and loses the line just before or just after the server hears COMMIT."""

    def __init__(self, behind: Path, folder: Path, *, heard: bool) -> None:
        self._behind = behind / ".s.PGSQL.5432"
        self.folder = folder
        self._heard = heard
        self.armed = False
        self.cuts = 0

    @contextlib.asynccontextmanager
    async def between(self) -> AsyncIterator[Cut]:
        server = await asyncio.start_unix_server(self._serve, self.folder / ".s.PGSQL.5432")
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, near_in: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        far_in, far_out = await asyncio.open_unix_connection(self._behind)
        losing = False

        async def hand_on(source: asyncio.StreamReader, target: asyncio.StreamWriter, to_server: bool) -> None:
            nonlocal losing
            with contextlib.suppress(OSError):
                while said := await source.read(65536):
                    if self.armed and to_server and b"COMMIT\0" in said:
                        self.armed, losing = False, True
                        self.cuts += 1
                        if not self._heard:
                            break
                    elif losing:
                        break
                    target.write(said)
                    await target.drain()
            near_out.close()
            far_out.close()

        await asyncio.gather(hand_on(near_in, far_out, True), hand_on(far_in, near_out, False))


@pytest.mark.parametrize("heard", [True, False], ids=["after-it-was-heard", "before-it-was-heard"])
async def test_a_commit_whose_answer_was_lost_is_reported_as_what_became_of_it(
    postgres: Server, database: str, opening: Open, tmp_path: Path, heard: bool
):
    direct = await opening()
    async with Cut(postgres.folder, tmp_path, heard=heard).between() as cut:
        through = await opening(postgres.url(database.rpartition("?")[0].rpartition("/")[2], folder=tmp_path))
        await through.commit(OpenAct(Act("a", "k", "s", Stamp("b", 1.0, 1.0))))
        cut.armed = True
        commit = through.commit(CloseAct("a", "recovered", 1.0), note("closed"), PutSetting("k", 1))
        if heard:
            assert [event.type for event in await commit] == ["closed"]
        else:
            await refused(commit)
        assert cut.cuts == 1
        assert [event.type for event in await direct.events(0)] == (["closed"] if heard else [])
        assert await direct.setting("k") == (1 if heard else None)
        await through.commit(note("next"))
        await through.close()
