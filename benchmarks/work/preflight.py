"""A look at a healthy machine before five services are brought up on it: from the request to the report.

The engine itself takes most of it: it starts programs to say what it is. Beside the bare questions that such a look
needs, all of them under way at once on the engine's socket. Argus asks whether the engine is there before it asks the
rest, because an open breaker lets only one through; and it reads the project's file, tries the ports, looks at the
disk, judges, and tells what it found.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from statistics import median
from urllib.parse import quote

import uvloop
from tests.acceptance.yard import Project, Yard

from benchmarks.floors import bare_engine
from benchmarks.measure import interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.yards import Door, shop, standing

_GOAL = 2.0
_OURS = quote(json.dumps({"label": ["argusai.managed=true", "argusai.project=shop"]}))
_TARGETS = (
    "/_ping",
    "/info",
    f"/containers/json?all=1&filters={_OURS}",
    f"/networks?filters={_OURS}",
    f"/volumes?filters={_OURS}",
    "/networks/argusai-shop-network",
)


def measure(plan: Plan) -> Iterable[Row]:
    calls = plan.size(20, 3)
    wires = [bare_engine.wire("GET", target) for target in _TARGETS]
    with standing(plan) as yard, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        project = shop(yard)

        def bare() -> float:
            return median(_bare(runner, yard.engine.socket, wires) for _ in range(calls))

        found = interleave({"bare": bare, "argus": lambda: _argus(yard, project, calls)}, plan.rounds)
    floor = ("the bare questions at once", found["bare"])
    goal = Goal(_GOAL, of=floor[0])
    yield Row("preflight of 5 services over REST", "ms", found["argus"], floor=floor, goal=goal)


def _bare(runner: asyncio.Runner, path: str, wires: list[bytes]) -> float:
    began = time.perf_counter()
    runner.run(bare_engine.ask(path, wires))
    return (time.perf_counter() - began) * 1000


def _argus(yard: Yard, project: Project, calls: int) -> float:
    times = []
    with Door(yard) as door:
        wire = door.asked(project, "preflight_check")
        for _ in range(calls):
            took, status, body = door.timed(wire)
            report = json.loads(body).get("healthReport", {}) if status == 200 else {}
            if report.get("overall") != "healthy" or len(report["checks"]) != 5:
                raise RuntimeError(f"answered {status} {body[:1000]!r}")
            times.append(took)
    return median(times)
