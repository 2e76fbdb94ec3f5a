"""How an environment stands, and what its containers say. Looking changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from argus.core.errors import ArgusError, Code
from argus.environments.blueprint import Blueprint, Part
from argus.environments.labels import RUN, of_project
from argus.environments.runs import Run
from argus.host.engine import refusals
from argus.host.engine.printed import Printout
from argus.host.engine.resources import Dock, Made
from argus.host.engine.seam import EngineRefused

_LOOK = 5.0
_LOGS = 10.0


@dataclass(frozen=True, slots=True)
class Seen:
    part: Part
    container: str
    made: Made | None


@dataclass(frozen=True, slots=True)
class Picture:
    blueprint: Blueprint
    run: Run | None
    parts: tuple[Seen, ...]
    config_problem: ArgusError | None = None
    """Why its file could not be read: this is what is on record."""
    problem: ArgusError | None = None
    """Why the engine could not be asked: what it has is then not known."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Looker:
    dock: Dock

    async def picture(
        self, plan: Blueprint, run: Run | None, config_problem: ArgusError | None, ids: Mapping[str, str]
    ) -> Picture:
        """`ids`: of its containers where they are known, by the part's name."""
        names = {
            part.name: run.containers.get(part.name, part.container) if run else part.container for part in plan.parts
        }
        wanted = of_project(run.project if run else plan.project)
        try:
            # In one question: an engine that is away fails once, however many services there are.
            several = await self.dock.containers(wanted, timeout=_LOOK)
        except (ArgusError, EngineRefused) as error:
            unseen = tuple(Seen(part, names[part.name], None) for part in plan.parts)
            return Picture(plan, run, unseen, config_problem, refusals.in_words(error))
        by_name, by_id = ({getattr(one, what): one for one in several} for what in ("name", "id"))
        seen = []
        for part in plan.parts:
            # By its id first: somebody may have renamed it.
            made = _ours(by_id.get(ids.get(part.name, "")) or by_name.get(names[part.name]), run)
            seen.append(Seen(part, made.name if made else names[part.name], made))
        return Picture(plan, run, tuple(seen), config_problem)

    async def logs(
        self, run: Run | None, wanted: str, lines: int, since: float | None, ids: Mapping[str, str]
    ) -> tuple[Made, Printout]:
        containers = dict(run.containers) if run else {}
        name = containers.get(wanted, wanted if wanted in containers.values() else "")
        part = wanted if wanted in containers else next((one for one, its in containers.items() if its == name), "")
        made = _ours(await self.dock.container(ids.get(part, name), timeout=_LOOK), run) if name else None
        if made is None:
            known = sorted({*containers, *containers.values()})
            message = f"there is no container {wanted!r} in this environment" + ("" if run else ", which is not up")
            if name:
                message = f"the container {name} of this environment is not there any more: somebody removed it"
            raise ArgusError(Code.CONTAINER_NOT_FOUND, message, container=wanted, known=known)
        return made, await self.dock.logs(made.id, lines, since, timeout=_LOGS)


def _ours(made: Made | None, run: Run | None) -> Made | None:
    """A stranger's container of the same name is not part of this environment."""
    is_ours = made is not None and run is not None and made.labels.get(RUN) == run.id
    return made if is_ours else None
