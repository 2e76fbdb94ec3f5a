"""10,000 http services that all fall at once: what the daemon costs while they are down, and how soon all are known.

Everything they are asked for is refused from one moment on: an infrastructure event, with an outage of each. The floor
is the same daemon in the minute before, when all were up. The three readings that confirm an outage take three
intervals; what comes on top is Argus.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable

from benchmarks.floors.programs import running
from benchmarks.measure import cpu_of, memory_of
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.work.many import crowd

_PORTS = 16
_CONFIRMING = 3
_PATIENCE = 20.0
_LOOK = 5.0
_MOST = 3.0
"""How much dearer the daemon may be while everything is down: a reading that failed is judged in the reconciler, and
has more to say than one that is as before."""


def measure(plan: Plan) -> Iterable[Row]:
    count, interval = plan.size(10_000, 200), float(plan.size(30, 2))
    seconds = float(plan.size(60, 4))
    with running("noting", str(_PORTS)) as target, crowd(plan.folder / "argus", target, count, interval) as one:
        pid = one.argus.pid
        well = _share(pid, seconds)
        before = memory_of(pid)[0]
        os.kill(target.pid, signal.SIGKILL)
        began = time.monotonic()
        while (down := _down(one.argus.get("/api/services")["services"])) < count:
            if time.monotonic() - began > _PATIENCE * interval:
                raise RuntimeError(f"only {down} of {count} are known to be down")
            time.sleep(_LOOK)
        known = time.monotonic() - began
        ill = _share(pid, seconds)
        after = memory_of(pid)[0]
    what = f"{count:,} services every {interval:g} s fall at once"
    up = ("all up", [well])
    yield Row(f"{what}, CPU while all are down", "% of a core", [ill], floor=up, goal=Goal(_MOST, of="all up"))
    note = f"looked at every {_LOOK:g} s; three readings are {_CONFIRMING * interval:g} s"
    yield Row(f"{what}, until all are known to be", "s", [known], goal=Goal((_CONFIRMING + 1) * interval), note=note)
    yield Row(f"{what}, RSS, MB more", "MB", [after - before], floor=("all up", [before]))


def _share(pid: int, seconds: float) -> float:
    before, began = cpu_of(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_of(pid) - before) / (time.monotonic() - began) * 100


def _down(services: list[dict[str, object]]) -> int:
    return sum(1 for service in services if service["state"] == "down")
