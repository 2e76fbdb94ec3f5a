"""A daemon at rest with 100 http services at 60 s: its memory, and its share of a core.

The floor is a bare Starlette and sqlite3 process under uvicorn that nobody asks anything. Beside Debian's monit with
the same checks, and prometheus-blackbox-exporter, which has no schedule: it is asked for them over HTTP, and who asks,
in life Prometheus, is not on its account. All are watched at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable

from tests.acceptance.harness import Argus, eventually

from benchmarks.floors.programs import running
from benchmarks.measure import cpu_of, memory_of
from benchmarks.peers import blackbox, monit
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_SERVICES = 100
_MINUTE = 60.0


def measure(plan: Plan) -> Iterable[Row]:
    seconds = plan.idle if not plan.quick else 2.0
    (event := plan.folder / "event").write_bytes(b"")
    argus = Argus(plan.folder / "argus")
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(running("target", "4"))
        bare = stack.enter_context(running("bare_web", str(event), str(plan.folder / "bare.db")))
        pids = {"bare": bare.pid}
        urls = [(f"service-{place}", target.said[place % 4]) for place in range(_SERVICES)]
        exporter = None
        if has_monit := monit.program():
            checks = [monit.http(*url) for url in urls]
            pids["monit"] = stack.enter_context(monit.running(has_monit, plan.folder / "monit", _MINUTE, checks))
        if has_blackbox := blackbox.program():
            exporter = stack.enter_context(blackbox.running(has_blackbox, plan.folder / "blackbox"))
            pids["blackbox"] = exporter.pid
        stack.callback(argus.end)
        argus.configure(
            {
                "name": f"service-{place}",
                "type": "http",
                "url": f"http://127.0.0.1:{target.said[place % 4]}/",
                "interval": "60s",
            }
            for place in range(_SERVICES)
        )
        argus.up()
        eventually(lambda: all(one["state"] == "up" for one in argus.get("/api/services")["services"]), "all are up")
        pids["argus"] = argus.pid
        before, began = {name: cpu_of(pid) for name, pid in pids.items()}, time.perf_counter()
        asyncio.run(_rest(seconds, exporter, [port for _, port in urls]))
        passed = time.perf_counter() - began
        share = {name: (cpu_of(pid) - before[name]) / passed * 100 for name, pid in pids.items()}
        memory = {name: memory_of(pid) for name, pid in pids.items()}
        argus.down()
    floor = "Starlette + sqlite3"
    peers = [name for name in ("monit", "blackbox") if name in pids]
    for place, kind, goal in ((0, "RSS", Goal(80.0)), (1, "PSS", None)):
        yield Row(
            f"idle, {_SERVICES} services, {kind}",
            "MB",
            [memory["argus"][place]],
            floor=(floor, [memory["bare"][place]]),
            peers={name: [memory[name][place]] for name in peers},
            goal=goal,
        )
    missing = [word for there, word in ((has_monit, monit.MISSING), (has_blackbox, blackbox.MISSING)) if not there]
    said = f"watched for {passed:.0f} s; the floor checks nothing, and uvicorn's tick of ten a second is in it"
    yield Row(
        f"idle, {_SERVICES} services, CPU",
        "% of a core",
        [share["argus"]],
        floor=(floor, [share["bare"]]),
        peers={name: [share[name]] for name in peers},
        goal=Goal(0.3),
        note="; ".join([said, *missing]),
    )


async def _rest(seconds: float, exporter: blackbox.Exporter | None, ports: list[int]) -> None:
    """Being idle is what is measured; there is nothing else to wait for."""
    until, place = time.perf_counter() + seconds, 0
    while (left := until - time.perf_counter()) > 0:
        if exporter:
            await exporter.probe("http", ports[place % len(ports)])
            place += 1
        await asyncio.sleep(min(left, _MINUTE / len(ports)))
