"""The runs on record, and what this daemon knows by them about who is alive."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from argus.core.clock import Clock, stamp
from argus.core.errors import ArgusError, Code
from argus.environments import runs
from argus.environments.runs import Run, State
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.store.records import Act, CloseAct, OpenAct, Undecided, Write

SETUP, CLEAN = "environment_setup", "environment_clean"
_INTERRUPTED = "interrupted"
_AGAIN = 1.0


class Book:
    def __init__(self, store: Store, notes: Notes, clock: Clock) -> None:
        self._store = store
        self._notes = notes
        self._clock = clock
        self._runs: dict[str, Run] = {}
        self._standing: dict[str, Run] = {}
        """Those that a setup is about to replace: up and alive until it is sure that it can."""
        self._folders: dict[str, set[str]] = defaultdict(set)
        """Where each project was ever brought up: its volumes may be there when it is down."""

    async def restore(self) -> None:
        for document in await self._store.documents(runs.DOMAIN, live=False):
            gone = runs.read(document.data)
            self._folders[gone.project].add(gone.folder)
        for document in await self._store.documents(runs.DOMAIN):
            kept = runs.read(document.data)
            run = runs.taken_over(kept, self._clock.wall())
            if run is not kept:
                await self._store.commit(run.written())
            self._take(run)
        for act in await self._store.open_acts():
            if act.kind in (SETUP, CLEAN):
                await self._store.commit(CloseAct(act.id, _INTERRUPTED, self._clock.wall(), {}))

    @property
    def alive(self) -> frozenset[str]:
        """Those of which nothing is a leftover to anybody but who cleans them."""
        here = [run for run in self._runs.values() if run.is_kept]
        return frozenset(run.id for run in (*here, *self._standing.values()))

    def is_up(self, run: str) -> bool:
        """Whether a run stands as it was set up: also while one that may replace it is only looking around."""
        every = (*self._runs.values(), *self._standing.values())
        return any(one.id == run and one.state is State.UP for one in every)

    @property
    def up(self) -> list[Run]:
        return [run for run in self._runs.values() if run.state is State.UP]

    @property
    def all(self) -> list[Run]:
        return sorted(self._runs.values(), key=lambda run: -run.since)

    def of(self, key: str) -> Run | None:
        return self._runs.get(key)

    def here(self, folder: str, file: str) -> list[Run]:
        """Those of one file, whatever it called its project; the newest first."""
        found = (run for run in self._runs.values() if (run.folder, run.file) == (folder, file))
        return sorted(found, key=lambda run: -run.since)

    def outside(self, project: str, within: str) -> list[str]:
        """Where else than in that folder a project of this name is on record."""
        inside = (within, within.rstrip("/") + "/")
        return [one for one in self._folders.get(project, ()) if one != inside[0] and not one.startswith(inside[1])]

    async def begin(self, kind: str, act: str, run: Run) -> Act:
        opened = Act(act, kind, run.key, stamp(self._clock), None, {"run": run.id})
        stood = self._runs.get(run.key)
        if kind == SETUP and stood is not None and stood.is_alive:
            # It stays on record: whoever is killed before it is replaced has done it no harm.
            await self._commit(OpenAct(opened))
            self._standing[run.key] = stood
        else:
            await self._commit(OpenAct(opened), run.written())
        self._take(run)
        return opened

    async def _commit(self, *writes: Write) -> None:
        """Where the answer is lost, it is waited for what became of it: what was opened must be closed."""
        try:
            await self._notes.commit(*writes)
        except Undecided as undecided:
            if not await self._happened(undecided.transaction):
                raise

    async def _happened(self, transaction: str) -> bool:
        while True:
            try:
                return await self._store.was_committed(transaction)
            except ArgusError as error:
                if error.code is not Code.STORE_UNAVAILABLE:
                    raise
                await asyncio.sleep(_AGAIN)

    async def supersede(self, run: Run, earlier: Iterable[Run]) -> None:
        """From here on the earlier ones are over, however this one ends."""
        over = [replace(one, state=State.INTERRUPTED) for one in earlier if one.key != run.key]
        written = [one.written() for one in over]
        if self._standing.pop(run.key, None) is not None:
            written.append(run.written())
        if written:
            await self._notes.commit(*written)
        for one in over:
            self._take(one)

    async def forget(self, run: Run) -> None:
        """Nothing is left of it."""
        gone = replace(run, state=State.NONE)
        self._take(gone)
        await self._notes.note(gone.written())

    async def end(self, act: Act, run: Run, outcome: str, detail: dict[str, Any]) -> None:
        self._standing.pop(run.key, None)
        self._take(run)
        await self._notes.note(CloseAct(act.id, outcome, self._clock.wall(), detail), run.written())

    def _take(self, run: Run) -> None:
        self._folders[run.project].add(run.folder)
        self._runs[run.key] = run
        if run.state is State.NONE:
            del self._runs[run.key]


def why(error: BaseException) -> dict[str, Any]:
    """How something ended, for its record."""
    if isinstance(error, ArgusError):
        return {"code": error.code.value, "message": error.message}
    return {"message": type(error).__name__}
