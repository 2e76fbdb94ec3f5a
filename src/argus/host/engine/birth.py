"""When the engine of this machine began: one that was started anew while nobody looked has ended its containers."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from argus.host import identity
from argus.host.engine import where
from argus.host.engine.seam import EngineUnavailable

_SYSTEM = {"/var/run/docker.sock", "/run/docker.sock"}
_NOTE = Path("/run/docker.pid")
_ENGINE = "dockerd"


@dataclass(frozen=True, slots=True)
class Birth:
    who: str
    """Another for each engine that is started, also with the number of the one before."""
    at: float
    """By the wall clock."""
    is_engine: bool = False
    """Whether it is the engine itself: one that only passes on what is asked may outlive it."""


def birth(environ: Mapping[str, str]) -> Birth | None:
    """None where that cannot be known: it is on another machine, or does not listen itself."""
    try:
        place = where.find(environ)
        pid = _listener(place.path) if place.path else None
        if pid == 1 and place.path in _SYSTEM:
            pid = _noted()  # systemd listens for it
        if not pid or pid == 1:
            return None
        who = identity.identify(pid)
        process = psutil.Process(pid)
        is_engine = process.name().startswith(_ENGINE)
        return Birth(f"{pid}-{who.started}", _began(who, process), is_engine) if who else None
    except (EngineUnavailable, OSError, ValueError, psutil.Error):
        return None


def _began(who: identity.Identity, process: psutil.Process) -> float:
    """To a hundredth of a second: a container may have been started just before its engine ended. psutil counts from
    the boot in whole seconds."""
    if not (who.started.isdigit() and hasattr(time, "CLOCK_BOOTTIME")):
        return process.create_time()
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(who.started) / os.sysconf("SC_CLK_TCK")
    return time.time() - age


def _listener(path: str) -> int | None:
    """Who listens at a socket: the kernel remembers."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        asking.connect(path)
        said = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", said)[0])


def _noted() -> int | None:
    pid = int(_NOTE.read_text(encoding="ascii"))
    return pid if psutil.Process(pid).name().startswith(_ENGINE) else None
