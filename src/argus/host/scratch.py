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
async def folder() -> AsyncIterator[str]:
    made = await asyncio.to_thread(tempfile.mkdtemp, prefix="argus-")
    try:
        yield made
    finally:
        # Not in a thread: whoever is cancelled here must not leave it behind.
        shutil.rmtree(made, ignore_errors=True)


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
