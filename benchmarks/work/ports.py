"""Ten ports that are wanted and taken, each by another process: ten free ones chosen, and the holders named.

`Ports.take` chooses, and `Ports.taken` names, with the real machine under them, as preflight and setup call them; that
a preflight of the daemon names the same holders is seen in every round. To name them each port is tried in both
families, the kernel is asked once who listens, and the handles of processes are looked through for those sockets: that
grows with what runs on the machine. The floor tries each port once, and in the second row asks the kernel once, without
knowing whose sockets those are. portpicker picks ten that are free, and has no wishes to look at. `ss -ltnp` and `lsof`
name the holders too, as programs that are started for it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable
from functools import partial
from statistics import median

import psutil
from tests.acceptance.yard import Project, Yard

from argus.composing import occupants
from argus.environments.ports import Ports, Wanted
from argus.host import ports, socket_table
from benchmarks.measure import in_child, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.yards import PORTS, Door, checks, shop, standing

_CHOOSE, _NAME = 1.0, 10.0
_PICKER = "portpicker"
_PROGRAMS = {"ss -ltnp": ["ss", "-H", "-ltnp"], "lsof": ["lsof", "-nP", "-iTCP", "-sTCP:LISTEN"]}


def measure(plan: Plan) -> Iterable[Row]:
    calls = plan.size(20, 3)
    with standing(plan) as yard, contextlib.ExitStack() as stack:
        holders = {port: stack.enter_context(yard.engine.held(port)) for port in PORTS}
        project = shop(yard)
        entering = yard.engine.entering

        def named_and_seen() -> dict[str, float]:
            _check(yard, project, holders)
            return in_child(named, entering=entering, calls=calls, holders=[[*pair] for pair in holders.items()])

        turns: dict[str, Callable[[], dict[str, float]]] = {
            "bare": lambda: in_child(bare, entering=entering, calls=calls),
            "take": lambda: in_child(take, entering=entering, calls=calls),
            "named": named_and_seen,
        }
        if importlib.util.find_spec(_PICKER):
            turns[_PICKER] = lambda: in_child(picked, entering=entering, calls=calls)
        peers = [name for name, words in _PROGRAMS.items() if shutil.which(words[0])]
        turns |= {name: partial(_program, yard, name, holders) for name in peers}
        found = interleave(turns, plan.rounds)
        processes = len(psutil.pids())
    series = {name: [one["ms"] for one in several] for name, several in found.items()}
    floors = {kind: [one[kind] for one in found["bare"]] for kind in ("binds", "table")}
    yield Row(
        "10 taken ports, 10 free ones chosen", "ms", series["take"], floor=("bare binds", floors["binds"]),
        peers={_PICKER: series[_PICKER]} if _PICKER in series else {}, goal=Goal(_CHOOSE),
    )  # fmt: skip
    yield Row(
        "10 taken ports, their holders named", "ms", series["named"], floor=("binds and the table", floors["table"]),
        peers={name: series[name] for name in peers}, goal=Goal(_NAME),
        note=f"{processes} processes on the machine",
    )  # fmt: skip


def _each(calls: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1000)
    return median(times)


def bare(calls: int) -> dict[str, float]:
    def binds() -> int:
        return sum(not _is_bound(port) for port in [*PORTS, *(port + len(PORTS) for port in PORTS)])

    def named() -> int:
        list(map(_is_bound, PORTS))
        return len(socket_table.listening())

    if binds() != len(PORTS):
        raise RuntimeError("the ports are not held as they should be")
    taken = _each(calls, binds)
    return {"ms": taken, "binds": taken, "table": _each(calls, named)}


def _is_bound(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind(("", port))
        except OSError:
            return False
    return True


def take(calls: int) -> dict[str, float]:
    chooser = Ports(ports.is_free, lambda *_: {})
    wanted = [Wanted(f"service{port}", port) for port in PORTS]

    def once() -> None:
        mappings = chooser.take(wanted, reassign=True)
        if len({one.actual for one in mappings} - set(PORTS)) != len(PORTS):
            raise RuntimeError(f"chose {mappings}")
        chooser.give_back(mappings)

    return {"ms": _each(calls, once)}


def picked(calls: int) -> dict[str, float]:
    picker = importlib.import_module(_PICKER)

    def once() -> None:
        ports = [picker.pick_unused_port() for _ in PORTS]
        if set(ports) & set(PORTS):
            raise RuntimeError(f"picked {ports}")

    return {"ms": _each(calls, once)}


def named(calls: int, holders: list[list[int]]) -> dict[str, float]:
    chooser = Ports(ports.is_free, occupants)
    wanted = [Wanted(f"service{port}", port) for port in PORTS]

    def once() -> None:
        found = chooser.taken(wanted)
        if [[port, one.pid] for port, one in found.items()] != holders:
            raise RuntimeError(f"found {found}")

    return {"ms": _each(calls, once)}


def _check(yard: Yard, project: Project, holders: dict[int, int]) -> None:
    """That the daemon names the same."""
    with Door(yard) as door:
        _, status, body = door.timed(door.asked(project, "preflight_check"))
    found = checks(body)["ports"]["details"]["taken"] if status == 200 else []
    if {one["port"]: one["pid"] for one in found} != holders:
        raise RuntimeError(f"answered {status} {body[:1000]!r}")


def _program(yard: Yard, name: str, holders: dict[int, int]) -> dict[str, float]:
    began = time.perf_counter()
    said = subprocess.run([*yard.engine.entering, *_PROGRAMS[name]], capture_output=True, text=True, check=True).stdout
    took = (time.perf_counter() - began) * 1000
    missing = [port for port, pid in holders.items() if not any(_says(line, port, pid) for line in said.splitlines())]
    if missing:
        raise RuntimeError(f"{name} does not name who has {missing}")
    return {"ms": took}


def _says(line: str, port: int, pid: int) -> bool:
    return f":{port} " in line and str(pid) in line
