"""Checks as fast as they go, a new connection each: CPU of the checking process, judging and all."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path

import uvloop

from benchmarks.floors import bare_checks
from benchmarks.floors.programs import running
from benchmarks.measure import Stopwatch, in_child, interleave
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
    with running("target", str(_PORTS)) as target:
        for kind in ("http", "tcp"):
            asked = {"kind": kind, "ports": target.said, "checks": checks}
            turned = interleave(
                {
                    "floor": partial(in_child, floor, **asked),
                    "argus": partial(in_child, argus, **asked),
                },
                plan.rounds,
                warm=not plan.quick,
            )
            found = {name: [one["ms"] for one in series] for name, series in turned.items()}
            yield Row(
                f"{kind} check, saturated",
                "CPU ms",
                found["argus"],
                floor=("uvloop protocol", found["floor"]),
                goal=Goal(2.0, of="uvloop protocol"),
            )
