"""Looking from inside a container's network, whatever its image has inside: by a container that joins it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from argus.core.errors import ArgusError, Code
from argus.core.failpoints import SetupPlace, reach
from argus.environments.endings import to_its_end
from argus.environments.helper.image import HelperImage
from argus.host.engine.resources import Dock, Making
from argus.host.engine.seam import EngineRefused

ROLE = "argusai.role"
_MAKE = 30.0
_LOOK = 5.0
_POLL = 0.03
_SLOWEST_POLL = 0.5
CONNECT, LISTEN = 3.0, 10.0
"""Seconds for a name or a connection, and for something that must listen to do so."""
_ENOUGH = CONNECT + LISTEN + 10.0
_STAYS = 20
"""Seconds that the helper stays after it has said all. Then its container goes by itself, whatever became of Argus."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the helper found out about one target."""

    dns: str
    """`ok`, or what the name server said instead: `NXDOMAIN`, `SERVFAIL`, `no answer` …"""
    addresses: tuple[str, ...] = ()
    is_connected: bool = False
    milliseconds: float | None = None
    error: str | None = None

    @property
    def is_resolved(self) -> bool:
        return self.dns == "ok"


@dataclass(frozen=True, slots=True)
class Prober:
    dock: Dock
    helper: HelperImage
    labels: Mapping[str, str]
    run: str
    new_id: Callable[[], str]

    async def look(self, container: str, words: Sequence[str]) -> dict[str, Heard]:
        """From inside the container of this id. What could not be found out in time is not there."""
        image = await self.helper.made(self.dock)
        options = ("-t", str(int(CONNECT * 1000)), "-w", str(int(LISTEN * 1000)), "-h", str(_STAYS))
        making = Making(
            name=f"argus-probe-{self.run}-{self.new_id()}",
            image=image,
            labels={**self.labels, ROLE: "probe"},
            network=f"container:{container}",
            command=("probe", *options, *words),
            auto_remove=True,
        )
        id = await self.dock.make(making, timeout=_MAKE)
        try:
            await self.dock.start(id, timeout=_MAKE)
            reach(SetupPlace.PROBING)
            return await self._hear(id, words)
        finally:
            await to_its_end(self._remove(id))

    async def _hear(self, id: str, words: Sequence[str]) -> dict[str, Heard]:
        found: dict[str, Heard] = {}
        pause = _POLL
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ENOUGH):
                while len(found) < len(words):
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _SLOWEST_POLL)
                    try:
                        lines = await self.dock.logs(id, len(words) + 10, timeout=_LOOK)
                    except ArgusError as error:
                        if error.code is not Code.CONTAINER_NOT_FOUND:
                            raise
                        break  # it ended, and is gone
                    found = heard(lines, words)
        return found

    async def _remove(self, id: str) -> None:
        # It goes by itself soon, and with its run at the latest.
        with contextlib.suppress(ArgusError, EngineRefused):
            await self.dock.remove(id, timeout=_LOOK)


def heard(lines: Sequence[str], words: Sequence[str]) -> dict[str, Heard]:
    """By the words that were asked for. What cannot be understood was not said."""
    by_target = {word.removesuffix("!"): word for word in words}
    found: dict[str, Heard] = {}
    for line in lines:
        try:
            said: Any = json.loads(line)
            key = said["name"] if said["port"] is None else f"{said['name']}:{said['port']}"
            one = Heard(said["dns"], tuple(said["addresses"]), bool(said["reachable"]), said["ms"], said["error"])
        except (ValueError, TypeError, KeyError):
            continue
        if key in by_target:
            found[by_target[key]] = one
    return found
