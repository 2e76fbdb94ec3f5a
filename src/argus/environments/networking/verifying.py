"""Network verification: every service looks at all others and at the mocks, before any test does."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from argus.core.clock import Clock, milliseconds
from argus.environments.announcing import Tell
from argus.environments.networking import targets
from argus.environments.networking.matrix import Pair, Report
from argus.environments.networking.probing import Heard, Prober
from argus.environments.networking.targets import Stands, Target
from argus.environments.waiting import crashed
from argus.host.engine.resources import Dock, Made
from argus.host.engine.seam import EngineRefused

_AT_ONCE = 4
"""Probe containers that run at the same time."""
_TOGETHER = 400
"""Targets of one probe."""
_LOOK = 5.0


@dataclass(frozen=True, slots=True)
class Verifier:
    dock: Dock
    prober: Prober
    clock: Clock
    tell: Tell

    async def verify(self, network: str, parts: Sequence[Stands]) -> Report:
        """Raises DNS_RESOLUTION_FAILED or NETWORK_UNREACHABLE when all was looked at; CONTAINER_CRASH and CONTAINER_OOM
        where one has ended meanwhile, which is why it is not reached."""
        began = self.clock.monotonic()
        pairs = await self._pairs(parts)
        found = await self.dock.network(network, timeout=_LOOK)
        here = sorted(found.containers.values()) if found else []
        now = milliseconds(self.clock.wall())
        report = Report(network, pairs, {network: here}, now, self.clock.monotonic() - began)
        self._tell(report)
        if not report.is_all_reachable:
            failure = (await self._with_topology(report, parts)).failure()
            if failure is not None:
                raise failure
        return report

    async def _pairs(self, parts: Sequence[Stands]) -> tuple[Pair, ...]:
        turns = asyncio.Semaphore(_AT_ONCE)
        sources = [one for one in parts if not one.part.is_mock]

        async def look(source: Stands, several: Sequence[Target]) -> dict[str, Heard]:
            async with turns:
                try:
                    return await self.prober.look(source.id, [one.word for one in several])
                except EngineRefused:
                    await self._lives(source)
                    raise

        asked = [(source, some) for source in sources for some in _batches(targets.of(source.part.name, parts))]
        try:
            async with asyncio.TaskGroup() as group:
                works = [group.create_task(look(*one)) for one in asked]
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        return tuple(
            Pair(source.part.name, source.container, target, work.result().get(target.word))
            for (source, some), work in zip(asked, works, strict=True)
            for target in some
        )

    async def _lives(self, one: Stands) -> Made | None:
        made = await self.dock.container(one.id, timeout=_LOOK)
        if made is not None and made.state in ("exited", "dead"):
            raise await crashed(self.dock, one.part.name, made)
        return made

    async def _with_topology(self, report: Report, parts: Sequence[Stands]) -> Report:
        """Where all of them are, and who else is there."""
        made = [await self._lives(one) for one in parts]
        places = {one.name: sorted(one.networks) for one in made if one is not None}
        topology: dict[str, Sequence[str]] = {}
        for name in sorted({report.network, *(one for several in places.values() for one in several)}):
            found = await self.dock.network(name, timeout=_LOOK)
            topology[name] = sorted(found.containers.values()) if found else []
        return Report(report.network, report.pairs, topology, report.timestamp, report.seconds, places)

    def _tell(self, report: Report) -> None:
        by_target: dict[str, list[Pair]] = defaultdict(list)
        for one in report.pairs:
            by_target[one.target.service].append(one)
        for service, several in by_target.items():
            failed = [one.source for one in several if not one.is_reachable]
            status = "reachable" if not failed else "unreachable"
            said = {"service": service, "reachable": not failed, "status": status, "from": sorted(set(failed))}
            self.tell("resilience", "network_check", said)
        verified = {"allReachable": report.is_all_reachable, "checks": len(report.pairs)}
        self.tell("resilience", "network_verified", {**verified, "duration": round(report.seconds * 1000, 1)})


def _batches(several: Sequence[Target]) -> list[Sequence[Target]]:
    return [several[n : n + _TOGETHER] for n in range(0, len(several), _TOGETHER)]
