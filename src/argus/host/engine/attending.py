"""Work that another program does with the engine: it may wait for ever for one that has stopped answering."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from argus.host.engine.seam import EngineUnavailable

T = TypeVar("T")
PATIENCE = 15.0
"""Seconds of silence. An engine that is busy with a build answers a ping in milliseconds; one that swaps, soon."""


async def while_it_answers(
    ping: Callable[[], Awaitable[None]], work: Coroutine[Any, Any, T], patience: float = PATIENCE
) -> T:
    """The work's own result. Raises EngineUnavailable, and ends the work, once the engine has been silent too long."""
    working = asyncio.ensure_future(work)
    silence = asyncio.ensure_future(_silence(ping, patience))
    try:
        await asyncio.wait((working, silence), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise EngineUnavailable(f"the Docker engine has not answered for {patience:g} s")
    finally:
        # Whoever is cancelled here has its own end to make: the work ends what it began.
        for one in (working, silence):
            one.cancel()
        await asyncio.wait((working, silence))


async def _silence(ping: Callable[[], Awaitable[None]], patience: float) -> None:
    """Returns when it has lasted long enough."""
    now = asyncio.get_running_loop().time
    heard = now()
    while now() - heard < patience:
        await asyncio.sleep(patience / 3)
        try:
            async with asyncio.timeout(patience):
                await ping()
        except (TimeoutError, EngineUnavailable):
            continue
        heard = now()
