"""The state folder: ours alone. What others could have put there or read is not trusted, and that is said.

Light, because the CLI asks at every start.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from argus.core.errors import IN_THE_WAY, ArgusError, Code

_FILES = ("argus.lock", "argus.db", "argus.db.lock", "argus.db-wal", "argus.db-shm", "token", "daemon.json")
_LOGS = ("logs/argus.log", "logs/argus.err")
_OURS = (*(name for name in _FILES if name != "argus.db.lock"), "logs")
_MOST = 64 * 1024
"""Bytes of a token or a note that are read; they have a few hundred."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_SHORTEST = 16
"""Characters of a token that somebody wrote; ours have 43."""
_SIGNS = {"argus.lock", "argus.db", "token"}
"""What makes a folder with other things in it a state folder."""


def make(path: Path) -> None:
    """Makes it, or looks at the one that is there. Raises OSError for one that Argus must not use."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_owner(path)
    mode = path.stat().st_mode & 0o7777
    if mode & 0o077 and not _names(path):
        path.chmod(0o700)
    inside = _names(path) if mode & 0o077 else set()
    if inside and not inside & _SIGNS:
        raise OSError(errno.EPERM, "it is open to others and holds what is not Argus's")
    if inside and mode & 0o022:
        # Whoever could write there could have left a token that they know, or a link to somebody's file.
        raise OSError(
            errno.EPERM,
            f"others can write to it (mode {mode:o}) and may have put something there; "
            f"look at what it holds, then: chmod 700 {path}",
        )
    for name in _OURS:
        check_owner(path / name)
    for name in (*_FILES, *_LOGS):
        check_kind(path / name)


def kind(path: Path) -> str:
    """What lies there, where that is no file: nothing may be opened that others could make us wait for."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no file")


def check_kind(path: Path) -> None:
    """Of a folder its opening says so."""
    if kind(path) not in ("", _KINDS[stat.S_IFDIR]):
        raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE), str(path))


def read(path: Path) -> str:
    """A small file of ours. Raises OSError or UnicodeDecodeError; waits for nobody."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            number = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.ESPIPE
            raise OSError(number, f"it is {kind(path) or 'no file'}", str(path))
        return os.read(handle, _MOST).decode("utf-8")
    finally:
        os.close(handle)


def mark(path: Path) -> str:
    """Which folder it is, whatever it is called: a copy is another one, and a renamed one is the same."""
    found = path.stat()
    return f"{found.st_dev}:{found.st_ino}"


def unfit(token: str) -> str:
    """What keeps a token from being one; empty where nothing does. It opens every door, so it must not be guessed."""
    if not token.isascii() or not token.isprintable() or " " in token:
        return "has white space in it, or letters that no header can carry"
    return f"is shorter than {_SHORTEST} characters: it could be guessed" if len(token) < _SHORTEST else ""


def unusable(path: Path, error: OSError, advice: str = "") -> ArgusError:
    """A folder that cannot be used is a user's mistake or a full disk, and said as such."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(path, advice)
    named = "it" if str(error.filename or path) == str(path) else str(error.filename)
    actions: tuple[str, ...] | None = None
    why = f"{'' if named == 'it' else f'{named}: '}{error.strerror or error}{advice}"
    if error.errno == errno.EISDIR:
        why, actions = f"{error.filename2 or error.filename} is a folder, and a file belongs there", IN_THE_WAY
    elif error.errno == errno.ESPIPE:
        lies = Path(str(error.filename))
        why, actions = f"{lies} is {kind(lies) or 'no file'}, and a file belongs there", IN_THE_WAY
    elif error.errno == errno.EEXIST:
        # Of the state folder itself, to name another one is the better advice.
        why = f"{named} is no folder, and one belongs there{advice}"
        actions = None if named == "it" else IN_THE_WAY
    elif error.errno in (errno.EPERM, errno.EMLINK):
        actions = ("check_store",)  # no room and no time mends it
    refused = ArgusError(Code.STORE_UNAVAILABLE, f"{path} cannot be used: {why}", folder=str(path))
    refused.actions = actions
    return refused


def full(path: Path, advice: str = "") -> ArgusError:
    why = f"{path} cannot be used: the disk is full, so nothing could be recorded{advice}"
    refused = ArgusError(Code.STORE_UNAVAILABLE, why, folder=str(path))
    refused.actions = ("free_disk_space",)
    return refused


def _names(path: Path) -> set[str]:
    return {entry.name for entry in path.iterdir()}


def check_owner(path: Path) -> None:
    """Also for root, who could use it all the same: whoever owns it decides what is in it."""
    try:
        owner = path.lstat().st_uid if path.name in _OURS else path.stat().st_uid
    except FileNotFoundError:
        return
    if owner != os.geteuid():
        raise OSError(
            errno.EPERM,
            f"{path} belongs to the user {_name(owner)}, and Argus runs as {_name(os.geteuid())}; run Argus as that "
            "user, give the folder another owner, or name another one with ARGUS_HOME",
        )


def close(path: Path) -> list[str]:
    """Takes away what others may do with it and what is ours in it. Returns what there is to say about that."""
    said = []
    for one in (path, *(path / name for name in _OURS)):
        try:
            mode = one.stat().st_mode & 0o7777
        except FileNotFoundError:
            continue
        if not mode & 0o077:
            continue
        if one.name == "token":
            one.unlink()
            said.append(f"others could read the token (mode {mode:o}); it is no longer good, there is a new one")
        else:
            one.chmod(mode & 0o700)
            said.append(f"{one} was open to others (mode {mode:o}); it is closed now")
    return said


def _name(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
