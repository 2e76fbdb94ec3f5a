"""The settings of somebody else's program: written whole or not at all, and given back as they were."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from argus.cli.hooking.refusing import refused
from argus.core.errors import ArgusError, Code
from argus.host.files import write_private

_TRIES = 3
_LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file was before we came, and what we made of it."""

    existed: bool
    before: bytes
    after: str
    """Its digest."""


class Target:
    """One settings file. A link is followed: people keep their settings elsewhere, and link to them."""

    def __init__(self, path: Path, agent: str, home: Path) -> None:
        self.named = path
        self.path = Path(os.path.realpath(path))
        self._note = home / "hooks" / f"{agent}-{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]}.json"

    def read(self) -> bytes | None:
        """None: it is not there."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise self._unusable("it is not a file")
                raw = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from None
        if len(raw) > _LARGEST:
            raise self._unusable("it is too large for settings")
        return raw

    def change(self, edit: Callable[[bytes | None], bytes | None]) -> tuple[bytes | None, bytes | None]:
        """Writes what `edit` makes of it; None takes it away. What was there and what is there now. Whoever writes at
        the same time is not undone."""
        for _ in range(_TRIES):
            raw = self.read()
            made = edit(raw)
            if made == raw:
                return raw, raw
            if made is None:
                self._remove()
                return raw, None
            if self._write(made, raw):
                return raw, made
        raise self._unusable("somebody else keeps writing it")

    def _remove(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from None

    def _write(self, made: bytes, expected: bytes | None) -> bool:
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.argus")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            found = os.stat(self.path) if expected is not None else None
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "wb") as file:
                if found is not None:
                    with contextlib.suppress(PermissionError):
                        os.fchown(handle, found.st_uid, found.st_gid)
                    os.fchmod(handle, stat.S_IMODE(found.st_mode))
                file.write(made)
                file.flush()
                os.fsync(handle)
            if self.read() != expected:
                return False
            beside.replace(self.path)
            return True
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from None
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()

    def _unusable(self, why: str) -> ArgusError:
        return refused(f"{self.path} cannot be used: {why}", str(self.path), code=Code.INVALID_REQUEST)

    # What it was.

    def kept(self) -> Kept | None:
        try:
            said = json.loads(self._note.read_text(encoding="utf-8"))
            return Kept(bool(said["existed"]), base64.b64decode(said["before"]), str(said["after"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, before: bytes | None, after: bytes) -> None:
        self._note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        said = {
            "file": str(self.path),
            "existed": before is not None,
            "before": base64.b64encode(before or b"").decode(),
            "after": digest(after),
        }
        write_private(self._note, json.dumps(said))

    def forget(self) -> None:
        self._note.unlink(missing_ok=True)


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
