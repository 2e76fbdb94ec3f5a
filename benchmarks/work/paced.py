"""100 http checks a second: what is left between them, and waking up for them, costs more than the checks."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import uvloop

from benchmarks import load
from benchmarks.floors import bare_checks
from benchmarks.floors.programs import Program, running
from benchmarks.measure import Stopwatch, cpu_of, in_child, interleave
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
    checks = "\n".join(
        f"check host service-{place} with address 127.0.0.1\n"
        f'  if failed port {target.said[place % _PORTS]} protocol http request "/" then alert'
        for place in range(_RATE)
    )
    settings = folder / "monitrc"
    settings.write_text(
        f"set daemon 1\nset idfile {folder}/id\nset statefile {folder}/state\nset pidfile {folder}/pid\n{checks}\n"
    )
    settings.chmod(0o600)
    process = subprocess.Popen(
        [program, "-I", "-c", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(2.0)
        before, cpu = _count(target), cpu_of(process.pid)
        time.sleep(seconds)
        # Asking is a connection as well.
        made = _count(target) - before - 1
        if not made:
            raise RuntimeError("monit checked nothing")
        return (cpu_of(process.pid) - cpu) / made * 1000
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


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
    monit = shutil.which("monit")
    with running("target", str(_PORTS)) as target:
        asked = {"ports": target.said, "seconds": seconds}
        turns: dict[str, Callable[[], float]] = {
            "batched": lambda: in_child(batched, **asked)["ms"],
            "one timer each": lambda: in_child(one_timer_each, **asked)["ms"],
            "argus": lambda: in_child(argus, **asked)["ms"],
        }
        if monit:
            turns["monit"] = lambda: _monit(monit, plan.folder, target, seconds)
        found = interleave(turns, plan.rounds, warm=False)
    peers = {"uvloop, one timer each": found["one timer each"]}
    if monit:
        peers["monit"] = found["monit"]
    yield Row(
        f"http check, paced ({_RATE}/s)",
        "CPU ms",
        found["argus"],
        floor=("uvloop in batches", found["batched"]),
        peers=peers,
        goal=Goal(2.0, of="uvloop in batches"),
        note="" if monit else "monit is not here (Debian: apt-get install monit)",
    )
