"""10,000 http services every 30 s in the installed daemon: its share of a core, its memory, and whether it keeps up.

The CPU is that of the whole daemon, over whole minutes, because the counts are written once in each. The target notes
when each service was asked for; that says from outside what came too late, and what did not come. The floor makes as
many bare checks a second, in batches.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.harness import Argus

from benchmarks.arrivals import noted, pace, wait_for_all
from benchmarks.floors.programs import Program, running
from benchmarks.measure import cpu_of, in_child, memory_of
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.work.paced import batched

_PORTS = 16
_SLACK = 1.0
_MINUTE = 60.0
_STARTED = 240.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """A daemon that watches many services, from the moment at which it has seen each of them."""

    argus: Argus
    paths: tuple[str, ...]
    interval: float
    start_cpu: float
    """Seconds of CPU until then."""
    start_wall: float


@contextlib.contextmanager
def crowd(folder: Path, target: Program, count: int, interval: float) -> Iterator[Crowd]:
    argus = Argus(folder)
    paths = tuple(f"/{folder.name}/{place}" for place in range(count))
    try:
        argus.configure(
            (
                {
                    "name": f"service-{place}",
                    "type": "http",
                    "url": f"http://127.0.0.1:{target.said[place % len(target.said)]}{path}",
                    "interval": f"{interval:g}s",
                }
                for place, path in enumerate(paths)
            ),
            autonomy="observe",
        )
        began = time.perf_counter()
        argus.up()
        # The target is asked, not the daemon: a list of all services would be on its account.
        wait_for_all(target.said[0], paths, _STARTED)
        yield Crowd(argus, paths, interval, cpu_of(argus.pid), time.perf_counter() - began)
        argus.down()
    finally:
        argus.end()


def measure(plan: Plan) -> Iterable[Row]:
    count, interval = plan.size(10_000, 200), float(plan.size(30, 2))
    seconds = _MINUTE * max(1, round(plan.idle / _MINUTE)) if not plan.quick else 4.0
    with running("noting", str(_PORTS)) as target:
        asked = {"ports": target.said, "seconds": min(seconds, 20.0), "rate": round(count / interval)}
        bare = in_child(batched, **asked)["ms"] * asked["rate"] / 10
        with crowd(plan.folder / "argus", target, count, interval) as one:
            pid = one.argus.pid
            before, began = cpu_of(pid), time.monotonic()
            time.sleep(seconds)
            until = time.monotonic()
            share = (cpu_of(pid) - before) / (until - began) * 100
            rss, pss = memory_of(pid)
            kept = pace(noted(target.said[0]), one.paths, interval, until)
    what = f"{count:,} services every {interval:g} s"
    note = f"the whole daemon, {seconds:g} s after a start of {one.start_wall:.0f} s with {one.start_cpu:.1f} s of CPU"
    bared = ("uvloop in batches", [bare])
    yield Row(f"{what}, CPU", "% of a core", [share], floor=bared, goal=Goal(5.0), note=note)
    yield Row(f"{what}, RSS", "MB", [rss], goal=Goal(120.0), note=f"PSS {pss:.0f} MB")
    yield Row(f"{what}, skipped", "checks", [float(kept.skipped + kept.silent)], goal=Goal(0.0))
    yield Row(
        f"{what}, within {_SLACK:g} s of their time",
        "%",
        [kept.within(interval, _SLACK)],
        goal=Goal(99.0, at_least=True),
        note=f"{len(kept.distances):,} distances between a check and the one before it, as the target saw them, "
        f"from the start on; the longest {max(kept.distances, default=0.0):.2f} s",
    )
