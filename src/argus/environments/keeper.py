"""The environments as the rest of Argus sees them. One change at a time for each project in a folder."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

from argus.core.circuit import Circuit
from argus.core.clock import stamp
from argus.core.errors import ArgusError
from argus.core.failpoints import SetupPlace, reach
from argus.environments import orphans, runs
from argus.environments.announcing import Announcer, Tell
from argus.environments.blueprint import Blueprint
from argus.environments.building import Builder, Built
from argus.environments.labels import RUN, Witness
from argus.environments.leftovers import Leftovers
from argus.environments.looking import Looker, Picture
from argus.environments.orphans import Cleanup, Goes, Resource, but_volumes, everything
from argus.environments.readiness import Fixed, Readiness
from argus.environments.report import HealthReport
from argus.environments.runs import Run, State
from argus.environments.setting_up import SettingUp, SetUp
from argus.environments.tools import Asked, Loaded, Tools
from argus.host.engine import refusals
from argus.host.engine.printed import Printout
from argus.host.engine.resources import Dock, Made
from argus.host.engine.seam import EngineRefused
from argus.store.records import Act, CloseAct, OpenAct

_SETUP, _CLEAN = "environment_setup", "environment_clean"
_INTERRUPTED = "interrupted"


class Environments:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._runs: dict[str, Run] = {}
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._announcer = Announcer(tools.notes, tools.clock)
        self._leftovers = Leftovers()

    # The part's own life.

    async def restore(self) -> None:
        store, clock = self._tools.store, self._tools.clock
        for document in await store.documents(runs.DOMAIN):
            kept = runs.read(document.data)
            run = runs.taken_over(kept, clock.wall())
            if run is not kept:
                await store.commit(run.written())
            if run.state is not State.NONE:
                self._runs[run.key] = run
        for act in await store.open_acts():
            if act.kind in (_SETUP, _CLEAN):
                await store.commit(CloseAct(act.id, _INTERRUPTED, clock.wall(), {}))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._announcer.run())
            group.create_task(self._leftovers.run())

    @property
    def is_idle(self) -> bool:
        return not any(run.is_alive for run in self._runs.values()) and not any(
            turn.locked() for turn in self._turns.values()
        )

    # What may be asked.

    async def load(self, asked: Asked) -> Loaded:
        return await self._tools.load(asked)

    async def circuit(self, asked: Asked) -> tuple[Blueprint, Circuit]:
        blueprint = (await self.load(asked)).blueprint
        return blueprint, self._tools.circuit(blueprint)

    async def preflight(self, asked: Asked, *, skip: frozenset[str], fix: bool) -> tuple[HealthReport, Fixed, Circuit]:
        blueprint, circuit = await self.circuit(asked)
        readiness = self._readiness(asked, blueprint, circuit, self._runs.get(_key(blueprint)))
        if not fix:
            return await readiness.look(skip=skip), Fixed(), circuit
        async with self._turn(blueprint, "preflight"):
            return *await readiness.mend(skip=skip, goes=everything), circuit

    async def build(
        self, asked: Asked, *, service: str | None, no_cache: bool, use_existing: bool
    ) -> tuple[list[Built], HealthReport | None]:
        loaded = await self.load(asked)
        blueprint = loaded.blueprint
        circuit = self._tools.circuit(blueprint)
        circuit.check()
        async with self._turn(blueprint, "build"):
            ready = self._readiness(asked, blueprint, circuit)
            report = await ready.for_building() if blueprint.preflight else None
            builder = Builder(self._dock(asked, circuit), self._tools.clock, self._tell(blueprint), self._tools.show)
            try:
                built = await builder.run(blueprint, service, no_cache=no_cache, use_existing=use_existing)
            except ArgusError as error:
                raise await ready.with_room(error) from None
            return built, report

    async def setup(self, asked: Asked, *, timeout: float | None) -> SetUp:
        loaded = await self.load(asked)
        blueprint, circuit = loaded.blueprint, self._tools.circuit(loaded.blueprint)
        circuit.check()  # what cannot begin is not put on record
        async with self._turn(blueprint, "setup"):
            previous = self._runs.get(_key(blueprint))
            run = Run(
                blueprint.project, blueprint.folder, self._tools.new_id(), State.SETTING_UP, self._tools.clock.wall()
            )
            act = await self._begin(_SETUP, run)
            reach(SetupPlace.RECORDED)
            work = SettingUp(
                loaded,
                run,
                previous,
                tools=self._tools,
                dock=self._dock(asked, circuit),
                address=self._tools.published(asked.shell),
                readiness=self._readiness(asked, blueprint, circuit, previous=previous),
                tell=self._tell(blueprint),
            )
            try:
                async with asyncio.timeout(timeout):
                    done = await work.carry_out()
            except BaseException as error:
                # Also when the caller went away: what was begun is taken back before anybody else may begin.
                failure, left = await asyncio.shield(work.end(error, timeout))
                if work.is_left:
                    self._leftovers.add(run.key, lambda: self._taken_back(work))
                # An engine that was away did the earlier run no harm.
                unharmed = None if work.touched else previous
                await self._end(act, unharmed or replace(run, state=State.FAILED), "failed", _why(failure))
                if left and isinstance(failure, ArgusError):
                    failure = failure.adding(leftBehind=left)
                if failure is error:
                    raise
                raise failure from error
            up = replace(
                run,
                state=State.UP,
                network=done.raised.network,
                containers={one.part.name: one.made.name for one in done.raised.parts},
                mocks=tuple(one.part.name for one in done.raised.parts if one.part.is_mock),
                mappings=done.mappings,
            )
            await self._end(act, up, "up", {"seconds": done.seconds})
            reach(SetupPlace.DONE)
            return replace(done, run=up)

    async def _taken_back(self, work: SettingUp) -> bool:
        async with self._turns[work.run.key]:
            now = self._runs.get(work.run.key)
            if now is None or now.id != work.run.id:
                return True  # set up again, or cleaned
            await work.take_back()
            return not work.is_left

    async def clean(self, asked: Asked, *, force: bool) -> Cleanup:
        """Takes away what it brought up; by force also volumes, and what dead runs of the project left."""
        blueprint, circuit = await self.circuit(asked)
        circuit.check()
        async with self._turn(blueprint, "clean"):
            dock = self._dock(asked, circuit)
            run = self._runs.get(_key(blueprint))
            if run is None:
                leftovers = await orphans.find(dock, blueprint.project, self._witness()) if force else []
                return await self._remove(dock, blueprint, leftovers, everything)
            act = await self._begin(_CLEAN, replace(run, state=State.CLEANING))
            try:
                # Not alive any more, its resources are leftovers like any others; by force all of the project's go.
                self._runs[run.key] = replace(run, state=State.INTERRUPTED)
                found = await orphans.find(dock, blueprint.project, self._witness())
                going = found if force else [one for one in found if one.labels.get(RUN) == run.id]
                goes = everything if force or not run.was_up else but_volumes
                done = await self._remove(dock, blueprint, going, goes)
            except BaseException as error:
                await self._end(act, replace(run, state=State.INTERRUPTED), "failed", _why(error))
                raise
            state = State.INTERRUPTED if done.failed else State.NONE
            await self._end(act, replace(run, state=state), "failed" if done.failed else "cleaned", {})
            return done

    async def status(self, asked: Asked) -> tuple[Picture, Circuit]:
        blueprint, circuit = await self.circuit(asked)
        run = self._runs.get(_key(blueprint))
        return await Looker(self._dock(asked, circuit)).picture(blueprint, run), circuit

    async def logs(self, asked: Asked, container: str, lines: int, since: float | None) -> tuple[Made, Printout]:
        blueprint, circuit = await self.circuit(asked)
        run = self._runs.get(_key(blueprint))
        with _in_words():
            return await Looker(self._dock(asked, circuit)).logs(blueprint, run, container, lines, since)

    # How it is done.

    @contextlib.asynccontextmanager
    async def _turn(self, blueprint: Blueprint, what: str) -> AsyncIterator[None]:
        lock = self._turns[_key(blueprint)]
        if lock.locked():
            self._tell(blueprint)("setup", "waiting_for_turn", {"operation": what})
        async with lock:
            with _in_words():
                yield

    async def _begin(self, kind: str, run: Run) -> Act:
        act = Act(self._tools.new_id(), kind, run.key, stamp(self._tools.clock), None, {"run": run.id})
        await self._tools.notes.commit(OpenAct(act), run.written())
        self._runs[run.key] = run
        return act

    async def _end(self, act: Act, run: Run, outcome: str, detail: dict[str, Any]) -> None:
        self._runs[run.key] = run
        if run.state is State.NONE:
            del self._runs[run.key]
        await self._tools.notes.note(CloseAct(act.id, outcome, self._tools.clock.wall(), detail), run.written())

    async def _remove(self, dock: Dock, blueprint: Blueprint, found: list[Resource], goes: Goes) -> Cleanup:
        tell = self._tell(blueprint)

        def heard(one: Resource, how: str) -> None:
            tell("resilience", "cleanup_resource", {"resourceType": one.kind, "name": one.name, "action": how})

        tell("resilience", "cleanup_start", {"project": blueprint.project})
        done = await orphans.remove(dock, found, goes=goes, heard=heard)
        counts = {"found": len(done.found), "removed": len(done.removed), "failed": len(done.failed)}
        tell("resilience", "cleanup_end", {"project": blueprint.project, **counts})
        return done

    def _readiness(
        self, asked: Asked, blueprint: Blueprint, circuit: Circuit, previous: Run | None = None
    ) -> Readiness:
        return Readiness(
            blueprint, previous, tools=self._tools, dock=self._dock(asked, circuit), witness=self._witness,
            remove=lambda found, goes: self._remove(self._dock(asked, circuit), blueprint, found, goes),
            tell=self._tell(blueprint),
        )  # fmt: skip

    def _witness(self) -> Witness:
        alive = frozenset(run.id for run in self._runs.values() if run.is_alive)
        return Witness(self._tools.me, alive, self._tools.lives)

    def _dock(self, asked: Asked, circuit: Circuit) -> Dock:
        return self._tools.dock(asked.shell, circuit)

    def _tell(self, blueprint: Blueprint) -> Tell:
        return lambda channel, type, data: self._announcer.tell(channel, type, blueprint.project, data)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except EngineRefused as refused:
        raise refusals.in_words(refused) from None


def _key(blueprint: Blueprint) -> str:
    return runs.key(blueprint.project, blueprint.folder)


def _why(error: BaseException) -> dict[str, Any]:
    if isinstance(error, ArgusError):
        return {"code": error.code.value, "message": error.message}
    return {"message": type(error).__name__}
