"""Files of the state folder: private, written beside and renamed, never half."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

_OURS = {"argus.lock", "argus.db", "token"}


def write_private(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def private_folder(path: Path) -> None:
    """Makes it, or closes one of ours that a person or an older umask had opened. A shared folder is left as it is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o077:
        inside = {entry.name for entry in path.iterdir()}
        if inside and not inside & _OURS:
            raise OSError(errno.EPERM, "it is open to others and holds what is not Argus's")
        path.chmod(0o700)
