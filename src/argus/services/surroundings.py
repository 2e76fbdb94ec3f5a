"""A look at the others before a restart: with long intervals they may be down as well, and nobody knows yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from argus.services.checks.base import Service
from argus.services.messages import Observed
from argus.services.model import Health, Observation
from argus.services.repairs import Repairs

_AROUND = 50
"""How many others are looked at before a restart; those that were not seen for longest."""


class Surroundings:
    def __init__(self, repairs: Repairs, take_in: Callable[[Observed], None], healths: Mapping[str, Health]) -> None:
        self._repairs = repairs
        self._take_in = take_in
        self._healths = healths
        self._looked: dict[str, float | None] = {}
        self._looking: set[str] = set()

    def is_looking(self, name: str) -> bool:
        return name in self._looking

    def are_known(self, name: str, judged: Health) -> bool:
        """Whether the others were seen since this one began to fail, or were looked at once in this run of failures."""
        return self._looked.get(name) == judged.failing_since or not self._unseen(name, judged)

    def look(self, name: str, judged: Health, observation: Observation, services: Mapping[str, Service]) -> None:
        """Checks the others; the reading that called for it is taken in again when all of them have been looked at."""
        if name in self._looking:
            return
        waiting = set(self._unseen(name, judged))
        self._looking.add(name)
        self._looked[name] = judged.failing_since

        def report(other: str, seen: Observation) -> None:
            self._take_in(Observed(other, seen, _nobody()))
            waiting.discard(other)
            if not waiting:
                self._looking.discard(name)
                self._take_in(Observed(name, observation, _nobody()))

        self._repairs.look_around([services[other] for other in waiting], report)

    def _unseen(self, name: str, judged: Health) -> list[str]:
        since = judged.failing_since or 0.0
        unseen = [
            (health.last.at if health.last else float("-inf"), other)
            for other, health in self._healths.items()
            # One that is failing already is known to fail.
            if other != name and not health.failures and not health.repair
            if health.last is None or health.last.at < since
        ]
        return [other for _, other in sorted(unseen)[:_AROUND]]


def _nobody() -> asyncio.Future[Health]:
    """For a reading that nobody waits for."""
    reply: asyncio.Future[Health] = asyncio.get_running_loop().create_future()
    reply.add_done_callback(lambda done: done.cancelled() or done.exception())
    return reply
