"""A daemon at rest with 100 http services at 60 s: its memory, and its share of a core.

The floor is a bare Starlette and sqlite3 process under uvicorn that nobody asks anything. Both are watched at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable

from tests.acceptance.harness import Argus, eventually

from benchmarks.floors.programs import running
from benchmarks.measure import cpu_of, memory_of
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_SERVICES = 100


def measure(plan: Plan) -> Iterable[Row]:
    seconds = plan.idle if not plan.quick else 2.0
    (event := plan.folder / "event").write_bytes(b"")
    argus = Argus(plan.folder / "argus")
    with contextlib.ExitStack() as stack:
        target = stack.enter_context(running("target", "4"))
        bare = stack.enter_context(running("bare_web", str(event), str(plan.folder / "bare.db")))
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
        pids = {"bare": bare.pid, "argus": argus.pid}
        before, began = {name: cpu_of(pid) for name, pid in pids.items()}, time.perf_counter()
        # Being idle is what is measured; there is nothing else to wait for.
        time.sleep(seconds)
        passed = time.perf_counter() - began
        share = {name: (cpu_of(pid) - before[name]) / passed * 100 for name, pid in pids.items()}
        memory = {name: memory_of(pid) for name, pid in pids.items()}
        argus.down()
    floor = "Starlette + sqlite3"
    for place, kind, goal in ((0, "RSS", Goal(80.0)), (1, "PSS", None)):
        floored = (floor, [memory["bare"][place]])
        yield Row(f"idle, {_SERVICES} services, {kind}", "MB", [memory["argus"][place]], floor=floored, goal=goal)
    yield Row(
        f"idle, {_SERVICES} services, CPU",
        "% of a core",
        [share["argus"]],
        floor=(floor, [share["bare"]]),
        goal=Goal(0.3),
        note=f"watched for {passed:.0f} s; the floor checks nothing, and uvicorn's tick of ten a second is in it",
    )
