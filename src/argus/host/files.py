"""Files of the state folder: private, written beside and renamed, never half."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_private(path: Path, text: str, *, outlasts_the_machine: bool = True) -> None:
    """What need not be there after a crash of the machine does not wait for the disk."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if outlasts_the_machine:
                os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    if not outlasts_the_machine:
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
