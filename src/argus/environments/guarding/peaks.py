"""How much memory containers used at most: looked at while they live, for once they are dead nobody knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from argus.core.errors import ArgusError
from argus.host.engine.resources import Dock, Made, Usage
from argus.host.engine.seam import EngineRefused

EVERY = 5.0
"""Seconds between two looks at what the kernel keeps, which costs a file each."""
_ASKED = 6
"""The engine is asked at every so many of them: that costs it a look at all of a container's figures."""
_LOOK = 5.0


@dataclass(slots=True)
class _Seen:
    peak: int = 0
    limit: int | None = None


class Peaks:
    """Of the containers on one engine."""

    def __init__(self, kept: Callable[[str], int | None]) -> None:
        self._kept = kept
        """What the kernel knows of a container, where it can be read."""
        self._seen: dict[str, _Seen] = {}
        self._turn = 0

    def of(self, made: Made) -> tuple[int | None, int | None]:
        """Its limit, and the most that was seen in use; of its last life."""
        seen = self._seen.get(made.id)
        if seen is None:
            return made.memory_limit, None
        return made.memory_limit or seen.limit, seen.peak or None

    def look(self, id: str) -> bool:
        """Now, as cheaply as it can be done: whether that was possible."""
        peak = self._kept(id)
        if peak is None:
            return False
        seen = self._seen.setdefault(id, _Seen())
        seen.peak = max(seen.peak, peak)
        return True

    def begin(self, id: str) -> None:
        """It was started anew: what was seen before is of an earlier life."""
        self._seen[id] = _Seen()

    def forget(self, id: str) -> None:
        self._seen.pop(id, None)

    async def look_at_all(self, running: dict[str, Dock]) -> None:
        """Of each the engine that it is on, where the kernel does not say."""
        is_asked = self._turn % _ASKED == 0
        self._turn += 1
        for id, dock in running.items():
            if self.look(id) or not is_asked:
                continue
            try:
                self._take(id, await dock.stats(id, timeout=_LOOK))
            except (ArgusError, EngineRefused):
                continue  # it may have ended just now; whatever it is, others tell

    def _take(self, id: str, usage: Usage) -> None:
        seen = self._seen.setdefault(id, _Seen())
        seen.peak = max(seen.peak, usage.peak or 0, usage.memory or 0)
        seen.limit = usage.limit or seen.limit
