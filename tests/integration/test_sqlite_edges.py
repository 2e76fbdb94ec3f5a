"""The SQLite file when things are not well: newer, damaged, locked, full, killed; and the lock of the state folder."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.host.identity import identify
from argus.store import numbered
from argus.store.lock import InstanceLock
from argus.store.opening import check_file
from argus.store.records import Append, PutSetting
from argus.store.sqlite import SqliteStore

ENOUGH = 30.0
Open = Callable[[], Awaitable[SqliteStore]]


def note(type: str = "t", **data: Any) -> Append:
    return Append(Draft("c", type, "", data))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "argus.db"


@pytest.fixture
async def opening(path: Path) -> AsyncIterator[Open]:
    opened: list[SqliteStore] = []

    async def open_store() -> SqliteStore:
        store = SqliteStore(path)
        opened.append(store)
        return store

    yield open_store
    for store in opened:
        await store.close()


def content(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)


async def written(opening: Open, events: int = 300) -> SqliteStore:
    store = await opening()
    await store.commit(*(note(place=place, text="x" * 200) for place in range(events)))
    await store.close()
    return store


# Opening.


async def test_a_newer_store_is_refused_and_untouched(path: Path, opening: Open):
    await written(opening)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = content(path)
    with pytest.raises(ArgusError) as caught:
        await opening()
    assert caught.value.code is Code.STORE_UNAVAILABLE
    assert caught.value.details["storeVersion"] == 99
    assert content(path) == before
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name]


def unsigned(path: Path, *more: str) -> None:
    """As the very first Argus wrote it: of version 1, without its name in the header."""
    put(path, b"")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript("\n".join([numbered.migrations("sqlite")[0], "PRAGMA user_version = 1;", *more]))


async def test_a_store_of_the_first_argus_which_did_not_sign_it_is_taken(path: Path, opening: Open):
    unsigned(path, "INSERT INTO settings (key, value) VALUES ('epoch', '\"first\"');")
    check_file(path)
    store = await opening()
    assert (store.epoch, store.set_aside) == ("first", None)
    assert await store.commit(note())
    await store.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (0x41524755,)
        assert db.execute("PRAGMA user_version").fetchone() == (len(numbered.migrations("sqlite")),)


@pytest.mark.parametrize(
    "more",
    ["CREATE TABLE theirs (x);", "DROP TABLE incidents;", "PRAGMA user_version = 2;", "PRAGMA application_id = 7;"],
    ids=["a-table-more", "a-table-less", "a-later-version", "another-name"],
)
async def test_one_that_only_looks_like_it_is_somebody_elses(path: Path, opening: Open, more: str):
    unsigned(path, more)
    before = content(path)
    for look in (lambda: check_file(path), None):
        with pytest.raises(ArgusError) as caught:
            look() if look else await opening()
        assert caught.value.code is Code.STORE_UNAVAILABLE
    assert content(path) == before


async def test_an_empty_file_is_a_new_store(path: Path, opening: Open):
    put(path, b"")
    store = await opening()
    assert store.set_aside is None
    assert await store.commit(note())


@pytest.mark.parametrize("raw", [b"this is no database\n" * 500, b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_file_that_is_no_store_is_set_aside_and_kept(path: Path, opening: Open, raw: bytes):
    put(path, raw)
    store = await opening()
    assert store.set_aside is not None
    assert store.set_aside.read_bytes() == raw
    assert store.set_aside.parent == path.parent
    assert await store.commit(note())
    mark = await store.setting("store.set_aside")
    assert mark["kept"] == str(store.set_aside)
    assert set(mark) == {"boot_id", "boot", "wall", "kept"}


async def test_a_store_after_a_set_aside_one_has_another_name_and_its_mark_survives(path: Path, opening: Open):
    first = await written(opening)
    put(path, b"x" * 10_000)
    second = await opening()
    assert second.epoch != first.epoch
    await second.close()
    third = await opening()
    assert (third.epoch, third.set_aside) == (second.epoch, None)
    assert await third.setting("store.set_aside") is not None


async def test_what_lies_beside_a_damaged_store_goes_with_it(path: Path, opening: Open):
    put(path, b"x" * 10_000)
    put(path.with_name("argus.db-wal"), b"its wal")
    store = await opening()
    assert store.set_aside is not None
    assert store.set_aside.with_name(store.set_aside.name + "-wal").read_bytes() == b"its wal"


async def test_a_store_whose_pages_are_damaged_is_set_aside(path: Path, opening: Open):
    await written(opening)
    raw = content(path)
    put(path, raw[:4096] + b"\xde\xad" * ((len(raw) - 4096) // 2))
    store = await opening()
    assert store.set_aside is not None
    assert await store.commit(note())


async def test_a_store_that_was_cut_off_is_set_aside(path: Path, opening: Open):
    await written(opening)
    os.truncate(path, 4096)
    assert (await opening()).set_aside is not None


async def test_another_program_s_database_is_refused_and_untouched(path: Path, opening: Open):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine (x)")
        db.execute("PRAGMA user_version = 1")
    with pytest.raises(ArgusError) as caught:
        await opening()
    assert caught.value.code is Code.STORE_UNAVAILABLE


@pytest.mark.parametrize("where", ["a-folder", "no-folder/argus.db"])
async def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path, where: str):
    (tmp_path / "a-folder").mkdir()
    with pytest.raises(ArgusError) as caught:
        SqliteStore(tmp_path / where)
    assert caught.value.code is Code.STORE_UNAVAILABLE


async def test_the_files_are_their_owner_s_alone_whatever_the_umask(path: Path, opening: Open):
    before = os.umask(0)
    try:
        store = await opening()
        await store.commit(note())
    finally:
        os.umask(before)
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert modes == {"argus.db": 0o600, "argus.db-wal": 0o600, "argus.db-shm": 0o600}


# Locked.


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program writes to the file and does not come to an end."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


class Pulse:
    """Measures the longest moment in which the loop did not run."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def beat(self) -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.01)
            now = time.monotonic()
            self.longest, last = max(self.longest, now - last), now


