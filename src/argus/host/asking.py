"""Short questions to programs: what they print and how they end, within a deadline, with nothing left behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping

from argus.host.children import Children
from argus.host.leftovers import Leftovers
from argus.host.seam import Ran

_SAID = 64 * 1024
"""Bytes of the answer that are kept, the last ones. The rest is read as well, or the program would wait for us."""
_PIECE = 64 * 1024


async def ask(
    children: Children,
    leftovers: Leftovers,
    argv: list[str],
    *,
    timeout: float,
    env: Mapping[str, str] = os.environ,
    heard: Callable[[bytes], None] | None = None,
) -> Ran:
    """Unlike a restart, a question leaves nothing running: its whole group is ended with it, and soon what has left it.

    The end of the program ends the question, not the end of its output: whoever it left behind may hold that open.
    `heard` is told all of the output as it comes, and must not raise.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    answer, end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    os.set_blocking(end, True)
    said, problem = bytearray(), ""
    number, environment = leftovers.begin(env)
    try:
        try:
            child = children.spawn(argv, environment, output=end, with_group=True)
        finally:
            os.close(end)
    except (OSError, ValueError) as error:
        os.close(answer)
        leftovers.ended(number, is_suspect=False)
        why = getattr(error, "strerror", "") or str(error)
        return Ran(None, "", loop.time() - began, f"cannot start {argv[0]}: {why}")
    loop.add_reader(answer, lambda: _read(answer, said, heard))
    is_over = False
    try:
        async with asyncio.timeout(timeout):
            await asyncio.shield(child.ended)
        is_over = True
    except TimeoutError:
        problem = f"not finished within {timeout:g} s"
    finally:
        child.end_group()
        loop.remove_reader(answer)
        while more := _read(answer, said, heard):
            pass
        os.close(answer)
        # An output that has not come to its end is held by somebody.
        leftovers.ended(number, is_suspect=not is_over or more is None)
    if problem:
        await child.ended
    return Ran(None if problem else child.ended.result(), said.decode("utf-8", "replace"), loop.time() - began, problem)


def _read(answer: int, said: bytearray, heard: Callable[[bytes], None] | None) -> bool | None:
    """Takes in what is there. None: nothing is, now. False: nothing more will come."""
    try:
        piece = os.read(answer, _PIECE)
    except BlockingIOError:
        return None
    if not piece:
        asyncio.get_running_loop().remove_reader(answer)  # it would be ready for ever
    elif heard is not None:
        heard(piece)
    said += piece
    del said[:-_SAID]
    return bool(piece)
