"""Commands of a caller, in its folder and with its environment: both outputs, in bounds, and how they end.

The whole group of a command ends with it, at its deadline and when nobody waits any more; and soon what has left it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from argus.host import programs
from argus.host.children import Children
from argus.host.leftovers import Leftovers

MOST = 1024 * 1024
"""Bytes of each output that are kept: the first ones, as a test wants to see how it began."""
_PIECE = 64 * 1024
# posix_spawn cannot change the folder, and looks for programs on our own PATH.
_THERE = ("/bin/sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh")


@dataclass(frozen=True, slots=True)
class Printed:
    """How a command ended: `exit_code` None when it did not, and `problem` says why."""

    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float
    problem: str = ""
    is_cut: bool = False
    """More was printed than is kept."""


class Output:
    """The beginning of what comes."""

    def __init__(self, most: int = MOST, heard: Callable[[bytes], None] | None = None) -> None:
        self._kept = bytearray()
        self._most = most
        self._heard = heard
        self.is_cut = False

    def take(self, piece: bytes) -> None:
        room = self._most - len(self._kept)
        self._kept += piece[:room]
        self.is_cut = self.is_cut or len(piece) > room
        if self._heard is not None:
            self._heard(piece)

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


class Commands:
    def __init__(self, children: Children, leftovers: Leftovers) -> None:
        self._children = children
        self._leftovers = leftovers

    @property
    def mark(self) -> str:
        """What every command of this Argus carries, and nobody else's."""
        return self._leftovers.own

    async def run(
        self,
        argv: Sequence[str],
        *,
        folder: str,
        environ: Mapping[str, str],
        timeout: float,
        heard: Callable[[bytes], None] | None = None,
    ) -> Printed:
        """`heard` is told all of both outputs as it comes, and must not raise."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        problem = programs.problem(argv, folder, environ, {})
        if problem:
            return Printed(None, "", "", 0.0, problem)
        outputs = (Output(heard=heard), Output(heard=heard))
        pipes = [_pipe(), _pipe()]
        number, environment = self._leftovers.begin(environ)
        try:
            try:
                child = self._children.spawn(
                    [*_THERE, folder, *argv], environment, output=pipes[0][1], errors=pipes[1][1], with_group=True
                )
            finally:
                for _, end in pipes:
                    os.close(end)
        except (OSError, ValueError) as error:
            for read, _ in pipes:
                os.close(read)
            self._leftovers.ended(number, is_suspect=False)
            why = getattr(error, "strerror", "") or str(error)
            return Printed(None, "", "", loop.time() - began, f"cannot start {argv[0]}: {why}")
        for (read, _), output in zip(pipes, outputs, strict=True):
            loop.add_reader(read, _take, loop, read, output)
        is_over = is_held = False
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(child.ended)
            is_over = True
        except TimeoutError:
            problem = f"not finished within {timeout:g} s"
        finally:
            child.end_group()
            for (read, _), output in zip(pipes, outputs, strict=True):
                loop.remove_reader(read)
                while more := _take(loop, read, output):
                    pass
                # An output that has not come to its end is held by somebody.
                is_held = is_held or more is None
                os.close(read)
            self._leftovers.ended(number, is_suspect=not is_over or is_held)
        if problem:
            await child.ended
        is_cut = any(one.is_cut for one in outputs)
        code = None if problem else child.ended.result()
        return Printed(code, outputs[0].text, outputs[1].text, loop.time() - began, problem, is_cut)


def _pipe() -> tuple[int, int]:
    read, end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    os.set_blocking(end, True)
    return read, end


def _take(loop: asyncio.AbstractEventLoop, read: int, output: Output) -> bool | None:
    """Takes in what is there. None: nothing is, now. False: nothing more will come."""
    try:
        piece = os.read(read, _PIECE)
    except BlockingIOError:
        return None
    if not piece:
        loop.remove_reader(read)  # it would be ready for ever
        return False
    output.take(piece)
    return True
