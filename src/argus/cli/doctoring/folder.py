"""The state folder: whose it is, who can look in, how much room is left, who holds its lock."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from shlex import quote

from argus.cli.doctoring.finding import Case, Finding, away, bad, depends, ok, warn
from argus.host import disk, locked
from argus.host import state_folder as state
from argus.store.access import obstacle

_LITTLE, _HARDLY = 500_000_000, 20_000_000


def is_closed(folder: Path) -> bool:
    """Somebody else's, or one that we may not enter: nothing can be said about what is in it."""
    try:
        found = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return found.st_uid != os.geteuid() or (folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK))


def state_folder(case: Case) -> Finding:
    folder = case.home
    there = next(one for one in (folder, *folder.parents) if os.path.lexists(one))
    try:
        found = there.stat()
    except FileNotFoundError:
        return bad(
            "STATE_FOLDER",
            f"{there} is a link to {there.resolve()}, which is not there",
            f"mkdir -p -m 700 {quote(str(there.resolve()))}; or ARGUS_HOME=FOLDER names another",
        )
    except OSError as error:
        return bad("STATE_FOLDER", f"{folder} cannot be looked at: {error.strerror}", "ARGUS_HOME=FOLDER names another")
    if not there.is_dir():
        return bad("STATE_FOLDER", f"{there} is no folder", "move it away, or name another: ARGUS_HOME=FOLDER")
    if there != folder:
        barrier = obstacle(there)
        if barrier is not None:
            return bad(
                "STATE_FOLDER", f"{folder} cannot be made: {barrier.why}", "ARGUS_HOME=FOLDER names another folder"
            )
        return ok("STATE_FOLDER", f"{folder} is made at the first start")
    if found.st_uid != os.geteuid():
        mine, owner = _name(os.geteuid()), _name(found.st_uid)
        return bad(
            "STATE_FOLDER",
            f"{folder} belongs to the user {owner}, and this is {mine}",
            f"run argus as {owner}, or name another: ARGUS_HOME=FOLDER; as root: chown -R {mine} {quote(str(folder))}",
        )
    if found.st_mode & 0o022:
        said = f"others can write to {folder} (mode {found.st_mode & 0o777:o})"
        return bad("STATE_FOLDER", said, f"look at what it holds, then: chmod 700 {folder}")
    barrier = obstacle(folder)
    if barrier is not None:
        return bad("STATE_FOLDER", barrier.why, barrier.remedy)
    logs = [folder / "logs" / name for name in ("argus.log", "argus.err")]
    misplaced = _misplaced(folder / "logs", folder / "daemon.json", *logs)
    if misplaced is not None:
        return misplaced
    for one in (log if log.exists() else log.parent for log in logs):
        barrier = obstacle(one)
        if barrier is not None:
            return bad("STATE_FOLDER", barrier.why, barrier.remedy)
    if found.st_mode & 0o077:
        said = f"others can look into {folder} (mode {found.st_mode & 0o777:o})"
        return warn("STATE_FOLDER", said, f"chmod 700 {folder}; the next start does so too")
    return ok("STATE_FOLDER", f"{folder}, yours alone")


def in_the_way(name: str, path: Path) -> Finding | None:
    """Where a file of ours belongs, and something else is."""
    kind = state.kind(path)
    return bad(name, f"{path} is {kind}, and a file belongs there", away(path)) if kind else None


def _misplaced(logs: Path, *files: Path) -> Finding | None:
    if os.path.lexists(logs) and not logs.is_dir():
        return bad("STATE_FOLDER", f"{logs} is no folder, and one belongs there", away(logs))
    return next(filter(None, (in_the_way("STATE_FOLDER", file) for file in files)), None)


def space(case: Case) -> Finding:
    place = next(one for one in (case.home, *case.home.parents) if os.path.exists(one))
    free = disk.free(str(place))
    if free is None:
        return warn("DISK_SPACE", f"the room left at {place} cannot be seen", "df -h")
    said = f"{_size(free)} free at {place}"
    if is_full(case, place):
        return bad("DISK_SPACE", f"{said}: nothing can be recorded, so nothing is done", freed(case))
    if free < _HARDLY:
        return bad("DISK_SPACE", f"{said}: soon nothing can be recorded, and then nothing is done", freed(case))
    return warn("DISK_SPACE", said, "free disk space") if free < _LITTLE else ok("DISK_SPACE", said)


def is_full(case: Case, place: Path) -> bool:
    """By what the daemon met, where one runs: SQLite may have no room while a little is left."""
    free = disk.free(str(place))
    if free is None:
        return False
    return free < disk.LEAST or (free < _HARDLY and "is full" in case.said().get("store", ""))


def freed(case: Case) -> str:
    """What is to be done about a full disk. Not an end of Argus: what waits to be written would be lost with it."""
    return "free disk space" + ("; Argus then writes what waits by itself" if case.daemon is not None else "")


def _size(count: int) -> str:
    if count >= 1e8:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.0f} kB"


def token(case: Case) -> Finding:
    if is_closed(case.home):
        return depends("TOKEN")
    file = case.home / "token"
    misplaced = in_the_way("TOKEN", file)
    if misplaced is not None:
        return misplaced
    try:
        owner, mode = file.lstat().st_uid, file.stat().st_mode & 0o777  # a link's own mode says nothing
        text = state.read(file).strip()
    except FileNotFoundError:
        if file.is_symlink():
            said = f"{file} is a link to {os.path.realpath(file)}, which is not there"
            return warn(
                "TOKEN", said, "put it back; else the next start makes a new one: argus down && argus up --detach"
            )
        return ok("TOKEN", f"made at the {'next' if (case.home / 'argus.lock').exists() else 'first'} start")
    except NotADirectoryError:
        return ok("TOKEN", "made at the first start")
    except (OSError, ValueError) as error:
        return bad("TOKEN", f"{file} cannot be read: {error}", f"rm {file}; the next start makes a new one")
    if owner != os.geteuid():
        return bad("TOKEN", f"{file} is {_name(owner)}'s", f"rm {file}; the next start makes a new one")
    if mode & 0o077:
        said = f"others can read {file} (mode {mode:o})"
        return bad("TOKEN", said, "argus down && argus up --detach: a start replaces a token that others could read")
    if not text:
        return bad("TOKEN", f"{file} is empty", "argus down && argus up --detach: a start makes a new one")
    unfit = state.unfit(text)
    if unfit:
        return bad("TOKEN", f"the token in {file} {unfit}", f"rm {file}; the next start makes a new one")
    return ok("TOKEN", "readable by you alone")


def lock(case: Case) -> Finding:
    file = case.home / "argus.lock"
    if case.daemon is not None:
        return ok("LOCK", f"held by the running daemon (pid {case.daemon.identity.pid})")
    if is_closed(case.home):
        return depends("LOCK")
    misplaced = in_the_way("LOCK", file)
    if misplaced is not None:
        return misplaced
    if not case.home.is_dir() or not os.access(file, os.R_OK) or not locked.is_held(file):
        barrier = obstacle(file) if obstacle(case.home) is None else None  # else it is said of the folder
        return ok("LOCK", "free") if barrier is None else bad("LOCK", barrier.why, barrier.remedy)
    return bad("LOCK", f"held by a process that is no daemon of this folder ({_holder(file)})", f"fuser {file}; end it")


def _holder(file: Path) -> str:
    try:
        return f"pid {json.loads(state.read(file))['pid']} by its own word"
    except (OSError, ValueError, KeyError, TypeError):
        return "it does not say which"


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
