"""The store: its version, whether it is whole, whether its newest event lies in the future."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shlex import quote as quoted
from urllib.parse import quote

from argus import installation
from argus.cli.doctoring import folder
from argus.cli.doctoring.finding import Case, Finding, State, away, bad, depends, ok, warn
from argus.core.clock import SystemClock, rfc3339
from argus.core.errors import ArgusError
from argus.core.redact import Redactor
from argus.core.units import spoken
from argus.store import named, numbered, opening
from argus.store.access import obstacle

_COPIED = 512 * 1024 * 1024
_PATIENCE = 10.0
_SKEW = 120.0
"""Seconds that an event may lie in the future: a clock is set by so little all the time."""


def store(case: Case) -> list[Finding]:
    url = os.environ.get("ARGUS_STORE") or (case.config.store.url.get_secret_value() if case.config.store.url else "")
    try:
        if named.is_postgres(url):
            return [asyncio.run(_postgres(url))]
        path = named.path(url, case.home)
        is_ours = path.resolve().parent == case.home.resolve()
        if is_ours and folder.is_closed(case.home):
            return [depends("STORE")]
        misplaced = folder.in_the_way("STORE", path)
        if misplaced is not None:
            return [misplaced]
    except ArgusError as error:
        return [bad("STORE", error.message, f"correct {_said_in()}; then: argus check")]
    except PermissionError as error:
        return [
            bad("STORE", f"{error.filename} may not be looked at", f"give it to this user, or correct {_said_in()}")
        ]
    # In a state folder that cannot be used there is nothing to correct here: that is said of the folder.
    if is_ours and (folder.state_folder(case).state is State.BAD or not case.home.exists()):
        return [ok("STORE", f"{path} is made at the first start")]
    if not is_ours:
        try:
            opening.check_file(path)
        except ArgusError as error:
            return [bad("STORE", f"{path}: {error.message}", f"correct {_said_in()}")]
    found = _sqlite(path, runs=case.daemon is not None)
    said = case.said().get("store", "ok")
    if said != "ok" and found[0].state is not State.BAD:
        # The file is well for us, and not for the daemon, which opened it when it was not, or another one.
        found[0] = bad("STORE", f"{found[0].detail}, but the daemon says: {said}", _until_written(case, path.parent))
    return found


def _said_in() -> str:
    return "ARGUS_STORE in the environment" if os.environ.get("ARGUS_STORE") else "store.url in argus.yaml"


def _until_written(case: Case, place: Path) -> str:
    if not folder.is_full(case, place):
        return "if it does not end by itself: argus down && argus up --detach; what waits to be written is lost then"
    return "see DISK_SPACE" if folder.is_full(case, case.home) else f"{folder.freed(case)}: df -h {quoted(str(place))}"


def _sqlite(path: Path, *, runs: bool) -> list[Finding]:
    barrier = next(filter(None, map(obstacle, (path.parent, path))), None)
    if barrier is not None:
        return [bad("STORE", barrier.why, barrier.remedy)]
    lock = path.with_name(f"{path.name}.lock")
    misplaced = folder.in_the_way("STORE", lock)
    if misplaced is not None:
        return [misplaced]
    aside = sorted(path.parent.glob(f"{path.name}.corrupt-*[0-9]")) if path.parent.is_dir() else []
    kept = [warn("STORE_SET_ASIDE", f"{one} was damaged and set aside", "look at it, then remove it") for one in aside]
    if not path.exists():
        return [ok("STORE", f"{path} is made at the first start"), *kept]
    try:
        with _reading(path, runs=runs) as db:
            db.execute("PRAGMA query_only = 1")
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if found == "ok" and opening.is_foreign(db):
                return [bad("STORE", f"{path} is another program's database", away(path)), *kept]
            if found == "ok":
                found = opening.misfit(db) or "ok"
            (version,) = db.execute("PRAGMA user_version").fetchone()
            readable = version and found == "ok"
            newest = db.execute("SELECT MAX(timestamp) FROM journal").fetchone()[0] if readable else None
    except (sqlite3.OperationalError, OSError) as error:
        return [bad("STORE", f"{path} cannot be read just now: {error}", f"ls -l {path}*; fuser {path}"), *kept]
    except sqlite3.Error as error:
        return [_damaged(path, str(error)), *kept]
    if found != "ok":
        return [_damaged(path, str(found)), *kept]
    size = path.stat().st_size / 1e6
    return [_version(int(version), f"{path}, {size:.1f} MB, whole"), *future(newest, now=SystemClock().wall()), *kept]


def _version(version: int, said: str) -> Finding:
    known = len(numbered.migrations("sqlite"))
    if version > known:
        return bad(
            "STORE", f"{said}, but of version {version}: this Argus knows {known}", "install the newer Argus again"
        )
    if version < known:
        return ok("STORE", f"{said}, of version {version}: the next start brings it to {known} and keeps everything")
    return ok("STORE", f"{said}, version {version}")


def _damaged(path: Path, why: str) -> Finding:
    return bad(
        "STORE",
        f"{path} is damaged or cannot be read: {why}",
        "the next start sets it aside, keeps it, and begins anew",
    )


def future(newest: int | None, *, now: float) -> list[Finding]:
    """Nobody but a person knows which of the two times is right; `now` has been found plausible, or CLOCK says so."""
    written = (newest or 0) / 1000
    if written - now <= _SKEW:
        return []
    said = f"the newest event on record is of {rfc3339(written)}, {spoken(written - now)} ahead: the clock was set back"
    follows = (
        f"if it is {rfc3339(now)} now, nothing is left to do: the clock was ahead once, and this goes by itself when "
        "that time has come; else: timedatectl"
    )
    return [warn("CLOCK_SET_BACK", said, follows)]


@contextmanager
def _reading(path: Path, *, runs: bool) -> Iterator[sqlite3.Connection]:
    """Without a trace. A reader of a file with a write-ahead log writes beside it: so where nobody has it open, and
    there is a log, a copy is read."""
    log = path.with_name(f"{path.name}-wal")
    if runs:
        with closing(_connect(path, "mode=ro")) as db:
            yield db
    elif log.exists() and log.stat().st_size and path.stat().st_size < _COPIED:
        with tempfile.TemporaryDirectory(prefix="argus-doctor-") as kept:
            copy = Path(kept, path.name)
            shutil.copyfile(path, copy)
            shutil.copyfile(log, copy.with_name(log.name))
            with closing(_connect(copy, "mode=rw")) as db:
                yield db
    else:
        with closing(_connect(path, "immutable=1")) as db:
            yield db


def _connect(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True, timeout=_PATIENCE)


async def _postgres(url: str) -> Finding:
    """Said as a start says it, and without its password."""
    try:
        import asyncpg

        from argus.store import postgres_opening as opens
    except ModuleNotFoundError:
        return bad("STORE", "a postgresql:// store needs asyncpg", installation.here().again())
    known, redactor = len(numbered.migrations("postgres")), Redactor()
    opens.learn(url, redactor)
    again = f"check that it runs, and {_said_in()}"
    try:
        async with asyncio.timeout(_PATIENCE):
            db = await opens.connect(url)
            try:
                made = await db.fetchval("SELECT to_regclass('argus.version') IS NOT NULL")
                version = await db.fetchval("SELECT version FROM argus.version") if made else 0
            finally:
                await db.close()
    except (asyncpg.ClientConfigurationError, ValueError):
        return bad("STORE", "the URL of PostgreSQL is not understood", again)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return bad("STORE", opens.unusable(url, redactor.text(opens.reason(error))), again)
    if version > known:
        return bad(
            "STORE", f"PostgreSQL, of version {version}: this Argus knows {known}", "install the newer Argus again"
        )
    return ok("STORE", f"PostgreSQL, version {version} of {known}")
