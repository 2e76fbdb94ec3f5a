"""Processes that we start and that go on without us. Each is reaped when it ends, so none is left as a zombie."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NAMES = "HUP INT QUIT PIPE ALRM TERM USR1 USR2 CHLD TSTP TTIN TTOU XFSZ"
_DEFAULT = [getattr(signal, f"SIG{name}") for name in _NAMES.split() if hasattr(signal, f"SIG{name}")]
"""What is ignored stays so in a program: Python ignores two of these, and whoever was started in the background of a
script ignores Ctrl-C. An agent is not to."""


@dataclass(frozen=True, slots=True)
class Child:
    pid: int
    ended: asyncio.Future[int]
    """Its exit status, negative for a signal. Once it is done the number may be somebody else's."""
    with_group: bool = False

    def end_group(self) -> None:
        """It leads its group, and until it is reaped nobody else can have the number."""
        if not self.ended.done():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


class Children:
    def __init__(self) -> None:
        self._handles: dict[int, asyncio.AbstractEventLoop] = {}
        _keep_to_ourselves()

    def spawn(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        output: int,
        input: int | None = None,
        errors: int | None = None,
        with_group: bool = False,
        also: Mapping[int, int] | None = None,
    ) -> Child:
        """In a session of its own, with nothing to read unless told, and without any descriptor of ours but these.

        `errors`: where its second output goes, when not to the same place. `with_group`: what it leaves in its group
        ends with it. `also`: other descriptors that it has, by the numbers under which it has them.
        """
        reads: tuple[object, ...] = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        pid = os.posix_spawnp(
            argv[0],
            list(argv),
            env,
            file_actions=[
                reads if input is None else (os.POSIX_SPAWN_DUP2, input, 0),
                (os.POSIX_SPAWN_DUP2, output, 1),
                (os.POSIX_SPAWN_DUP2, output if errors is None else errors, 2),
                *((os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in (also or {}).items()),
            ],
            setsid=True,
            setsigmask=[],
            setsigdef=_DEFAULT,
        )
        loop = asyncio.get_running_loop()
        child = Child(pid, loop.create_future(), with_group)
        try:
            handle = os.pidfd_open(pid)
        except (AttributeError, OSError):  # not Linux, forbidden, or too many files open
            threading.Thread(target=self._wait, args=(loop, child), daemon=True).start()
            return child
        self._handles[handle] = loop
        loop.add_reader(handle, self._reap, handle, child)
        return child

    def _reap(self, handle: int, child: Child) -> None:
        self._forget(handle)
        _settle(child, _reaped(child))

    def _forget(self, handle: int) -> None:
        self._handles.pop(handle).remove_reader(handle)
        os.close(handle)

    @staticmethod
    def _wait(loop: asyncio.AbstractEventLoop, child: Child) -> None:
        status = _reaped(child)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            loop.call_soon_threadsafe(_settle, child, status)

    def close(self) -> None:
        """They go on; whoever adopts them reaps them."""
        for handle in list(self._handles):
            self._forget(handle)


def _keep_to_ourselves() -> None:
    """What we opened ourselves is not inherited, but what our own starter left open in us would be, for ever."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # the one that listed them is closed by now
                os.set_inheritable(int(name), False)


def _reaped(child: Child) -> int:
    if child.with_group:
        # It has ended and is not reaped yet: the number of its group cannot be anybody else's.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    return os.waitpid(child.pid, 0)[1]


def _settle(child: Child, status: int) -> None:
    if not child.ended.done():
        child.ended.set_result(os.waitstatus_to_exitcode(status))
