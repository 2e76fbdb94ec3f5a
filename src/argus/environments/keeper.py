"""The environments as the rest of Argus sees them. One change at a time in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from argus.core.circuit import Circuit
from argus.core.cutting import beginning
from argus.core.errors import ArgusError, Code
from argus.core.failpoints import SetupPlace, reach
from argus.environments import orphans, runs
from argus.environments.announcing import Announcer, Tell
from argus.environments.blueprint import Blueprint
from argus.environments.book import SETUP, Book, why
from argus.environments.building import Builder, Built
from argus.environments.cleaning import Cleaning
from argus.environments.endings import Ending, Endings, to_its_end
from argus.environments.guarding.guardian import Guardian
from argus.environments.guarding.guardian import Seen as Guarded
from argus.environments.guarding.model import Restart
from argus.environments.guarding.turnstile import Turnstile
from argus.environments.labels import Witness
from argus.environments.leftovers import Leftovers
from argus.environments.looking import Looker, Picture
from argus.environments.mocking import definition
from argus.environments.mocking.asking import Filter, Told, tell
from argus.environments.mocking.serving import Mocks
from argus.environments.orphans import Cleanup, Goes, Resource, everything
from argus.environments.readiness import Fixed, Readiness
from argus.environments.report import HealthReport
from argus.environments.runs import Run, State
from argus.environments.setting_up import SettingUp, SetUp
from argus.environments.testing import remains, trials
from argus.environments.testing.outcome import Outcome
from argus.environments.tools import Asked, Loaded, Tools
from argus.host.engine import refusals
from argus.host.engine.printed import Printout
from argus.host.engine.resources import Dock, Made
from argus.host.engine.seam import EngineRefused
from argus.store.records import Act

_PROBLEM = 500
"""Characters that are kept of why a setup failed."""
_TO_STOP = 10.0
"""Seconds in which a setup has to be taken back that was under way when Argus was told to stop."""
_TO_WRITE = 2.0
"""Seconds for which an answer waits until what was told meanwhile is on record."""


@dataclass(frozen=True, slots=True)
class Known:
    """An environment, where its file may be gone."""

    blueprint: Blueprint
    circuit: Circuit
    run: Run | None
    problem: ArgusError | None
    """Why its file could not be read."""


class Environments:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._book = Book(tools.store, tools.notes, tools.clock)
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._has_turn: dict[str, str] = {}
        """What is under way in a folder."""
        self._announcer = Announcer(tools.notes, tools.clock)
        self._leftovers = Leftovers()
        self._endings = Endings()
        self._guardian = Guardian(tools, self._book, self._tell)
        self._mocks = Mocks(tools.listen, tools.clock)

    # The part's own life.

    async def restore(self) -> None:
        await self._book.restore()
        await remains.restore(self._tools)
        await self._guardian.restore()
        for run in self._book.up:
            self._mocks.restore(run.id, [definition.read(one) for one in run.served.values()])

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._announcer.run())
            group.create_task(self._leftovers.run())
            group.create_task(self._guardian.run())
            group.create_task(self._mocks.run())

    def stop(self) -> None:
        """Setups under way are ended, and take back what they began."""
        self._endings.stop()

    async def stopped(self) -> None:
        """No setup is under way any more, or it took too long: the next daemon finds what is left."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TO_STOP):
                await self._endings.all_ended()
        await self._mocks.close()
        await self._on_record()

    @property
    def runs(self) -> list[Run]:
        """Those on record, the newest first."""
        return self._book.all

    def guards(self, run: Run) -> Mapping[str, Guarded]:
        """How the guardian stands to each container, without asking the engine."""
        return self._guardian.seen(run.id)

    @property
    def is_idle(self) -> bool:
        return not self._book.alive and not any(turn.locked() for turn in self._turns.values())

    # What may be asked.

    async def load(self, asked: Asked) -> Loaded:
        return await self._tools.load(asked)

    async def circuit_to_reset(self, asked: Asked) -> Circuit:
        blueprint = (await self.load(asked)).blueprint
        self._check_whose(asked, blueprint)
        return self._tools.circuit(blueprint, asked.shell)

    async def preflight(self, asked: Asked, *, skip: frozenset[str], fix: bool) -> tuple[HealthReport, Fixed, Circuit]:
        blueprint = (await self.load(asked)).blueprint
        circuit = self._tools.circuit(blueprint, asked.shell)
        readiness = self._readiness(asked, blueprint, circuit, self._runs(asked, blueprint))
        if not fix:
            return await readiness.look(skip=skip), Fixed(), circuit
        self._check_whose(asked, blueprint)
        async with self._turn(blueprint, "preflight"):
            return *await readiness.mend(skip=skip, goes=everything), circuit

    async def build(
        self, asked: Asked, *, service: str | None, no_cache: bool, use_existing: bool
    ) -> tuple[list[Built], HealthReport | None]:
        loaded = await self.load(asked)
        blueprint = loaded.blueprint
        circuit = self._tools.circuit(blueprint, asked.shell)
        circuit.check()
        async with self._turn(blueprint, "build"):
            ready = self._readiness(asked, blueprint, circuit)
            report = await ready.for_building() if blueprint.preflight else None
            tell, show = self._tell(blueprint.project), self._tools.show
            builder = Builder(self._dock(asked, circuit), self._tools.clock, tell, show)
            try:
                built = await builder.run(blueprint, service, no_cache=no_cache, use_existing=use_existing)
            except ArgusError as error:
                raise await ready.with_room(error) from None
            return built, report

    async def setup(self, asked: Asked, *, timeout: float | None) -> SetUp:
        loaded = await self.load(asked)
        blueprint, circuit = loaded.blueprint, self._tools.circuit(loaded.blueprint, asked.shell)
        circuit.check()  # what cannot begin is not put on record
        with self._endings.one(asked.place) as ending:
            async with self._turn(blueprint, "setup", timeout) as waited:
                ending.check()
                left = None if timeout is None else max(0.0, round(timeout - waited, 1))
                return await self._set_up(asked, loaded, circuit, ending, left)

    async def _set_up(
        self, asked: Asked, loaded: Loaded, circuit: Circuit, ending: Ending, timeout: float | None
    ) -> SetUp:
        blueprint = loaded.blueprint
        previous, earlier = self._book.of(_key(blueprint)), self._runs(asked, blueprint)
        now, new_id = self._tools.clock.wall(), self._tools.new_id
        run = Run(blueprint.project, blueprint.folder, new_id(), State.SETTING_UP, now, file=asked.place[1])
        act = await self._book.begin(SETUP, new_id(), run)
        reach(SetupPlace.RECORDED)
        work = SettingUp(
            loaded,
            run,
            earlier,
            tools=self._tools,
            book=self._book,
            dock=self._dock(asked, circuit),
            address=self._tools.published(asked.shell),
            readiness=self._readiness(asked, blueprint, circuit, earlier),
            tell=self._tell(blueprint.project),
            mocks=self._mocks,
        )
        try:
            async with ending.within(timeout):
                done = await work.carry_out()
        except BaseException as error:
            # Also when the caller went away: what was begun is taken back before anybody else may begin.
            failure = await to_its_end(self._give_up(work, act, previous, error, timeout))
            await self._guardian.sync()
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
            served={one.mock.name: one.written(loaded.secrets) for one in done.raised.served},
        )
        await self._book.end(act, up, "up", {"seconds": done.seconds})
        await self._guardian.begin(up, done, blueprint, asked.shell, circuit)
        reach(SetupPlace.DONE)
        return replace(done, run=up)

    async def _give_up(
        self, work: SettingUp, act: Act, previous: Run | None, error: BaseException, timeout: float | None
    ) -> BaseException:
        """Returns what is to be told of it, with what is left behind."""
        failure, left = await work.end(error, timeout)
        if work.is_left:
            self._leftovers.add(work.run.key, lambda: self._taken_back(work))
        # Whoever was refused did the earlier run no harm.
        unharmed, said = None if work.touched else previous, why(failure)
        problem = beginning(self._tools.clean(str(said["message"])), _PROBLEM)
        failed = replace(work.run, state=State.FAILED, problem=problem)
        await self._book.end(act, unharmed or failed, "failed", said)
        return failure.adding(leftBehind=left) if left and isinstance(failure, ArgusError) else failure

    async def _taken_back(self, work: SettingUp) -> bool:
        async with self._turns[work.run.folder]:
            now = self._book.of(work.run.key)
            if now is None or now.id != work.run.id:
                return True  # set up again, or cleaned
            await work.take_back()
            return not work.is_left

    async def test(
        self, asked: Asked, *, suites: Sequence[str] | None, timeout: float | None, side_by_side: bool | None = None
    ) -> Outcome:
        """Runs suites, by their ids, against what is up. In the environment's turn: what they test stays as it is."""
        loaded = await self.load(asked)
        blueprint, wanted = loaded.blueprint, trials.choose(loaded.suites, suites)
        with self._endings.one(asked.place) as ending:
            async with self._turn(blueprint, "run"):
                ending.check()
                run = trials.needed(loaded, self._book.of(_key(blueprint)))
                circuit = self._tools.circuit(blueprint, asked.shell)
                trial = await trials.prepare(
                    asked, loaded, run, tools=self._tools, dock=self._watching(asked, circuit, run), guardian=self,
                    tell=self._tell(blueprint.project),
                )  # fmt: skip
                conductor = trial.conductor(wanted, side_by_side)
                if run is not None:
                    circuit.check()
                try:
                    async with (
                        ending.within(None),
                        remains.on_record(self._tools, blueprint.project, asked.project_path),
                    ):
                        return await conductor.run(timeout)
                except ArgusError as error:
                    raise (
                        error if "results" in error.details else error.adding(results=conductor.collected().public())
                    ) from None

    async def clean(self, asked: Asked, *, force: bool) -> Cleanup:
        """Takes away what its file brought up, under whatever name; by force also volumes, and what dead runs left."""
        known = await self._known(asked)
        if force:
            self._check_whose(asked, known.blueprint)
        known.circuit.check()
        self._endings.clean(asked.place)
        async with self._turn(known.blueprint, "clean"):
            dock, done = self._dock(asked, known.circuit), Cleanup()
            cleaning = Cleaning(self._book, dock, self._witness, functools.partial(self._remove, dock))
            several = self._runs(asked, known.blueprint)
            try:
                for run in several:
                    done = done.and_(await cleaning.run(run, self._tools.new_id(), force=force))
                    await self._mocks.keep(self._book.alive)
            finally:
                await self._guardian.sync()
            if force and known.blueprint.project not in {run.project for run in several}:
                done = done.and_(await cleaning.leftovers(known.blueprint.project))
            return done

    async def status(self, asked: Asked) -> tuple[Picture, Circuit]:
        known = await self._known(asked)
        ids = self._ids(known.run)
        looker = Looker(self._watching(asked, known.circuit, known.run))
        picture = await looker.picture(known.blueprint, known.run, known.problem, ids)
        silent = self._mocks.problems(known.run.id) if known.run else {}
        said = tuple(f"mocks.{name}: not answered: {why}" for name, why in silent.items())
        return replace(picture, warnings=(*known.blueprint.warnings, *said)), known.circuit

    def guarded(self, picture: Picture) -> Mapping[str, Guarded]:
        """How the guardian stands to each container of a picture, by its service's or mock's name."""
        found = {one.part.name: one.made for one in picture.parts} if picture.problem is None else {}
        return self._guardian.seen(picture.run.id, found) if picture.run else {}

    def restarts(self, run_id: str, since: float = 0.0) -> list[Restart]:
        """Of a run's containers, begun since then by the wall clock."""
        return self._guardian.restarts(run_id, since)

    def problems(self, run_id: str) -> list[ArgusError]:
        """Of each container of a run that is not well: given up, not to be restarted, or not back yet."""
        return self._guardian.problems(run_id)

    async def settled(self, run_id: str) -> None:
        """Returns when no container of a run is being restarted any more, within the limits of its restarts."""
        await self._guardian.settled(run_id)

    def turnstile(self, run_id: str) -> Turnstile:
        return self._guardian.turnstile(run_id)

    async def logs(self, asked: Asked, container: str, lines: int, since: float | None) -> tuple[Made, Printout]:
        known = await self._known(asked)
        with _in_words():
            looker = Looker(self._watching(asked, known.circuit, known.run))
            return await looker.logs(known.run, container, lines, since, self._ids(known.run))

    async def mock_requests(self, asked: Asked, wanted: Filter, *, clear: bool) -> Told:
        known = await self._known(asked)
        mocks = [part.name for part in known.blueprint.parts if part.is_mock]
        logs = self._mocks.logs(known.run.id) if known.run else {}
        told = tell(logs, (*mocks, *(known.run.mocks if known.run else ())), wanted)
        for name in told.served if clear else ():
            logs[name].clear()
        return told

    # How it is done.

    async def _known(self, asked: Asked) -> Known:
        """As its file says; as it is on record where that is gone or wrong by now."""
        problem = None
        try:
            blueprint = (await self.load(asked)).blueprint
        except ArgusError as error:
            here = self._book.here(*asked.place)
            if not here:
                raise
            blueprint, problem = runs.recorded(here[0]), error
        several = self._runs(asked, blueprint)
        return Known(blueprint, self._tools.circuit(blueprint, asked.shell), several[0] if several else None, problem)

    def _check_whose(self, asked: Asked, blueprint: Blueprint) -> None:
        """What reaches all of a project's name is not for an agent where that is another's too: it may write any name
        into its file."""
        others = self._book.outside(blueprint.project, asked.within) if asked.within else []
        if others:
            message = f"a project called {blueprint.project} is also elsewhere: this is not for an agent to decide"
            raise ArgusError(Code.FORBIDDEN, message, project=blueprint.project, projectPath=asked.within)

    def _runs(self, asked: Asked, blueprint: Blueprint) -> tuple[Run, ...]:
        """Its own, and those that the same file brought up under another name."""
        own = self._book.of(_key(blueprint))
        others = (run for run in self._book.here(*asked.place) if run is not own)
        return (own, *others) if own else tuple(others)

    @contextlib.asynccontextmanager
    async def _turn(self, blueprint: Blueprint, what: str, timeout: float | None = None) -> AsyncIterator[float]:
        """How many seconds it was waited for. Raises CONFLICT where it is not to be had within that time."""
        try:
            async with self._alone(blueprint, what, timeout) as waited:
                yield waited
        except Exception:
            await self._on_record()
            raise
        await self._on_record()

    async def _on_record(self) -> None:
        """Whoever is answered finds on record what was told of it; a store that hangs does not hold the answer up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TO_WRITE):
                await self._announcer.written()

    @contextlib.asynccontextmanager
    async def _alone(self, blueprint: Blueprint, what: str, timeout: float | None) -> AsyncIterator[float]:
        folder, began = blueprint.folder, self._tools.clock.monotonic()
        lock = self._turns[folder]
        is_taken = lock.locked()
        if is_taken:
            self._tell(blueprint.project)("setup", "waiting_for_turn", {"operation": what})
        try:
            async with asyncio.timeout(timeout):
                await lock.acquire()
        except TimeoutError:
            other = self._has_turn.get(folder, "another change")
            message = f"not begun within {timeout:g} s: it waited for its turn, and {other} is still under way"
            raise ArgusError(Code.CONFLICT, message, waitedFor=other, timeoutSeconds=timeout) from None
        self._has_turn[folder] = what
        try:
            with _in_words():
                yield self._tools.clock.monotonic() - began if is_taken else 0.0
        finally:
            self._has_turn.pop(folder, None)
            lock.release()

    async def _remove(self, dock: Dock, project: str, found: list[Resource], goes: Goes) -> Cleanup:
        tell = self._tell(project)

        def heard(one: Resource, how: str) -> None:
            tell("resilience", "cleanup_resource", {"resourceType": one.kind, "name": one.name, "action": how})

        tell("resilience", "cleanup_start", {"project": project})
        done = await orphans.remove(dock, found, goes=goes, heard=heard)
        counts = {"found": len(done.found), "removed": len(done.removed), "failed": len(done.failed)}
        tell("resilience", "cleanup_end", {"project": project, **counts})
        return done

    def _readiness(
        self, asked: Asked, blueprint: Blueprint, circuit: Circuit, earlier: tuple[Run, ...] = ()
    ) -> Readiness:
        return Readiness(
            blueprint, earlier, tools=self._tools, dock=self._dock(asked, circuit), witness=self._witness,
            remove=lambda found, goes: self._remove(self._dock(asked, circuit), blueprint.project, found, goes),
            tell=self._tell(blueprint.project),
        )  # fmt: skip

    def _witness(self) -> Witness:
        return Witness(self._tools.me, self._book.alive, self._tools.lives)

    def _dock(self, asked: Asked, circuit: Circuit) -> Dock:
        return self._tools.dock(asked.shell, circuit)

    def _watching(self, asked: Asked, circuit: Circuit, run: Run | None) -> Dock:
        """For looking. Where the guardian watches anyway, who looks as well must not be what closes his way."""
        dock = self._dock(asked, circuit)
        return dock.watching() if self._ids(run) else dock

    def _ids(self, run: Run | None) -> Mapping[str, str]:
        return self._guardian.ids(run.id) if run else {}

    def _tell(self, project: str) -> Tell:
        return lambda channel, type, data: self._announcer.tell(channel, type, project, data)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except EngineRefused as refused:
        raise refusals.in_words(refused) from None


def _key(blueprint: Blueprint) -> str:
    return runs.key(blueprint.project, blueprint.folder)
