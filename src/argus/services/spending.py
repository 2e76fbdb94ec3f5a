"""The restart budget, counted from the record of acts: neither a restart of Argus nor a clock step refills it."""

from __future__ import annotations

from collections.abc import Iterator

from argus.core.budget import Budget
from argus.core.clock import Stamp, age, stamp
from argus.services import repairs
from argus.services.tools import Tools
from argus.store import kept
from argus.store.records import Act

RESTART = "restart_service"
_WINDOW = 3600.0 + repairs.LATEST
"""The budget's hour. Intents are counted, and a restart may follow its intent by LATEST: were the window no longer,
two restarts could lie within one hour although their intents do not."""


class Spending:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._spent: list[tuple[str, Stamp]] = []
        self._unknown_until: Stamp | None = None

    async def restore(self) -> None:
        store = self._tools.store
        self._spent = [(act.subject, act.begun) for act in await store.acts(kind=RESTART)]
        self._unknown_until = await kept.set_aside(store, self._tools.clock)

    def spend(self, act: Act) -> None:
        now = stamp(self._tools.clock)
        self._spent = [*(one for one in self._spent if age(one[1], now) <= _WINDOW), (act.subject, act.begun)]

    def left(self, most: int, service: str | None = None) -> int:
        """Restarts that are left of so many in this hour: of all services, or of this one."""
        now = stamp(self._tools.clock)
        # The record before a set-aside store is not known: for one window everything counts as spent.
        if self._unknown_until and age(self._unknown_until, now) <= _WINDOW:
            return 0
        return Budget(most, _WINDOW).left(self._of(service), now)

    def room_in(self, most: int, service: str | None = None) -> float | None:
        """Seconds until one of so many is left: 0 now, None never."""
        now = stamp(self._tools.clock)
        room = Budget(most, _WINDOW).room_in(self._of(service), now)
        if room is None or self._unknown_until is None:
            return room
        return max(room, _WINDOW - age(self._unknown_until, now))

    def _of(self, service: str | None) -> Iterator[Stamp]:
        return (begun for name, begun in self._spent if service in (None, name))
