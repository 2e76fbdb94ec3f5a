"""What a run of tests asks at its end: which containers are not well, and whether that will still change."""

from __future__ import annotations

import asyncio
import contextlib

from argus.core.backoff import Backoff
from argus.core.errors import ArgusError, Code
from argus.environments.blueprint import HealthWish
from argus.environments.guarding import reports
from argus.environments.guarding.model import State
from argus.environments.guarding.policy import CAP
from argus.environments.guarding.post import Post
from argus.environments.guarding.ward import Ward
from argus.environments.labels import MANAGED, RUN
from argus.host.engine.seam import EngineRefused

_POLL = 0.1
_LOOK = 5.0
_ONE = 60.0
"""Seconds for what is seen and done about one failure, beside its delay and its readiness."""


def problems(post: Post) -> list[ArgusError]:
    """Of each container that is given up, or failed and is not to be restarted; and of each that is not well yet."""
    return [_problem(one) for one in post.wards.values() if one.charge.state.is_given_up or _is_open(one)]


async def settled(post: Post) -> None:
    """Returns when every container is well, or nothing more is done about it; or when that takes longer than all the
    restarts that are left may."""
    await _look(post)
    try:
        async with asyncio.timeout(max((_limit(one, post) for one in post.wards.values()), default=0.0)):
            while post.is_up() and any(_is_open(one) for one in post.wards.values()):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(_POLL)
    except TimeoutError:
        return


async def _look(post: Post) -> None:
    """Once: what ended in the last moment is not told yet."""
    # An engine that is away is the business of whoever listens to it.
    with contextlib.suppress(ArgusError, EngineRefused):
        wanted = {MANAGED: "true", RUN: post.order.run}
        found = {one.id: one for one in await post.dock.containers(wanted, timeout=_LOOK)}
        for ward in post.wards.values():
            ward.see(found.get(ward.charge.id))


def _is_open(ward: Ward) -> bool:
    """It failed, and what becomes of it is not known."""
    if ward.charge.state is State.WELL:
        is_ill = ward.made is not None and ward.made.health == "unhealthy" and ward.signs.was_healthy
        is_down = ward.signs.died is not None or not ward.is_well.is_set()
        return is_down or bool(ward.ailing) or is_ill  # and not judged yet
    return not ward.charge.state.is_given_up and ward.charge.state is not State.LEFT


def _limit(ward: Ward, post: Post) -> float:
    settings = post.order.settings
    backoff = Backoff(settings.delay, CAP, settings.growth)
    left = range(ward.charge.spent + 1, (settings.most if settings.restart else 0) + 1)
    ready = (ward.part.health or HealthWish("/", 0)).patience
    return _ONE + ready + sum(backoff.delay(one) + _ONE + ready for one in left)


def _problem(ward: Ward) -> ArgusError:
    charge = ward.charge
    said = f"{charge.service} is not well, and not restarted yet"
    unknown = ArgusError(Code.CONTAINER_NOT_RUNNING, said, service=charge.service, container=charge.container)
    return reports.problem(charge) or unknown
