"""Connections to PostgreSQL: their deadlines, whose fault an error is, and the schema with its version."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from os import getpid, strerror, uname
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from argus.core.errors import IN_DATABASE, ArgusError, Code
from argus.core.redact import Redactor
from argus.store import numbered, rows
from argus.store import postgres_queries as queries

DEADLINE = 5.0
"""Seconds that a transaction, a question or a connection may take as a whole."""
_MIGRATING = 60.0
_OPERATORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, EOFError)
_THE_COMMITS_OWN = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, asyncpg.ProgramLimitExceededError)
_SESSION = {
    "application_name": "argus",
    # The server lets go by itself of what a client that is frozen or cut off was doing: it may hold the lock that
    # every other writer waits for.
    "statement_timeout": f"{DEADLINE:g}s",
    "idle_in_transaction_session_timeout": f"{DEADLINE:g}s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
_WHO = (
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) "
    "WHERE locktype = 'advisory' AND granted AND classid = $1::bigint::oid AND objid = 1 AND objsubid = 2 "
    "AND datname = current_database()"
)
_AT_LEAST_ON_DISK = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)


def is_the_stores_fault(error: BaseException) -> bool:
    """Anything else that goes wrong with one commit is its own fault, and says nothing about the store."""
    if isinstance(error, _THE_COMMITS_OWN):
        return False
    return isinstance(error, (*_OPERATORS, TimeoutError, Taken))


def unavailable(message: str, **details: Any) -> ArgusError:
    error = ArgusError(Code.STORE_UNAVAILABLE, message, **details)
    error.actions = IN_DATABASE
    return error


def reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {DEADLINE:g} s"
    if isinstance(error, (ConnectionError, FileNotFoundError, PermissionError)) and error.errno:
        return strerror(error.errno)  # each event loop has words of its own for it
    # The lines below the first are details, which may show a row.
    return (str(error).splitlines() or [type(error).__name__])[0]


def learn(url: str, redactor: Redactor) -> None:
    """Every form in which the password could come back in somebody's message."""
    redactor.learn(url)
    with contextlib.suppress(ValueError):  # a URL that is none is refused when it is opened
        parts = urlsplit(url)
        for secret in (parts.password or "", *parse_qs(parts.query).get("password", [])):
            redactor.learn(secret)
            redactor.learn(unquote(secret))


def check_url(url: str) -> None:
    """Says nothing of what is in it: a password with a `/` in it is read as something else, and would be shown."""
    try:
        parts = urlsplit(url)
        whole = not parts.fragment and "@" not in parts.path + parts.query
    except ValueError:
        whole = False
    if not whole:
        message = (
            "the store's URL is postgresql://USER:PASSWORD@HOST:PORT/DATABASE; "
            "special characters in the password are written as %XX"
        )
        raise ArgusError(Code.CONFIG_INVALID, message, errors=[{"path": "store.url", "message": message}])


async def connect(url: str) -> Any:
    async with asyncio.timeout(DEADLINE):
        db = await asyncpg.connect(url, server_settings=_SESSION)
        try:
            await db.execute(_AT_LEAST_ON_DISK)
        except BaseException:
            db.terminate()
            raise
    return db


class Taken(Exception):
    """Another Argus uses the database."""

    def __init__(self, holder: dict[str, Any]) -> None:
        named = f" (pid {holder['pid']} on {holder['host']})" if holder else ""
        super().__init__(f"another Argus{named} uses this database")
        self.holder = holder


async def connect_alone(url: str) -> Any:
    """One at a time, for as long as the connection lasts. Raises Taken.

    Our own last connection may still be on its way out, so it waits a little.
    """
    db = await connect(url)
    try:
        async with asyncio.timeout(DEADLINE):
            await db.execute("SET lock_timeout = '2s'")
            await db.execute("SELECT pg_advisory_lock($1::integer, 1)", queries.LOCK)
            await db.execute("SET lock_timeout = 0")
            # For the next one who comes, and is told who holds it.
            await db.execute("SELECT set_config('application_name', $1, false)", f"argus {getpid()}@{uname().nodename}")
    except asyncpg.LockNotAvailableError:
        holder = await _holder(db)
        db.terminate()
        raise Taken(holder) from None
    except BaseException:
        db.terminate()
        raise
    return db


