"""What can be known of a setup's failing before anything is given up for it: its images and its names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from argus.core.errors import ArgusError, Code
from argus.environments.blueprint import Blueprint, Part
from argus.environments.labels import RUN
from argus.environments.naming import choose
from argus.environments.runs import Run
from argus.host.engine.resources import Dock

_LOOK = 5.0


async def check(plan: Blueprint, earlier: Iterable[Run], dock: Dock) -> None:
    """Raises IMAGE_NOT_FOUND and NAME_CONFLICT. An environment that stands is not taken away for nothing."""
    going = {run.id for run in earlier}
    try:
        async with asyncio.TaskGroup() as group:
            for image in dict.fromkeys(part.image for part in plan.parts):
                group.create_task(_is_there(image, plan, dock))
            for part in plan.parts:
                group.create_task(_can_be_had(part, plan, going, dock))
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


async def _is_there(image: str, plan: Blueprint, dock: Dock) -> None:
    if await dock.image(image, timeout=_LOOK) is None:
        services = [part.name for part in plan.parts if part.image == image]
        message = f"there is no image {image!r}, which {services[0]} needs"
        raise ArgusError(Code.IMAGE_NOT_FOUND, message, image=image, service=services[0])


async def _can_be_had(part: Part, plan: Blueprint, going: set[str], dock: Dock) -> None:
    held = await dock.container(part.container, timeout=_LOOK)
    if held is not None and held.labels.get(RUN) not in going:
        choose(part.container, plan.project, "", held.labels, kind="container")
