"""Maintenance by hand: for a while nothing about a service alerts or is restarted. Survives a restart of Argus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argus.core.clock import Stamp, age, stamp
from argus.services import reports
from argus.services.tools import Tools
from argus.store import kept
from argus.store.records import Append, PutSetting

_KEY = "services.paused"


@dataclass(frozen=True, slots=True)
class _Pause:
    begun: Stamp
    seconds: float


def _read(found: Any) -> dict[str, _Pause]:
    return {name: _Pause(kept.stamp(one), float(one["seconds"])) for name, one in found.items()}


class Pauses:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._pauses: dict[str, _Pause] = {}

    async def restore(self) -> None:
        """Also of services that are not watched now: one that comes back within its pause is still paused."""
        self._pauses = await kept.setting(self._tools.store, _KEY, _read, {})

    def until(self, name: str) -> float | None:
        """Wall time at which it ends; None when there is none. Its length is counted by the boot clock."""
        pause = self._pauses.get(name)
        if pause is None:
            return None
        left = pause.seconds - age(pause.begun, stamp(self._tools.clock))
        return self._tools.clock.wall() + left if left > 0 else None

    async def set(self, name: str, seconds: float | None, by: str) -> float | None:
        if seconds is None and self.until(name) is None:
            return None
        now = stamp(self._tools.clock)
        pauses = {other: pause for other, pause in self._pauses.items() if self.until(other) is not None}
        pauses.pop(name, None)
        if seconds is not None:
            pauses[name] = _Pause(now, seconds)
        written = {
            other: {
                "boot_id": pause.begun.boot_id,
                "boot": pause.begun.boot,
                "wall": pause.begun.wall,
                "seconds": pause.seconds,
            }
            for other, pause in pauses.items()
        }
        until = now.wall + seconds if seconds is not None else None
        await self._tools.store.commit(PutSetting(_KEY, written or None), Append(reports.paused(name, until, by)))
        self._pauses = pauses
        return until
