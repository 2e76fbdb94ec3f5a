"""The method: turns that are interleaved, CPU time from the kernel, and memory as the kernel shares it out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")
_LIMIT = 600
T = TypeVar("T")


def interleave(contenders: Mapping[str, Callable[[], T]], rounds: int, *, warm: bool = True) -> dict[str, list[T]]:
    """One turn each a round, beginning with another one every round: nobody always comes after the same neighbour.

    The first round only warms caches up and does not count.
    """
    results: dict[str, list[T]] = {name: [] for name in contenders}
    names = list(contenders)
    if warm:
        for name in names:
            contenders[name]()
    for turn in range(rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            results[name].append(contenders[name]())
    return results


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process and its threads have used. `stat` counts in ticks, the scheduler finer."""
    try:
        found = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except FileNotFoundError:
        found = []  # a thread ended while we looked
    if found and any(not one.startswith("0 ") for one in found):
        return sum(int(one.split()[0]) for one in found) / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory_of(pid: int) -> tuple[float, float]:
    """RSS, and PSS: in that, what several processes share is divided among them. MB."""
    found = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        key, value = line.split(":")
        found[key] = int(value.split()[0]) / 1024
    return found["Rss"], found["Pss"]


def cpu_of_program(command: Sequence[str], env: Mapping[str, str], *, expect: int = 0) -> float:
    """Seconds of CPU that a program used from its start to its end. What it prints is thrown away."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    pid = os.posix_spawn(command[0], list(command), dict(env), file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) != expect:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime


def in_child(
    function: Callable[..., dict[str, float]], *, entering: Sequence[str] = (), **settings: Any
) -> dict[str, float]:
    """Runs a function of a module in a process of its own, so that no contender inherits another's heap.

    `entering`: words before the command, for a process that is to stand elsewhere.
    """
    asked = json.dumps([function.__module__, function.__qualname__, settings])
    done = subprocess.run(
        [*entering, sys.executable, "-m", "benchmarks.child", asked],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=_LIMIT,
        check=True,
    )
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


class Stopwatch:
    """CPU time of this process and its threads, and wall time, around a block."""

    cpu = 0.0
    wall = 0.0

    def __enter__(self) -> Stopwatch:
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu, self.wall = time.process_time() - self._cpu, time.perf_counter() - self._wall
