"""Starts agents on this machine, finds them again, sees them end, and ends them. See `shim.py` and `runfolder.py`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import re
import signal
from collections.abc import Awaitable, Mapping
from pathlib import Path

from argus.core.vital import Vital
from argus.host import shim, tmux
from argus.host.children import Child, Children
from argus.host.identity import Identity, identify, send
from argus.host.launching import NONCE, Ended, Launch, LaunchFailed, LaunchUncertain, NotEnded, Running
from argus.host.programs import problem
from argus.host.runfolder import Beacon, Began, RunFolder, last
from argus.host.vitals import carriers, carries, end_carriers, gone, look, signal_group

_NONCE = re.compile(r"[A-Za-z0-9_-]{8,128}")
_HALF_WAY = 2.0
"""Seconds for a shim that has taken its latch to write its note; it needs less than a millisecond."""
_LAST_NOTE = 2.0
"""Seconds for a shim to note the exit and to end; it needs a few milliseconds."""
_BUSY_DISK = 15.0
"""Seconds more for one that is there and has not noted it, on a machine that is busy. What is not waited for is lost,
and an agent that has finished would be taken for one that died."""
_KILLED = 10.0
"""Seconds in which a killed process is gone, unless it hangs in the kernel."""
_SEARCH = 5.0
_CAPTURE = 2.0
_CLEARED = 0.2
"""Seconds after a death in which what it left is ended. Not at once: the search takes milliseconds, and its successor
starts in as few."""


class MachineLauncher:
    """The launcher on a real machine. `close` stops the watching; the agents go on."""

    def __init__(self) -> None:
        self._children = Children()
        self._tmux = tmux.Tmux(self._children)
        self._umask = _umask()
        # Of its own: reading about a process can hang with it, and nothing else may wait behind that.
        self._searcher = concurrent.futures.ThreadPoolExecutor(2, "argus-search")

    def close(self) -> None:
        self._children.close()
        self._searcher.shutdown(wait=False, cancel_futures=True)

    def prepare(self, folder: str) -> None:
        try:
            RunFolder(folder).make()
        except OSError as error:
            raise LaunchFailed(f"the run folder {folder} cannot be made: {error.strerror}") from error

    async def launch(self, launch: Launch, *, timeout: float) -> Running:
        deadline = asyncio.get_running_loop().time() + timeout
        if not _NONCE.fullmatch(launch.nonce):
            raise ValueError("a nonce is 8 to 128 letters, digits, _ and -")
        self.prepare(launch.folder)
        folder = RunFolder(launch.folder)
        attempt = _attempt(folder)
        if attempt and await self._ended_unread(folder, launch.nonce):
            raise LaunchFailed("it had begun, and is gone; what its shim noted cannot be read")
        began = await _settle(folder, attempt, deadline=deadline) if attempt else None
        if began is None:
            try:
                self._check(launch)
                began = await self._begin(launch, folder, attempt + 1, deadline)
            except LaunchFailed:
                # What is said to have failed must not begin after all: a shim that a killed Argus started just before
                # may still be on its way to the same latch.
                began = await _settle(folder, attempt + 1, deadline=0)
                if began is None:
                    raise
        if began.running.nonce != launch.nonce:
            raise LaunchFailed(f"the run folder {folder.path} belongs to another start")
        return began.running

    def _check(self, launch: Launch) -> None:
        said = problem(launch.argv, launch.cwd, _environment(launch), launch.env)
        if not said and launch.tmux is not None:
            if not tmux.is_name(launch.tmux) or not tmux.is_name(launch.tmux_socket):
                said = f"not a name for a tmux session: {launch.tmux} on {launch.tmux_socket}"
            elif self._tmux.program() is None:
                said = "tmux is not installed"
        if said:
            raise LaunchFailed(said)

    async def _begin(self, launch: Launch, folder: RunFolder, attempt: int, deadline: float) -> Began:
        if launch.tmux is None:
            child = self._spawn(launch, folder, attempt)
            try:
                began = await _settle(folder, attempt, deadline=deadline, starter=child.ended)
            except LaunchUncertain:
                child.end_group()  # our own child, not reaped yet: after this it is certain
                began = await _settle(folder, attempt, deadline=deadline)
            refusal = f"its shim ended before it could begin: {folder.tail(3).strip()}"
        else:
            refusal = await self._in_tmux(launch, folder, attempt, deadline)
            began = await _settle(folder, attempt, deadline=0 if refusal else deadline)
        if began is None:
            raise LaunchFailed(refusal or "it did not begin in time")
        return began

    def _spawn(self, launch: Launch, folder: RunFolder, attempt: int) -> Child:
        command = shim.command(
            folder=str(folder.path), attempt=attempt, umask=self._umask, cwd=launch.cwd, nonce=launch.nonce
        )
        try:
            log = folder.open_log()
            try:
                return self._children.spawn((*command, *launch.argv), _environment(launch), output=log)
            finally:
                os.close(log)
        except OSError as error:
            raise LaunchFailed(f"{shim.SHELL} cannot be started in {folder.path}: {error.strerror}") from error

    async def _in_tmux(self, launch: Launch, folder: RunFolder, attempt: int, deadline: float) -> str:
        """Why it could not be started; empty: tmux has taken it."""
        program = self._tmux.program()
        assert launch.tmux is not None
        assert program is not None
        try:
            folder.give(attempt, tmux.given(launch.argv, _environment(launch), launch.env))
        except OSError as error:
            return f"the run folder {folder.path} cannot be written: {error.strerror}"
        command = shim.command(
            folder=str(folder.path), attempt=attempt, umask=self._umask, cwd=launch.cwd, nonce=launch.nonce,
            tmux=program, socket=launch.tmux_socket,
        )  # fmt: skip
        session = tmux.Session(launch.tmux_socket, launch.tmux, launch.cwd)
        try:
            await self._tmux.start(session, command, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
        except tmux.TmuxFailed as failed:
            # An agent that ended at once took the session with it, and the options found none: the notes decide.
            return str(failed)
        return ""

    async def find(self, folder: str, nonce: str) -> Running | Ended | None:
        run = RunFolder(folder)
        if not run.was_prepared():
            return None
        if await self._ended_unread(run, nonce):
            return Ended(None)
        began = _began(run)
        if began is None:
            # Attempt + 1: a shim that a killed Argus started just before may still be on its way to that latch.
            began = await _settle(run, _attempt(run) + 1, deadline=0)
        if began is None or began.running.nonce != nonce:
            return None
        is_of_this_boot = began.boot == _boot()
        if is_of_this_boot and look(began.running.agent) is not Vital.DEAD:
            return began.running
        if is_of_this_boot:
            await _noted(run, began.running.shim)
        with contextlib.suppress(OSError):
            run.bound()
        return Ended(run.exit_status(began.running.shim))

    async def _ended_unread(self, folder: RunFolder, nonce: str) -> bool:
        """Whether its note cannot be read, and nobody who carries its nonce is left. Raises LaunchUncertain."""
        try:
            folder.began()
        except OSError as error:
            search = asyncio.get_running_loop().run_in_executor(self._searcher, _is_carried, nonce)
            with contextlib.suppress(TimeoutError, OSError):
                if not await asyncio.wait_for(asyncio.shield(search), _SEARCH):
                    return True
            raise LaunchUncertain(f"the note in {folder.path} cannot be read: {error.strerror}") from error
        return False

    async def ended(self, running: Running) -> Ended:
        await gone(running.agent)
        # The shim notes the exit, ends what is left of the group, and itself: when it is gone there is no more to come.
        await _noted(RunFolder(running.folder), running.shim)
        with contextlib.suppress(OSError):  # a log that cannot be cut is no reason to miss an end
            self.bound(running.folder)  # nobody looks at it again
        return Ended(RunFolder(running.folder).exit_status(running.shim))

    def clear(self, running: Running) -> None:
        if running.nonce:
            asyncio.get_running_loop().call_later(_CLEARED, self._clear, running)

    def _clear(self, running: Running) -> None:
        with contextlib.suppress(RuntimeError):  # Argus ends: the next one finds the same
            self._searcher.submit(end_carriers, running, signal.SIGKILL)

    def identify(self, pid: int) -> Identity | None:
        with contextlib.suppress(OSError):
            return identify(pid)
        return None

    def look(self, identity: Identity) -> Vital | None:
        return look(identity)

    def carries(self, pid: int, nonce: str) -> bool:
        return carries(pid, nonce)

    async def stop(self, running: Running, *, grace: float) -> bool:
        was_alive = look(running.agent) is not Vital.DEAD
        if was_alive:
            signal_group(running, signal.SIGTERM)
            signal_group(running, signal.SIGCONT)  # one that is stopped would see the request only when it goes on
            await self._end_carriers(running, signal.SIGTERM)
            if not await _within(grace, gone(running.agent)):
                if look(running.shim) is Vital.DEAD:
                    signal_group(running, signal.SIGKILL)
                # The agent alone: its shim then notes how it ended, and ends the rest of the group and itself.
                send(running.agent, signal.SIGKILL)
        if not await _within(_LAST_NOTE, gone(running.shim)):
            signal_group(running, signal.SIGKILL)
        await self._end_carriers(running, signal.SIGKILL)
        if not await _within(_KILLED, gone(running.agent)):
            raise NotEnded(f"process {running.agent.pid} was killed and is still there")
        return was_alive

    async def _end_carriers(self, running: Running, number: int) -> None:
        search = asyncio.get_running_loop().run_in_executor(self._searcher, end_carriers, running, number)
        with contextlib.suppress(TimeoutError, OSError):  # what cannot be searched cannot be ended
            await asyncio.wait_for(asyncio.shield(search), _SEARCH)

    async def tail(self, folder: str, lines: int) -> str:
        run = RunFolder(folder)
        began = None
        with contextlib.suppress(LaunchUncertain):
            began = _began(run)
        if began is not None and began.pane and look(began.running.shim) is not Vital.DEAD:
            seen = await self._tmux.capture(
                began.socket, began.pane, lines, pid=began.running.shim.pid, timeout=_CAPTURE
            )
            if seen is not None:
                return last(seen, lines)
        return run.tail(lines)

    def bound(self, folder: str) -> None:
        RunFolder(folder).bound()


async def _settle(
    folder: RunFolder, attempt: int, *, deadline: float, starter: asyncio.Future[int] | None = None
) -> Began | None:
    """Waits until it is certain what became of an attempt. None: nothing, and nothing will.

    `starter`: the process that would take the latch. When it has ended, or the deadline has passed, the attempt is
    fenced: whoever has not taken the latch by then never will.
    """
    loop = asyncio.get_running_loop()
    last = max(deadline, loop.time()) + _HALF_WAY
    while True:
        try:
            with folder.beacon() as beacon:
                if loop.time() >= deadline or (starter is not None and starter.done()):
                    folder.fence(attempt)
                # Looked at in this order: see runfolder.py.
                latched, held, began = folder.is_latched(attempt), beacon.is_held(), folder.began()
                if began is not None or (latched and not held):
                    return began
                now = loop.time()
                if now >= last:
                    raise LaunchUncertain(f"a start in {folder.path} hangs half-way")
                await _change(beacon, starter, (deadline if now < deadline else last) - now)
        except OSError as error:
            raise LaunchUncertain(f"the run folder {folder.path} cannot be read: {error.strerror}") from error


async def _change(beacon: Beacon, starter: asyncio.Future[int] | None, timeout: float) -> None:
    """Returns when somebody has left the beacon, when the starter has ended, or after the time."""
    loop = asyncio.get_running_loop()
    changed: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not changed.done():
            changed.set_result(None)

    loop.add_reader(beacon.handle, wake)
    if starter is not None:
        starter.add_done_callback(wake)
    try:
        await _within(timeout, changed)
    finally:
        loop.remove_reader(beacon.handle)
        if starter is not None:
            starter.remove_done_callback(wake)


async def _noted(run: RunFolder, shim: Identity) -> None:
    if not await _within(_LAST_NOTE, gone(shim)) and run.exit_status(shim) is None:
        await _within(_BUSY_DISK, gone(shim))


async def _within(seconds: float, what: Awaitable[None]) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await what
    except TimeoutError:
        return False
    return True


def _attempt(folder: RunFolder) -> int:
    try:
        return folder.attempt()
    except OSError as error:
        raise LaunchUncertain(f"the run folder {folder.path} cannot be read: {error.strerror}") from error


def _began(folder: RunFolder) -> Began | None:
    try:
        return folder.began()
    except OSError as error:
        raise LaunchUncertain(f"the note in {folder.path} cannot be read: {error.strerror}") from error


def _is_carried(nonce: str) -> bool:
    return bool(list(carriers(nonce)))


def _environment(launch: Launch) -> Mapping[str, str]:
    return {**os.environ, **launch.env, NONCE: launch.nonce}


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return "-"
    except OSError as error:
        # Not another boot, after which nobody would be alive.
        raise LaunchUncertain(f"this boot's number cannot be read: {error.strerror}") from error


def _umask() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    mask = os.umask(0o077)  # it can only be asked by setting it
    os.umask(mask)
    return mask
