"""Who a process is: its PID together with its start time. A PID alone may belong to a stranger tomorrow.

Light, because the CLI imports it at every start.
"""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import dataclass
from pathlib import Path

_STAT = 4096
"""More than the line of numbers and a name of sixteen bytes can be."""


@dataclass(frozen=True, slots=True)
class Identity:
    pid: int
    started: str
    """Opaque: equal for the same process, different for another that got the same PID."""


def identify(pid: int) -> Identity | None:
    """The living process of that PID. A zombie is dead. Raises OSError when nobody can look: see `seen`."""
    found = seen(pid)
    return found[0] if found else None


def seen(pid: int) -> tuple[Identity, str] | None:
    """The same, with the letter of its state; none where the kernel has no letters for it.

    Raises OSError when it cannot be looked at. That says nothing about the process: out of descriptors ourselves, we
    would take everybody for dead.
    """
    try:
        # Asked of every agent at every look, so without a path, a decoder or a buffer for it.
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            text = file.read(_STAT)
    except (FileNotFoundError, ProcessLookupError):
        elsewhere = None if Path("/proc/self/stat").exists() else _identify_elsewhere(pid)
        return (elsewhere, "") if elsewhere else None
    # The command stands in parentheses and may hold any character, so the fields are counted from the last one.
    fields = text.rpartition(b")")[2].split()
    if len(fields) < 20 or fields[0] in b"ZX":
        return None
    return Identity(pid, fields[19].decode("ascii")), fields[0].decode("ascii")


def _identify_elsewhere(pid: int) -> Identity | None:
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return Identity(pid, repr(process.create_time()))
    except psutil.NoSuchProcess:
        return None
    except psutil.Error as error:
        raise PermissionError(errno.EACCES, str(error)) from error


def is_alive(identity: Identity) -> bool:
    """Also when nobody can say: whoever asks would replace it, or cease to wait for it. A signal needs `is_surely`."""
    try:
        return identify(identity.pid) == identity
    except OSError:
        return True


def is_surely(identity: Identity) -> bool:
    """Whether that process was seen to live just now."""
    try:
        return identify(identity.pid) == identity
    except OSError:
        return False


def is_stopped(identity: Identity) -> bool:
    """By a signal or a debugger: it lives and does nothing. Where the kernel has no letters, nobody is."""
    try:
        found = seen(identity.pid)
    except OSError:
        return False
    return found is not None and found[0] == identity and found[1] in ("T", "t")


def send(identity: Identity, number: int) -> bool:
    """Signals exactly that process, or nobody: the descriptor pins it before its start time is compared."""
    if not hasattr(os, "pidfd_open"):
        if not is_surely(identity):
            return False
        os.kill(identity.pid, number)
        return True
    try:
        handle = os.pidfd_open(identity.pid)
    except OSError:
        return False
    try:
        if not is_surely(identity):
            return False
        signal.pidfd_send_signal(handle, number)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
