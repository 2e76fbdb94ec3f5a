"""Time, from one place.

Durations are taken by the monotonic clock. Wall time is for people and for records. Time since boot, together with the
boot's id, survives a restart of Argus and is immune to steps of the wall clock: budgets are counted by it.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

_NO_BOOT_ID = "process-"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment, so that its age can be told later, by another process, after a step of the wall clock or a reboot."""

    boot_id: str
    boot: float
    wall: float


@dataclass(frozen=True, slots=True)
class Reading:
    monotonic: float
    boot: float
    wall: float


@dataclass(frozen=True, slots=True)
class Jump:
    """Time did not pass as it should have: nothing that was judged by it may be believed."""

    kind: str
    seconds: float


class Clock(Protocol):
    def monotonic(self) -> float: ...

    def wall(self) -> float: ...

    def boot(self) -> float: ...

    @property
    def boot_id(self) -> str: ...


class SystemClock:
    def __init__(self) -> None:
        self._boot_id = _read_boot_id()

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    def boot(self) -> float:
        # Counts through suspend, which CLOCK_MONOTONIC does not. macOS's monotonic clock is the closest there.
        return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()

    @property
    def boot_id(self) -> str:
        return self._boot_id


def _read_boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        # Without a boot id no two processes can compare times since boot: each counts as a boot of its own,
        # and ages fall back to the wall clock.
        return f"{_NO_BOOT_ID}{os.getpid()}-{time.time_ns()}"


def stamp(clock: Clock) -> Stamp:
    return Stamp(clock.boot_id, clock.boot(), clock.wall())


def reading(clock: Clock) -> Reading:
    return Reading(clock.monotonic(), clock.boot(), clock.wall())


def age(then: Stamp, now: Stamp) -> float:
    """Seconds from `then` to `now`, never negative.

    Within one boot only the boot clock counts. Across boots the wall clock is all there is; a clock that was set back
    gives 0, so that what must count as recent does, but never less than this boot has lasted.
    """
    if then.boot_id == now.boot_id:
        return max(0.0, now.boot - then.boot)
    known = now.boot if rebooted(then.boot_id, now.boot_id) else 0.0
    return max(known, now.wall - then.wall)


def rebooted(then: str, now: str) -> bool:
    """Whether the machine is known to have been started again between these boot ids: without one, nobody knows."""
    return then != now and not then.startswith(_NO_BOOT_ID) and not now.startswith(_NO_BOOT_ID)


def jump(before: Reading, after: Reading, *, expected: float, tolerance: float) -> Jump | None:
    """What was wrong with the time between two readings that were meant to be `expected` seconds apart."""
    passed = after.monotonic - before.monotonic
    slept = (after.boot - before.boot) - passed
    if slept > tolerance:
        return Jump("sleep", slept)
    stepped = (after.wall - before.wall) - (after.boot - before.boot)
    if abs(stepped) > tolerance:
        return Jump("step", stepped)
    if passed - expected > tolerance:
        return Jump("stall", passed - expected)
    return None


def milliseconds(wall: float) -> int:
    return int(wall * 1000)


def rfc3339(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
