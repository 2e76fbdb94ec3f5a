"""Opening the SQLite file: its permissions, its version, and what is done with a damaged one."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from argus.core.clock import Clock, milliseconds, stamp
from argus.core.errors import IN_THE_WAY, ArgusError, Code
from argus.store import numbered, queries
from argus.store.access import obstacle

_APPLICATION = 0x41524755
"""In the file's header: ARGU."""
_BUSY = 5.0
"""Seconds that a commit waits for another process's lock on the file."""
BESIDE = ("-wal", "-shm")
"""What SQLite keeps beside the file: its write-ahead log, and the index of that."""


@dataclass(frozen=True, slots=True)
class Opened:
    writer: sqlite3.Connection
    reader: sqlite3.Connection
    epoch: str
    set_aside: Path | None


def open_files(path: Path | None, clock: Clock, token: Callable[[], str] | None, *, is_ours: bool) -> Opened:
    """`is_ours` when the file lies where only Argus writes: then a damaged one is set aside, whatever it holds."""
    token = token or (lambda: secrets.token_hex(4))
    set_aside = None
    if path is not None:
        _make_writable(path)
    try:
        writer = _connect(path)
        try:
            _prepare(writer, path)
        except sqlite3.DatabaseError as error:
            if path is None or isinstance(error, sqlite3.OperationalError):
                raise
            if not is_ours:
                check_file(path)
            # Before it is closed: closing would take the write-ahead log away.
            set_aside = _put_aside(path, milliseconds(clock.wall()))
            writer.close()
            writer = _connect(path)
            _prepare(writer, path)
            now = stamp(clock)
            # Nobody knows any more what was spent: for one window, everything counts as spent.
            mark = {"boot_id": now.boot_id, "boot": now.boot, "wall": now.wall, "kept": str(set_aside)}
            queries.put_setting(writer, "store.set_aside", mark)
        try:
            epoch = queries.setting(writer, "epoch")
        except ValueError:
            epoch = None  # no JSON: whoever reads on by the old name begins anew
        if epoch is None:
            epoch = token()
            queries.put_setting(writer, "epoch", epoch)
        reader = writer if path is None else _connect(path)
    except sqlite3.Error as error:
        raise ArgusError(Code.STORE_UNAVAILABLE, f"the store cannot be opened: {error}", path=str(path)) from None
    return Opened(writer, reader, str(epoch), set_aside)


def _make_writable(path: Path) -> None:
    """SQLite opens what it cannot write for reading, and no later chmod mends that: so it is refused instead. The files
    beside it took after it when they were made, also where it was read-only then; now they take after it again."""
    beside = [path.with_name(path.name + suffix) for suffix in BESIDE]
    try:
        mode = path.stat().st_mode & 0o600
        for one in beside:
            with contextlib.suppress(FileNotFoundError):
                found = one.lstat()
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and mode & ~found.st_mode:
                    one.chmod(found.st_mode & 0o777 | mode)
    except FileNotFoundError:
        pass  # it is made by this opening
    except OSError as error:
        raise _unopened(path, str(error.strerror)) from None
    for one in (path.parent, path, *beside):
        barrier = obstacle(one)
        if barrier is not None:
            raise _unopened(path, barrier.why, hint=barrier.remedy)


def _unopened(path: Path, why: str, **more: Any) -> ArgusError:
    refused = ArgusError(Code.STORE_UNAVAILABLE, f"the store cannot be opened: {why}", path=str(path), **more)
    refused.actions = ("check_store",)  # no room and no time mends it
    return refused


