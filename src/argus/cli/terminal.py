"""The terminal that a live view takes over: single keys, and every way to give it back as it was."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import signal
import termios
import time
import tty
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_TICK = 0.1
"""Seconds that one look at the keyboard waits."""
_REST = 0.1
"""Seconds after which the rest of a key of several bytes would have come, also over a slow line."""
_MOST = 200
"""Bytes of one such key; what is longer is none."""
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_WHOLE = re.compile(rb"\x1b+(?:\[\[.|\[[0-?]*[ -/]*[@-Z\\-~]|O.|[\]PX^_].*(?:\x07|\x1b\\)|[^\x1b\[O\]PX^_])", re.DOTALL)

ESCAPE = "\x1b"


class Gone(Exception):
    """The terminal is: its window was closed, or its line was cut."""


class Signals:
    """What was sent to this process; noted, so that whoever draws can end in order."""

    def __init__(self) -> None:
        self.ending = 0
        """The signal that ends it, if one came."""
        self.stopping = False
        """It was asked to step back: Ctrl-Z."""
        self.continued = False
        """It was stopped and runs again; whoever had the terminal meanwhile has set it up for itself."""

    @property
    def any(self) -> bool:
        return bool(self.ending) or self.stopping or self.continued

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        # One that is ignored stays so: `nohup` has a reason.
        wanted = [one for one in (*_ENDING, signal.SIGTSTP, signal.SIGCONT) if signal.getsignal(one) != signal.SIG_IGN]
        before = {one: signal.signal(one, self._note) for one in wanted}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number in _ENDING:
            self.ending = number
        elif number == signal.SIGTSTP:
            self.stopping = True
        else:
            self.continued = True

    def step_back(self) -> None:
        """Stops, if that was asked for, until somebody continues it. The terminal must have been given back."""
        if self.stopping and not self.ending:
            noting = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTSTP)
            signal.signal(signal.SIGTSTP, noting)
        self.stopping = self.continued = False


@contextlib.contextmanager
def keys(signals: Signals) -> Iterator[Callable[[], str]]:
    """Single keys, without waiting for a line; the terminal is as before afterwards."""
    if not os.isatty(0) or not _came_to_front(signals):
        yield _nobody
        return
    try:
        before = termios.tcgetattr(0)
    except termios.error:
        raise Gone from None
    try:
        _set(lambda: tty.setcbreak(0, termios.TCSANOW))
        yield _pressed
    finally:
        if _came_to_front(signals):
            _set(lambda: termios.tcsetattr(0, termios.TCSANOW, before))


def is_whole(key: bytes) -> bool:
    """Whether a key of several bytes has come to its end: an arrow, a function key, a letter with Alt."""
    return len(key) > _MOST or _WHOLE.fullmatch(key) is not None


def _pressed() -> str:
    """One key; none where nothing was pressed in time, or one of several bytes, which are all taken from the line:
    the shell would read what is left of them."""
    if not _ready(_TICK):
        return ""
    key = _byte()
    if key == ESCAPE.encode():
        while not is_whole(key) and _ready(_REST):
            key += _byte()
        # Pressed by itself, once or more often, it is a key like others.
        return "" if key.strip(ESCAPE.encode()) else ESCAPE
    return key.decode("ascii", "replace")


def _ready(seconds: float) -> bool:
    return bool(select.select([0], [], [], seconds)[0])


def _byte() -> bytes:
    try:
        one = os.read(0, 1)
    except OSError:
        one = b""
    if not one:
        raise Gone
    return one


def _nobody() -> str:
    """There is no keyboard."""
    time.sleep(_TICK)
    return ""


def _came_to_front(signals: Signals) -> bool:
    """In the background the terminal is somebody else's, and the kernel stops who sets it up. So that is waited for;
    but not by who is to end."""
    while not _is_in_front():
        if signals.ending:
            return False
        time.sleep(_TICK)
    return True


def _is_in_front() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return True  # it is not the terminal that we were started from: there is nobody else


def _set(change: Callable[[], Any]) -> None:
    """One that is gone needs nothing."""
    while True:
        try:
            change()
        except termios.error as error:
            if error.args[0] == errno.EINTR:
                continue
        return
