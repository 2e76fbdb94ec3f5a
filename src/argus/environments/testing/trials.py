"""The suites of an environment's file, chosen, given what is up, and run."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from argus.core.errors import ArgusError, Code
from argus.environments.announcing import Tell
from argus.environments.e2e.environment import Environment
from argus.environments.e2e.suites import Suite
from argus.environments.runs import Run, State
from argus.environments.testing import bounds, real, surroundings
from argus.environments.testing.conducting import AT_ONCE, Conductor
from argus.environments.testing.lookout import Lookout, Watched
from argus.environments.testing.outcome import Guard
from argus.environments.testing.playing import Turn
from argus.environments.testing.results import Failure, SuiteResult, Verdict
from argus.environments.testing.retrying import chosen
from argus.environments.testing.runners.playing import Trial, play
from argus.environments.testing.running import Plan, Progress, nothing_around, run_suite_file
from argus.environments.testing.telling import Teller
from argus.environments.testing.variables import Given
from argus.environments.testing.world import World
from argus.environments.tools import Asked, Loaded, Shell, Tools
from argus.host.engine.resources import Dock
from argus.host.engine.seam import EngineRefused

_ASK = 5.0
"""Seconds in which the engine has to answer while suites run."""
_STANDS = {
    State.NONE: "it was not set up yet, or cleaned since",
    State.SETTING_UP: "it is being set up",
    State.CLEANING: "it is being cleaned",
    State.INTERRUPTED: "a setup or clean of it was cut short",
    State.FAILED: "its setup failed",
}


class Case(Protocol):
    """Between the cases of a run and the restarts of its containers."""

    def case(self, name: str, agent: str = "") -> AbstractAsyncContextManager[Turn]: ...


class Guardian(Guard, Protocol):
    def turnstile(self, run_id: str) -> Case: ...


def choose(suites: Sequence[Suite], ids: Sequence[str] | None) -> list[Suite]:
    """Those that are meant, in the order of the file. None: all. Raises SUITE_NOT_FOUND."""
    known = [one.id for one in suites]
    if not suites:
        raise ArgusError(Code.SUITE_NOT_FOUND, "the file has no test suites", known=known)
    if ids is not None and not ids:
        raise ArgusError(Code.SUITE_NOT_FOUND, f"no suite is named: {', '.join(known)} are known", known=known)
    missing = [one for one in dict.fromkeys(ids or ()) if one not in known]
    if missing:
        message = f"there is no suite {', '.join(missing)}: {', '.join(known)} are known"
        raise ArgusError(Code.SUITE_NOT_FOUND, message, missing=missing, known=known)
    return [one for one in suites if ids is None or one.id in ids]


def needed(loaded: Loaded, run: Run | None) -> Run | None:
    """The run that suites go against; None where the file has nothing to bring up. Raises INVALID_STATE."""
    if not loaded.blueprint.parts:
        return None
    if run is None or run.state is not State.UP:
        state = run.state if run else State.NONE
        message = f"the environment is not up: {_STANDS.get(state, state.value)}"
        raise ArgusError(Code.INVALID_STATE, message, state=state.value, project=loaded.blueprint.project)
    return run


@dataclass(frozen=True, slots=True)
class Trials:
    """One run of suites."""

    asked: Asked
    tools: Tools
    dock: Dock
    environment: Environment
    run: Run | None
    guardian: Guardian
    teller: Teller
    folder: str
    environ: dict[str, str]
    lookout: Lookout | None
    """None where nothing is up."""

    def conductor(self, suites: Sequence[Suite], side_by_side: bool | None) -> Conductor:
        """`side_by_side`: whether they run so, instead of what the file says."""
        tests = self.environment.config.tests
        parallel = tests.parallel if tests else None
        by_file = parallel is not None and parallel.enabled
        most = (parallel.concurrency if parallel else None) or AT_ONCE
        at_once = most if (by_file if side_by_side is None else side_by_side) else 1
        return Conductor(
            suites,
            at_once,
            self._one,
            self.teller,
            self.tools.clock,
            self.guardian,
            run_id=self.run.id if self.run else None,
            lookout=self.lookout,
        )

    async def _one(self, suite: Suite, told: Callable[[Progress], None]) -> SuiteResult:
        file = surroundings.path(self.environment, suite.file)
        stray = await asyncio.to_thread(bounds.stray, file, self._own_folders())
        if stray is not None:
            return SuiteResult(suite.id, suite.name, Verdict.FAILED, 0.0, error=stray)
        if suite.runner == "yaml":
            return await self._yaml(suite, file, told)
        tests = self.environment.config.tests
        config = surroundings.path(self.environment, suite.config)
        trial = Trial(
            suite.model_copy(update={"config": config}),
            file,
            self.folder,
            surroundings.of_suite(self.environ, suite.id),
            chosen(suite.retry, tests.retry if tests else None),
        )
        return await play(
            trial,
            self.tools.machine.commands,
            clock=self.tools.clock,
            around=self._around,
            said=lambda line: self.teller.suite_output(suite, line),
            again=lambda attempt, delay: self.teller.suite_retried(suite, attempt, delay),
        )

    def _own_folders(self) -> tuple[str, ...]:
        """An agent may have its e2e.yaml deep in its project, and the tests beside."""
        within = (self.asked.within,) if self.asked.within else ()
        return (str(self.environment.folder), self.asked.project_path, *within)

    async def _yaml(self, suite: Suite, file: str | None, told: Callable[[Progress], None]) -> SuiteResult:
        if file is None:
            error = Failure("a suite with the runner yaml needs a `file`")
            return SuiteResult(suite.id, suite.name, Verdict.FAILED, 0.0, error=error)
        tests = self.environment.config.tests
        environ = surroundings.of_suite(self.environ, suite.id)
        plan = Plan(
            suite.id,
            suite.name,
            suite.retry,
            tests.retry if tests else None,
            parallel=bool(suite.parallel),
            concurrency=suite.concurrency,
        )
        made = await run_suite_file(
            Path(file),
            plan,
            self._world(environ),
            Given(environ, self.environment.variables.config),
            clock=self.tools.clock,
            new_id=lambda: str(uuid.uuid4()),
            around=self._around,
            told=told,
        )
        unused = [name for name, value in (("command", suite.command), ("config", suite.config)) if value]
        said = (f"not used by the runner yaml: {', '.join(unused)}",) if unused else ()
        return replace(made, warnings=(*said, *made.warnings))

    def _around(self, name: str) -> AbstractAsyncContextManager[Turn | None]:
        return self._watched(name, self.run, self.lookout) if self.run and self.lookout else nothing_around(name)

    @contextlib.asynccontextmanager
    async def _watched(self, name: str, run: Run, lookout: Lookout) -> AsyncIterator[Turn | None]:
        async with self.guardian.turnstile(run.id).case(name, self.asked.agent) as turn:
            yield Watched(turn, lookout)

    def _world(self, environ: dict[str, str]) -> World:
        services = self.environment.services
        containers = self.run.containers if self.run else {}
        return real.world(
            self.tools.machine,
            self.dock,
            Shell(self.folder, environ),
            base_url=self.environment.base_url,
            health_urls=real.health_urls(services, self.tools.published(self.asked.shell)),
            names=real.names(services, tuple(self.environment.mocks), containers),
            run=self.run.id if self.run else "",
        )


async def prepare(
    asked: Asked, loaded: Loaded, run: Run | None, *, tools: Tools, dock: Dock, guardian: Guardian, tell: Tell
) -> Trials:
    """`run`: what is up of it."""
    moved = surroundings.moved(run.mappings) if run else {}
    environment = await asyncio.to_thread(loaded.read, moved)
    project, caller = await asyncio.to_thread(_real, asked.project_path, asked.shell.folder)
    about = {"project": loaded.blueprint.project, "projectPath": asked.project_path}
    engine = tools.published(asked.shell)
    return Trials(
        asked,
        tools,
        dock,
        environment,
        run,
        guardian,
        Teller(tell, tools.show, about),
        surroundings.standing(project, caller),
        surroundings.exported(environment, engine=engine, run=run.id if run else None),
        Lookout(functools.partial(_ask, dock)) if run else None,
    )


async def _ask(dock: Dock) -> None:
    try:
        await dock.ping(timeout=_ASK)
    except EngineRefused:
        return  # it answers


def _real(*folders: str) -> list[str]:
    return [os.path.realpath(one) for one in folders]
