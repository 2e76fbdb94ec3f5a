"""What is written down of a container that failed, before anything is done about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from argus.core.clock import Clock
from argus.core.cutting import cleaned, ending
from argus.environments.guarding.model import Diagnostics
from argus.environments.guarding.peaks import Peaks
from argus.environments.waiting import last_words
from argus.host.engine.resources import Dock, Made

LINES = 100
_LINE = 500
_OUTPUT = 2000
_ALL = 32 * 1024
"""Characters that are kept of all lines, the newest: they are on record with every attempt."""


@dataclass(frozen=True, slots=True)
class Diagnoser:
    dock: Dock
    peaks: Peaks
    clean: Callable[[str], str]
    """Takes secrets out of a line."""
    clock: Clock

    async def words(self, id: str) -> list[str]:
        """The last lines it printed; none where they cannot be had."""
        return await last_words(self.dock, id)

    async def look(self, made: Made, words: list[str] | None = None) -> Diagnostics:
        """`words`: its last lines, where somebody has them already."""
        is_over = made.state != "running"
        known = made.started is not None and made.finished is not None
        ran = max(0.0, (made.finished or 0.0) - (made.started or 0.0)) if is_over and known else None
        lines = words if words is not None else await self.words(made.id)
        limit, peak = self.peaks.of(made)
        return Diagnostics(
            container_id=made.id,
            container_name=made.name,
            exit_code=made.exit_code if is_over else None,
            oom_killed=made.oom_killed,
            logs=bounded(cleaned(lines, self.clean)),
            memory_limit=limit,
            memory_peak=peak,
            at=self.clock.wall(),
            ran=ran,
            health_output="" if is_over else ending(self.clean(made.health_output), _OUTPUT),
        )


def bounded(lines: list[str]) -> tuple[str, ...]:
    kept: list[str] = []
    room = _ALL
    for line in reversed(lines[-LINES:]):
        short = line if len(line) <= _LINE else f"{line[:_LINE]}…"
        room -= len(short)
        if room < 0:
            break
        kept.append(short)
    return tuple(reversed(kept))
