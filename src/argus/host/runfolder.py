"""The run folder of one start of one agent: its latch, its beacon, the notes of its shim, and its log.

How one folder never makes two agents
-------------------------------------
A start is tried under a number. The shim of attempt N holds the beacon open, then takes `latch.N` (made only if it is
not there), then writes `began`, then lets go of the beacon and becomes the agent. Argus may take `latch.N` too, as a
fence: then the shim of attempt N, should it come late, finds it taken and ends.

An attempt is *settled* when, looked at in this order, its latch is taken, nobody is at the beacon, and there is no
`began`. Its taker was then either Argus, or a shim that died: a living one would still be at the beacon, and one that
let go of it has written `began` before. So no agent came of it, and none will.

Attempt N+1 is begun only after attempt N was settled. So of all the shims that were ever started for a folder, at most
one writes `began`, whichever Argus started them and whatever was killed in between: those of N cannot any more, and
those of N+1 share one latch. Nothing is ever removed, so there is no moment at which a late one could slip through.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from argus.host.identity import Identity, identify
from argus.host.launching import Running

LOG_LIMIT = 5 * 1024 * 1024
_KEPT = LOG_LIMIT // 2
_TAIL = 256 * 1024
_LONGEST_NOTE = 64 * 1024
_LATER = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})
_LATCH = re.compile(r"latch\.([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Began:
    """What the shim noted before it became the agent."""

    boot: str
    running: Running
    socket: str = ""
    pane: str = ""
    """Of tmux, and only in a pane."""


class RunFolder:
    def __init__(self, folder: str) -> None:
        self.path = Path(folder)
        self.log = self.path / "log"

    def make(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(0o700)
        with contextlib.suppress(FileExistsError):
            os.mkfifo(self.path / "beacon", 0o600)

    def was_prepared(self) -> bool:
        """Without a beacon no shim was ever started here."""
        return (self.path / "beacon").is_fifo()

    def attempt(self) -> int:
        """The highest one whose latch is taken; 0: none."""
        found = (_LATCH.fullmatch(entry.name) for entry in self.path.iterdir())
        return max((int(match[1]) for match in found if match), default=0)

    def is_latched(self, attempt: int) -> bool:
        return (self.path / f"latch.{attempt}").exists()

    def fence(self, attempt: int) -> None:
        """After this the shim of that attempt runs nothing, unless it was there first."""
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path / f"latch.{attempt}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    @contextlib.contextmanager
    def beacon(self) -> Iterator[Beacon]:
        handle = os.open(self.path / "beacon", os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield Beacon(handle)
        finally:
            os.close(handle)

    def give(self, attempt: int, content: bytes) -> None:
        """What a shim cannot be given on its command line. It empties the file once it has read it."""
        beside = self.path / f"given.{attempt}.{os.getpid()}"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        beside.replace(self.path / f"given.{attempt}")

    def open_log(self) -> int:
        return os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def began(self) -> Began | None:
        """Raises OSError when there is a note that nobody can read: something began, and who it is is not known."""
        match self._note("began"):
            case None:
                return None
            case [boot, pid, started, agent_pid, agent_started, nonce, *where] if _is_pid(pid) and _is_pid(agent_pid):
                shim, agent = _identity(pid, started), _identity(agent_pid, agent_started)
                running = Running(agent, shim, nonce, str(self.path))
                return Began(boot, running, *where) if len(where) == 2 else Began(boot, running)
        raise OSError(errno.EBADMSG, "what its shim noted was overwritten")

    def exit_status(self, shim: Identity) -> int | None:
        """None also when the note is of no use. Raises OSError when it may be read later."""
        try:
            found = self._note("ended")
        except OSError as error:
            if error.errno in _LATER:
                raise
            return None
        match found:
            case [pid, started, status] if _is_pid(pid) and (_identity(pid, started) == shim or started == "-"):
                return int(status) if re.fullmatch("[0-9]{1,3}", status) else None
        return None

    def _note(self, name: str) -> list[str] | None:
        try:
            # Not waiting for a writer: an agent can put anything in the place of its notes.
            handle = os.open(self.path / name, os.O_RDONLY | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with open(handle, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise OSError(errno.EBADMSG, "what its shim noted was replaced")
            text = (file.read(_LONGEST_NOTE) or b"").decode("ascii", "replace")
        words = text.split()
        # A note without its end was not written whole: the disk was full, or the machine lost its power.
        return words[1:-1] if text.endswith(" end\n") and words[0] == name else None

    def tail(self, lines: int) -> str:
        try:
            # An agent can put anything in the place of its log: nothing that has to be waited for, nor a link.
            handle = os.open(self.log, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                return ""
            raise
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return ""
            text = os.pread(handle, _TAIL, max(0, found.st_size - _TAIL)).decode("utf-8", "replace")
        finally:
            os.close(handle)
        return last(text, lines)

    def bound(self) -> None:
        """Keeps the last part of a log that has grown too long, in order, while the agent goes on appending to it."""
        try:
            if os.lstat(self.log).st_size <= LOG_LIMIT:  # nearly always, and asked of every agent every second
                return
            # Not through a link that an agent put there: what is behind it is not ours to cut.
            handle = os.open(self.log, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            return
        try:
            size = os.fstat(handle).st_size
            if size <= LOG_LIMIT:
                return
            source, target = size - _KEPT, 0
            # What is appended meanwhile lands behind `size` and is moved as well; only what comes between the last
            # read, which finds nothing more, and the cut is lost: microseconds.
            # One that writes faster than we copy loses more, and does not hold everybody up.
            while target < LOG_LIMIT and (piece := os.pread(handle, 1 << 20, source)):
                os.pwrite(handle, piece, target)
                source, target = source + len(piece), target + len(piece)
            os.ftruncate(handle, target)
        finally:
            os.close(handle)


class Beacon:
    """One look at the fifo. It becomes readable when somebody who was at it, or came to it, has gone."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def is_held(self) -> bool:
        try:
            # Nobody writes into it: no writer at all reads as the end of the file, a silent one as "try again".
            return bool(os.read(self.handle, 1))
        except BlockingIOError:
            return True


def last(text: str, lines: int) -> str:
    """The last lines, without the empty ones at the end: a pane has as many as it has rows."""
    return "".join(text.rstrip("\n").splitlines(keepends=True)[-lines:]) if lines > 0 else ""


def _is_pid(word: str) -> bool:
    return re.fullmatch("[0-9]{1,10}", word) is not None and int(word) < 2**31


def _identity(pid: str, started: str) -> Identity:
    if started != "-":
        return Identity(int(pid), started)
    # No /proc: the shell could not tell its start time. What is alive under that number says it now.
    return identify(int(pid)) or Identity(int(pid), "-")
