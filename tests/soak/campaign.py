"""`make soak`: Argus for half an hour with everything at once, and something broken every few seconds.

    python -m tests.soak.campaign [--minutes 30] [--services 1000] [--agents 200] [--every 20]

1,000 services, 200 agents and two environments, on an engine and an Argus of their own. Every fault has to be handled
within a minute. After the first minutes memory, descriptors, tasks and threads have to stay what they are, and the
record within its bounds. The figures are printed as they come.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import yaml

from tests.acceptance.harness import eventually, free_port
from tests.acceptance.yard import COMMANDS, Project, Yard, stays
from tests.docker_engine import Engine, missing

_HERE = Path(__file__).parent
_SERVER = _HERE.parent / "acceptance" / "web_server.py"
REAL = 10
"""Services that are processes of their own, and can be killed."""
BOUND = 60.0
Inject = Callable[[], Callable[[], object]]
"""Breaks something; returns how one sees that it is well again."""
_ALLOWED = {"memory": (" MB", 5), "descriptors": ("", 5), "threads": ("", 2), "tasks": ("", 20), "store": (" MB", 50)}
"""How much more of each there may be at the end than after the first minutes."""


@dataclass(frozen=True)
class Sample:
    at: float
    memory: float
    descriptors: int
    threads: int
    tasks: int
    store: float

    def line(self) -> str:
        return (
            f"{self.at / 60:5.1f} min  {self.memory:6.1f} MB  {self.descriptors:4} descriptors"
            f"  {self.threads:3} threads  {self.tasks:4} tasks  {self.store:6.1f} MB of record"
        )


class World:
    def __init__(self, yard: Yard, *, services: int, agents: int) -> None:
        self.yard = yard
        self.agents = agents
        self._services = services
        self._base = free_port()
        self._begun: list[subprocess.Popen[bytes]] = []
        self._real = {f"real-{n}": free_port() for n in range(min(REAL, services))}
        self.projects: list[Project] = []

    def up(self) -> None:
        inside = self.yard.engine.entering
        answers = [*inside, sys.executable, str(_HERE / "answers.py"), str(self._base)]
        self._begun.append(subprocess.Popen(answers, env=self.yard.env))
        for name in self._real:
            subprocess.run([*inside, *self._start(name)], env=self.yard.env, check=True, timeout=60)
        self.yard.write(yaml.safe_dump(self._configuration(), sort_keys=False))
        for image, command in COMMANDS.items():
            self.yard.engine.image(image, *command)
        self.yard.up()
        for name in ("shop", "bank"):
            made = self.yard.project(
                name, name,
                services=[stays(f"{name}-db"), stays(f"{name}-api", dependsOn=[f"{name}-db"])],
                resilience={"container": {"restartDelay": "500ms", "maxRestarts": 10}},
            )  # fmt: skip
            made.up()
            self.projects.append(made)
        for n in range(self.agents):
            reply = self.yard.rest("POST", "/api/agents/spawn", {"config_name": "worker", "task": f"task {n}"})
            assert reply.status == 201, reply
        eventually(lambda: self._states()["alive"] == self.agents, "every agent lives", BOUND * 2)
        eventually(lambda: self.yard.get("/api/state")["well"], "all is well", BOUND * 2)

    def _start(self, name: str) -> list[str]:
        file = self.yard.folder / f"{name}.pid"
        return [sys.executable, "-I", "-S", str(_SERVER), str(self._real[name]), str(file)]

    def _restart(self, name: str) -> list[str]:
        """One that is frozen still has its port."""
        file = shlex.quote(str(self.yard.folder / f"{name}.pid"))
        return ["sh", "-c", f"kill -9 $(cat {file}) 2>/dev/null; exec {shlex.join(self._start(name))}"]

    def _configuration(self) -> dict[str, Any]:
        made: list[dict[str, Any]] = [
            {"name": f"service-{n}", "type": "http", "url": f"http://127.0.0.1:{self._base}/{n}", "interval": "10s"}
            for n in range(self._services - len(self._real))
        ]
        made += [
            {
                "name": name, "type": "http", "url": f"http://127.0.0.1:{port}/", "interval": "1s",
                "restart": {"command": self._restart(name)},
            }
            for name, port in self._real.items()
        ]  # fmt: skip
        folder = self.yard.folder / "work"
        folder.mkdir()
        worker = {"command": ["sleep", "100000"], "cwd": str(folder)}
        return {
            "server": {"port": 0},
            "autonomy": "moderate",
            "health": {"verifyAfter": "500ms", "restartBudget": {"maxPerHour": 1000}, "services": made},
            "agents": {"respawn": {"backoff": "500ms"}, "configs": {"worker": worker}},
        }

    def _states(self) -> Counter[str]:
        return Counter(one["state"] for one in self.yard.get("/api/agents")["agents"])

    # What is broken, each with how one sees that it is well again.

    def faults(self) -> Iterator[tuple[str, Inject]]:
        for n in itertools.count():
            yield "service killed", partial(self._kill_service, n, signal.SIGKILL)
            yield "agent killed", partial(self._kill_agent, n)
            yield "container killed", partial(self._kill_container, n)
            yield "service frozen", partial(self._kill_service, n + REAL // 2, signal.SIGSTOP)
            yield "readers cut off", self._cut_readers
            yield "configuration read again", self._reload

    def _kill_service(self, n: int, number: int) -> Callable[[], object]:
        name = sorted(self._real)[n % len(self._real)]
        file = self.yard.folder / f"{name}.pid"
        before = int(file.read_text())
        os.kill(before, number)

        def is_handled() -> bool:
            is_other = int(file.read_text() or 0) != before
            return is_other and bool(self.yard.service(name)["state"] == "up")

        return is_handled

    def _kill_agent(self, n: int) -> Callable[[], object]:
        agents = self.yard.get("/api/agents")["agents"]
        chosen = agents[n * 7 % len(agents)]
        os.kill(chosen["pid"], signal.SIGKILL)
        lineage, generation = chosen["lineage"], chosen["generation"]

        def is_handled() -> bool:
            found = [one for one in self.yard.get("/api/agents")["agents"] if one["lineage"] == lineage]
            return [(one["generation"], one["state"]) for one in found] == [(generation + 1, "alive")]

        return is_handled

    def _kill_container(self, n: int) -> Callable[[], object]:
        name = ("shop-db", "bank-db", "shop-api", "bank-api")[n % 4]
        before = self.yard.engine.state(name)["StartedAt"]
        self.yard.engine.kill_container(name)

        def is_handled() -> bool:
            now = self.yard.engine.state(name)
            return bool(now["StartedAt"] != before and now["Running"])

        return is_handled

    def _cut_readers(self) -> Callable[[], object]:
        """Who listens, and goes away in the middle of a line."""
        readers = [self.yard.events(last="1000") for _ in range(20)]
        for reader in readers:
            reader.take(1)
            reader.__exit__()
        return lambda: self.yard.get("/api/state")

    def _reload(self) -> Callable[[], object]:
        ran = self.yard.cli("reload", "--json")
        return lambda: ran.code == 0

    # What it costs.

    def _daemon(self) -> int:
        said = self.yard.find()
        assert said is not None
        return int(said["pid"])

    def sample(self, began: float) -> Sample:
        daemon = psutil.Process(self._daemon())
        metrics = self.yard.rest("GET", "/metrics").body.decode()
        (tasks,) = re.findall(r"^argus_tasks (\d+)", metrics, re.M)
        store = sum(file.stat().st_size for file in (self.yard.folder / "state").glob("*.db*"))
        return Sample(
            time.monotonic() - began,
            daemon.memory_info().rss / 1e6,
            daemon.num_fds(),
            daemon.num_threads(),
            int(tasks),
            store / 1e6,
        )

    def end(self) -> None:
        for process in self._begun:
            process.kill()
            process.wait()


def soak(world: World, minutes: float, every: float, settled: float) -> bool:
    began = time.monotonic()
    samples: list[Sample] = []
    done: Counter[str] = Counter()
    lost: list[str] = []
    slowest = 0.0
    for name, inject in world.faults():
        start = time.monotonic()
        if start - began >= minutes * 60:
            break
        is_handled = inject()
        try:
            eventually(is_handled, name, BOUND)
        except AssertionError as error:
            lost.append(f"{name} after {start - began:.0f} s: {error}")
            print(f"LOST {lost[-1]}", flush=True)
        slowest = max(slowest, time.monotonic() - start)
        done[name] += 1
        if len(samples) < (time.monotonic() - began) / 60 + 1:
            samples.append(world.sample(began))
            print(samples[-1].line(), flush=True)
        time.sleep(max(0.0, start + every - time.monotonic()))
    samples.append(world.sample(began))
    print(samples[-1].line(), flush=True)
    return verdict(samples, done, lost, slowest, settled)


def verdict(samples: list[Sample], done: Counter[str], lost: list[str], slowest: float, settled: float) -> bool:
    later = [one for one in samples if one.at >= settled * 60] or samples[-1:]
    third = max(1, len(later) // 3)
    head, tail = later[:third], later[-third:]

    def grown(what: str) -> float:
        before, after = ([float(getattr(one, what)) for one in some] for some in (head, tail))
        return statistics.median(after) - statistics.median(before)

    kinds = ", ".join(f"{n} {what}" for what, n in done.items())
    print(f"\n{sum(done.values())} faults ({kinds}), {len(lost)} lost, slowest {slowest:.1f} s")
    good = not lost
    for what, (unit, most) in _ALLOWED.items():
        more = grown(what)
        good = good and more <= most
        print(f"{what}: {more:+.1f}{unit} after the first {settled:g} minutes (allowed {most}{unit})")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--services", type=int, default=1000)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--every", type=float, default=20)
    told = parser.parse_args()
    if why := missing():
        print(f"no engine can be started here: {why}")
        return 1
    engine = Engine()
    try:
        with tempfile.TemporaryDirectory(prefix="argus-soak-") as folder:
            yard = Yard(Path(folder), engine)
            world = World(yard, services=told.services, agents=told.agents)
            try:
                world.up()
                said = f"{told.services} services, {told.agents} agents, 2 environments"
                print(f"{said}; a fault every {told.every:g} s", flush=True)
                return 0 if soak(world, told.minutes, told.every, min(5.0, told.minutes / 3)) else 1
            finally:
                world.end()
                yard.end()
                engine.clean()
    finally:
        engine.end()


if __name__ == "__main__":
    sys.exit(main())
