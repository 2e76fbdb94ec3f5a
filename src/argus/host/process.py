"""Programs: started from lists of arguments, in a group of their own, each with a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from argus.core.failpoints import Place, reach
from argus.host import become
from argus.host.become import NOT_STARTED
from argus.host.files import write_private
from argus.host.identity import Identity, identify, is_alive, is_surely
from argus.host.seam import Ran

_TAIL = 64 * 1024
_LOG = 512 * 1024
_POLL = 0.1


async def run(argv: list[str], *, timeout: float, log: str) -> Ran:
    """Runs a program to its end or its deadline.

    Its output goes to a file and not through a pipe: a restart command leaves a service behind that inherits the
    descriptor, and would be killed by SIGPIPE, or keep us waiting for the end of file, if it were a pipe of ours. For
    the same reason the group is ended only at the deadline, never after a normal exit; and when Argus itself is
    stopped the program goes on, because half a restart is worse than one that nobody watches.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    path = Path(log)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError as error:
        return Ran(None, "", 0.0, f"cannot write {path.name}: {error.strerror}", begun=False)
    note = _note(path)
    reach(Place.COMMAND_DUE)
    try:
        child, told = _start(argv, note, handle)
    except (OSError, ValueError) as error:
        why = f"cannot start {argv[0]}: {getattr(error, 'strerror', '') or error}"
        return Ran(None, "", loop.time() - began, why, begun=False)
    finally:
        os.close(handle)
    reach(Place.COMMAND_FORKED)
    problem = ""
    try:
        async with asyncio.timeout(timeout):
            problem = await _refusal(told)
            if not problem:
                _write_note(note, child.pid)
                reach(Place.COMMAND_RUNS)
            await _ended(child)
    except TimeoutError:
        problem = f"not finished within {timeout:g} s"
        _end_group(child.pid)
        await _ended(child)
    finally:
        os.close(told)
    reach(Place.COMMAND_ENDED)
    note.unlink(missing_ok=True)
    if problem and child.returncode == NOT_STARTED:
        return Ran(None, "", loop.time() - began, f"cannot start {argv[0]}: {problem}", begun=False)
    said = tail(path)
    _bound(path, said)
    return Ran(None if problem else child.returncode, said, loop.time() - began, problem)


async def outlast(log: str, *, timeout: float) -> bool:
    """Argus was killed or stopped while a program ran; the program goes on, and its note says which one it is."""
    note = _note(Path(log))
    try:
        said = json.loads(note.read_text(encoding="utf-8"))
        left_running = Identity(int(said["pid"]), str(said["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if not is_alive(left_running):
        note.unlink(missing_ok=True)
        return False
    loop = asyncio.get_running_loop()
    until = loop.time() + timeout
    while is_alive(left_running) and loop.time() < until:  # noqa: ASYNC110 - not our child: there is nothing to wait on
        await asyncio.sleep(_POLL)
    if is_surely(left_running):
        _end_group(left_running.pid)
    elif is_alive(left_running):
        return True  # nobody can look at it now: it gets no signal on a guess, and its note stays for the next time
    note.unlink(missing_ok=True)
    return True


def _note(log: Path) -> Path:
    return log.with_name(f"{log.name}.pid")


def _start(argv: list[str], note: Path, output: int) -> tuple[subprocess.Popen[bytes], int]:
    """The child, and a descriptor that says when it has become the program, or why it could not."""
    note.unlink(missing_ok=True)  # of a command before this one
    told, tell = os.pipe()
    try:
        child = subprocess.Popen(  # noqa: S603 - a list of arguments; the fork takes a few milliseconds
            [sys.executable, "-I", "-S", become.__file__, str(note), str(tell), *argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[tell],
            start_new_session=True,
        )
    except BaseException:
        os.close(told)
        raise
    finally:
        os.close(tell)
    return child, told


async def _refusal(told: int) -> str:
    """Empty when the program runs."""
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(told, _settle, readable)
    try:
        await readable
    finally:
        loop.remove_reader(told)
    said = os.read(told, 16)
    return os.strerror(int(said)) if said else ""


def _write_note(note: Path, pid: int) -> None:
    """Where there is no /proc, the program could not write it by itself."""
    # Without the note a later Argus does not know of the program; that is no reason not to run it.
    with contextlib.suppress(OSError):
        who = None if note.exists() else identify(pid)
        if who is not None:
            write_private(note, json.dumps({"pid": who.pid, "started": who.started}))


async def _ended(child: subprocess.Popen[bytes]) -> None:
    """Returns when it has ended, and reaps it. The kernel says so at once through a pidfd; elsewhere a thread waits."""
    if not hasattr(os, "pidfd_open"):
        await asyncio.to_thread(child.wait)
        return
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    handle = os.pidfd_open(child.pid)
    try:
        loop.add_reader(handle, _settle, ended)
        await ended
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    child.wait()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _end_group(pid: int) -> None:
    """Ends the whole group of a child that leads its session and is not reaped yet, so the number is still its own."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended by itself in the meantime: nothing is left to end


def _bound(path: Path, said: str) -> None:
    """A command that printed without end leaves its last words. What still writes to the file appends after them."""
    try:
        if path.stat().st_size > _LOG:
            with path.open("r+b") as file:
                file.truncate(0)
                file.write(said.encode())
    except OSError:
        return  # a log that cannot be shortened is no reason to fail a restart


def tail(path: Path, size: int = _TAIL) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read(size).decode("utf-8", "replace")
    except OSError as error:
        return f"(the log cannot be read: {error.strerror})"
