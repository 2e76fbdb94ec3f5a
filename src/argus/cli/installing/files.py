"""The file of a service: ours when it says so and is as we left it. What is not ours is never replaced or removed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from enum import StrEnum
from pathlib import Path

from argus.core.errors import IN_THE_WAY, ArgusError, Code

_MARK = re.compile(r"Written by `argus service install` \(([0-9a-f]{16})\)")


class Whose(StrEnum):
    NOBODYS = "none"
    OURS = "ours"
    CHANGED = "changed"
    """We wrote it, and somebody changed it since."""
    THEIRS = "other"


def mark(text: str) -> str:
    """The sentence that goes into a comment of the text it is about."""
    return f"Written by `argus service install` ({_digest(text)}); `argus service uninstall` removes it."


def whose(path: Path) -> Whose:
    if path.is_symlink():  # systemctl mask makes one
        return Whose.THEIRS
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Whose.NOBODYS
    except (OSError, ValueError):
        return Whose.THEIRS
    lines = text.splitlines(keepends=True)
    place = next((number for number, line in enumerate(lines[:4]) if _MARK.search(line)), None)
    if place is None:
        return Whose.THEIRS
    found = _MARK.search(lines[place])
    assert found is not None
    return Whose.OURS if found[1] == _digest("".join(lines[:place] + lines[place + 1 :])) else Whose.CHANGED


def refuse(path: Path, why: Whose) -> None:
    said = {
        Whose.THEIRS: "is there and was not written by argus; nothing was changed. Move it away first",
        Whose.CHANGED: "was changed by hand since argus wrote it; nothing was changed. Move it away first, and keep "
        "such changes in a file beside it (systemctl edit)",
    }
    if why in said:
        refused = ArgusError(Code.CONFLICT, f"{path} {said[why]}", file=str(path))
        refused.actions = IN_THE_WAY
        raise refused


def write(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.chmod(0o644)
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise ArgusError(Code.INVALID_REQUEST, f"{path} cannot be written: {error.strerror}", file=str(path)) from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
