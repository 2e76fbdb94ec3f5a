"""Whether this machine is ready for an environment: looked at, mended where it may be, looked at again, then gated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from argus.core.errors import ArgusError, Code
from argus.environments import claims, orphans, report
from argus.environments.announcing import Tell
from argus.environments.blueprint import Blueprint
from argus.environments.labels import RUN, Witness
from argus.environments.orphans import LOOK, Cleanup, Goes, Resource, but_volumes
from argus.environments.preflight import DOCKER, NETWORK, PORTS, Preflight, Subject
from argus.environments.report import Check, HealthReport, Verdict
from argus.environments.runs import Run
from argus.environments.tools import Tools
from argus.host.engine.resources import Dock
from argus.host.engine.seam import EngineRefused


@dataclass(frozen=True, slots=True)
class Fixed:
    """What was found before anything was mended, and what became of it."""

    before: HealthReport | None = None
    cleanup: Cleanup | None = None


@dataclass(frozen=True, slots=True)
class Readiness:
    blueprint: Blueprint
    earlier: tuple[Run, ...]
    tools: Tools
    dock: Dock
    witness: Callable[[], Witness]
    remove: Callable[[list[Resource], Goes], Awaitable[Cleanup]]
    """Those of them that go."""
    tell: Tell

    async def look(self, *, skip: frozenset[str] = frozenset()) -> HealthReport:
        self.tell("resilience", "preflight_start", {"project": self.blueprint.project})
        tools = self.tools
        preflight = Preflight(self.dock, tools.ports, tools.disk_free, self.witness(), tools.clock, self._heard)
        found = await preflight.run(self._subject(), skip=skip)
        self.tell("resilience", "preflight_end", {"overall": found.overall.value, "duration": found.duration})
        return found

    async def mend(self, *, skip: frozenset[str] = frozenset(), goes: Goes) -> tuple[HealthReport, Fixed]:
        """Removes what may be removed, and looks again when that changed anything."""
        before = await self.look(skip=skip)
        docker = before.check(DOCKER)
        if docker is not None and docker.status is Verdict.FAIL:
            return before, Fixed(before)
        if before.orphans is None:
            found = await orphans.find(self.dock, self.blueprint.project, self.witness())
        else:
            # Not asked for again: a run that is over does not come back, and what is gone meanwhile is gone.
            found = list(before.orphans)
        cleanup = await self.remove(found, goes)
        after = await self.look(skip=skip) if cleanup.removed else before
        return after, Fixed(before, cleanup)

    async def for_building(self) -> HealthReport:
        """Raises what makes building pointless. Ports and networks are not its business."""
        skip = frozenset({PORTS, NETWORK})
        if self.blueprint.clean_orphans:
            found, _ = await self.mend(skip=skip, goes=but_volumes)
        else:
            found = await self.look(skip=skip)
        report.gate(found)
        return found

    async def for_setup(self) -> tuple[HealthReport, Cleanup]:
        """Raises what stands in the way of bringing it up."""
        if self.blueprint.clean_orphans:
            found, fixed = await self.mend(goes=self._goes)
            cleanup = fixed.cleanup or Cleanup()
        else:
            found, cleanup = await self.look(), Cleanup()
        report.gate(found)
        return found, cleanup

    async def with_room(self, error: ArgusError) -> ArgusError:
        """A disk that ran full, with what is left of it just now."""
        if error.code is not Code.DISK_SPACE_LOW or "availableBytes" in error.details:
            return error
        try:
            root = (await self.dock.info(timeout=LOOK)).data_root
        except (ArgusError, EngineRefused):
            return error
        room = {"path": root, "availableBytes": self.tools.disk_free(root)}
        return error.adding(**room, requiredBytes=self.blueprint.disk_threshold)

    def _goes(self, one: Resource) -> bool:
        """Volumes of a setup that was killed half-way go too: nobody had a run in which to put anything there."""
        never_up = {run.id for run in self.earlier if not run.was_up}
        return but_volumes(one) or one.labels.get(RUN) in never_up

    def _subject(self) -> Subject:
        plan = self.blueprint
        own = {one.actual for run in self.earlier for one in run.mappings}
        ports = tuple(one for one in claims.of(plan.parts) if one.port not in own)
        networks = frozenset(run.network for run in self.earlier)
        return Subject(plan.project, plan.network, ports, plan.disk_threshold, plan.reassign, networks)

    def _heard(self, check: Check) -> None:
        said = {"name": check.name, "status": check.status.value, "message": check.message}
        self.tell("resilience", "preflight_check", said)
