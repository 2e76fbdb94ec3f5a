"""The steps of a case: what is asked of the world, and what was seen. A step that could not be taken is a failure."""

from __future__ import annotations

import asyncio

from argus.core.errors import ArgusError
from argus.environments.testing import place_steps, web_steps
from argus.environments.testing.model import Case
from argus.environments.testing.operators import Search
from argus.environments.testing.results import Failure
from argus.environments.testing.seeing import Failed, Seen
from argus.environments.testing.showing import clean
from argus.environments.testing.world import World
from argus.host.engine.refusals import in_words
from argus.host.engine.seam import EngineRefused
from argus.host.seam import ProbeFailed


async def act(case: Case, world: World, search: Search) -> tuple[Seen, list[Failure]]:
    """What was seen, and what of the step's own expectations does not hold. Raises Failed."""
    try:
        return await _act(case, world, search)
    except ProbeFailed as failed:
        raise Failed(Failure(clean(failed.detail))) from None
    except (ArgusError, EngineRefused) as error:
        known = in_words(error)
        raise Failed(_failure(known)) from None


def _failure(error: ArgusError) -> Failure:
    """With the containers that there are, where one is asked for that is not."""
    known = error.details.get("known")
    if known is None:
        return Failure(clean(error.message), code=error.code.value)
    return Failure(clean(error.message), "container", known, error.details.get("container"), error.code.value)


async def _act(case: Case, world: World, search: Search) -> tuple[Seen, list[Failure]]:
    if case.request is not None:
        return await web_steps.request(case.request, case.expect, world), []
    if case.exec is not None:
        return await place_steps.command(case.exec, case.expect, world)
    if case.file is not None:
        seen = await world.place(case.file.container).file(case.file.path, place_steps.CONTENT)
        # Searches and comparisons may take their time.
        return place_steps.file_seen(seen), await asyncio.to_thread(place_steps.file, case.file, seen, search)
    if case.process is not None:
        return await place_steps.process(case.process, world)
    if case.port is not None:
        return await place_steps.port(case.port, world)
    if case.sse is not None:
        return await web_steps.events(case.sse, case.expect, world), []
    return Seen(), []
