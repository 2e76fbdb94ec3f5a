"""The runs on record, and what this daemon knows by them about who is alive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from argus.core.clock import Clock, stamp
from argus.environments import runs
from argus.environments.runs import Run, State
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.store.records import Act, CloseAct, OpenAct

SETUP, CLEAN = "environment_setup", "environment_clean"
_INTERRUPTED = "interrupted"


class Book:
    def __init__(self, store: Store, notes: Notes, clock: Clock) -> None:
        self._store = store
        self._notes = notes
        self._clock = clock
        self._runs: dict[str, Run] = {}
        self._standing: dict[str, Run] = {}
        """Those that a setup is about to replace: up and alive until it is sure that it can."""

    async def restore(self) -> None:
        for document in await self._store.documents(runs.DOMAIN):
            kept = runs.read(document.data)
            run = runs.taken_over(kept, self._clock.wall())
            if run is not kept:
                await self._store.commit(run.written())
            if run.state is not State.NONE:
                self._runs[run.key] = run
        for act in await self._store.open_acts():
            if act.kind in (SETUP, CLEAN):
                await self._store.commit(CloseAct(act.id, _INTERRUPTED, self._clock.wall(), {}))

    @property
    def alive(self) -> frozenset[str]:
        here = [run for run in self._runs.values() if run.is_alive]
        return frozenset(run.id for run in (*here, *self._standing.values()))

    def of(self, key: str) -> Run | None:
        return self._runs.get(key)

    def show(self, run: Run) -> None:
        """As it stands for the moment; what is written says otherwise until it is certain."""
        self._runs[run.key] = run

    async def begin(self, kind: str, act: str, run: Run) -> Act:
        opened = Act(act, kind, run.key, stamp(self._clock), None, {"run": run.id})
        stood = self._runs.get(run.key)
        if kind == SETUP and stood is not None and stood.is_alive:
            # It stays on record: whoever is killed before it is replaced has done it no harm.
            await self._notes.commit(OpenAct(opened))
            self._standing[run.key] = stood
        else:
            await self._notes.commit(OpenAct(opened), run.written())
        self._runs[run.key] = run
        return opened

    async def supersede(self, run: Run) -> None:
        """From here on the earlier run is over, however this one ends."""
        if self._standing.pop(run.key, None) is not None:
            await self._notes.commit(run.written())

    async def end(self, act: Act, run: Run, outcome: str, detail: dict[str, Any]) -> None:
        self._standing.pop(run.key, None)
        self._take(run)
        await self._notes.note(CloseAct(act.id, outcome, self._clock.wall(), detail), run.written())

    def _take(self, run: Run) -> None:
        self._runs[run.key] = run
        if run.state is State.NONE:
            del self._runs[run.key]
