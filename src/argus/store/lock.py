"""One daemon per state folder and per store. The lock is the kernel's: it ends with its holder, however that ends."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from pathlib import Path
from typing import Any

from argus.core.errors import ON_A_SHARED_STORE, ArgusError, Code


class InstanceLock:
    def __init__(self, path: Path, what: str = "state folder", *, home: str = "") -> None:
        """`home`: the state folder of who takes it, where others may stand on other ones."""
        self._path = path
        self._what = what
        self._home = home
        self._handle: int | None = None

    def take(self) -> None:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE), str(self._path))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(handle)
            os.close(handle)
            raise self._taken(holder) from None
        self._handle = handle
        self.say({"pid": os.getpid()} | ({"home": self._home} if self._home else {}))

    def _taken(self, holder: dict[str, Any]) -> ArgusError:
        place = f", state folder {holder['home']}" if holder.get("home") else ""
        said = f"another Argus (pid {holder.get('pid', 'unknown')}{place}) runs on this {self._what}"
        refused = ArgusError(Code.ALREADY_RUNNING, said, lock=str(self._path), **holder)
        refused.actions = ON_A_SHARED_STORE if self._home else None
        return refused

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
    return {name: said[name] for name in ("pid", "home") if name in said} if isinstance(said, dict) else {}
