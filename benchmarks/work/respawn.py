"""From the kill of an agent until the next one runs: the wall time that its task stands still, with no backoff.

The agent is the same for all: a shell script whose first act is to write its PID into a pipe, where this program waits
for it. Argus commits the death, the claim and the intent to disk before it starts anything, and a shim notes how it
went; the floor is a pidfd and posix_spawn, without any record. Beside pm2, supervisord and
Debian's runit, which keep none either.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median

import yaml
from tests.acceptance.harness import Argus

from benchmarks import plan as plans
from benchmarks.floors.programs import running
from benchmarks.measure import interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_PM2 = "7.0.4"
_AGENT = "#!/bin/sh\necho $$ >{pipe}\nexec >/dev/null 2>&1 sleep 3600\n"
_STARTED = 30.0
_SETTLED = 0.15
"""Seconds between a start and the next kill: what is still being noted of the start is no part of the next one."""
_SLOW = {"supervisord": _SETTLED, "runit": 1.1}
"""Killed less often: supervisord looks once a second, and runit makes a service wait that ran for less than one."""


class Pipe:
    """Where the agent of one contender says that it runs."""

    def __init__(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.pipe"
        os.mkfifo(path)
        # For writing as well: else every agent that opens it would wait for us, and we for the first of them.
        self._handle = os.open(path, os.O_RDWR)
        self.program = folder / name
        self.program.write_text(_AGENT.format(pipe=path))
        self.program.chmod(0o755)
        self.pid = 0

    def wait(self) -> float:
        """When the next one said that it runs."""
        if not select.select([self._handle], [], [], _STARTED)[0]:
            raise RuntimeError(f"{self.program.name}: nothing was started within {_STARTED:g} s")
        now = time.perf_counter()
        self.pid = int(os.read(self._handle, 100).split()[-1])
        return now

    def killed(self, settled: float) -> float:
        """Milliseconds from its kill to the next one."""
        time.sleep(settled)
        before = time.perf_counter()
        os.kill(self.pid, signal.SIGKILL)
        return (self.wait() - before) * 1000


def measure(plan: Plan) -> Iterable[Row]:
    with contextlib.ExitStack() as stack:
        contenders: dict[str, Pipe] = {}
        missing = []
        for name, start in (
            ("pidfd", _bare),
            ("pm2", _pm2),
            ("supervisord", _supervisord),
            ("runit", _runit),
            ("argus", _argus),
        ):
            folder = plan.folder / name
            folder.mkdir()
            pipe = Pipe(folder, name)
            if stack.enter_context(start(folder, pipe)):
                pipe.wait()
                contenders[name] = pipe
            else:
                missing.append(name)
        found = interleave({name: _turn(name, pipe, plan) for name, pipe in contenders.items()}, plan.rounds)
    note = f"not here: {', '.join(missing)}" if missing else ""
    for what, goal, take in (
        ("middle of each round", Goal(1.2, of="pm2"), median),
        ("slowest of each round", None, max),
    ):
        series = {name: [float(take(times)) for times in rounds] for name, rounds in found.items()}
        yield Row(
            f"killed agent to the next one, {what}",
            "ms",
            series["argus"],
            floor=("pidfd and posix_spawn", series["pidfd"]),
            peers={name: series[name] for name in ("pm2", "supervisord", "runit") if name in series},
            goal=goal,
            note=note,
        )


def _turn(name: str, pipe: Pipe, plan: Plan) -> Callable[[], list[float]]:
    kills = plan.size(3 if name in _SLOW else 15, 1)
    return lambda: [pipe.killed(_SLOW.get(name, _SETTLED)) for _ in range(kills)]


@contextlib.contextmanager
def _bare(folder: Path, pipe: Pipe) -> Iterator[bool]:
    try:
        with running("restarter", str(pipe.program)):
            yield True
    finally:
        if pipe.pid:
            os.kill(pipe.pid, signal.SIGKILL)


@contextlib.contextmanager
def _argus(folder: Path, pipe: Pipe) -> Iterator[bool]:
    argus = Argus(folder / "own")
    settings = {
        "server": {"port": 0},
        "autonomy": "moderate",
        "agents": {
            "respawn": {"backoff": "0s", "maxPerHour": 1000},
            "configs": {"work": {"command": [str(pipe.program)], "cwd": str(folder)}},
        },
    }
    argus.write(yaml.safe_dump(settings))
    try:
        argus.up()
        reply = argus.rest("POST", "/api/agents/spawn", {"config_name": "work", "task": "work"})
        if reply.status != 201:
            raise RuntimeError(f"nothing was spawned: {reply.body!r}")
        yield True
    finally:
        argus.end()


@contextlib.contextmanager
def _pm2(folder: Path, pipe: Pipe) -> Iterator[bool]:
    program = plans.npm("pm2", _PM2)
    if program is None:
        yield False
        return
    app = {
        "name": "agent",
        "script": str(pipe.program),
        "interpreter": "none",
        "exec_mode": "fork",
        "restart_delay": 0,
        "max_restarts": 1_000_000,
    }
    (settings := folder / "ecosystem.json").write_text(json.dumps({"apps": [app]}))
    env = {**os.environ, "PM2_HOME": str(folder / "state"), "HOME": str(folder)}

    def ask(*arguments: str) -> None:
        command = [str(program), *arguments]
        subprocess.run(
            command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=60, check=True
        )

    try:
        ask("start", str(settings))
        yield True
    finally:
        ask("kill")


@contextlib.contextmanager
def _supervisord(folder: Path, pipe: Pipe) -> Iterator[bool]:
    program = shutil.which("supervisord", path=str(Path(sys.executable).parent))
    if program is None:
        yield False
        return
    (settings := folder / "supervisord.conf").write_text(
        f"[supervisord]\nnodaemon=true\nlogfile={folder}/log\npidfile={folder}/pid\nchildlogdir={folder}\n"
        f"[program:agent]\ncommand={pipe.program}\nautorestart=true\nstartsecs=0\n"
    )
    with subprocess.Popen(
        [program, "-c", str(settings)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield True
        finally:
            process.terminate()
            process.wait(30)


@contextlib.contextmanager
def _runit(folder: Path, pipe: Pipe) -> Iterator[bool]:
    program = shutil.which("runsv")
    if program is None:
        yield False
        return
    (service := folder / "service").mkdir()
    (service / "run").symlink_to(pipe.program)
    with subprocess.Popen(
        [program, str(service)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield True
        finally:
            # It ends its service, and then itself.
            process.terminate()
            process.wait(30)
