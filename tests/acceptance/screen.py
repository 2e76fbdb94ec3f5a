"""A real terminal for a test to sit at: a pty with a program on it, what it shows, and the keys."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import threading
from pathlib import Path

from tests.acceptance.harness import DEADLINE, eventually


class Screen:
    """The program leads the terminal's session, as a shell does in a terminal window."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: Path, *, rows: int = 33, columns: int = 111) -> None:
        self._master, slave = os.openpty()
        self.resize(rows, columns)
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self._shown = b""
        self._closing = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        # Never blocked in a read: that would keep the terminal open after it was closed.
        with contextlib.suppress(OSError):  # EIO: nobody holds the other side any more
            while not self._closing.is_set():
                if select.select([self._master], [], [], 0.1)[0]:
                    self._shown += os.read(self._master, 65536)

    @property
    def text(self) -> str:
        return self._shown.decode("utf-8", "replace")

    def shows(self, text: str, times: int = 1) -> None:
        eventually(lambda: self.text.count(text) >= times, f"{text!r} on the screen, which shows {self.text!r}")

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def foreground(self) -> int:
        return os.tcgetpgrp(self._master)

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def ended(self) -> int:
        return self.process.wait(DEADLINE)

    def close(self) -> None:
        """As when the window is closed."""
        if not self._closing.is_set():
            self._closing.set()
            self._reader.join(DEADLINE)
            os.close(self._master)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(DEADLINE)
        self.close()