async def _holder(db: Any) -> dict[str, Any]:
    """Who has the lock; empty when that cannot be told, which changes nothing about it."""
    try:
        async with asyncio.timeout(DEADLINE):
            said = await db.fetchval(_WHO, queries.LOCK)
    except (*_OPERATORS, TimeoutError):
        return {}
    found = re.fullmatch(r"argus (\d+)@(.+)", said or "")
    return {"pid": int(found[1]), "host": found[2]} if found else {}


class Connections:
    """A few for reading, made when they are needed. One that failed in any way is not used again."""

    def __init__(self, url: str, most: int) -> None:
        self._url = url
        self._room = asyncio.Semaphore(most)
        self._idle: list[Any] = []

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[Any]:
        async with self._room:
            self._idle = [db for db in self._idle if not db.is_closed()]
            db = self._idle.pop() if self._idle else await connect(self._url)
            try:
                yield db
            except BaseException:
                db.terminate()
                raise
            self._idle.append(db)

    def close(self) -> None:
        # No goodbye anywhere: a server that hangs would not hear it, and the end of Argus would wait for it.
        while self._idle:
            self._idle.pop().terminate()


async def open_database(url: str, token: Callable[[], str], redactor: Redactor) -> tuple[str, int]:
    """The store's name and its newest number, after its schema was brought to the newest version."""
    check_url(url)
    try:
        db = await connect(url)
        try:
            async with asyncio.timeout(_MIGRATING), db.transaction(isolation="read_committed"):
                await db.execute("SET LOCAL statement_timeout = 0")
                # Two that start at once: the second waits here, and finds everything done.
                await queries.lock(db)
                await _migrate(db)
                epoch = await _epoch(db, token)
                newest = (await queries.span(db))[1]
        finally:
            db.terminate()
    except (asyncpg.ClientConfigurationError, ValueError):
        message = "the store's URL is not understood: postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        raise ArgusError(Code.CONFIG_INVALID, message, errors=[{"path": "store.url", "message": message}]) from None
    except (*_OPERATORS, TimeoutError) as error:
        said = redactor.text(reason(error))
        raise unavailable(unusable(url, said), reason=said) from None
    return epoch, newest


def unusable(url: str, why: str) -> str:
    return f"PostgreSQL ({_place(url)}) cannot be used: {why}"


async def _migrate(db: Any) -> None:
    known = numbered.migrations("postgres")
    version = await _version(db)
    numbered.check_version(version, len(known))
    for script in known[version:]:
        await db.execute(script)
    if version < len(known):
        await db.execute("DELETE FROM argus.version")
        await db.execute("INSERT INTO argus.version (version) VALUES ($1)", len(known))


async def _version(db: Any) -> int:
    if await db.fetchval("SELECT to_regclass('argus.version') IS NOT NULL"):
        return int(await db.fetchval("SELECT version FROM argus.version"))
    if await db.fetchval("SELECT to_regnamespace('argus') IS NULL"):
        await db.execute("CREATE SCHEMA argus")
    elif await db.fetchval("SELECT COUNT(*) FROM pg_class WHERE relnamespace = to_regnamespace('argus')"):
        raise unavailable("the schema argus of the database is another program's; nothing was changed")
    await db.execute("CREATE TABLE argus.version (version INTEGER NOT NULL)")
    return 0


async def _epoch(db: Any, token: Callable[[], str]) -> str:
    found = await queries.setting(db, "epoch")
    if found is None:
        found = token()
        await db.execute("INSERT INTO argus.settings (key, value) VALUES ('epoch', $1)", rows.encoded(found))
    return str(found)


def _place(url: str) -> str:
    """Which server, and nothing else of the URL."""
    parts = urlsplit(url)
    socket = parse_qs(parts.query).get("host", [""])[0]
    return parts.netloc.rpartition("@")[2] or socket or "the local server"