async def test_a_file_locked_for_long_stops_acting_not_the_loop_and_works_again_later(path: Path, opening: Open):
    store, pulse = await opening(), Pulse()
    await store.commit(PutSetting("k", "before"))
    beating = asyncio.ensure_future(pulse.beat())
    with locked(path):
        began = time.monotonic()
        waiting = asyncio.ensure_future(store.commit(note("lost")))
        # Reading goes on while the writer waits.
        assert await store.setting("k") == "before"
        assert not waiting.done()
        with pytest.raises(ArgusError) as caught:
            async with asyncio.timeout(ENOUGH):
                await waiting
        assert caught.value.code is Code.STORE_UNAVAILABLE
        assert time.monotonic() - began > 4.0
        assert store.problem is not None
    beating.cancel()
    assert pulse.longest < 1.0
    assert [event.type for event in await store.commit(note("later"))] == ["later"]
    assert store.problem is None
    assert [event.type for event in await store.events(0)] == ["later"]


async def test_a_file_locked_for_a_moment_is_waited_for(path: Path, opening: Open):
    store = await opening()
    with locked(path):
        work = [asyncio.ensure_future(store.commit(note(place=place))) for place in range(50)]
        await store.setting("k")
        assert not any(one.done() for one in work)
    async with asyncio.timeout(ENOUGH):
        await asyncio.gather(*work)
    assert [event.data["place"] for event in await store.events(0)] == list(range(50))


async def test_commits_that_pile_up_are_bounded_and_those_beyond_are_told(path: Path, opening: Open):
    store = await opening()
    with locked(path):
        work = [asyncio.ensure_future(store.commit(note(place=place))) for place in range(10_500)]
        await asyncio.sleep(0)
        refused = [one for one in work if one.done()]
        assert 100 < len(refused) <= 500
        for one in refused:
            error = one.exception()
            assert isinstance(error, ArgusError)
            assert error.code is Code.STORE_UNAVAILABLE
    async with asyncio.timeout(ENOUGH):
        results = await asyncio.gather(*work, return_exceptions=True)
    accepted = [result[0].data["place"] for result in results if not isinstance(result, BaseException)]
    assert len(accepted) == 10_500 - len(refused)
    assert (await store.span())[1] == len(accepted)


# Full. In processes of their own: limits and mounts concern a whole process.

FULL = """
import asyncio, json, resource, sys
from pathlib import Path
from argus.core.errors import ArgusError
from argus.core.events import Draft
from argus.store.records import Append
from argus.store.sqlite import SqliteStore

async def main():
    folder, how = Path(sys.argv[1]), sys.argv[2]
    store = SqliteStore(folder / "argus.db")
    await store.commit(Append(Draft("c", "before")))
    ballast = folder / "ballast"
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (256 * 1024, hard))
    else:
        with ballast.open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
    codes = []
    for place in range(200):
        try:
            await store.commit(Append(Draft("c", "big", "", {"text": "x" * 20000})))
        except ArgusError as error:
            codes.append(error.code.value)
    said = store.problem
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    else:
        ballast.unlink()
    (event,) = await store.commit(Append(Draft("c", "after")))
    events = await store.events(0, limit=1000)
    await store.close()
    again = SqliteStore(folder / "argus.db")
    kept = await again.last_events(1000)
    await again.close()
    print(json.dumps({
        "codes": sorted(set(codes)), "refused": len(codes), "said": bool(said), "problem": store.problem,
        "types": [one.type for one in events], "same": kept == events, "set_aside": again.set_aside is not None,
    }))

asyncio.run(main())
"""


