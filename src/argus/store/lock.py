"""One daemon per state folder. The lock is the kernel's: it ends with its holder, however that ends."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from argus.core.errors import ArgusError, Code


class InstanceLock:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "argus.lock"
        self._handle: int | None = None

    def take(self) -> None:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(handle)
            os.close(handle)
            raise ArgusError(
                Code.ALREADY_RUNNING,
                f"another Argus (pid {holder.get('pid', 'unknown')}) runs on this state folder",
                folder=str(self._path.parent),
                **holder,
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"pid": os.getpid()}).encode(), 0)
        self._handle = handle

    def release(self) -> None:
        # The file stays: removing it would let two daemons lock two files of the same name.
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _holder(handle: int) -> dict[str, Any]:
    try:
        said = json.loads(os.pread(handle, 200, 0))
    except (OSError, ValueError):
        return {}  # it was locked this instant and has not written its name yet
    return {"pid": said["pid"]} if isinstance(said, dict) and "pid" in said else {}
