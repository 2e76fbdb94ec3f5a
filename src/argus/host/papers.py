"""Documents and outputs in somebody's project, looked at without following a link out of it, within a deadline."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from argus.core.cutting import beginning
from argus.host import transcript_places

T = TypeVar("T")
Problem = Callable[[str], str]
"""Why a file with this real path is not to be read; empty if it may be."""
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

    async def tail(self, path: str, lines: int, problem: Problem) -> Tail | None:
        """Of a file that grows. None: there is none. Raises Unusable."""
        return await self._do(lambda: _tail(path, lines, problem))

    async def real(self, path: str) -> tuple[str, str]:
        """Where a file is, by its folder's real path; and where it leads: its last name may be a link, and change."""
        return await self._do(lambda: _real(path))

    async def _do(self, work: Callable[[], T]) -> T:
        doing = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.wait_for(asyncio.shield(doing), _DEADLINE)
        except TimeoutError:
            doing.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise Hangs(f"the disk did not answer within {_DEADLINE:g} s") from None
        except (OSError, ValueError) as error:
            raise Unusable(getattr(error, "strerror", None) or str(error)) from None


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


def _real(path: str) -> tuple[str, str]:
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name), os.path.realpath(path)


def _tail(path: str, lines: int, problem: Problem) -> Tail | None:
    real = os.path.realpath(path)
    _refuse(problem(real))
    try:
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(handle)
        _refuse("" if stat.S_ISREG(found.st_mode) else "it is not a regular file")
        _refuse(problem(_opened(handle, real)))
        start = max(0, found.st_size - _TAIL)
        read = os.pread(handle, _TAIL, start).decode("utf-8", "replace")
    finally:
        os.close(handle)
    rows = read.splitlines()[1 if start else 0 :]
    return Tail(found.st_ino, found.st_size, found.st_mtime, tuple(beginning(row, 2000) for row in rows[-lines:]))


def _opened(handle: int, path: str) -> str:
    """What was really opened: a folder on the way could have become a link in that moment."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}").removesuffix(" (deleted)")
    except OSError:
        return path  # no Linux; what was seen just before has to do


def _refuse(problem: str) -> None:
    if problem:
        raise Unusable(problem)


def shared_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    """Where programs keep logs for everybody: temporary files, and agents' own transcripts, which their outputs are."""
    named = [env.get("TMPDIR", ""), tempfile.gettempdir(), "/tmp", "/var/tmp"]  # noqa: S108
    kept = [str(transcript_places.folder(kind, env)) for kind in ("claude", "codex")]
    return tuple(dict.fromkeys(os.path.realpath(one) for one in (*named, *kept) if os.path.isabs(one)))
