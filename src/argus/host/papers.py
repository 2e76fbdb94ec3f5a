"""Documents and outputs in somebody's project, looked at without following a link out of it, within a deadline."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")
_DEADLINE = 2.0
_THREADS = 2
_TAIL = 64 * 1024
_LARGEST = 10 * 1024 * 1024
"""Bytes of a handoff document. Whoever resumes has to read it."""
_BLANK = b" \t\r\n\f\v\0\xef\xbb\xbf"


class Unusable(Exception):
    """Why a folder or a file cannot be used, in words."""


class Hangs(Unusable):
    """A disk that does not answer in time. It may the next time."""


@dataclass(frozen=True, slots=True)
class Sheet:
    inode: int
    size: int
    modified: float
    problem: str = ""
    """Why it is no document: a link, a folder, outside."""


@dataclass(frozen=True, slots=True)
class Tail:
    inode: int
    size: int
    modified: float
    lines: tuple[str, ...]


class Papers:
    def __init__(self) -> None:
        self._threads = concurrent.futures.ThreadPoolExecutor(_THREADS, "argus-papers")

    async def choose(self, project: str, folder: str, wall: float) -> str:
        """A path for a document that does not exist yet, in a folder that does. Raises Unusable."""
        return await self._do(lambda: _choose(project, folder, wall))

    async def sheet(self, project: str, path: str) -> Sheet | None:
        return await self._do(lambda: _sheet(project, path))

    async def tail(self, path: str, lines: int) -> Tail | None:
        """Of a file that grows. None: there is none. Raises Unusable."""
        return await self._do(lambda: _tail(path, lines))

    async def _do(self, work: Callable[[], T]) -> T:
        doing = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.wait_for(asyncio.shield(doing), _DEADLINE)
        except TimeoutError:
            doing.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise Hangs(f"the disk did not answer within {_DEADLINE:g} s") from None
        except (OSError, ValueError) as error:
            raise Unusable(str(error)) from None


def _choose(project: str, folder: str, wall: float) -> str:
    if not os.path.isdir(project):
        raise Unusable(f"there is no folder {project}")
    _stay_inside(project, folder)
    os.makedirs(folder, exist_ok=True)
    _stay_inside(project, folder)
    day = datetime.fromtimestamp(wall, UTC).astimezone().strftime("%Y-%m-%d-%H-%M")
    names = (f"handoff-{day}{'' if n == 1 else f'-{n}'}.md" for n in range(1, 1000))
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.lexists(path):
            return path
    raise Unusable(f"there are a thousand handoffs of this minute in {folder}")


def _sheet(project: str, path: str) -> Sheet | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    problem = ""
    if stat.S_ISLNK(found.st_mode):
        problem = "a link"
    elif not stat.S_ISREG(found.st_mode):
        problem = "not a regular file"
    else:
        try:
            _stay_inside(project, os.path.dirname(path))
        except Unusable as unusable:
            problem = str(unusable)
    if not problem and found.st_size > _LARGEST:
        problem = f"larger than {_LARGEST // 1024 // 1024} MB"
    size = 0 if not problem and found.st_size and _is_blank(path) else found.st_size
    return Sheet(found.st_ino, size, found.st_mtime, problem)


def _is_blank(path: str) -> bool:
    """Whether nothing can be read in it: a document of spaces tells as much as none."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file:
        return not file.read(_TAIL).strip(_BLANK)


def _stay_inside(project: str, folder: str) -> None:
    top, real = os.path.realpath(project), os.path.realpath(folder)
    if real != top and not real.startswith(top.rstrip("/") + "/"):
        raise Unusable(f"{folder} leads out of {project}")


def _tail(path: str, lines: int) -> Tail | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise Unusable("it is not a regular file")
        start = max(0, found.st_size - _TAIL)
        file.seek(start)
        read = file.read(_TAIL).decode("utf-8", "replace")
    rows = read.splitlines()[1 if start else 0 :]
    return Tail(found.st_ino, found.st_size, found.st_mtime, tuple(row[:2000] for row in rows[-lines:]))