def full(folder: Path, how: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(folder), how], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check_full(found: dict[str, Any]) -> None:
    assert found["codes"] == ["STORE_UNAVAILABLE"]
    assert found["refused"] > 100
    assert found["said"] is True
    assert found["problem"] is None
    assert (found["types"][0], found["types"][-1]) == ("before", "after")
    assert found["types"].count("big") == 200 - found["refused"]
    assert (found["same"], found["set_aside"]) == (True, False)


def test_a_file_that_may_not_grow_refuses_commits_and_recovers_by_itself(tmp_path: Path):
    check_full(full(tmp_path, "limit"))


def test_a_full_disk_refuses_commits_and_recovers_by_itself(tmp_path: Path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("a small file system needs the right to mount one; the test beside this one needs none")
    try:
        check_full(full(disk, "disk"))
    finally:
        subprocess.run(["umount", disk], check=True)


# Killed.

WRITER = """
import asyncio, sys
from pathlib import Path
from argus.core.events import Draft
from argus.store.records import Append
from argus.store.sqlite import SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    while True:
        work = [store.commit(Append(Draft("c", "t")), Append(Draft("c", "t"))) for _ in range(20)]
        for events in await asyncio.gather(*work):
            print(events[-1].n, flush=True)

asyncio.run(main())
"""


def write_until_killed(path: Path) -> int:
    """The newest number that was confirmed before the writer was killed in the middle of its work."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        confirmed = [int(writer.stdout.readline()) for _ in range(150)]
        writer.kill()
        rest = writer.stdout.read().splitlines(keepends=True)
    return max(confirmed + [int(line) for line in rest if line.endswith(b"\n")])


async def test_what_was_confirmed_survives_a_kill_and_commits_are_whole(path: Path, opening: Open):
    for _ in range(3):
        confirmed = write_until_killed(path)
        store = await opening()
        assert store.set_aside is None
        newest = (await store.span())[1]
        assert newest >= confirmed
        assert newest % 2 == 0
        await store.close()


# One daemon per state folder.


def test_a_second_taker_is_told_who_holds_the_lock(tmp_path: Path):
    first, second = InstanceLock(tmp_path / "argus.lock"), InstanceLock(tmp_path / "argus.lock")
    first.take()
    try:
        with pytest.raises(ArgusError) as caught:
            second.take()
        assert caught.value.code is Code.ALREADY_RUNNING
        assert caught.value.details["pid"] == os.getpid()
        assert caught.value.details["lock"] == str(tmp_path / "argus.lock")
    finally:
        first.release()
    second.take()
    second.release()


def test_who_comes_upon_a_store_that_another_folder_uses_is_told_which_and_what_helps_there(tmp_path: Path):
    first, second = (InstanceLock(tmp_path / "argus.db.lock", "store", home=f"/home/{one}") for one in "ab")
    first.take()
    try:
        with pytest.raises(ArgusError) as caught:
            second.take()
    finally:
        first.release()
    assert "/home/a" in caught.value.message
    assert caught.value.details["home"] == "/home/a"
    assert caught.value.actions == ("end_other", "use_other_store"), "no command in our own folder reaches it"


def test_folders_do_not_share_a_lock(tmp_path: Path):
    locks = []
    for name in "ab":
        (tmp_path / name).mkdir()
        locks.append(InstanceLock(tmp_path / name / "argus.lock"))
        locks[-1].take()
    for lock in locks:
        lock.release()


def test_releasing_twice_or_what_was_never_taken_is_nothing(tmp_path: Path):
    lock = InstanceLock(tmp_path / "argus.lock")
    lock.release()
    lock.take()
    lock.release()
    lock.release()


def test_the_lock_s_file_is_private_and_stays(tmp_path: Path):
    lock = InstanceLock(tmp_path / "argus.lock")
    lock.take()
    lock.release()
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', "\xff\xfe", '{"pid": "x"}'])
def test_a_lock_whose_holder_cannot_be_read_is_held_all_the_same(tmp_path: Path, content: str):
    first, second = InstanceLock(tmp_path / "argus.lock"), InstanceLock(tmp_path / "argus.lock")
    first.take()
    try:
        (tmp_path / "argus.lock").write_text(content, encoding="latin-1")
        with pytest.raises(ArgusError) as caught:
            second.take()
        assert caught.value.code is Code.ALREADY_RUNNING
    finally:
        first.release()


HOLDER = """
import sys, subprocess
from pathlib import Path
from argus.store.lock import InstanceLock
InstanceLock(Path(sys.argv[1]) / "argus.lock").take()
child = subprocess.Popen(["sleep", "1000"], close_fds=False)
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_a_lock_ends_with_its_holder_however_that_ends_and_not_with_its_children(tmp_path: Path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        lock = InstanceLock(tmp_path / "argus.lock")
        try:
            with pytest.raises(ArgusError) as caught:
                lock.take()
            assert caught.value.details["pid"] == holder.pid
            holder.kill()
            holder.wait()
            assert identify(child) is not None
            lock.take()
            lock.release()
        finally:
            os.kill(child, signal.SIGKILL)
