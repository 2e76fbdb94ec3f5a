"""Files of the state folder: private, written beside and renamed, never half."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


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
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    # An older umask or a person may have opened it; only the owner may, and only the owner can, close it again.
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)
