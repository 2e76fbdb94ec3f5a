"""What a failed setup made and could not take away, because the engine was gone: tried again until it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

_PAUSE = 5.0

Removal = Callable[[], Awaitable[bool]]
"""Whether nothing is left to do: it is gone, or whoever came after has seen to it."""


class Leftovers:
    """One for each environment. In memory: a new daemon finds them as what a dead run left."""

    def __init__(self) -> None:
        self._waiting: dict[str, Removal] = {}
        self._news = asyncio.Event()

    def add(self, key: str, removal: Removal) -> None:
        self._waiting[key] = removal
        self._news.set()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            await asyncio.sleep(_PAUSE)
            for key, removal in list(self._waiting.items()):
                if await removal() and self._waiting.get(key) is removal:
                    del self._waiting[key]
            if not self._waiting:
                self._news.clear()
