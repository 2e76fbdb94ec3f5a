"""Why a service does not become ready: what it reaches itself, and whether it listens to itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from argus.core.errors import ArgusError
from argus.environments.blueprint import Part
from argus.environments.networking import targets
from argus.environments.networking.matrix import Pair
from argus.environments.networking.probing import Prober
from argus.environments.networking.targets import Stands, Target
from argus.host.engine.seam import EngineRefused

_ENOUGH = 20.0
_ITSELF = "127.0.0.1"
_MOST = 100


@dataclass(frozen=True, slots=True)
class Diagnosis:
    prober: Prober

    async def of(self, part: Part, container: str, others: Sequence[Stands]) -> dict[str, Any]:
        """`connectivity` and `dns`; or why they are not known. It never fails: it is about another failure."""
        several = targets.of(part.name, others)[:_MOST]
        if part.health is not None:
            several = [Target(part.name, container, _ITSELF, part.health.port), *several]
        if not several:
            return {"connectivity": [], "dns": []}
        # It is there already and has had its time: a mock is not waited for here.
        asked = [Target(one.service, one.container, one.hostname, one.port) for one in several]
        try:
            async with asyncio.timeout(_ENOUGH):
                found = await self.prober.look(container, [one.word for one in asked])
        except (ArgusError, EngineRefused, TimeoutError) as error:
            why = str(error) or "not found out in time"
            return {"connectivity": [], "dns": [], "connectivityProblem": why}
        pairs = [Pair(part.name, "", one, found.get(one.word)) for one in asked]
        names = {one.target.hostname: one for one in pairs if one.target.hostname != _ITSELF}
        return {
            "connectivity": [one.public() for one in pairs],
            "dns": [
                {"hostname": name, "resolved": one.is_resolved, "answer": one.public()["dns"],
                 "addresses": one.public()["addresses"]}
                for name, one in names.items()
            ],
        }  # fmt: skip
