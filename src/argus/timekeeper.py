"""Notices that time did not pass as it should have: sleep, a step of the clock, or a stall of Argus itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from argus.core.clock import Clock, Jump, jump, reading
from argus.core.errors import ArgusError
from argus.core.events import Draft
from argus.loops import log
from argus.store.notes import Notes
from argus.store.records import Append

TICK = 1.0
TOLERANCE = 3.0


class Timekeeper:
    def __init__(self, clock: Clock, notes: Notes) -> None:
        self._clock = clock
        self._notes = notes
        self._last = reading(clock)
        self._listeners: list[Callable[[Jump], None]] = []

    def on_jump(self, listener: Callable[[Jump], None]) -> None:
        self._listeners.append(listener)

    def sound(self) -> bool:
        """Whether what was just seen may be judged. Asked before every act: after a stall the checks that timed out
        and this loop's tick come up in the same instant, in any order."""
        return jump(self._last, reading(self._clock), expected=TICK, tolerance=TOLERANCE) is None

    async def run(self) -> None:
        # What passed while this loop was being started again is not known; it is a new beginning.
        self._last = reading(self._clock)
        while True:
            await asyncio.sleep(TICK)
            now = reading(self._clock)
            found = jump(self._last, now, expected=TICK, tolerance=TOLERANCE)
            self._last = now
            if found is None:
                continue
            for listener in self._listeners:
                listener(found)
            data = {"kind": found.kind, "seconds": round(found.seconds, 3), "code": "CLOCK_JUMP"}
            try:
                await self._notes.note(Append(Draft("system", "clock_jump", "", data)))
            except ArgusError as unrecorded:
                # Nothing was acted on, so nothing depends on this record; the listeners know.
                log.error("a jump of the clock could not be recorded: %s", unrecorded)
