"""Rows of JSON that somebody else appends to a file: only what is new is read, and never more than is bounded.

A file can be cut, replaced or rotated while we look, end in the middle of a row, hold rows of many megabytes or bytes
that are no text. It can also be no file at all: only a regular one is read, and no link is followed to it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ROW = 2 * 1024 * 1024
"""Bytes of a row. A longer one is skipped, and counted."""
APPENDED = 4 * 1024 * 1024
"""Bytes that are read of what is new. If there is more, only its end is looked at."""
TAIL = 8 * 1024 * 1024
"""Bytes that are read from the end, at the most, of a file that was not looked at before."""
FIRST = 256 * 1024
_PIECE = 64 * 1024
_MARK = 64
"""Bytes before the position that must be the same the next time: else the file was written anew."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read."""

    device: int
    inode: int
    offset: int
    """The beginning of a row, or a place in the middle of one that is too long."""
    mark: bytes = b""
    skipping: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    position: Position
    rows: tuple[Row, ...]
    """In the order of the file."""
    is_new: bool
    """The file was not known, or is another than it was: these are the rows at its end."""
    first: Row | None = None
    """The file's first row, where it is new."""
    skipped: int = 0
    """Rows that are too long."""
    broken: int = 0
    """Lines that are no row."""


class NotReadable(OSError):
    """It is not a regular file."""


def look(path: str, position: Position | None, until: Callable[[Row], bool]) -> Look:
    """What was appended since; of a file that is new, the rows from the last one on of which `until` is true."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise NotReadable(f"{path} is not a regular file")
        if position is not None and _goes_on(handle, found, position):
            return _appended(handle, found, position)
        return _tail(handle, found, until)
    finally:
        os.close(handle)


def _goes_on(handle: int, found: os.stat_result, position: Position) -> bool:
    is_same = (found.st_dev, found.st_ino) == (position.device, position.inode)
    if not is_same or not 0 <= found.st_size - position.offset <= APPENDED:
        return False
    before = len(position.mark)
    return os.pread(handle, before, position.offset - before) == position.mark


def _appended(handle: int, found: os.stat_result, position: Position) -> Look:
    raw = _read(handle, position.offset, found.st_size - position.offset)
    skipping, skipped = position.skipping, 0
    begin = 0
    if skipping:
        end = raw.find(b"\n")
        skipping, skipped, begin = end < 0, int(end >= 0), end + 1 if end >= 0 else len(raw)
    whole = raw.rfind(b"\n", begin) + 1 or begin
    rows, long, broken = _rows(raw[begin:whole])
    if len(raw) - whole > ROW:
        whole, skipping = len(raw), True
    offset = position.offset + whole
    at = Position(found.st_dev, found.st_ino, offset, _mark(handle, offset), skipping)
    return Look(at, tuple(rows), False, None, skipped + long, broken)


def _tail(handle: int, found: os.stat_result, until: Callable[[Row], bool]) -> Look:
    """From the end backwards, a piece at a time, so that a large file costs no more than a small one."""
    start = found.st_size
    lowest = max(0, found.st_size - TAIL)
    offset: int | None = None
    rest = b""
    rows: list[Row] = []
    skipped = broken = 0
    while start > lowest:
        size = min(max(_PIECE, len(rest)), start - lowest)
        start -= size
        rest = _read(handle, start, size) + rest
        if offset is None:
            # The last row may still be written: it is read when it is whole.
            end = rest.rfind(b"\n")
            if end < 0:
                continue
            offset, rest = start + end + 1, rest[: end + 1]
        begin = 0 if start == 0 else rest.find(b"\n", 0, len(rest) - 1) + 1
        if start > 0 and begin == 0:
            continue
        lines, rest = rest[begin:], rest[:begin]
        for line in reversed(lines.split(b"\n")):
            row, fault = _parsed(line)
            skipped, broken = skipped + (fault == _LONG), broken + (fault == _BROKEN)
            if row is not None:
                rows.append(row)
                if until(row):
                    return _found(handle, found, offset, rows, skipped, broken)
    return _found(handle, found, offset, rows, skipped, broken)


def _found(handle: int, found: os.stat_result, offset: int | None, rows: list[Row], skipped: int, broken: int) -> Look:
    # Without a whole row in it, the file is read from its beginning, once it has one.
    offset = offset or 0
    too_long = found.st_size - offset > ROW
    offset = found.st_size if too_long else offset
    at = Position(found.st_dev, found.st_ino, offset, _mark(handle, offset), too_long)
    return Look(at, tuple(reversed(rows)), True, _first(handle), skipped, broken)


def _first(handle: int) -> Row | None:
    return _parsed(_read(handle, 0, FIRST).partition(b"\n")[0])[0]


_LONG, _BROKEN = "long", "broken"


def _rows(raw: bytes) -> tuple[list[Row], int, int]:
    parsed = [_parsed(line) for line in raw.split(b"\n")]
    faults = [fault for _, fault in parsed]
    return [row for row, _ in parsed if row is not None], faults.count(_LONG), faults.count(_BROKEN)


def _parsed(line: bytes) -> tuple[Row | None, str]:
    if len(line) > ROW:
        return None, _LONG
    if not line.strip():
        return None, ""
    try:
        row = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None, _BROKEN
    return (row, "") if isinstance(row, dict) else (None, _BROKEN)


def _mark(handle: int, offset: int) -> bytes:
    begin = max(0, offset - _MARK)
    return os.pread(handle, offset - begin, begin)


def _read(handle: int, offset: int, size: int) -> bytes:
    """All of it, or up to where the file was cut meanwhile."""
    pieces = []
    while size > 0 and (piece := os.pread(handle, size, offset)):
        pieces.append(piece)
        offset, size = offset + len(piece), size - len(piece)
    return b"".join(pieces)
