"""A look at a healthy machine before five services are brought up on it: from the request to the report.

The engine itself takes most of it: it starts programs to say what it is. Beside the bare questions that such a look
needs, all of them under way at once on the engine's socket. Argus asks whether the engine is there before it asks the
rest, because an open breaker lets only one through; and it reads the project's file, tries the ports, looks at the
disk, judges, and tells what it found. Beside the same questions asked one after the other, as scripts do: by the docker
command, a program for each, and by docker-py, on a connection that is kept.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any
from urllib.parse import quote

import uvloop
from tests.acceptance.yard import Project, Yard

from benchmarks.floors import bare_engine
from benchmarks.measure import interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.yards import Door, shop, standing

_GOAL = 2.0
_LABELS = ("argusai.managed=true", "argusai.project=shop")
_OURS = quote(json.dumps({"label": _LABELS}))
_TARGETS = (
    "/_ping",
    "/info",
    f"/containers/json?all=1&filters={_OURS}",
    f"/networks?filters={_OURS}",
    f"/volumes?filters={_OURS}",
    "/networks/argusai-shop-network",
)
_OF_OURS = tuple(word for label in _LABELS for word in ("--filter", f"label={label}"))
_COMMANDS = (
    ("version",),
    ("info",),
    ("ps", "-aq", *_OF_OURS),
    ("network", "ls", "-q", *_OF_OURS),
    ("volume", "ls", "-q", *_OF_OURS),
    ("network", "ls", "-q", "--filter", "name=argusai-shop-network"),
)
_COMMAND, _LIBRARY = "docker in sequence", "docker-py"


def measure(plan: Plan) -> Iterable[Row]:
    calls = plan.size(20, 3)
    wires = [bare_engine.wire("GET", target) for target in _TARGETS]
    with standing(plan) as yard, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        project = shop(yard)

        def bare() -> float:
            return median(_bare(runner, yard.engine.socket, wires) for _ in range(calls))

        turns: dict[str, Callable[[], float]] = {"bare": bare, "argus": lambda: _argus(yard, project, calls)}
        peers = {}
        if shutil.which("docker"):
            peers[_COMMAND] = lambda: _each(calls, lambda: _by_command(yard.engine.url))
        if importlib.util.find_spec("docker"):
            client = importlib.import_module("docker").DockerClient(base_url=yard.engine.url)
            peers[_LIBRARY] = lambda: _each(calls, lambda: _by_library(client))
        found = interleave(turns | peers, plan.rounds)
    yield Row(
        "preflight of 5 services over REST",
        "ms",
        found["argus"],
        floor=("the bare questions at once", found["bare"]),
        peers={name: found[name] for name in peers},
        goal=Goal(_GOAL, of="the bare questions at once"),
    )


def _each(calls: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1000)
    return median(times)


def _by_command(url: str) -> None:
    env = {**os.environ, "DOCKER_HOST": url}
    for words in _COMMANDS:
        subprocess.run(["docker", *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def _by_library(client: Any) -> None:
    client.ping()
    client.info()
    client.containers.list(all=True, filters={"label": list(_LABELS)})
    client.networks.list(filters={"label": list(_LABELS)})
    client.volumes.list(filters={"label": list(_LABELS)})
    client.networks.list(names=["argusai-shop-network"])


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
