"""What one check costs as the services become more: 100, 1,000 and 10,000 of them, in daemons of their own.

Once with as many checks a second for each, so that only the number of services differs; and once every 30 s for all,
so that there are also more checks. All are watched in the same minute. Linear means that the largest pays for a check
what the smallest pays. With few checks a second the daemon's own life, idle as it is, is shared by few of them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable

from benchmarks.arrivals import noted
from benchmarks.floors.programs import running
from benchmarks.measure import cpu_of, memory_of
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.work.many import Crowd, crowd

_PORTS = 16
_MORE = 1.2
"""How much dearer the largest may be: noise, and a heap that is deeper."""


def measure(plan: Plan) -> Iterable[Row]:
    sizes, interval = ([100, 1000, 10_000], 30.0) if not plan.quick else ([10, 100, 300], 3.0)
    seconds = 60.0 if not plan.quick else 4.0
    # As often for all of them together as the largest does it every 30 s.
    as_often = {size: interval * size / sizes[-1] for size in sizes}
    kinds = list(dict.fromkeys([*as_often.items(), *((size, interval) for size in sizes)]))
    cost: dict[tuple[int, float], float] = {}
    memory: dict[tuple[int, float], float] = {}
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(running("noting", str(_PORTS)))
        crowds = {
            kind: stack.enter_context(crowd(plan.folder / f"{kind[0]}-{place}", target, *kind))
            for place, kind in enumerate(kinds)
        }
        before = {kind: (cpu_of(one.argus.pid), _made(target.said[0], one)) for kind, one in crowds.items()}
        time.sleep(seconds)
        for kind, one in crowds.items():
            cpu, made = cpu_of(one.argus.pid), _made(target.said[0], one)
            cost[kind] = (cpu - before[kind][0]) / (made - before[kind][1]) * 1000
            memory[kind] = memory_of(one.argus.pid)[0]
    rate, note = sizes[-1] / interval, f"all in the same {seconds:g} s"
    spread = [cost[one] for one in as_often.items()]
    yield _row(f"a check of {rate:,.0f}/s, spread over {sizes[-1]:,} services", sizes, spread, note)
    more = [cost[size, interval] for size in sizes]
    yield _row(f"a check, {sizes[-1]:,} services every {interval:g} s", sizes, more, "the daemon's own life is in it")
    (least, most), per = (sizes[0], sizes[-1]), [memory[size, interval] for size in sizes]
    yield Row(
        f"memory of a service, from {least:,} to {most:,}",
        "KB",
        [(per[-1] - per[0]) / (most - least) * 1024],
        note=f"RSS {' MB, '.join(f'{one:.1f}' for one in per)} MB",
    )


def _row(what: str, sizes: list[int], cost: list[float], note: str) -> Row:
    names = [f"{size:,} services" for size in sizes]
    return Row(
        what,
        "CPU ms",
        [cost[-1]],
        floor=(names[0], [cost[0]]),
        peers={names[1]: [cost[1]]},
        goal=Goal(_MORE, of=names[0]),
        note=note,
    )


def _made(port: int, one: Crowd) -> int:
    diary = noted(port)
    return sum(len(diary[path]) for path in one.paths)
