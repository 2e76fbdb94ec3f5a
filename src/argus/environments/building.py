"""Building the images of an environment, one after the other: they share the engine's cache and its disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.core.events import Channel
from argus.environments.announcing import Tell
from argus.environments.blueprint import Blueprint, Build
from argus.host.engine.resources import Dock

_LOOK = 5.0
_BUILD = 3600.0


@dataclass(frozen=True, slots=True)
class Built:
    service: str
    image: str
    id: str
    seconds: float
    existed: bool = False


@dataclass(frozen=True, slots=True)
class Builder:
    dock: Dock
    clock: Clock
    tell: Tell
    show: Callable[[Channel, str, dict[str, Any]], None]
    """What is worth showing and not recording: every line that a build prints."""

    async def run(self, plan: Blueprint, service: str | None, *, no_cache: bool, use_existing: bool) -> list[Built]:
        wanted = [one for one in plan.builds if service in (None, one.service)]
        if service is not None and not wanted:
            known = [one.service for one in plan.builds]
            raise ArgusError(Code.SERVICE_NOT_FOUND, f"there is no service {service!r} to build", known=known)
        return [await self._one(plan.project, one, no_cache=no_cache, use_existing=use_existing) for one in wanted]

    async def _one(self, project: str, wanted: Build, *, no_cache: bool, use_existing: bool) -> Built:
        name, image = wanted.service, wanted.image
        if use_existing:
            found = await self.dock.image(image, timeout=_LOOK)
            if found is not None:
                return Built(name, image, found, 0.0, existed=True)
        if wanted.building is None:
            looked = list(wanted.looked_at)
            raise ArgusError(Code.BUILD_FAILED, f"there is no Dockerfile for {name}", service=name, lookedAt=looked)
        building = replace(wanted.building, no_cache=no_cache)
        began = self.clock.monotonic()
        self.tell("build", "build_started", {"service": name, "image": image})

        def heard(line: str) -> None:
            self.show("build", "build_output", {"project": project, "service": name, "line": line})

        try:
            id = await self.dock.build(building, heard, timeout=_BUILD)
        except ArgusError as error:
            self.tell("build", "build_failed", {"service": name, "image": image, "code": error.code.value})
            raise
        seconds = round(self.clock.monotonic() - began, 3)
        self.tell("build", "build_finished", {"service": name, "image": image, "seconds": seconds})
        return Built(name, image, id, seconds)
