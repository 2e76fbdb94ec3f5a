"""A program that is spoken to by its pipes, line by line, and that does not outlive us.

Its whole group ends when it does, when nobody wants it any more, and when we end, also by `kill -9`: a shell beside it
waits at the lifeline, a pipe whose other end only this process holds, and the kernel closes that whatever happens.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass

from argus.host import programs
from argus.host.children import Child, Children
from argus.host.leftovers import MARK, Leftovers

MOST = 4 * 1024 * 1024
"""Bytes of one line. What is longer is passed over, and said."""
_PIECE = 64 * 1024
_SAID = 4096
_END = 256
_LIFELINE, _PAPER = 9, 8
_QUIET, _ROUNDS = 3, 100
PAPER = f"/dev/fd/{_PAPER}"
"""Under which a program finds what it is given to read besides its input: no name on any disk, and gone with it."""
# The shell beside it: at the end of the lifeline it ends what carries the program's mark, also outside of the group,
# but itself, and then the group with itself. It looks until it has found nothing three times: what becomes another
# program at that moment shows no mark, and what is killed may just have started something. It has no output of the
# program's open, which would never come to an end.
_TETHERED = (
    "/bin/sh",
    "-c",
    f"""( read -r argus_word
read -r argus_own argus_word </proc/self/stat
argus_mark=${MARK}
unset {MARK}
argus_rounds={_ROUNDS}
argus_quiet=0
while [ "$argus_quiet" -lt {_QUIET} ] && [ "$argus_rounds" -gt 0 ]; do
    argus_rounds=$((argus_rounds - 1))
    argus_quiet=$((argus_quiet + 1))
    for argus_one in $(grep -lsz "^{MARK}=$argus_mark\\$" /proc/[0-9]*/environ); do
        argus_one=${{argus_one#/proc/}}
        argus_one=${{argus_one%/environ}}
        [ "$argus_one" = "$argus_own" ] || {{ kill -9 "$argus_one" && argus_quiet=0; }}
    done
    sleep 0.02
done
kill -9 0 ) <&{_LIFELINE} >/dev/null 2>&1 &
exec {_LIFELINE}<&-
cd -- "$1" && shift && exec "$@\"""",
    "sh",
)


class CannotStart(Exception):
    """Why, in words."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """In the place of a line that was longer than MOST: how it begins and how it ends, to know whose it was."""

    head: bytes = b""
    tail: bytes = b""


class Pipes:
    """Starts such programs."""

    def __init__(self, children: Children, leftovers: Leftovers) -> None:
        self._children = children
        self._leftovers = leftovers
        self._lifeline, self._held = os.pipe2(os.O_CLOEXEC)

    def start(
        self, argv: Sequence[str], *, folder: str, environ: Mapping[str, str], paper: bytes | None = None
    ) -> Piped:
        """Raises CannotStart. `paper`: what it finds under PAPER."""
        problem = programs.problem(argv, folder, environ, {})
        if problem:
            raise CannotStart(problem)
        number, environment = self._leftovers.begin(environ)
        made: list[int] = []
        try:
            (given, write), (read, output), (read_errors, errors) = _pipe(made), _pipe(made), _pipe(made)
            with tempfile.TemporaryFile() as file:
                file.write(paper or b"")
                file.flush()
                child = self._children.spawn(
                    [*_TETHERED, folder, *argv],
                    environment,
                    input=given,
                    output=output,
                    errors=errors,
                    with_group=True,
                    also={_LIFELINE: self._lifeline} | ({} if paper is None else {_PAPER: file.fileno()}),
                )
        except (OSError, ValueError) as error:
            for one in made:
                os.close(one)
            self._leftovers.ended(number, is_suspect=False)
            why = getattr(error, "strerror", "") or str(error)
            raise CannotStart(f"cannot start {argv[0]}: {why}") from None
        for one in (given, output, errors):
            os.close(one)
        for one in (write, read, read_errors):
            os.set_blocking(one, False)

        def ended() -> None:
            self._leftovers.ended(number, is_suspect=True)

        return Piped(child, write, read, read_errors, ended)

    def close(self) -> None:
        """What still runs ends now."""
        os.close(self._held)
        os.close(self._lifeline)


class Piped:
    def __init__(self, child: Child, write: int, read: int, errors: int, closed: Callable[[], None]) -> None:
        self._child = child
        self._write: int | None = write
        self._read = read
        self._errors = errors
        self._closed: Callable[[], None] | None = closed
        self._said = bytearray()
        asyncio.get_running_loop().add_reader(errors, self._take_errors)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def ended(self) -> asyncio.Future[int]:
        """Its exit status, negative for a signal."""
        return self._child.ended

    @property
    def said(self) -> str:
        """The last of what it wrote to its second output."""
        return self._said.decode("utf-8", "replace")

    async def write(self, data: bytes) -> None:
        """Raises OSError when it does not listen any more. One at a time."""
        rest = memoryview(data)
        while rest:
            if self._write is None:
                raise BrokenPipeError
            try:
                rest = rest[os.write(self._write, rest[:_PIECE]) :]
            except BlockingIOError:
                await _ready(self._write, writes=True)

    def close_input(self) -> None:
        if self._write is not None:
            os.close(self._write)
            self._write = None

    async def lines(self) -> AsyncIterator[bytes | TooLong]:
        """To the end of its output; nothing is read that nobody asked for. For one reader, once."""
        kept, head = bytearray(), b""
        while piece := await self._piece():
            *ended, rest = piece.split(b"\n")
            for one in ended:
                kept += one
                yield _line(kept, head)
                kept.clear()
                head = b""
            kept += rest
            if head or len(kept) > MOST:
                head = head or bytes(kept[:_END])
                del kept[:-_END]
        if kept or head:
            yield _line(kept, head)

    async def _piece(self) -> bytes:
        while self._closed is not None:
            try:
                return os.read(self._read, _PIECE)
            except BlockingIOError:
                await _ready(self._read)
        return b""

    def _take_errors(self) -> None:
        try:
            piece = os.read(self._errors, _PIECE)
        except BlockingIOError:
            return
        if not piece:
            asyncio.get_running_loop().remove_reader(self._errors)
        self._said += piece
        del self._said[:-_SAID]

    def end(self) -> None:
        """At once, with all that belongs to it. Whoever reads its lines must have stopped."""
        if self._closed is None:
            return
        self._child.end_group()
        loop = asyncio.get_running_loop()
        for one in (self._read, self._errors):
            loop.remove_reader(one)
        self._take_errors()
        self.close_input()
        os.close(self._read)
        os.close(self._errors)
        closed, self._closed = self._closed, None
        closed()


def _line(kept: bytearray, head: bytes) -> bytes | TooLong:
    if not head and len(kept) <= MOST:
        return bytes(kept)
    return TooLong(head or bytes(kept[:_END]), bytes(kept[-_END:]))


def _pipe(made: list[int]) -> tuple[int, int]:
    read, write = os.pipe2(os.O_CLOEXEC)
    made += read, write
    return read, write


async def _ready(handle: int, *, writes: bool = False) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    add, remove = (loop.add_writer, loop.remove_writer) if writes else (loop.add_reader, loop.remove_reader)
    add(handle, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        remove(handle)
