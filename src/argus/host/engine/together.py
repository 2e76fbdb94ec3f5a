"""Several questions of one look under way together, in bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
_AT_ONCE = 8


async def together(names: Sequence[str], look: Callable[[str], Awaitable[T]]) -> dict[str, T]:
    """What each look gave, in the order of the names."""
    found: dict[str, T] = {}
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str) -> None:
        async with turns:
            found[name] = await look(name)

    try:
        async with asyncio.TaskGroup() as group:
            for name in dict.fromkeys(names):
                group.create_task(one(name))
    except BaseExceptionGroup as several:
        # They were asked together and failed together; the first says it for all.
        raise several.exceptions[0] from None
    return {name: found[name] for name in names}
