"""One transaction at a time, in a bounded time, and the truth about it even when the connection is lost at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from argus.core.events import Event
from argus.core.failpoints import Place, reach
from argus.store import postgres_queries as queries
from argus.store.postgres_opening import DEADLINE, connect, connect_alone, is_the_stores_fault
from argus.store.records import Pruned, Write

_AGAIN = 0.1


@dataclass(slots=True, eq=False)
class Job:
    """One commit: all of its writes or none."""

    writes: tuple[Write, ...]
    done: asyncio.Future[list[Event]]
    ready: list[queries.Ready] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    error: BaseException | None = None
    pruned: Pruned = field(default_factory=Pruned)


class Refused(Exception):
    """One job of a transaction cannot be written, by its own fault; nothing was."""

    def __init__(self, job: Job, error: Exception) -> None:
        super().__init__(str(error))
        self.job = job
        self.error = error


class InDoubt(Exception):
    """The connection was lost at COMMIT, and the server could not be asked about it in time."""

    def __init__(self, transaction: str, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.transaction = transaction
        self.cause = cause


class Writer:
    def __init__(self, url: str, *, alone: bool) -> None:
        self._url = url
        self._alone = alone
        self._db: Any = None
        self._committing: str | None = None

    async def write(self, jobs: Sequence[Job]) -> None:
        """All of them, or none and an exception."""
        self._committing = None
        try:
            async with asyncio.timeout(DEADLINE):
                await self._transact(await self.connect(), jobs)
        except Refused:
            raise
        except BaseException as error:
            self.close()
            if self._committing is None or not is_the_stores_fault(error):
                raise
            if not await self.was_committed(self._committing, error):
                raise

    async def _transact(self, db: Any, jobs: Sequence[Job]) -> None:
        await db.execute(queries.BEGIN)
        # Always the first step, so that two writers can never wait for each other's rows.
        transaction = await queries.lock(db)
        newest = 0
        for job in jobs:
            try:
                job.events = await self._carry_out(db, job)
            except Exception as error:
                if is_the_stores_fault(error):
                    raise
                await db.execute("ROLLBACK")
                raise Refused(job, error) from None
            newest = job.events[-1].n if job.events else newest
        self._committing = transaction
        reach(Place.COMMITTING)
        await db.execute(queries.commit(newest))
        reach(Place.COMMITTED)

    async def _carry_out(self, db: Any, job: Job) -> list[Event]:
        events = []
        for one in job.ready:
            made = await queries.carry_out(db, one)
            if isinstance(made, Event):
                events.append(made)
            elif made is not None:
                job.pruned = made
        return events

    async def was_committed(self, transaction: str, cause: BaseException) -> bool:
        """The answer to COMMIT was lost. An outcome that is on record must not be reported as missing: it would be
        written again, for ever in vain. Raises InDoubt when the server cannot be asked in time."""
        try:
            async with asyncio.timeout(DEADLINE):
                while True:
                    try:
                        return await queries.is_committed(await self.connect(), transaction)
                    except Exception as error:
                        self.close()
                        if not is_the_stores_fault(error):
                            raise
                    await asyncio.sleep(_AGAIN)
        except TimeoutError:
            self.close()
            raise InDoubt(transaction, cause) from None

    async def connect(self) -> Any:
        if self._db is None or self._db.is_closed():
            self._db = await (connect_alone(self._url) if self._alone else connect(self._url))
        return self._db

    def close(self) -> None:
        if self._db is not None:
            self._db.terminate()
        self._db = None
