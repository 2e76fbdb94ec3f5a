"""A look around the machine, for a first configuration. Everything is asked, nothing is touched."""

from __future__ import annotations

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from argus.host import ports
from argus.host.machine import MachineHost
from argus.host.ports import Listener
from argus.host.seam import HttpRequest, ProbeFailed

_SECONDS = 2.0
_MOST = 200
AGENTS = ("claude", "codex")
_PANES = "#{session_name}\t#{pane_current_command}\t#{pane_current_path}"


@dataclass(frozen=True, slots=True)
class Port:
    listener: Listener
    speaks_http: bool
    unit: str = ""
    """The systemd unit that its process belongs to."""
    of_user: bool = False
    """That unit is one of the user's own manager."""


@dataclass(frozen=True, slots=True)
class Pane:
    session: str
    program: str
    folder: str


@dataclass(frozen=True, slots=True)
class Survey:
    ports: tuple[Port, ...] = ()
    containers: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """Jobs of launchd that run."""
    panes: tuple[Pane, ...] = ()
    """Where an agent runs in tmux."""
    agents: tuple[str, ...] = ()
    """Programs of agents that are installed."""


async def survey() -> Survey:
    host = MachineHost()
    try:
        listeners = (await asyncio.to_thread(ports.listeners))[:_MOST]
        heard, containers, units, labels, panes = await asyncio.gather(
            asyncio.gather(*(_port(host, one) for one in listeners)),
            _lines(host, "docker", "ps", "--format", "{{.Names}}"),
            _lines(host, "systemctl", "list-units", "--type=service", "--state=running", "--plain", "--no-legend"),
            _lines(host, "launchctl", "list"),
            _lines(host, "tmux", "list-panes", "-a", "-F", _PANES),
        )  # fmt: skip
    finally:
        host.close()
    return Survey(
        ports=tuple(heard),
        containers=tuple(sorted(containers)),
        units=tuple(sorted(line.split()[0] for line in units if line.split())),
        labels=tuple(sorted(_running(labels))),
        panes=tuple(_panes(panes)),
        agents=tuple(name for name in AGENTS if shutil.which(name)),
    )


async def _port(host: MachineHost, listener: Listener) -> Port:
    try:
        await host.http(HttpRequest(f"http://{listener.netloc}/"), timeout=_SECONDS)
    except ProbeFailed:
        return Port(listener, False, *_unit(listener.pid))
    return Port(listener, True, *_unit(listener.pid))


def _unit(pid: int | None) -> tuple[str, bool]:
    try:
        text = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8", errors="replace") if pid else ""
    except OSError:
        return "", False
    return unit_of(text, os.getuid())


def unit_of(groups: str, user: int) -> tuple[str, bool]:
    """The service that a process belongs to, as its control groups say, and whether it is of this user's manager.

    The outermost unit is the one: what lies below was made by the service itself. Below a user's manager it is the
    next; the manager itself, with all that the user runs, is never what a single program is restarted by.
    """
    for line in groups.splitlines():
        _, kinds, path = line.split(":", 2)
        units = [part for part in path.split("/") if part and not part.endswith(".slice")]
        own = units[:1] == [f"user@{user}.service"]
        first = units[own] if len(units) > own else ""
        if kinds in ("", "name=systemd") and first.endswith(".service") and not first.startswith("user@"):
            return first, own
    return "", False


async def _lines(host: MachineHost, *argv: str) -> list[str]:
    """What a program lists; nothing where there is no such program, or it cannot say."""
    ran = await host.ask(list(argv), timeout=_SECONDS)
    return ran.output.splitlines() if ran.exit_code == 0 else []


def _running(lines: list[str]) -> list[str]:
    """Of `launchctl list`: PID, status, label. Apple's own are not ours to watch."""
    rows = [line.split("\t") for line in lines]
    return [row[2] for row in rows if len(row) == 3 and row[0].isdigit() and not row[2].startswith("com.apple.")]


def _panes(lines: list[str]) -> list[Pane]:
    rows = [line.split("\t") for line in lines]
    return [Pane(*row) for row in rows if len(row) == 3 and row[1] in AGENTS]
