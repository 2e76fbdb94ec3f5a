"""A program in our own terminal, in a process group of its own and in the foreground, as a shell runs a job.

Nothing stands between it and the terminal: size, signals and colours are the real ones. Light: only standard modules.
"""

from __future__ import annotations

import contextlib
import os
import signal
import termios
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from argus.host.identity import Identity, is_surely, send
from argus.host.shim import SHELL

PASSED_ON = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP})
"""What the launcher itself is sent is meant for what it runs."""
_HELD = PASSED_ON | {signal.SIGCHLD}
# The program begins when it is in the foreground, and not before: it would be stopped if it touched the terminal. If
# its starter dies before it says so, it does not begin at all.
_GATE = 'read -r argus_go <&9 || exit 1; exec 9<&-; exec "$@"'


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Signals wait until they are asked for: so none is lost, and none comes in the middle of something."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def next_signal(seconds: float) -> int:
    """The next one that was held, or 0 when none came in that time."""
    found = signal.sigtimedwait(_HELD, seconds)
    return found.si_signo if found else 0


class Terminal:
    """The terminal on standard input; where there is none, nothing here does anything."""

    def __init__(self) -> None:
        self.is_there = os.isatty(0) and self._foreground() is not None

    def _foreground(self) -> int | None:
        try:
            return os.tcgetpgrp(0)
        except OSError:
            return None  # not the one that controls us, or it was closed

    def is_ours(self) -> bool:
        """Whether our own group is the one in the foreground."""
        return self.is_there and self._foreground() == os.getpgrp()

    def give(self, group: int) -> None:
        with _unstopped(), contextlib.suppress(OSError):  # it was closed: there is nothing left to give
            os.tcsetpgrp(0, group)

    def take_back(self, group: int) -> None:
        if self.is_there and self._foreground() == group:
            self.give(os.getpgrp())

    def modes(self) -> Any:
        with contextlib.suppress(termios.error):
            return termios.tcgetattr(0) if self.is_there else None
        return None

    def set_modes(self, modes: Any) -> None:
        if modes is not None:
            with _unstopped(), contextlib.suppress(termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, modes)


class Job:
    """One program with everything in its group. While it is not reaped, nobody else can have the group's number."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], terminal: Terminal) -> None:
        self._terminal = terminal
        self._modes = terminal.modes()
        self._reaped = False
        reading, writing = os.pipe()
        try:
            self.pid = os.posix_spawn(
                SHELL,
                [SHELL, "-c", _GATE, "argus-agent", *argv],
                env,
                file_actions=[(os.POSIX_SPAWN_DUP2, reading, 9)],
                setpgroup=0,
                setsigmask=[],
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
            )
            if terminal.is_ours():
                terminal.give(self.pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(writing, b"\n")
        finally:
            os.close(reading)
            os.close(writing)

    def goes_on(self) -> bool:
        """False once it has ended. When it was stopped, we stop with it, and it goes on when we do."""
        if self._reaped:
            return False
        pid, status = os.waitpid(self.pid, os.WNOHANG | (os.WUNTRACED if self._terminal.is_there else 0))
        if pid and os.WIFSTOPPED(status):
            self._suspend()
        elif pid:
            self._reaped = True
            self._terminal.take_back(self.pid)
        return not self._reaped

    def attend(self, agent: Identity) -> None:
        """What no signal tells: that it stopped itself alone, or that a shell has put us into the foreground."""
        if not self._terminal.is_there or self._reaped:
            return
        if _is_stopped(agent):
            # Its shim does not look after stopped children. Stopped with it, we hear of it.
            self.signal(signal.SIGSTOP)
        elif self._terminal.is_ours():
            self._terminal.give(self.pid)

    def restore_modes(self) -> None:
        """After a program that was killed: it may have left the terminal without echo and line ends."""
        self._terminal.set_modes(self._modes)

    def signal(self, number: int, agent: Identity | None = None) -> None:
        if not self._reaped:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)
        elif agent is not None:
            send(agent, number)

    def _suspend(self) -> None:
        modes = self._terminal.modes()
        self._terminal.take_back(self.pid)
        self._terminal.set_modes(self._modes)
        # The whole of our own group, as Ctrl-Z would have: a script that runs us stops too. Where nobody could let us
        # go on again, the kernel does not stop us, and we go on at once.
        os.kill(0, signal.SIGTSTP)
        if self._terminal.is_ours():
            self._terminal.set_modes(modes)
            self._terminal.give(self.pid)
        else:
            next_signal(0.5)  # one that wants the terminal in the background would stop again at once, for ever
        self.signal(signal.SIGCONT)


def _is_stopped(who: Identity) -> bool:
    try:
        with open(f"/proc/{who.pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "T" and is_surely(who)
    except OSError:
        return False


@contextlib.contextmanager
def _unstopped() -> Iterator[None]:
    """Who changes a terminal from the background is stopped, unless it says that it means it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
