"""100 http checks a second: what is left between them, and waking up for them, costs more than the checks."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import uvloop

from benchmarks import load
from benchmarks.floors import bare_checks
from benchmarks.floors.programs import Program, running
from benchmarks.measure import Stopwatch, cpu_of, in_child, interleave
from benchmarks.peers import blackbox, monit
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.work.watching import services, watching

_RATE = 100
_TICK = 0.1
_PORTS = 16


def argus(ports: list[int], seconds: float) -> dict[str, float]:
    async def work() -> float:
        with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
            async with watching(Path(folder), services("http", ports, _RATE, "1s")) as (_, host):
                # The first checks also record that everything is up; that is no part of the steady cost.
                await asyncio.sleep(2.0)
                before = host.checks
                with Stopwatch() as watched:
                    await asyncio.sleep(seconds)
                return watched.cpu / (host.checks - before) * 1000

    return _run(work)


def batched(ports: list[int], seconds: float, rate: int = _RATE) -> dict[str, float]:
    """The floor: one wake-up a tick, and all checks of the tick together."""

    async def work() -> float:
        made = 0
        with Stopwatch() as watched:
            async with asyncio.TaskGroup() as group:
                until = time.perf_counter() + seconds
                while time.perf_counter() < until:
                    for place in range(round(rate * _TICK)):
                        group.create_task(bare_checks.http(ports[place % len(ports)]))
                        made += 1
                    await asyncio.sleep(_TICK)
        return watched.cpu / made * 1000

    return _run(work)


def one_timer_each(ports: list[int], seconds: float) -> dict[str, float]:
    """How it is mostly done: everything watched has a timer of its own."""

    async def work() -> float:
        made = 0

        async def watch(place: int) -> None:
            nonlocal made
            await asyncio.sleep(place / _RATE)
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                made += 1
                await bare_checks.http(ports[place % len(ports)])
                await asyncio.sleep(1.0)

        with Stopwatch() as watched:
            async with asyncio.TaskGroup() as group:
                for place in range(_RATE):
                    group.create_task(watch(place))
        return watched.cpu / made * 1000

    return _run(work)


def _run(work: Callable[[], Awaitable[float]]) -> dict[str, float]:
    async def main() -> float:
        return await work()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return {"ms": runner.run(main())}


def _monit(program: str, folder: Path, target: Program, seconds: float) -> float:
    """A daemon that checks everything once a second; the target counts how often it came."""
    checks = [monit.http(f"service-{place}", target.said[place % _PORTS]) for place in range(_RATE)]
    with monit.running(program, folder, 1.0, checks) as pid:
        time.sleep(2.0)
        before, cpu = _count(target), cpu_of(pid)
        time.sleep(seconds)
        # Asking is a connection as well.
        made = _count(target) - before - 1
        if not made:
            raise RuntimeError("monit checked nothing")
        return (cpu_of(pid) - cpu) / made * 1000


def _blackbox(exporter: blackbox.Exporter, ports: list[int], seconds: float) -> float:
    """Asked in batches, as the floor checks: no schedule is on its account."""

    async def work() -> int:
        made = 0
        async with asyncio.TaskGroup() as group:
            until = time.perf_counter() + seconds
            while time.perf_counter() < until:
                for place in range(round(_RATE * _TICK)):
                    group.create_task(exporter.probe("http", ports[place % len(ports)]))
                    made += 1
                await asyncio.sleep(_TICK)
        return made

    cpu = cpu_of(exporter.pid)
    made = load.run(work())
    return (cpu_of(exporter.pid) - cpu) / made * 1000


def _count(target: Program) -> int:
    async def ask() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", target.said[0])
        writer.write(load.request("GET", "/count", target.said[0]))
        answer = await reader.read()
        writer.close()
        return int(answer.rpartition(b"\r\n\r\n")[2])

    return load.run(ask())


def measure(plan: Plan) -> Iterable[Row]:
    seconds = float(plan.size(6, 1))
    has_monit, has_blackbox = monit.program(), blackbox.program()
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(running("target", str(_PORTS)))
        asked = {"ports": target.said, "seconds": seconds}
        turns: dict[str, Callable[[], float]] = {
            "batched": lambda: in_child(batched, **asked)["ms"],
            "uvloop, one timer each": lambda: in_child(one_timer_each, **asked)["ms"],
            "argus": lambda: in_child(argus, **asked)["ms"],
        }
        if has_monit:
            turns["monit"] = lambda: _monit(has_monit, plan.folder / "monit", target, seconds)
        if has_blackbox:
            exporter = stack.enter_context(blackbox.running(has_blackbox, plan.folder / "blackbox"))
            turns["blackbox"] = lambda: _blackbox(exporter, **asked)
        found = interleave(turns, plan.rounds, warm=False)
    missing = [word for there, word in ((has_monit, monit.MISSING), (has_blackbox, blackbox.MISSING)) if not there]
    yield Row(
        f"http check, paced ({_RATE}/s)",
        "CPU ms",
        found["argus"],
        floor=("uvloop in batches", found["batched"]),
        peers={name: found[name] for name in ("uvloop, one timer each", "monit", "blackbox") if name in found},
        goal=Goal(2.0, of="uvloop in batches"),
        note="; ".join(missing),
    )
