"""From the kill of a service to its next answer: an interval of 1 s, a threshold of 1, each killed at any moment of it.

Argus sees the failure at its next check, looks at it, records the outage and the intent, and starts the restart; the
start of the service itself is in the figure. Once with a `command` that starts a small web server, beside Debian's
monit with a cycle of 1 s and the same server and command; and once with a real container in an engine of its own, where
the floor is what the engine needs to start it again for somebody who knows at once.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from tests.acceptance.harness import Argus, WebServer, eventually
from tests.docker_engine import Engine, missing

from benchmarks.peers import monit
from benchmarks.plan import Plan, Skipped
from benchmarks.rows import Goal, Row

_INTERVAL = 1.0
_ALLOWED = 1300.0
"""Milliseconds: one interval, and 300."""
_SEED = 5
_LONGEST = 60.0
_LOOK = 0.005
_SERVICE: dict[str, Any] = {"interval": f"{_INTERVAL:g}s", "failuresBeforeAction": 1}


def measure(plan: Plan) -> Iterable[Row]:
    program = monit.program()
    with contextlib.ExitStack() as stack:
        argus = Argus(plan.folder / "argus")
        stack.callback(argus.end)
        web = WebServer(argus, "web").start()
        _up(argus, web.service("repair", **_SERVICE))
        turns = {"argus": lambda: _killed(web)}
        if program:
            other = WebServer(argus, "other").start()
            # What monit starts has an environment of monit's, without the mark by which Argus's are found and ended.
            stack.callback(lambda: os.kill(other.pid, signal.SIGKILL))
            checks = [
                f"check process other with pidfile {argus.folder}/other.pid\n"
                f'  start program = "{other.script("repair")[0]}"\n'
                f"  if does not exist then start"
            ]
            stack.enter_context(monit.running(program, plan.folder / "monit", _INTERVAL, checks))
            turns["monit"] = lambda: _killed(other)
        found = _in_turns(turns, plan, lambda: _is_well(argus, "web"))
        argus.down()
    yield from _rows("killed process to its next answer, command", found, note="" if program else monit.MISSING)


def measure_docker(plan: Plan) -> Iterable[Row]:
    if reason := missing():
        raise Skipped(reason)
    with contextlib.ExitStack() as stack:
        engine = Engine()
        stack.callback(engine.end)
        watched, bare = (Container(engine, plan.folder, name) for name in ("watched", "bare"))
        argus = Argus(plan.folder / "argus")
        stack.callback(argus.end)
        argus.env["DOCKER_HOST"] = engine.url
        _up(argus, {"name": "web", "type": "docker", "containers": [watched.name], "timeout": "10s", **_SERVICE})
        turns = {"argus": watched.killed, "the engine alone": bare.killed_and_started}
        found = _in_turns(turns, plan, lambda: _is_well(argus, "web"))
        argus.down()
    yield from _rows("killed container to its main() again, docker", found, floor="the engine alone")


def _up(argus: Argus, service: dict[str, Any]) -> None:
    # It dies far more often than Argus would put up with.
    calm: dict[str, Any] = {"restartBudget": {"maxPerHour": 500}, "flapping": {"flips": 100, "within": "1s"}}
    argus.configure([service], verifyAfter="300ms", **calm)
    argus.up()


def _in_turns(turns: dict[str, Callable[[], float]], plan: Plan, settled: Callable[[], bool]) -> dict[str, list[float]]:
    """Milliseconds of every kill. Each comes at a moment of its own within an interval."""
    moment, found = random.Random(_SEED), {name: list[float]() for name in turns}
    for _ in range(plan.size(max(12, 4 * plan.rounds), 2)):
        for name, turn in turns.items():
            eventually(settled, "Argus has verified the restart")
            time.sleep(_INTERVAL * (1 + moment.random()))
            found[name].append(turn())
    return found


def _rows(what: str, found: dict[str, list[float]], *, floor: str = "", note: str = "") -> Iterable[Row]:
    counted = f"{len(found['argus'])} kills, at any moment of an interval of {_INTERVAL:g} s"
    for kind, take, goal in (("middle", median, None), ("slowest", max, Goal(_ALLOWED))):
        series = {name: [float(take(times))] for name, times in found.items()}
        yield Row(
            f"{what}, {kind}",
            "ms",
            series["argus"],
            floor=(floor, series[floor]) if floor else None,
            peers={"monit": series["monit"]} if "monit" in series else {},
            goal=goal,
            note="; ".join(filter(None, (counted, note))) if goal else "",
        )


def _is_well(argus: Argus, name: str) -> bool:
    said = argus.service(name)
    return said["state"] == "up" and not said["repairing"] and said["incident"] is None


def _killed(web: WebServer) -> float:
    before = web.pid
    began = time.perf_counter()
    os.kill(before, signal.SIGKILL)
    while not _answers(web.port):
        if time.perf_counter() - began > _LONGEST:
            raise RuntimeError(f"{web.name} was not started within {_LONGEST:g} s")
        time.sleep(_LOOK)
    took = (time.perf_counter() - began) * 1000
    eventually(lambda: web.pid != before, "the next one has said who it is")
    return took


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as asking:
        asking.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return asking.recv(100).startswith(b"HTTP/1.1 200")
    return False


class Container:
    """Its first act is to write into a pipe, where this program waits for it."""

    def __init__(self, engine: Engine, folder: Path, name: str) -> None:
        self.name = name
        self._engine = engine
        (said := folder / name).mkdir()
        os.mkfifo(said / "pipe")
        # For writing as well: else each would wait for the other to open it.
        self._handle = os.open(said / "pipe", os.O_RDWR)
        words = ("sh", "-c", "echo here >/said/pipe; exec sleep 86400")
        engine.run(name, *words, host={"Binds": [f"{said}:/said"]})
        self._wait()

    def killed(self) -> float:
        began = time.perf_counter()
        self._engine.ask("POST", f"/containers/{self.name}/kill")
        return (self._wait() - began) * 1000

    def killed_and_started(self) -> float:
        began = time.perf_counter()
        self._engine.kill_container(self.name)
        self._engine.ask("POST", f"/containers/{self.name}/start")
        return (self._wait() - began) * 1000

    def _wait(self) -> float:
        if not select.select([self._handle], [], [], _LONGEST)[0]:
            raise RuntimeError(f"{self.name} was not started within {_LONGEST:g} s")
        now = time.perf_counter()
        os.read(self._handle, 100)
        return now
