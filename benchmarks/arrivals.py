"""When checks came, as the one that is checked saw it: the distances between them, and those that never came."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks import load

_LOOK = 0.5
Diary = Mapping[str, Sequence[float]]
"""By path, the moments at which it was asked for."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How a schedule was kept. Nobody outside knows when a check was meant to begin; but each one is meant to come one
    interval after the one before it, so a late one makes two distances wrong, and a drift all of them."""

    distances: tuple[float, ...]
    skipped: int
    silent: int
    """Paths that never came, or only once."""

    def within(self, interval: float, slack: float) -> float:
        """The share of the distances that are right, in percent."""
        right = sum(1 for one in self.distances if abs(one - interval) <= slack)
        return right / len(self.distances) * 100 if self.distances else 0.0


def pace(diary: Diary, paths: Sequence[str], interval: float, until: float) -> Pace:
    distances: list[float] = []
    skipped = silent = 0
    for path in paths:
        times = diary.get(path, ())
        silent += len(times) < 2
        distances += (after - before for before, after in pairwise(times))
        skipped += sum(_left_out(after - before, interval) for before, after in pairwise(times))
        if times:
            # What was due before the end and had another half of an interval to come.
            skipped += max(0, int((until - times[-1]) / interval - 0.5))
    return Pace(tuple(distances), skipped, silent)


def _left_out(distance: float, interval: float) -> int:
    return max(0, round(distance / interval) - 1)


def wait_for_all(port: int, paths: Sequence[str], limit: float) -> None:
    """Returns when each was asked for once. Looked at seldom: the diary is long."""
    until, missing = time.monotonic() + limit, set(paths)
    while missing:
        if time.monotonic() > until:
            raise RuntimeError(f"{len(missing)} of {len(paths)} were not asked for within {limit:g} s")
        time.sleep(_LOOK)
        missing -= noted(port).keys()


def noted(port: int) -> dict[str, list[float]]:
    """What a `noting` program has in its diary."""

    async def ask() -> dict[str, list[float]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(load.request("GET", "/noted", port))
        answer = await reader.read()
        writer.close()
        said: dict[str, list[float]] = json.loads(answer.partition(b"\r\n\r\n")[2])
        return said

    return load.run(ask())
