"""From the kill of a container's first process to its main() again, with no delay in between.

Argus hears of it, looks at the container, takes its last lines and figures, writes down what it saw and what it is
about to do, and starts it. Beside a bare loop that waits for the event and gives the order; and beside the engine's own
`restart: always`, whose container has run for more than ten seconds each time: before that the engine waits longer
every time. All three are killed by a signal to the process: what is killed through the engine it does not start again.
"""

from __future__ import annotations

import contextlib
import glob
import os
import select
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from tests.acceptance.harness import eventually
from tests.acceptance.yard import Project, Yard, service
from tests.docker_engine import Engine

from benchmarks.floors.programs import running
from benchmarks.measure import interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.yards import standing

_GOAL, _DECISION = 1.1, 10.0
_FLOOR, _PEER = "event and order", "restart: always"
_IMAGE = "says:1"
_LONGEST = 60.0
_RAN = 10.5
"""Seconds after which the engine's own waits begin anew."""
_IN_A_ROW = 8
"""Restarts of one run, which allows ten."""


def measure(plan: Plan) -> Iterable[Row]:
    with standing(plan) as yard, contextlib.ExitStack() as stack:
        engine = yard.engine
        engine.image(_IMAGE, "sh", "-c", "echo here >/said/pipe; exec sleep 86400")
        # The guarded one is on a network too, and that is a good part of a start.
        engine.ask("POST", "/networks/create", {"Name": "bare"})
        guarded = Guarded(yard, plan.folder)
        bare, always = (Container(engine, plan.folder, name, kind) for name, kind in (("bare", ""), ("own", "always")))
        stack.enter_context(running("bare_guardian", engine.socket, bare.name))

        def own() -> float:
            if not plan.quick:
                time.sleep(_RAN)
            return always.killed()

        turns = {_FLOOR: bare.killed, "argus": guarded.killed, _PEER: own}
        found = interleave(turns, plan.size(max(8, 2 * plan.rounds), 2), warm=not plan.quick)
        decided = guarded.decided()
    yield Row(
        "killed container of an environment to its main() again",
        "ms",
        found["argus"],
        floor=(_FLOOR, found[_FLOOR]),
        peers={_PEER: found[_PEER]},
        goal=Goal(_GOAL, of=_FLOOR),
    )
    yield Row("its die event to the decision about it", "ms", decided, goal=Goal(_DECISION))


class Container:
    """Its first act is to write into a pipe, where this program waits for it."""

    def __init__(self, engine: Engine, folder: Path, name: str, policy: str = "") -> None:
        self.name = name
        self.engine = engine
        self.said = folder / f"pipe-{name}"
        self.said.mkdir()
        os.mkfifo(self.said / "pipe")
        # For writing as well: else each would wait for the other to open it.
        self._handle = os.open(self.said / "pipe", os.O_RDWR)
        self.make(policy)
        self.wait()

    def make(self, policy: str) -> None:
        words = ("sh", "-c", "echo here >/said/pipe; exec sleep 86400")
        host = {"Binds": [f"{self.said}:/said"], "RestartPolicy": {"Name": policy}, "NetworkMode": "bare"}
        self.engine.run(self.name, *words, host=host)

    def killed(self) -> float:
        pid = self._pid()
        began = time.perf_counter()
        os.kill(pid, signal.SIGKILL)
        return (self.wait() - began) * 1000

    def _pid(self) -> int:
        """As it is seen here: the engine counts in a namespace of its own."""
        id = self.engine.ask("GET", f"/containers/{self.name}/json")["Id"]
        found = glob.glob(f"/sys/fs/cgroup/memory/*/{id}/cgroup.procs") + glob.glob(
            f"/sys/fs/cgroup/*/{id}/cgroup.procs"
        )
        return int(Path(found[0]).read_text().split()[0])

    def wait(self) -> float:
        if not select.select([self._handle], [], [], _LONGEST)[0]:
            raise RuntimeError(f"{self.name} was not started within {_LONGEST:g} s")
        now = time.perf_counter()
        os.read(self._handle, 100)
        return now


class Guarded(Container):
    """The only service of an environment."""

    def __init__(self, yard: Yard, folder: Path) -> None:
        self._yard = yard
        self._count = 0
        self._project: Project | None = None
        super().__init__(yard.engine, folder, "guarded")

    def make(self, policy: str) -> None:
        one = service(self.name, _IMAGE, container={"volumes": [f"{self.said}:/said"]})
        settings = {"container": {"restartDelay": "0s", "maxRestarts": 10}}
        self._project = self._yard.project(services=[one], resilience=settings)
        self._project.up()

    def killed(self) -> float:
        if self._count and self._count % _IN_A_ROW == 0:
            assert self._project is not None
            self._project.up()  # a new run, and a new count
            self.wait()
        self._count += 1
        took = super().killed()
        eventually(
            lambda: len(self._yard.journal("restart_success")) == self._count, "Argus has seen that it is well again"
        )
        return took

    def decided(self) -> list[float]:
        """Milliseconds from each death, as the engine tells it, to what was decided. Then it is looked at, for which
        the engine has no time before it is done with that death itself; nor for the bare order."""
        begun = self._yard.journal("restart_attempt")
        return [float(one.data["decidedAt"] - one.data["diedAt"]) for one in begun]