def _prepare(db: sqlite3.Connection, path: Path | None) -> None:
    """Raises DatabaseError for a damaged file, and OperationalError for one that cannot be used just now."""
    try:
        (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        _check_owner(db, path)
        wrong = misfit(db)
        if wrong:
            raise sqlite3.DatabaseError(wrong)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        _migrate(db)
    except (ArgusError, sqlite3.OperationalError):
        db.close()
        raise


def check_file(path: Path) -> None:
    """Refuses a file that is somebody else's, before anything is done to it or beside it."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ArgusError(
            Code.STORE_UNAVAILABLE, f"the store cannot be opened: {error.strerror}", path=str(path)
        ) from None
    ours = head.startswith(b"SQLite format 3\0") and head[68:72] == _APPLICATION.to_bytes(4, "big")
    if head and not ours and not _is_unsigned_file(path):
        raise _not_ours("the file is no store of Argus", path)


def _not_ours(why: str, path: Path | None) -> ArgusError:
    refused = ArgusError(Code.STORE_UNAVAILABLE, f"{why}; nothing was changed", path=str(path))
    refused.actions = IN_THE_WAY
    return refused


def _check_owner(db: sqlite3.Connection, path: Path | None) -> None:
    """Another program's database is left as it is."""
    if is_foreign(db):
        raise _not_ours("the file is another program's database", path)
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    if owner != _APPLICATION:
        # Before the write-ahead log is switched on, so that it stands in the file itself, where others look for it.
        db.execute(f"PRAGMA application_id = {_APPLICATION}")


def is_foreign(db: sqlite3.Connection) -> bool:
    (tables,) = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    return bool(tables) and owner != _APPLICATION and not _is_unsigned(db)


def misfit(db: sqlite3.Connection) -> str:
    """What keeps its tables from being those of the version that stands in it; empty where they are. No Argus leaves it
    so: it would be brought to the newest version from the wrong one, or fail at the first question."""
    known = numbered.migrations("sqlite")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    there = _tables(db)
    if version <= 0:
        return f"it has tables, and its version is {version}" if there or version else ""
    with contextlib.closing(sqlite3.connect(":memory:")) as made:
        made.executescript("\n".join(known[:version]))
        missing = sorted(_tables(made) - there)
    return f"it has no table {', '.join(missing)}" if missing else ""


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _is_unsigned(db: sqlite3.Connection) -> bool:
    """Whether it is as the very first Argus made it: version 1 to the letter, without our name in its header."""
    marks = [db.execute(f"PRAGMA {mark}").fetchone()[0] for mark in ("application_id", "user_version")]
    if marks != [0, 1]:
        return False
    with contextlib.closing(sqlite3.connect(":memory:")) as first:
        first.executescript(numbered.migrations("sqlite")[0])
        return _made(db) == _made(first)


def _is_unsigned_file(path: Path) -> bool:
    """The same without a trace: nothing is written beside a file that may be somebody else's."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True)) as db:
            return _is_unsigned(db)
    except sqlite3.Error:
        return False


def _made(db: sqlite3.Connection) -> set[tuple[str, str, str]]:
    return set(db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        # SQLite would create it with the umask's permissions; its WAL and shm files take after it. Only a file that is
        # not there yet is opened here: closing a second descriptor would drop SQLite's own locks on it.
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise ArgusError(
            Code.STORE_UNAVAILABLE, f"the store cannot be opened: {error.strerror}", path=str(path)
        ) from None
    return sqlite3.connect(path, timeout=_BUSY, isolation_level=None, check_same_thread=False, cached_statements=64)


def _migrate(db: sqlite3.Connection) -> None:
    known = numbered.migrations("sqlite")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    numbered.check_version(version, len(known))
    if version == len(known):
        return
    # All or none: whatever goes wrong, an older Argus can still open it.
    script = "\n".join(known[version:])
    try:
        db.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {len(known)};\nCOMMIT;")
    except sqlite3.Error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _put_aside(path: Path, now: int) -> Path:
    """Kept under another name, never deleted: a person may still get something out of it."""
    kept = path.with_name(f"{path.name}.corrupt-{now}")
    path.rename(kept)
    for suffix in BESIDE:
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            beside.rename(kept.with_name(kept.name + suffix))
    return kept
