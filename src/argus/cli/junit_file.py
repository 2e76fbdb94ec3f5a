"""`--junit FILE`: results for build servers, written where the command was called."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from typing import Any

from argus.core.errors import ArgusError, Code


def check(path: str) -> None:
    """Before anything is run: tests of an hour are not to end at a misspelt folder."""
    if os.path.isdir(path):
        raise _unfit(path, "it is a folder")
    if _is_device(path):
        return
    if os.path.exists(path) and not os.path.isfile(path):
        raise _unfit(path, "it is there, and not a regular file")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise _unfit(path, f"there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unfit(path, f"nothing can be written into {folder}")


def write(path: str, results: dict[str, Any]) -> None:
    """Whole or not at all: half a file would be read as fewer tests."""
    from argus.environments.testing import junit
    from argus.environments.testing.results import Failure, read

    problems = [Failure(one["message"], code=one["code"]) for one in results.get("problems", ())]
    text = junit.render([read(one) for one in results["suites"]], problems=problems)
    made = None
    try:
        if _is_device(path):
            with open(path, "w", encoding="utf-8") as device:
                device.write(text)
            return
        path = os.path.realpath(path)  # a link stays one
        handle, made = tempfile.mkstemp(prefix=".junit-", dir=os.path.dirname(path))
        with open(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(made, 0o666 & ~mask)
        os.replace(made, path)
    except OSError as error:
        if made is not None:
            with contextlib.suppress(OSError):
                os.unlink(made)
        raise _unfit(path, error.strerror or str(error)) from None


def _is_device(path: str) -> bool:
    """Such as /dev/null or a terminal: written to as it is, never replaced."""
    try:
        return stat.S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return False


def _unfit(path: str, why: str) -> ArgusError:
    return ArgusError(Code.INVALID_REQUEST, f"--junit {path}: {why}", path=path)
