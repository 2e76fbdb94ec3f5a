"""docker: restarts containers, those that are not well."""

from __future__ import annotations

import asyncio
import time

from pydantic import Field

from argus.core.errors import ArgusError
from argus.host import oneself
from argus.host.engine.seam import Container, Engine, EngineRefused
from argus.host.oneself import Oneself
from argus.host.seam import Host, Ran
from argus.schema import PositiveDuration, Section, lasting
from argus.services.containers import Found, Label, Names, bad, listed, look, place, short

_AT_ONCE = 4
_LOOK = 10.0


class DockerRestarter(Section):
    docker: Names | Label = Field(description="The names of the containers, as a list; or a label that they carry.")
    well_too: bool = Field(
        default=True,
        strict=True,
        description="When none of them is down, all are restarted: the check saw what the engine does not.",
    )
    timeout: PositiveDuration = lasting("60s", "How long it may take.")

    def target(self, service: str) -> str:
        if not isinstance(self.docker, str) and len(self.docker) == 1:
            return place(self.docker)
        # Which of them are down is seen when it begins.
        which = place(self.docker)
        return f"what is down of {which[0].lower()}{which[1:]}{', or all of them' if self.well_too else ''}"

    async def restart(self, host: Host, *, log: str) -> Ran:
        began = time.perf_counter()
        done: list[str] = []
        problems: list[str] = []
        chosen: list[Container] = []
        try:
            # Seen again now: what came back by itself since it was judged is left alone. And an engine that does not
            # answer gets no order, which it would carry out whenever it wakes.
            found = await look(self.docker, host.engine, timeout=min(_LOOK, self.timeout))
            chosen, problems = choose(found, oneself.find(), well_too=self.well_too)
            if chosen:
                await self._restart(host.engine, chosen, began, done, problems)
        except ArgusError as error:
            problems.append(error.message)
        said = f"restarted {listed(done)}" if done else "nothing was restarted"
        return Ran(0 if not problems else None, said, time.perf_counter() - began, listed(problems), begun=bool(chosen))

    async def _restart(
        self, engine: Engine, chosen: list[Container], began: float, done: list[str], problems: list[str]
    ) -> None:
        turns = asyncio.Semaphore(_AT_ONCE)

        async def restart(one: Container) -> None:
            async with turns:
                left = self.timeout - (time.perf_counter() - began)
                try:
                    if left <= 0:
                        raise EngineRefused(f"not begun within {self.timeout:g} s")
                    await engine.restart(one.id, timeout=left)
                except ArgusError as error:
                    problems.append(f"{short(one.name)}: {error.message}")
                except EngineRefused as refused:
                    problems.append(f"{short(one.name)}: {refused}")
                else:
                    done.append(short(one.name))

        async with asyncio.TaskGroup() as group:
            for one in chosen:
                group.create_task(restart(one))


def choose(found: list[Found], itself: Oneself, *, well_too: bool) -> tuple[list[Container], list[str]]:
    """Which of them to restart, and why not the others that would need it."""
    if not found:
        return [], ["no container carries the label"]
    wrong = bad(found) or (found if well_too else [])
    there = [one.container for one in wrong if one.container is not None]
    missing = [f"{short(one.name)} does not exist" for one in wrong if one.container is None]
    own = [f"{short(one.name)} is Argus itself" for one in there if itself.is_container(one.id)]
    return [one for one in there if not itself.is_container(one.id)], [*missing, *own]
