"""What a dead run left is removed: 20 running containers, each on one of 5 networks and with one of 5 volumes.

Argus does it by preflight with `autoFix`, over REST: it looks, finds whose they are, takes them away, looks again, and
tells of each. Beside the bare orders to the engine, first for the containers and then for networks and volumes, by
their names, which somebody would have to know; ten at a time, which is quicker than all at once. And beside the docker
command, with all of a kind in one call.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import uvloop
from tests.acceptance.harness import eventually
from tests.acceptance.yard import NOTHING, Project, Yard, leave, ours

from benchmarks.floors import bare_engine
from benchmarks.measure import interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.yards import Door, shop, standing

_GOAL = 1.1
_FLOOR, _PEER = "the bare orders", "docker rm -f"
_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class _Left:
    containers: int
    networks: int
    volumes: int

    def __len__(self) -> int:
        return self.containers + self.networks + self.volumes

    @property
    def names(self) -> tuple[list[str], list[str], list[str]]:
        return (
            [f"left{n}" for n in range(self.containers)],
            [f"left-net{n}" for n in range(self.networks)],
            [f"left-data{n}" for n in range(self.volumes)],
        )


def measure(plan: Plan) -> Iterable[Row]:
    left = _Left(plan.size(20, 2), plan.size(5, 1), plan.size(5, 1))
    with standing(plan) as yard, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        project = shop(yard)
        own: list[float] = []
        turns = {
            _FLOOR: lambda: _turn(yard, left, lambda: _bare(runner, yard, left)),
            "argus": lambda: _turn(yard, left, lambda: _argus(yard, project, left, own)),
        }
        if shutil.which("docker"):
            turns[_PEER] = lambda: _turn(yard, left, lambda: _docker(yard, left))
        found = interleave(turns, plan.rounds, warm=not plan.quick)
    what = f"{left.containers} containers, {left.networks} networks, {left.volumes} volumes of a dead run removed"
    floor = (_FLOOR, found[_FLOOR])
    peers = {_PEER: found[_PEER]} if _PEER in found else {}
    yield Row(
        what, "s", found["argus"], floor=floor, peers=peers, goal=Goal(_GOAL, of=_FLOOR),
        note="" if peers else "the docker command is missing (Debian: apt-get install docker.io)",
    )  # fmt: skip
    # The warm-up is not among those that count.
    yield Row(f"{what}, the removal alone", "s", own[-plan.rounds :], floor=floor)


def _turn(yard: Yard, left: _Left, remove: Callable[[], float]) -> float:
    leave(yard.engine, left.containers, left.networks, left.volumes, joined=True)
    took = remove()
    if (there := ours(yard.engine)) != NOTHING:
        raise RuntimeError(f"not removed: {there}")
    return took


def _bare(runner: asyncio.Runner, yard: Yard, left: _Left) -> float:
    containers, networks, volumes = left.names
    first = [bare_engine.wire("DELETE", f"/containers/{name}?force=1&v=1") for name in containers]
    then = [bare_engine.wire("DELETE", f"/networks/{name}") for name in networks]
    then += [bare_engine.wire("DELETE", f"/volumes/{name}") for name in volumes]

    async def remove() -> None:
        await bare_engine.ask(yard.engine.socket, first, _AT_ONCE)
        await bare_engine.ask(yard.engine.socket, then, _AT_ONCE)

    began = time.perf_counter()
    runner.run(remove())
    return time.perf_counter() - began


def _argus(yard: Yard, project: Project, left: _Left, own: list[float]) -> float:
    with Door(yard) as door:
        took, status, body = door.timed(door.asked(project, "preflight_check", autoFix=True))
    said = json.loads(body)
    if status != 200 or len(said["fixed"]["removed"]) != len(left) or said["healthReport"]["overall"] != "healthy":
        raise RuntimeError(f"answered {status} {body[:1000]!r}")
    ends = eventually(
        lambda: (told := yard.journal("cleanup_end"))[len(own) :] and told, "what was removed is on record"
    )
    begins = yard.journal("cleanup_start")
    own.append((ends[-1].data["timestamp"] - begins[-1].data["timestamp"]) / 1000)
    return took / 1000


def _docker(yard: Yard, left: _Left) -> float:
    containers, networks, volumes = left.names
    env = {**os.environ, "DOCKER_HOST": yard.engine.url}
    began = time.perf_counter()
    for words in (["rm", "-f", "-v", *containers], ["network", "rm", *networks], ["volume", "rm", *volumes]):
        subprocess.run(["docker", *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - began
