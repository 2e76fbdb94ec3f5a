"""The containers of a service: which they are, and what is wrong with each. Checks and restarts agree on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from argus.core.errors import Code
from argus.core.patterns import CONTAINER, DOCKER_LABEL
from argus.host.engine.seam import Container, Engine
from argus.services.model import Seen, Status

_SHOWN = 5
_LONGEST = 60


def _once_each(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) != len(names):
        raise ValueError("a container is named twice")
    return names


Names = Annotated[
    tuple[Annotated[str, Field(pattern=CONTAINER, max_length=255)], ...],
    Field(min_length=1, max_length=1000),
    AfterValidator(_once_each),
]
Label = Annotated[str, Field(pattern=DOCKER_LABEL, max_length=1000)]


def check_given(values: dict[str, Any]) -> None:
    if len([key for key in ("containers", "label") if values.get(key) is not None]) != 1:
        raise ValueError("give one of containers, label")


async def look(which: tuple[str, ...] | str, engine: Engine, *, timeout: float) -> list[Found]:
    """By their names, or by a label that they carry."""
    if isinstance(which, str):
        return [Found(one.name, one) for one in await engine.labelled(which, timeout=timeout)]
    named = await engine.named(which, timeout=timeout)
    return [Found(name, one) for name, one in named.items()]


def place(which: tuple[str, ...] | str) -> str:
    """As notifications name them."""
    if isinstance(which, str):
        return f"Containers with {which}"
    return f"Container {which[0]}" if len(which) == 1 else f"{len(which)} containers"


@dataclass(frozen=True, slots=True)
class Found:
    """A container that is looked for; None where there is none of the name."""

    name: str
    container: Container | None

    @property
    def is_starting(self) -> bool:
        one = self.container
        return one is not None and one.state == "running" and one.health == "starting"

    @property
    def trouble(self) -> str:
        """What is wrong with it, for people; empty when it runs and is well, or is on its way there."""
        one = self.container
        if one is None:
            return "does not exist"
        if one.state == "running":
            return "is unhealthy" if one.health == "unhealthy" else ""
        memory = ", out of memory" if one.oom_killed else ""
        if one.state in ("exited", "dead", "restarting"):
            return f"is {one.state}{memory}, exit status {one.exit_code}"
        return f"is {one.state}"

    @property
    def code(self) -> Code:
        if self.container is None:
            return Code.CONTAINER_NOT_FOUND
        if self.container.state == "running" or not (self.container.oom_killed or self.container.exit_code):
            return Code.SERVICE_DOWN
        return Code.CONTAINER_OOM if self.container.oom_killed else Code.CONTAINER_CRASH


def bad(found: Iterable[Found]) -> list[Found]:
    return [one for one in found if one.trouble]


def judged(found: list[Found]) -> Seen:
    """All of them together. One that is not well makes the service down, one that is starting makes it wait."""
    if not found:
        return Seen(Status.DOWN, None, "no container", "no container carries the label", Code.CONTAINER_NOT_FOUND)
    wrong, starting = bad(found), [one for one in found if one.is_starting]
    count = f"{len(found) - len(wrong) - len(starting)}/{len(found)} running"
    if wrong:
        said = f"{count}: {listed(f'{short(one.name)} {one.trouble}' for one in wrong)}"
        codes = {one.code for one in wrong}
        code = codes.pop() if len(codes) == 1 else Code.SERVICE_DOWN
        return Seen(Status.DOWN, None, said, said, code, bad=_named(one.name for one in wrong if one.container))
    if starting:
        said = f"{count}: {listed(f'{short(one.name)} is starting' for one in starting)}"
        return Seen(Status.PENDING, None, "starting", said)
    return Seen(Status.UP, None, "", count)


def _named(names: Iterable[str]) -> str:
    several = [short(name) for name in names]
    return f"Container{'s' if len(several) > 1 else ''} {listed(several)}" if several else ""


def listed(texts: Iterable[str]) -> str:
    """The first few, and how many more."""
    every = list(texts)
    more = [f"and {len(every) - _SHOWN} more"] if len(every) > _SHOWN else []
    return ", ".join([*every[:_SHOWN], *more])


def short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
