"""100 http services of which 10 take the connection and never answer: how far apart the checks of the other 90 are.

Beside Debian's monit, with the same checks and the same deadline of 5 s each: it waits for one after another, and its
period becomes as long as all of that. Both are watched at once, by what the target noted. prometheus-blackbox-exporter
is no peer here, because it has no schedule that could stretch.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from tests.acceptance.harness import Argus

from benchmarks.arrivals import Pace, noted, pace
from benchmarks.floors.programs import running
from benchmarks.peers import monit
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_PORTS = 4
_EACH = 10
"""One of so many hangs."""
_SLACK = 1.0


def measure(plan: Plan) -> Iterable[Row]:
    count, interval, timeout = plan.size(100, 20), float(plan.size(10, 1)), float(plan.size(5, 1))
    # monit comes to everything three times in this; once in its stretched cycle.
    seconds = float(plan.size(150, 8))
    program = monit.program()
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(running("noting", str(_PORTS)))
        ports = [target.said[place % _PORTS] for place in range(count)]
        argus = Argus(plan.folder / "argus")
        stack.callback(argus.end)
        argus.configure(
            (
                {
                    "name": f"service-{place}",
                    "type": "http",
                    "url": f"http://127.0.0.1:{ports[place]}{path}",
                    "interval": f"{interval:g}s",
                    "timeout": f"{timeout:g}s",
                }
                for place, path in enumerate(_paths("argus", count))
            ),
            autonomy="observe",
        )
        argus.up()
        if program:
            checks = [
                monit.http(f"service-{place}", ports[place], path, timeout=timeout)
                for place, path in enumerate(_paths("monit", count))
            ]
            stack.enter_context(monit.running(program, plan.folder / "monit", interval, checks))
        time.sleep(seconds)
        diary, until = noted(ports[0]), time.monotonic()
        argus.down()
    found = {
        who: pace(diary, [path for path in _paths(who, count) if not path.startswith("/hang")], interval, until)
        for who in ("argus", *(["monit"] if program else []))
    }
    what = f"{count} services every {interval:g} s, {count // _EACH} hang: period of the others"
    for kind, take, goal in (("middle", median, None), ("longest", max, Goal(interval + _SLACK))):
        series = {who: [_taken(take, one)] for who, one in found.items()}
        yield Row(
            f"{what}, {kind}",
            "s",
            series["argus"],
            peers={"monit": series["monit"]} if program else {},
            goal=goal,
            note=_note(found["argus"], seconds, bool(program)) if goal else "",
        )


def _paths(who: str, count: int) -> list[str]:
    return [f"/{'hang' if place % _EACH == _EACH // 2 else 'well'}/{who}/{place}" for place in range(count)]


def _taken(take: Callable[[Sequence[float]], float], one: Pace) -> float:
    if one.silent:
        raise RuntimeError(f"{one.silent} services were not checked twice")
    return take(one.distances)


def _note(one: Pace, seconds: float, there: bool) -> str:
    said = f"{len(one.distances)} periods in {seconds:g} s, {one.skipped} checks skipped"
    return said if there else f"{said}; {monit.MISSING}"
