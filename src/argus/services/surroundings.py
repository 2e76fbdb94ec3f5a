"""A look at the others before a restart or an announcement: with long intervals they may be down as well, and nobody
knows yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from argus.services.checks.base import Service
from argus.services.messages import Looked, Observed
from argus.services.model import Health, Observation
from argus.services.repairs import Repairs

_AROUND = 50
"""How many others are looked at before a restart; those that were not seen for longest."""
_ALL = 500
"""How many before an event is announced."""
_PATIENCE = 1.0
"""Seconds for which others are waited for, beyond the time that the failure itself took to show: what is slow by nature
must not hold a repair up."""
EVERYBODY = ""


class Surroundings:
    def __init__(
        self, repairs: Repairs, take_in: Callable[[Observed | Looked], None], healths: Mapping[str, Health]
    ) -> None:
        self._repairs = repairs
        self._take_in = take_in
        self._healths = healths
        self._looked: dict[str, float | None] = {}
        self._looking: dict[str, object] = {}

    def is_looking(self, name: str) -> bool:
        return name in self._looking

    def are_known(self, name: str, judged: Health) -> bool:
        """Whether the others were seen since this one began to fail, or were looked at once in this run of failures."""
        return self._looked.get(name) == judged.failing_since or not self._unseen(name, judged.failing_since or 0.0, 1)

    def look(self, name: str, judged: Health, services: Mapping[str, Service], took: float) -> None:
        """Checks the others; `Looked` is told when all of them have been looked at, or were waited for long enough."""
        if name not in self._looking:
            self._looked[name] = judged.failing_since
            self._start(name, self._unseen(name, judged.failing_since or 0.0, _AROUND), services, took)

    def gather(self, services: Mapping[str, Service], took: float, *, by: str, since: float) -> None:
        """The same for an event that began then, by whose failure it came to light: who else fails belongs to it."""
        if EVERYBODY not in self._looking:
            self._start(EVERYBODY, self._unseen(by, since, _ALL), services, took)

    def _start(self, name: str, others: list[str], services: Mapping[str, Service], took: float) -> None:
        mark = self._looking[name] = object()
        waiting = set(others)

        def done() -> None:
            if self._looking.get(name) is mark:
                del self._looking[name]
                self._take_in(Looked(name))

        def report(other: str, seen: Observation) -> None:
            self._take_in(Observed(other, seen, nobody()))
            waiting.discard(other)
            if not waiting:
                done()

        if not waiting:
            done()
            return
        self._repairs.look_around([services[other] for other in others], report)
        self._repairs.later(took + _PATIENCE, done)

    def _unseen(self, name: str, since: float, most: int) -> list[str]:
        unseen = [
            (health.last.at if health.last else float("-inf"), other)
            for other, health in self._healths.items()
            # One that is failing already is known to fail.
            if other != name and not health.failures and not health.repair
            if health.last is None or health.last.at < since
        ]
        return [other for _, other in sorted(unseen)[:most]]


def nobody() -> asyncio.Future[Health]:
    """For a reading that nobody waits for."""
    reply: asyncio.Future[Health] = asyncio.get_running_loop().create_future()
    reply.add_done_callback(lambda done: done.cancelled() or done.exception())
    return reply
