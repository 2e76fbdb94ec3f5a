"""Checks as fast as they go, a new connection each: CPU of the checking process, judging and all.

Beside Debian's prometheus-blackbox-exporter, which is asked for one check after another over HTTP, as Prometheus asks
it. It judges and records nothing; its answer is on its account, asking is not.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path

import uvloop

from benchmarks import load
from benchmarks.floors import bare_checks
from benchmarks.floors.programs import running
from benchmarks.measure import Stopwatch, cpu_of, in_child, interleave
from benchmarks.peers import blackbox
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.work.watching import services, watching

_AT_ONCE = 32
_PORTS = 16


def argus(kind: str, ports: list[int], checks: int) -> dict[str, float]:
    async def work() -> float:
        with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
            async with watching(Path(folder), services(kind, ports, _AT_ONCE, "1h")) as (watch, _):
                names = list(watch.services)

                async def check(place: int) -> None:
                    await watch.check(names[place])

                return await _saturate(check, checks)

    return _run(work)


def floor(kind: str, ports: list[int], checks: int) -> dict[str, float]:
    bare = {"http": bare_checks.http, "tcp": bare_checks.tcp}[kind]

    async def work() -> float:
        return await _saturate(lambda place: bare(ports[place % len(ports)]), checks)

    return _run(work)


def _blackbox(exporter: blackbox.Exporter, kind: str, ports: list[int], checks: int) -> dict[str, float]:
    async def some(count: int) -> None:
        async def one_after_another(place: int) -> None:
            for _ in range(max(1, count // _AT_ONCE)):
                await exporter.probe(kind, ports[place % len(ports)])

        async with asyncio.TaskGroup() as group:
            for place in range(_AT_ONCE):
                group.create_task(one_after_another(place))

    load.run(some(_AT_ONCE))
    before = cpu_of(exporter.pid)
    load.run(some(checks))
    return {"ms": (cpu_of(exporter.pid) - before) / (max(1, checks // _AT_ONCE) * _AT_ONCE) * 1000}


async def _saturate(check: Callable[[int], Awaitable[None]], checks: int) -> float:
    async def one_after_another(place: int, count: int) -> None:
        for _ in range(count):
            await check(place)

    async def all_at_once(count: int) -> None:
        async with asyncio.TaskGroup() as group:
            for place in range(_AT_ONCE):
                group.create_task(one_after_another(place, count))

    await all_at_once(2)
    each = max(1, checks // _AT_ONCE)
    with Stopwatch() as watch:
        await all_at_once(each)
    return watch.cpu / (each * _AT_ONCE) * 1000


def _run(work: Callable[[], Awaitable[float]]) -> dict[str, float]:
    async def main() -> float:
        return await work()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return {"ms": runner.run(main())}


def measure(plan: Plan) -> Iterable[Row]:
    checks = plan.size(4000, 64)
    program = blackbox.program()
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(running("target", str(_PORTS)))
        exporter = stack.enter_context(blackbox.running(program, plan.folder)) if program else None
        for kind in ("http", "tcp"):
            asked = {"kind": kind, "ports": target.said, "checks": checks}
            turns: dict[str, Callable[[], dict[str, float]]] = {
                "floor": partial(in_child, floor, **asked),
                "argus": partial(in_child, argus, **asked),
            }
            if exporter:
                turns["blackbox"] = partial(_blackbox, exporter, **asked)
            turned = interleave(turns, plan.rounds, warm=not plan.quick)
            found = {name: [one["ms"] for one in series] for name, series in turned.items()}
            yield Row(
                f"{kind} check, saturated",
                "CPU ms",
                found["argus"],
                floor=("uvloop protocol", found["floor"]),
                peers={"blackbox": found["blackbox"]} if exporter else {},
                goal=Goal(2.0, of="uvloop protocol"),
                note="" if exporter else blackbox.MISSING,
            )
