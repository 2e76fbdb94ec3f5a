"""Reading a setting that may not be what we wrote: a hand was in the record, or another version."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from argus.core import clock as clocks
from argus.core.clock import Clock, Stamp
from argus.store.interface import Store

T = TypeVar("T")
log = logging.getLogger("argus")


async def setting(store: Store, key: str, read: Callable[[Any], T], none: T, odd: T | None = None) -> T:
    """As `read` understands it. One that it does not is `odd`, or as good as none: else Argus would fail at this start
    and, since the record stays as it is, at every other."""
    try:
        found = await store.setting(key)
        return read(found) if found else none
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        said = f"{type(error).__name__}: {error}"
        log.warning("the setting %s on record is not understood, and counts as not said (%s)", key, said)
        return none if odd is None else odd


async def set_aside(store: Store, clock: Clock) -> Stamp | None:
    """Since when nobody knows what was spent before. A mark that is not understood may be of this very hour."""
    return await setting(store, "store.set_aside", stamp, None, odd=clocks.stamp(clock))


def stamp(found: Any) -> Stamp:
    return Stamp(str(found["boot_id"]), float(found["boot"]), float(found["wall"]))
