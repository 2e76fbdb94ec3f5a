"""One setup from the look at the machine to the last ready part; and taking back what a failed one began."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from argus.core.clock import rfc3339
from argus.core.errors import ArgusError, Code
from argus.core.failpoints import SetupPlace, reach
from argus.environments import claims, fitting, orphans
from argus.environments.announcing import Tell
from argus.environments.blueprint import Blueprint, Part
from argus.environments.book import Book
from argus.environments.labels import RUN, labels
from argus.environments.mocking.definition import Placed
from argus.environments.mocking.serving import Mocks
from argus.environments.networking.diagnosing import Diagnosis
from argus.environments.networking.matrix import Report
from argus.environments.networking.probing import Prober
from argus.environments.networking.targets import Stands
from argus.environments.networking.verifying import Verifier
from argus.environments.orphans import Cleanup, Resource, but_volumes, everything
from argus.environments.ports import Occupant, PortMapping, Wanted, conflict
from argus.environments.raising import Raised, Raising
from argus.environments.readiness import Readiness
from argus.environments.report import HealthReport
from argus.environments.runs import Run
from argus.environments.standing import Standing
from argus.environments.tools import Loaded, Tools
from argus.environments.waiting import Waiter
from argus.host.engine.resources import Dock

_LOOK = 5.0
_TAKE_BACK = 60.0
"""Seconds for removing what a failed setup made; beyond, the next one does it."""
_BINDINGS = 10
"""How often a port may be lost between its choice and its binding before that is told as it is."""


@dataclass(frozen=True, slots=True)
class SetUp:
    run: Run
    raised: Raised
    mappings: tuple[PortMapping, ...]
    report: HealthReport | None
    cleanup: Cleanup
    seconds: float
    verification: Report | None = None


@dataclass(slots=True)
class SettingUp:
    loaded: Loaded
    run: Run
    earlier: tuple[Run, ...]
    """Of the same file: they are replaced."""
    tools: Tools
    book: Book
    dock: Dock
    address: str
    readiness: Readiness
    tell: Tell
    mocks: Mocks
    wanted: list[Wanted] = field(default_factory=list)
    mappings: list[PortMapping] = field(default_factory=list)
    """In the order of what is wanted."""
    touched: bool = False
    """Whether anything of the earlier run may be gone by now, or anything of this one be there."""
    standing: Standing = field(default_factory=Standing)
    is_left: bool = False
    """Whether the engine was not there when that was to be taken back."""

    @property
    def plan(self) -> Blueprint:
        return self.loaded.blueprint

    async def carry_out(self) -> SetUp:
        began = self.tools.clock.monotonic()
        report, cleanup = None, Cleanup()
        if self.plan.preflight:
            report, cleanup = await self.readiness.for_setup()
        else:
            # One question alone at first: where one probe may pass it is this one, and all others follow it.
            await self.dock.ping(timeout=_LOOK)
        if any(part.serves for part in self.plan.parts):
            await self.tools.helper.made(self.dock)
        await fitting.check(self.plan, self.earlier, self.dock)
        self.touched = True
        await self.book.supersede(self.run, self.earlier)
        cleanup = cleanup.and_(await self._replace())
        reach(SetupPlace.CLEARED)
        try:
            self._take_ports()
            raised = await self._raise()
        finally:
            # Bound by the engine by now, or not needed any more.
            self.tools.ports.give_back(self.mappings)
        verification = await self._verify(raised) if self.plan.verify else None
        reach(SetupPlace.ALL_READY)
        seconds = round(self.tools.clock.monotonic() - began, 3)
        return SetUp(self.run, raised, tuple(self.mappings), report, cleanup, seconds, verification)

    async def _replace(self) -> Cleanup:
        """Set up again, an environment replaces its own earlier run, also where leftovers are not cleaned."""
        done = Cleanup()
        await self.mocks.keep(self.book.alive)
        for run in self.earlier:
            found = await self._of_run(run)
            if run.was_up:
                found = [one for one in found if one.kind != "volume"]  # kept, and no leftovers either
            one = await self.readiness.remove(found, everything) if found else Cleanup()
            if run.key != self.run.key and not one.failed:
                await self.book.forget(run)
            done = done.and_(one)
        return done

    # Ports: chosen before anything is made, because what is made refers to them.

    def _take_ports(self) -> None:
        wanted = self.wanted = claims.of(self.plan.parts)
        for port, holder in self.tools.ports.taken(wanted).items():
            for one in wanted:
                if one.port == port:
                    said = {"service": one.service, "port": port, **holder.public()}
                    self.tell("resilience", "port_conflict", said)
        self.mappings = self.tools.ports.take(wanted, reassign=self.plan.reassign, within=self.plan.port_range)
        for mapping in self.mappings:
            self._tell_reassigned(mapping)

    def _lose(self, port: object) -> None:
        """Another process was quicker. An engine that does not say at which port loses all of them."""
        for place, mapping in enumerate(self.mappings):
            if port in (None, mapping.actual):
                wanted = self.wanted[place]
                said = {"service": mapping.service, "port": mapping.actual, **self._holder(place).public()}
                self.tell("resilience", "port_conflict", said)
                theirs = {one.port for one in self.wanted}
                another = self.tools.ports.another(mapping, wanted, within=self.plan.port_range, but=theirs)
                self.mappings[place] = another
                self._tell_reassigned(self.mappings[place])

    def _holder(self, place: int) -> Occupant:
        actual = self.mappings[place].actual
        return self.tools.ports.taken([replace(self.wanted[place], port=actual)]).get(actual, Occupant())

    def _named(self, error: ArgusError) -> ArgusError:
        """The engine says which port; whose it is and who has it is known here."""
        for place, mapping in enumerate(self.mappings):
            if error.code is Code.PORT_CONFLICT and error.details.get("port") == mapping.actual:
                return conflict(Wanted(mapping.service, mapping.actual), self._holder(place))
        return error

    def _tell_reassigned(self, mapping: PortMapping) -> None:
        if mapping.reassigned:
            said = {"service": mapping.service, "original": mapping.original, "actual": mapping.actual}
            self.tell("resilience", "port_reassigned", said)

    # Making.

    async def _raise(self) -> Raised:
        """A port that is lost at the last moment begins it anew on another: everything may refer to it."""
        for attempt in range(_BINDINGS):
            try:
                return await self._raising().run()
            except ArgusError as error:
                is_lost = error.code is Code.PORT_CONFLICT and self.plan.reassign
                if not is_lost or attempt == _BINDINGS - 1:
                    raise await self.readiness.with_room(self._named(error)) from None
                await self.readiness.remove(await self._of_run(self.run), but_volumes)
                self._lose(error.details.get("port"))
        raise AssertionError

    def _raising(self) -> Raising:
        tools = self.tools
        moved: dict[str, dict[int, int]] = defaultdict(dict)
        for wanted, one in zip(self.wanted, self.mappings, strict=True):
            if one.reassigned and not wanted.nth:  # whoever names the number means the first of several
                moved[one.service][one.original] = one.actual
        actual = {wanted: one.actual for wanted, one in zip(self.wanted, self.mappings, strict=True)}
        plan = claims.given(self.loaded.moved_to(moved) if moved else self.plan, self.plan, actual)
        carried = self._labels()
        waiter = Waiter(self.dock, tools.http, tools.clock, self.address, self._waiting, self._diagnose, tools.clean)
        self.standing = Standing(part.name for part in plan.parts)
        return Raising(
            plan, self.run.id, carried, dock=self.dock, waiter=waiter, clock=tools.clock, tell=self.tell,
            standing=self.standing, serve=self._serve,
        )  # fmt: skip

    async def _serve(self, network: str, plan: Blueprint) -> tuple[Placed, ...]:
        parts = [part for part in plan.parts if part.serves]
        found = await self.dock.network(network, timeout=_LOOK) if parts else None
        gateway = found.gateway.partition("/")[0] if found else ""
        placed = tuple(Placed(part.serves, part.ports[0].host_port, gateway) for part in parts if part.serves)
        await self.mocks.serve(self.run.id, placed)
        return placed

    def _labels(self) -> dict[str, str]:
        return labels(self.plan.project, self.run.id, self.tools.me, rfc3339(self.tools.clock.wall()))

    # Looking from inside.

    @property
    def _prober(self) -> Prober:
        return Prober(self.dock, self.tools.helper, self._labels(), self.run.id, self.tools.new_id)

    async def _verify(self, raised: Raised) -> Report:
        stand = [Stands(one.part, one.made.name, one.made.id) for one in raised.parts]
        return await Verifier(self.dock, self._prober, self.tools.clock, self.tell).verify(raised.network, stand)

    async def _diagnose(self, part: Part, container: str) -> dict[str, Any]:
        steps = self.standing.steps
        others = [Stands(one, "", steps[one.name].container) for one in self.plan.parts if steps[one.name].container]
        return await Diagnosis(self._prober).of(part, container, others)

    async def _diagnose_by_name(self, service: str, container: str) -> dict[str, Any]:
        part = next(one for one in self.plan.parts if one.name == service)
        return await self._diagnose(part, container)

    def _waiting(self, part: str, what: str) -> None:
        self.standing.waits(part, what)
        said = {"project": self.plan.project, "service": part, "waitingFor": what}
        self.tools.show("setup", "service_waiting", said)

    async def end(self, error: BaseException, timeout: float | None) -> tuple[BaseException, str]:
        """What is to be told of a setup that failed, and what is left of it."""
        failure = await self._failure(error, timeout)
        return failure, await self.take_back()

    async def _failure(self, error: BaseException, timeout: float | None) -> BaseException:
        """With how far it had come. Before anything is taken back: what it says is asked of the containers."""
        if isinstance(error, TimeoutError) and timeout is not None:
            return await self.standing.timeout(self.dock, timeout, self._diagnose_by_name)
        if isinstance(error, ArgusError) and self.standing.steps:
            return error.adding(services=self.standing.public())
        return error

    async def take_back(self) -> str:
        """Removes what this run made. Returns what could not be removed, in words; the next setup removes that."""
        if not self.touched:
            return ""
        await self.mocks.keep(self.book.alive - {self.run.id})
        try:
            async with asyncio.timeout(_TAKE_BACK):
                done = await self.readiness.remove(await self._of_run(self.run), everything)
        except Exception as error:  # noqa: BLE001 - whatever it is, the first failure is the one to tell
            self.is_left = True
            return f"what was begun could not be removed: {error}"
        self.is_left = False
        return ", ".join(f"{one.kind} {one.name}: {why}" for one, why in done.failed)

    async def _of_run(self, run: Run) -> list[Resource]:
        found = await orphans.of(self.dock, run.project)
        return [one for one in found if one.labels.get(RUN) == run.id]
