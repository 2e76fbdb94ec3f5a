"""A folder for what a program of somebody else writes, gone when it was read."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator


@contextlib.asynccontextmanager
async def folder(mark: str = "") -> AsyncIterator[str]:
    """`mark`: by which the next Argus finds it, where this one is killed."""
    made = await asyncio.to_thread(tempfile.mkdtemp, prefix=_prefix(mark))
    try:
        yield made
    finally:
        # Not in a thread: whoever is cancelled here must not leave it behind.
        shutil.rmtree(made, ignore_errors=True)


def place() -> str:
    """Where they are made."""
    return tempfile.gettempdir()


def remove(place: str, mark: str) -> None:
    """Those that an earlier Argus left."""
    with contextlib.suppress(OSError):
        for one in os.scandir(place):
            # Anybody may make what is called so there: only our own, and not what a link leads to.
            is_named = one.name.startswith(_prefix(mark)) and one.is_dir(follow_symlinks=False)
            if is_named and one.stat(follow_symlinks=False).st_uid == os.geteuid():
                shutil.rmtree(one.path, ignore_errors=True)


def _prefix(mark: str) -> str:
    return f"argus-{mark}-" if mark else "argus-"


def read(path: str, most: int) -> bytes | str | None:
    """None: there is none. A text says why it is not read: it may be anything by now, a pipe without end too."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror or str(error)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        return "no file any more"
    with open(handle, "rb") as opened:
        return f"larger than {most} bytes" if found.st_size > most else opened.read(most)
