"""A loop that must outlive its own crash, wrapped once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from argus.core.backoff import Backoff
from argus.core.errors import ArgusError
from argus.core.events import Draft
from argus.store.interface import Store
from argus.store.records import Append

log = logging.getLogger("argus")
_BACKOFF = Backoff(base=0.5, cap=30.0)


async def keep_running(name: str, loop: Callable[[], Awaitable[None]], store: Store) -> None:
    """Runs it until it returns or is cancelled; a crash is logged, recorded, and followed by a new start."""
    crashes = 0
    while True:
        try:
            await loop()
            return
        except Exception as error:
            crashes += 1
            log.exception("the loop %s crashed", name)
            await _record(store, name, error)
        await asyncio.sleep(_BACKOFF.delay(crashes))


async def _record(store: Store, name: str, error: Exception) -> None:
    draft = Draft("system", "loop_crashed", name, {"loop": name, "error": f"{type(error).__name__}: {error}"})
    try:
        await store.commit(Append(draft))
    except ArgusError as unrecorded:
        log.error("the crash of %s could not be recorded: %s", name, unrecorded)
