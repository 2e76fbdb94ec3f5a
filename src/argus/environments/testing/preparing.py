"""What setup and teardown may do beside steps: wait until the services are well, or a port answers."""

from __future__ import annotations

import asyncio

from argus.core.errors import Code
from argus.environments.testing.model import Preparing, WaitForPort, WaitHealthy
from argus.environments.testing.results import Failure
from argus.environments.testing.seeing import Failed
from argus.environments.testing.web_steps import joined
from argus.environments.testing.world import World
from argus.host.seam import ProbeFailed
from argus.host.web import Call

_POLL = 0.25
_ONE = 5.0
"""Seconds for one look."""


async def wait(step: Preparing, world: World) -> bool:
    """Whether it was something to wait for. Raises Failed."""
    if step.wait_healthy is not None:
        await _healthy(step.wait_healthy, world)
    elif step.wait_for_port is not None:
        await _port(step.wait_for_port, world)
    else:
        return False
    return True


async def _healthy(step: WaitHealthy, world: World) -> None:
    """Where the configuration's health checks look."""
    urls = world.health_urls or (joined(world.base_url, "/health"),)
    last = ""
    try:
        async with asyncio.timeout(step.timeout):
            for url in urls:
                while last := await _unwell(url, world):  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(_POLL)
    except TimeoutError:
        said = f"not healthy within {step.timeout:g} s" + (f": {last}" if last else "")
        raise Failed(Failure(said, "waitHealthy", code=Code.HEALTH_CHECK_TIMEOUT.value)) from None


async def _unwell(url: str, world: World) -> str:
    try:
        reply = await world.web.ask(Call(url), timeout=_ONE, follow=True)
    except ProbeFailed as failed:
        return f"{url}: {failed.detail}"
    return "" if reply.status < 400 else f"{url} answers {reply.status}"


async def _port(step: WaitForPort, world: World) -> None:
    last = ""
    try:
        async with asyncio.timeout(step.timeout):
            while True:
                try:
                    await world.connect(step.host, step.port, timeout=_ONE)
                    return
                except ProbeFailed as failed:
                    last = f": {failed.detail}"
                await asyncio.sleep(_POLL)
    except TimeoutError:
        said = f"{step.host}:{step.port} did not answer within {step.timeout:g} s{last}"
        raise Failed(Failure(said, "waitForPort")) from None
