"""Processes that others started: whether one of a name runs, and whether the one of a PID file is still the same."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import psutil

_LONGEST = 64
_SLACK = 2.0
"""Seconds by which a start may seem to be after the file that names it: the kernel counts from a rounded boot time."""


class NoProcess(Exception):
    """There is none, said in words."""


def of_file(path: str) -> int:
    """The living process that a PID file names. One that started after the file was written is somebody else."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise NoProcess(f"{path} is no file")
        with open(path, "rb") as file:
            text = file.read(_LONGEST).decode("ascii", "replace").strip()
    except OSError as error:
        raise NoProcess(f"{path}: {error.strerror}") from None
    number = text.split()[0] if text.split() else ""
    if not number.isascii() or not number.isdigit() or not 0 < int(number) < 2**31:
        raise NoProcess(f"{path} holds no PID")
    try:
        process = psutil.Process(int(number))
        if process.status() == psutil.STATUS_ZOMBIE:
            raise NoProcess(f"process {number} has ended")
        if process.create_time() > found.st_mtime + _SLACK:
            raise NoProcess(f"process {number} is another one: it started after {path} was written")
    except psutil.NoSuchProcess:
        raise NoProcess(f"process {number} is gone") from None
    except psutil.AccessDenied:
        pass  # there, and not ours to look at
    return int(number)


def of_name(name: str) -> list[int]:
    """The living processes of exactly that name: their program's, or what they call themselves."""
    found = []
    for process in psutil.process_iter(["name", "cmdline", "status"]):
        info = process.info
        called = {info["name"], Path(info["cmdline"][0]).name if info["cmdline"] else ""}
        if name in called and info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


@dataclass(frozen=True, slots=True)
class Running:
    pid: int
    user: str
    command: str
    """With its arguments."""


def listed() -> list[Running]:
    """Every living process of this machine that we may see."""
    found = []
    for process in psutil.process_iter(["name", "cmdline", "status", "username"]):
        info = process.info
        if info["status"] != psutil.STATUS_ZOMBIE:
            command = " ".join(info["cmdline"] or ()) or str(info["name"] or "")
            found.append(Running(process.pid, str(info["username"] or ""), command))
    return found
