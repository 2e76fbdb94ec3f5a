"""When each service is due: spread over the interval, without drift, woken in batches."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

TICK = 0.1
"""Due checks of one tick start together: one wake-up for many is what makes thousands of checks cheap."""
_RATE = 50.0
"""First checks a second, so that a start is no burst."""


class Schedule:
    def __init__(self, intervals: Mapping[str, float], now: float) -> None:
        self._intervals = dict(intervals)
        self._due: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []
        self.soon(self._intervals, now)

    def soon(self, names: Iterable[str], now: float) -> None:
        """Everything named comes up shortly, spread out; a few within a second."""
        wanted = list(names)
        span = max(1.0, len(wanted) / _RATE)
        for place, name in enumerate(wanted):
            self._put(name, now + min(self._intervals[name], span) * place / len(wanted))

    def change(self, intervals: Mapping[str, float], afresh: Iterable[str], now: float) -> None:
        """Other services, or other intervals. Those named in `afresh` come up shortly; the rest keep their times."""
        self._intervals = dict(intervals)
        self._due = {name: at for name, at in self._due.items() if name in intervals}
        self.soon([name for name in afresh if name in intervals], now)

    def due(self, now: float) -> list[str]:
        """What has come up, each put at its next time. Times that were missed are not made up for."""
        names = []
        while self._heap and self._heap[0][0] <= now:
            at, name = heapq.heappop(self._heap)
            if self._due.get(name) != at:
                continue  # it was moved in the meantime, and stands in the heap a second time
            names.append(name)
            interval = self._intervals[name]
            following = at + interval * (int((now - at) // interval) + 1)
            # Floats may round the division down just below a whole number.
            self._put(name, following if following > now else following + interval)
        return names

    def next(self) -> float | None:
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _put(self, name: str, at: float) -> None:
        self._due[name] = at
        heapq.heappush(self._heap, (at, name))
