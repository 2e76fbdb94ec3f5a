"""The store in one SQLite file: one writer thread that commits in batches, one reader thread that never waits for it.

Every commit is synced to disk before it is confirmed, so an intent that was confirmed survives the loss of power. Many
commits that arrive together share one sync.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from argus.core.budget import MOST
from argus.core.clock import Clock, SystemClock, milliseconds
from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.core.failpoints import Place, reach
from argus.core.redact import Redactor
from argus.store import queries, session_tables
from argus.store.opening import open_files
from argus.store.records import (
    Act,
    Append,
    Condition,
    Counts,
    Cursor,
    Document,
    HealthCheck,
    Incident,
    Prune,
    Pruned,
    Tally,
    Write,
)

T = TypeVar("T")
log = logging.getLogger("argus")
_THE_STORES_FAULT = (sqlite3.OperationalError, sqlite3.InternalError)
"""Anything else that goes wrong with one commit is its own fault, and says nothing about the store."""
_WAITING = 10_000
"""Commits that may wait for the writer. Beyond that the store does not keep up, and that is said."""
_BATCH = 256
_RECENT = 2048


@dataclass(slots=True)
class _Job:
    writes: tuple[Write, ...]
    done: asyncio.Future[list[Event]]
    events: list[Event]
    error: BaseException | None = None
    pruned: Pruned = field(default_factory=Pruned)


class SqliteStore:
    def __init__(
        self,
        path: Path | None,
        *,
        clock: Clock | None = None,
        redactor: Redactor | None = None,
        inline: bool = False,
        token: Callable[[], str] | None = None,
        is_ours: bool = True,
    ) -> None:
        """`inline` runs everything on the caller's thread: simulations need one order of steps. No path: memory."""
        self._clock = clock or SystemClock()
        self._redactor = redactor or Redactor()
        opened = open_files(path, self._clock, token, is_ours=is_ours)
        self._path, self._file = path, _identity(path)
        self._writer, self._reader = opened.writer, opened.reader
        self.epoch = opened.epoch
        self.set_aside = opened.set_aside
        self._oldest, self._newest = queries.span(self._reader)
        self._recent: deque[Event] = deque(maxlen=_RECENT)
        self._changed = asyncio.Event()
        self._inline = inline
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed = False
        self.problem: str | None = None
        """Why the last commit failed; None while the store is well."""
        self._damage = ""
        """What was found wrong with the file. It stays: what else is wrong with it, nobody knows."""
        if not inline:
            self._loop = asyncio.get_running_loop()
            self._reading = ThreadPoolExecutor(1, thread_name_prefix="argus-store-reader")
            self._thread = threading.Thread(target=self._write_jobs, name="argus-store-writer", daemon=True)
            self._thread.start()

    async def commit(self, *writes: Write) -> list[Event]:
        return (await self._submit(writes)).events

    async def prune(self, order: Prune) -> Pruned:
        return (await self._submit((order,))).pruned

    async def _submit(self, writes: tuple[Write, ...]) -> _Job:
        if self._closed:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the store is closed")
        job = _Job(writes, asyncio.get_running_loop().create_future(), [])
        if self._inline:
            self._commit([job])
            self._deliver([job])
        else:
            if self._jobs.qsize() >= _WAITING:
                raise ArgusError(Code.STORE_UNAVAILABLE, "the store does not keep up", waiting=_WAITING)
            self._jobs.put(job)
        await job.done
        return job

    async def was_committed(self, transaction: str) -> bool:
        return False  # a commit of SQLite that fails is taken back

    async def events(
        self, after: int, *, limit: int = 500, channel: str | None = None, subject: str | None = None
    ) -> list[Event]:
        if after >= self._newest:
            return []
        if self._recent and self._recent[0].n <= after + 1:
            # The numbers in the ring follow each other, so its index is known without a search.
            start = after + 1 - self._recent[0].n
            ring = (self._recent[index] for index in range(start, len(self._recent)))
            return [e for e in ring if _matches(e, channel, subject)][:limit]
        return await self._read(lambda db: queries.events(db, self.epoch, after, limit, channel, subject))

    async def last_events(
        self, limit: int, *, channel: str | None = None, type: str | None = None, since: int = 0
    ) -> list[Event]:
        return await self._read(lambda db: queries.last_events(db, self.epoch, limit, channel, type, since))

    async def story(self, incident: str, *, limit: int = 1000) -> list[Event]:
        return await self._read(lambda db: queries.story(db, self.epoch, incident, limit))

    async def span(self) -> tuple[int, int]:
        return (self._oldest, self._newest)

    async def wait(self, after: int) -> None:
        while self._newest <= after:
            if self._closed:
                raise ArgusError(Code.STORE_UNAVAILABLE, "the store is closed")
            await self._changed.wait()

    async def acts(self, *, kind: str, newest: int = MOST) -> list[Act]:
        return await self._read(lambda db: queries.acts(db, kind, newest))

    async def open_acts(self) -> list[Act]:
        return await self._read(queries.open_acts)

    async def incidents(
        self, *, open_only: bool = False, limit: int = 100, before: str | None = None
    ) -> list[Incident]:
        return await self._read(lambda db: queries.incidents(db, open_only, limit, before))

    async def incident(self, id: str) -> Incident | None:
        return await self._read(lambda db: queries.incident(db, id))

    async def conditions(self, domain: str) -> dict[str, Condition]:
        return await self._read(lambda db: queries.conditions(db, domain))

    async def tallied(self, domain: str, span: int, first: int, last: int) -> dict[str, Counts]:
        return await self._read(lambda db: queries.tallied(db, domain, span, first, last))

    async def buckets(self, domain: str, span: int, starts: Sequence[int], subjects: Sequence[str]) -> list[Tally]:
        return await self._read(lambda db: queries.buckets(db, domain, span, starts, subjects))

    async def setting(self, key: str) -> Any:
        return await self._read(lambda db: queries.setting(db, key))

    async def documents(self, domain: str, *, live: bool = True) -> list[Document]:
        return await self._read(lambda db: queries.documents(db, domain, live))

    async def cursor(self, name: str) -> Cursor | None:
        return await self._read(lambda db: queries.cursor(db, name))

    async def sessions(self) -> list[dict[str, Any]]:
        return await self._read(lambda db: queries.session_data(db, session_tables.SESSIONS))

    async def spawns(self, *, open_only: bool = False, limit: int = 100) -> list[dict[str, Any]]:
        wanted = session_tables.spawns(limit, open_only=open_only)
        return await self._read(lambda db: queries.session_data(db, wanted))

    async def health_checks(
        self,
        *,
        project: str | None = None,
        type: str | None = None,
        status: str | None = None,
        since: float = 0.0,
        limit: int = 100,
        before: int | None = None,
    ) -> list[HealthCheck]:
        wanted = session_tables.checks(
            project=project, type=type, status=status, since=since, limit=limit, before=before
        )
        return await self._read(lambda db: queries.health_checks(db, wanted))

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._wake()
        if not self._inline:
            # The jobs that are waiting come before the end mark, so nothing accepted is lost. No thread waits for the
            # writer: a store that is locked by another process must not hold the stop of Argus up.
            self._jobs.put(None)
            while self._thread.is_alive():  # noqa: ASYNC110 - a thread tells nobody that it has ended
                await asyncio.sleep(0.01)
            self._reading.shutdown(wait=False)
        self._writer.close()
        if self._reader is not self._writer:
            self._reader.close()

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        try:
            if self._inline:
                return query(self._reader)
            return await asyncio.get_running_loop().run_in_executor(self._reading, query, self._reader)
        except sqlite3.Error as error:
            message = f"the store cannot be read: {error}"
            if _is_damage(error):
                message = self._damage = _damage(error)
                self._note(message)
            raise ArgusError(Code.STORE_UNAVAILABLE, message) from None

    def _write_jobs(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch = [job]
            ended = False
            for _ in range(min(_BATCH - 1, self._jobs.qsize())):
                following = self._jobs.get()
                if following is None:
                    ended = True
                    break
                batch.append(following)
            self._commit(batch)
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits for the answers any more
                self._loop.call_soon_threadsafe(self._deliver, batch)
            if ended:
                return

    def _commit(self, batch: list[_Job]) -> None:
        db = self._writer
        try:
            if _identity(self._path) != self._file:
                # SQLite would go on writing into a file that has no name any more, and all of it would be lost.
                raise sqlite3.OperationalError("its file was removed or replaced; start Argus anew")
            if self._damage:
                raise sqlite3.OperationalError(self._damage)
            self._carry_out_all(db, batch)
            reach(Place.COMMITTING)
            db.execute("COMMIT")
            reach(Place.COMMITTED)
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            if _is_damage(error):
                self._damage = _damage(error)
            message = self._damage or f"the store cannot be written: {error}"
            for job in batch:
                job.events.clear()
                job.error = job.error or ArgusError(Code.STORE_UNAVAILABLE, message, reason=str(error))

    def _carry_out_all(self, db: sqlite3.Connection, batch: list[_Job]) -> None:
        """Hardly ever is anything wrong with a commit itself: so they are carried out together, all events in one
        statement, and only should one of them fail each for itself."""
        db.execute("BEGIN IMMEDIATE")
        try:
            self._carry_out_together(db, batch)
        except Exception as error:
            if isinstance(error, _THE_STORES_FAULT) or _is_damage(error):
                raise
            db.execute("ROLLBACK")
            db.execute("BEGIN IMMEDIATE")
            for job in batch:
                job.events.clear()
                self._carry_out(db, job)

    def _carry_out_together(self, db: sqlite3.Connection, batch: list[_Job]) -> None:
        n, now, epoch, redactor = queries.last_number(db), milliseconds(self._clock.wall()), self.epoch, self._redactor
        rows = []
        for job in batch:
            for write in job.writes:
                if type(write) is Append:
                    n += 1
                    event, row = queries.appended(write, n, epoch, now, redactor)
                    job.events.append(event)
                    rows.append(row)
                else:
                    made = queries.carry_out(db, write, epoch, now, redactor)
                    if isinstance(made, Pruned):
                        job.pruned = made
        if rows:
            db.executemany(queries.INSERT, rows)

    def _carry_out(self, db: sqlite3.Connection, job: _Job) -> None:
        """One commit of a batch. What is wrong with it alone takes back it alone."""
        db.execute("SAVEPOINT job")
        try:
            for write in job.writes:
                made = queries.carry_out(db, write, self.epoch, milliseconds(self._clock.wall()), self._redactor)
                if isinstance(made, Event):
                    job.events.append(made)
                elif made is not None:
                    job.pruned = made
        except Exception as error:
            if isinstance(error, _THE_STORES_FAULT) or _is_damage(error):
                raise
            db.execute("ROLLBACK TO job")
            job.events.clear()
            job.error = error
        db.execute("RELEASE job")

    def _deliver(self, batch: list[_Job]) -> None:
        for job in batch:
            if isinstance(job.error, ArgusError) and job.error.code is Code.STORE_UNAVAILABLE:
                self._note(job.error.message)
            elif job.error is None and (self.problem or self._damage):
                self._note(self._damage or None)
            self._recent.extend(job.events)
            if job.events:
                self._newest = job.events[-1].n
                self._oldest = self._oldest or job.events[0].n
            if job.error is None and job.pruned.up_to:
                self._forget(job.pruned.up_to)
            if job.done.cancelled():
                continue
            if job.error is None:
                job.done.set_result(job.events)
            else:
                job.done.set_exception(job.error)
        self._wake()

    def _forget(self, up_to: int) -> None:
        self._oldest = up_to + 1
        while self._recent and self._recent[0].n <= up_to:
            self._recent.popleft()

    def _note(self, problem: str | None) -> None:
        """Said once when it begins and once when it is over, not at every commit that fails."""
        if problem and not self.problem:
            log.error("%s; nothing is acted on until it can be written", problem)
        elif self.problem and not problem:
            log.warning("the store can be written again")
        self.problem = problem

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _is_damage(error: Exception) -> bool:
    # `type` and not isinstance: a damaged file is a plain DatabaseError, and a bad value a subclass of it.
    return type(error) is sqlite3.DatabaseError


def _damage(error: Exception) -> str:
    return f"the store is damaged: {error}; start Argus anew, which sets the file aside and keeps it"


def _identity(path: Path | None) -> tuple[int, int] | None:
    try:
        found = path.stat() if path else None
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino) if found else None


def _matches(event: Event, channel: str | None, subject: str | None) -> bool:
    return (channel is None or event.channel == channel) and (subject is None or event.subject == subject)
