"""Regular expressions that others wrote, applied in a process of their own.

`(a+)+$` on thirty letters takes longer than anybody waits, and Python's `re` can neither be stopped nor told how long
it may take: in the daemon it would hold everything up for ever. A process can be ended. It is started with the first
expression and kept, so that each of the others takes a tenth of a millisecond, and it may not take much memory.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time

from argus.host import searching

DEADLINE = 5.0
"""Seconds for one search. What is honest takes milliseconds."""
_START = 30.0
_SIZE = 4


class TooSlow(Exception):
    """The expression was not done with the text in time, or took too much memory."""


class Matcher:
    """For threads, one after another. `search` blocks."""

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def search(self, pattern: str, text: str) -> bool:
        """Whether it is found in the text. Raises TooSlow, and ValueError for what is no expression."""
        with self._lock:
            if self._is_closed:
                raise TooSlow("nobody waits for it any more")
            try:
                answer = self._asked(pattern.encode("utf-8", "replace"), text.encode("utf-8", "replace"))
            except (OSError, TimeoutError):
                answer = b""
            if not answer:
                self._end()
        if not answer:
            raise TooSlow(f"the regular expression {pattern[:80]!r} was not done within {self._deadline:g} s")
        if answer not in (b"0", b"1"):
            raise ValueError(f"not a regular expression: {pattern[:80]!r}")
        return answer == b"1"

    def close(self) -> None:
        """A search that is under way ends with it."""
        self._is_closed = True
        child = self._child
        if child is not None:
            child.kill()
        with self._lock:
            self._end()

    def _asked(self, pattern: bytes, text: bytes) -> bytes:
        if self._child is None:
            self._child = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", "-W", "ignore", searching.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                bufsize=0,
            )
            if self._is_closed:
                raise TimeoutError  # whoever closes us saw no process to end
            assert self._child.stdin is not None
            os.set_blocking(self._child.stdin.fileno(), False)
            # A Python that starts on a busy machine is no slow expression.
            self._read(self._child, time.monotonic() + _START)
        until = time.monotonic() + self._deadline
        message = b"".join(len(one).to_bytes(_SIZE, "big") + one for one in (pattern, text))
        self._write(self._child, message, until)
        return self._read(self._child, until)

    @staticmethod
    def _write(child: subprocess.Popen[bytes], message: bytes, until: float) -> None:
        assert child.stdin is not None
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdin, selectors.EVENT_WRITE)
            rest = memoryview(message)
            while rest:
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError
                rest = rest[child.stdin.write(rest) or 0 :]

    @staticmethod
    def _read(child: subprocess.Popen[bytes], until: float) -> bytes:
        assert child.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            if not selector.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            return child.stdout.read(1) or b""

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for one in (child.stdin, child.stdout):
                if one is not None:
                    one.close()
