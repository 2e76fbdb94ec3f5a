"""The store in a PostgreSQL database that several Arguses may share.

Commits of one process are written in their order, by one task; those that arrive together share a transaction. Commits
of several processes take turns, by a lock in the database.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from argus.core.budget import MOST
from argus.core.clock import Clock, SystemClock, milliseconds
from argus.core.errors import ON_A_SHARED_STORE, ArgusError, Code
from argus.core.events import Event
from argus.core.redact import Redactor
from argus.store import postgres_queries as queries
from argus.store import session_tables
from argus.store.postgres_opening import (
    DEADLINE,
    Connections,
    Taken,
    is_the_stores_fault,
    learn,
    open_database,
    reason,
    unavailable,
)
from argus.store.postgres_tail import Tail
from argus.store.postgres_writer import InDoubt, Job, Refused, Writer
from argus.store.records import (
    Act,
    Condition,
    Counts,
    Cursor,
    Document,
    HealthCheck,
    Incident,
    Prune,
    Pruned,
    Tally,
    Undecided,
    Write,
)

T = TypeVar("T")
log = logging.getLogger("argus")
_WAITING = 10_000
"""Commits that may wait for the writer. Beyond that the store does not keep up, and that is said."""
_BATCH = 256
_READERS = 3


class PostgresStore:
    set_aside: Path | None = None
    """A damaged database is for people who know it to mend: Argus puts none aside."""

    def __init__(self, url: str, epoch: str, newest: int, clock: Clock, redactor: Redactor, writer: Writer) -> None:
        """Use `open`."""
        self.epoch = epoch
        self.problem: str | None = None
        """Why the last commit failed; None while the store is well."""
        self._clock = clock
        self._redactor = redactor
        self._readers = Connections(url, _READERS)
        self._writer = writer
        self._tail = Tail(url, newest)
        self._jobs: asyncio.Queue[Job | None] = asyncio.Queue(_WAITING)
        self._closed = False
        self._writing = asyncio.ensure_future(self._write_jobs())
        self._listening = asyncio.ensure_future(self._tail.run())

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        clock: Clock | None = None,
        redactor: Redactor | None = None,
        token: Callable[[], str] | None = None,
        alone: bool = False,
    ) -> PostgresStore:
        """`alone` refuses a database that another one uses alone: whoever decides from the record must be its only
        decider. When such a store's connection is lost to another, it can write nothing more."""
        redactor = redactor or Redactor()
        learn(url, redactor)
        epoch, newest = await open_database(url, token or (lambda: secrets.token_hex(4)), redactor)
        writer = Writer(url, alone=alone)
        try:
            await writer.connect()
        except Taken as taken:
            refused = ArgusError(Code.ALREADY_RUNNING, str(taken), **taken.holder)
            refused.actions = ON_A_SHARED_STORE
            raise refused from None
        except Exception as error:
            if not is_the_stores_fault(error):
                raise
            said = redactor.text(reason(error))
            raise unavailable(f"PostgreSQL cannot be used: {said}", reason=said) from None
        return cls(url, epoch, newest, clock or SystemClock(), redactor, writer)

    async def commit(self, *writes: Write) -> list[Event]:
        return (await self._submit(writes)).events if writes or self._closed else []

    async def prune(self, order: Prune) -> Pruned:
        return (await self._submit((order,))).pruned

    async def _submit(self, writes: tuple[Write, ...]) -> Job:
        if self._closed:
            raise unavailable("the store is closed")
        job = Job(writes, asyncio.get_running_loop().create_future())
        try:
            self._jobs.put_nowait(job)
        except asyncio.QueueFull:
            raise unavailable("the store does not keep up", waiting=_WAITING) from None
        await job.done
        return job

    async def was_committed(self, transaction: str) -> bool:
        # By a connection for reading: the writer's is the writer task's own.
        return await self._read(lambda db: queries.is_committed(db, transaction))

    async def events(
        self, after: int, *, limit: int = 500, channel: str | None = None, subject: str | None = None
    ) -> list[Event]:
        return await self._read(lambda db: queries.events(db, self.epoch, after, limit, channel, subject))

    async def last_events(
        self, limit: int, *, channel: str | None = None, type: str | None = None, since: int = 0
    ) -> list[Event]:
        return await self._read(lambda db: queries.last_events(db, self.epoch, limit, channel, type, since))

    async def story(self, incident: str, *, limit: int = 1000) -> list[Event]:
        return await self._read(lambda db: queries.story(db, self.epoch, incident, limit))

    async def span(self) -> tuple[int, int]:
        return await self._read(queries.span)

    async def wait(self, after: int) -> None:
        await self._tail.wait(after)

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
        self._tail.close()
        try:
            # The jobs that are waiting come before the end mark, so nothing accepted is lost.
            await self._jobs.put(None)
            await asyncio.shield(self._writing)
        finally:
            # Also when our caller's patience has ended: then whoever still waits for a commit is told.
            self._writing.cancel()
            self._listening.cancel()
            await asyncio.gather(self._writing, self._listening, return_exceptions=True)
            self._refuse_waiting("the store is closed")
            self._writer.close()
            self._readers.close()

    async def _read(self, query: Callable[[Any], Awaitable[T]]) -> T:
        if self._closed:
            raise unavailable("the store is closed")
        try:
            async with asyncio.timeout(DEADLINE), self._readers.one() as db:
                return await query(db)
        except Exception as error:
            if not is_the_stores_fault(error):
                raise
            said = self._redactor.text(reason(error))
            raise unavailable(f"PostgreSQL cannot be read: {said}") from None

    async def _write_jobs(self) -> None:
        while (job := await self._jobs.get()) is not None:
            batch = [job]
            ended = False
            while len(batch) < _BATCH and not self._jobs.empty():
                following = self._jobs.get_nowait()
                if following is None:
                    ended = True
                    break
                batch.append(following)
            try:
                await self._commit(batch)
            finally:
                self._deliver(batch)
            if ended:
                return

    async def _commit(self, batch: list[Job]) -> None:
        left = [job for job in batch if self._make_ready(job)]
        while left:
            try:
                await self._writer.write(left)
                return
            except Refused as refused:
                # What is wrong with one takes back it alone: the others are written without it.
                refused.job.error = refused.error
                left = [job for job in left if job is not refused.job]
            except BaseException as error:
                cause = error.cause if isinstance(error, InDoubt) else error
                said = self._redactor.text(reason(cause))
                for job in left:
                    job.error = (
                        Undecided(f"PostgreSQL was lost while it was written: {said}", error.transaction)
                        if isinstance(error, InDoubt)
                        else unavailable(f"PostgreSQL cannot be written: {said}", reason=said)
                    )
                if not isinstance(error, Exception):
                    raise
                if not is_the_stores_fault(cause):
                    log.exception("the writer of the store failed")
                # They would each wait for the same deadline in turn.
                self._refuse_waiting(f"PostgreSQL cannot be written: {said}")
                return

    def _make_ready(self, job: Job) -> bool:
        try:
            now = milliseconds(self._clock.wall())
            job.ready = [queries.make_ready(write, self.epoch, now, self._redactor) for write in job.writes]
        except Exception as error:  # noqa: BLE001 - a value that cannot be said is its commit's own fault
            job.error = error
            return False
        return True

    def _refuse_waiting(self, message: str) -> None:
        waiting = [self._jobs.get_nowait() for _ in range(self._jobs.qsize())]
        for job in waiting:
            if job is None:
                self._jobs.put_nowait(None)
            elif not job.done.done():
                job.done.set_exception(unavailable(message))

    def _deliver(self, batch: list[Job]) -> None:
        for job in batch:
            if isinstance(job.error, ArgusError) and job.error.code is Code.STORE_UNAVAILABLE:
                self._note(job.error.message)
            elif job.error is None:
                self._note(None)
            if job.error is None and job.events:
                self._tail.see(job.events[-1].n)
            if job.done.cancelled():
                continue
            if job.error is None:
                job.done.set_result(job.events)
            else:
                job.done.set_exception(job.error)

    def _note(self, problem: str | None) -> None:
        """Said once when it begins and once when it is over, not at every commit that fails."""
        if problem and not self.problem:
            log.error("%s; nothing is acted on until it can be written", problem)
        elif self.problem and not problem:
            log.warning("the store can be written again")
        self.problem = problem
