"""One daemon per state folder and per store. The lock is the kernel's: it ends with its holder, however that ends."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from argus.core.errors import ArgusError, Code


class InstanceLock:
    def __init__(self, path: Path, what: str = "state folder") -> None:
        self._path = path
        self._what = what
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
                f"another Argus (pid {holder.get('pid', 'unknown')}) runs on this {self._what}",
                lock=str(self._path),
                **holder,
            ) from None
        self._handle = handle
        self.say({"pid": os.getpid()})

    def say(self, about: dict[str, Any]) -> None:
        """What others read about the holder. It stays when the holder is gone, so it must name a process exactly."""
        assert self._handle is not None
        # Over what stands there, and cut off behind it: on a full disk the room that was given back may be gone.
        os.ftruncate(self._handle, os.pwrite(self._handle, json.dumps(about).encode(), 0))

    def release(self) -> None:
        # The file stays: removing it would let two daemons lock two files of the same name.
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _holder(handle: int) -> dict[str, Any]:
    try:
        said = json.loads(os.pread(handle, 1000, 0))
    except (OSError, ValueError):
        return {}  # it was locked this instant and has not written its name yet
    return {"pid": said["pid"]} if isinstance(said, dict) and "pid" in said else {}
