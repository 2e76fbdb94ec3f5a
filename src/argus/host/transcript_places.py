"""Where the agents' programs keep the transcript of a conversation.

Where a transcript is may be told by the agent, which may be wrong or worse: it is believed only inside of the folder in
which that program keeps its transcripts.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

HOMES = ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
"""The variables that say where an agent keeps its files."""
_ENVIRON = 512 * 1024
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
_FILES = 5000
_DAYS = 3
_ROLLOUTS = 50
_FIRST = 256 * 1024
_SLUG = 200
"""Characters of a folder's name. A longer path is cut, and something is put after it."""


def homes(pid: int) -> dict[str, str]:
    """What the agent's process says of where its files are. Nothing else of its environment is kept."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = file.read(_ENVIRON).split(b"\0")
    except OSError:
        return {}
    said = (pair.decode("utf-8", "surrogateescape").partition("=") for pair in pairs)
    return {name: value for name, _, value in said if name in HOMES and os.path.isabs(value)}


def folder(kind: str, env: Mapping[str, str]) -> Path:
    """The one that holds all transcripts of a program."""
    variable, name, inside = (
        ("CODEX_HOME", ".codex", "sessions") if kind == "codex" else ("CLAUDE_CONFIG_DIR", ".claude", "projects")
    )
    home = Path(env.get("HOME") or os.path.expanduser("~"))
    return Path(env.get(variable) or home / name) / inside


def find(kind: str, project: str, env: Mapping[str, str], session: str = "", hint: str = "") -> str | None:
    """The transcript of this conversation; where that is not known, of the newest in the project."""
    root = folder(kind, env)
    if hint and _is_inside(hint, root):
        return hint
    return _codex(root, project, session) if kind == "codex" else _claude(root, project, session)


def _is_inside(path: str, root: Path) -> bool:
    """A regular file, and no link, in a folder that is really inside."""
    if not path.endswith(".jsonl") or "\0" in path or not os.path.isabs(path):
        return False
    try:
        real = os.path.realpath(os.path.dirname(path))
        top = os.path.realpath(root)
        return os.path.commonpath([real, top]) == top and stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _claude(root: Path, project: str, session: str) -> str | None:
    folders = list(dict.fromkeys(root / slug(one) for one in (os.path.realpath(project), project)))
    if any(len(one.name) > _SLUG for one in folders):
        folders += [one for cut in folders for one in root.glob(f"{cut.name[:_SLUG]}*") if len(cut.name) > _SLUG]
    if session and _ID.fullmatch(session):
        named = (str(one / f"{session}.jsonl") for one in folders)
        found = next((one for one in named if _is_inside(one, root)), None)
        if found is not None:
            return found
    return _newest(entry for one in folders if _is_folder(one, root) for entry in _files(one))


def slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _codex(root: Path, project: str, session: str) -> str | None:
    days = (day for year in _latest(root) for month in _latest(year) for day in _latest(month))
    rollouts = [entry for day in islice(days, _DAYS) if _is_folder(day, root) for entry in _files(day)]
    if session and _ID.fullmatch(session):
        return next((entry.path for entry in rollouts if entry.name.endswith(f"-{session}.jsonl")), None)
    newest = sorted(rollouts, key=_changed, reverse=True)[:_ROLLOUTS]
    return next((entry.path for entry in newest if _is_of(entry.path, os.path.realpath(project))), None)


def _is_of(path: str, project: str) -> bool:
    """Whether a person began this conversation in that folder; not another conversation, nor elsewhere."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            meta: dict[str, Any] = json.loads(file.read(_FIRST).partition(b"\n")[0])["payload"]
        is_own = meta.get("thread_source", "user") == "user" and isinstance(meta.get("source", ""), str)
        return is_own and os.path.realpath(meta["cwd"]) == project
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return False


def _latest(parent: Path) -> list[Path]:
    """The numbered folders of years, months and days."""
    try:
        names = sorted((name for name in islice(os.listdir(parent), _FILES) if name.isdigit()), reverse=True)
    except OSError:
        return []
    return [parent / name for name in names]


def _is_folder(path: Path, root: Path) -> bool:
    real, top = os.path.realpath(path), os.path.realpath(root)
    return os.path.commonpath([real, top]) == top


def _files(parent: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(parent) as entries:
            for entry in islice(entries, _FILES):
                if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                    yield entry
    except OSError:
        return


def _newest(entries: Iterator[os.DirEntry[str]]) -> str | None:
    found = max(entries, key=_changed, default=None)
    return found.path if found else None


def _changed(entry: os.DirEntry[str]) -> tuple[int, str]:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns, entry.name
    except OSError:
        return 0, entry.name  # gone while we looked
