"""Programs that are spoken to by their pipes, and that do not outlive whoever started them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from tests.acceptance.harness import DEADLINE, eventually, is_alive

from argus.host.children import Children
from argus.host.leftovers import Leftovers
from argus.host.piped import MOST, CannotStart, Pipes, TooLong

_STARTER = """
import asyncio, os, sys
from argus.host.children import Children
from argus.host.leftovers import Leftovers
from argus.host.piped import Pipes

async def main():
    program = Pipes(Children(), Leftovers()).start(sys.argv[1:], folder="/", environ=os.environ)
    async for line in program.lines():
        print(line.decode(), flush=True)

asyncio.run(main())
"""
Play = Callable[[Callable[[Pipes], Coroutine[Any, Any, None]]], None]


@pytest.fixture
def play() -> Play:
    def run(scene: Callable[[Pipes], Coroutine[Any, Any, None]]) -> None:
        async def whole() -> None:
            leftovers = Leftovers()
            pipes = Pipes(Children(), leftovers)
            try:
                async with asyncio.timeout(DEADLINE):
                    await scene(pipes)
            finally:
                pipes.close()
                leftovers.close()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(whole())

    return run


def test_what_is_written_is_read_and_what_comes_back_are_its_lines(play: Play, tmp_path: Path) -> None:
    async def scene(pipes: Pipes) -> None:
        argv = ["sh", "-c", "pwd; echo $ONE; cat; echo bad >&2; exit 3"]
        program = pipes.start(argv, folder=str(tmp_path), environ={**os.environ, "ONE": "1"})
        text = "é" * 100_000
        writing = asyncio.ensure_future(program.write(f"{text}\n".encode()))
        lines = []
        async for line in program.lines():
            lines.append(line)
            if len(lines) == 3:
                program.close_input()
        await writing
        assert lines == [str(tmp_path).encode(), b"1", text.encode()]
        assert await program.ended == 3
        program.end()
        assert program.said == "bad\n"

    play(scene)


def test_a_line_that_is_too_long_is_passed_over_and_said(play: Play) -> None:
    async def scene(pipes: Pipes) -> None:
        argv = [sys.executable, "-c", f"print('before'); print('x' * {3 * MOST}); print('after'); print('y', end='')"]
        program = pipes.start(argv, folder="/", environ=os.environ)
        lines = [line async for line in program.lines()]
        assert [one if isinstance(one, bytes) else TooLong for one in lines] == [b"before", TooLong, b"after", b"y"]
        program.end()

    play(scene)


def test_what_cannot_be_started_says_why(play: Play) -> None:
    async def scene(pipes: Pipes) -> None:
        for argv, folder in ((["no-such-program"], "/"), (["sh"], "/no/such/folder")):
            with pytest.raises(CannotStart, match=r"no-such-program|/no/such/folder"):
                pipes.start(argv, folder=folder, environ=os.environ)

    play(scene)


def test_all_of_it_ends_when_nobody_wants_it_any_more(play: Play) -> None:
    async def scene(pipes: Pipes) -> None:
        program = pipes.start(["sh", "-c", "sleep 300 & echo $!; sleep 301"], folder="/", environ=os.environ)
        other = int(await anext(aiter(program.lines())))  # type: ignore[arg-type]
        assert is_alive(other)
        program.end()
        assert await program.ended == -signal.SIGKILL
        await asyncio.to_thread(eventually, lambda: not is_alive(other), "what it started has ended")

    play(scene)


def test_a_killed_starter_leaves_nothing_behind() -> None:
    """Not what is in the program's group, and not what has left it."""
    script = "sleep 300 & setsid sleep 301 & setsid setsid sleep 302 & for i in 1 2 3; do :; done; echo $$; sleep 303"
    starter = subprocess.Popen([sys.executable, "-c", _STARTER, "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    pid = int(starter.stdout.readline())
    mark = next(one for one in _environ(pid) if one.startswith(b"ARGUS_ASKED="))
    # The program, its four sleeps, and the shell beside it.
    eventually(lambda: len(_carrying(mark)) >= 6, "all of them run")
    starter.kill()
    starter.wait(DEADLINE)
    eventually(lambda: not _carrying(mark), f"all of them have ended; {_carrying(mark)}")
    starter.stdout.close()


def _carrying(mark: bytes) -> list[int]:
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [pid for pid in pids if mark in _environ(pid)]


def _environ(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
