"""Where argus.yaml is. Light: the CLI asks before it starts a daemon, which reads it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from argus import home
from argus.core.errors import NO_FILE, NOT_TO_BE_READ, ArgusError, Code


def find(given: str | None, environ: Mapping[str, str], folder: Path) -> Path | None:
    """--config, ARGUS_CONFIG, ./argus.yaml, then the user's own. One that was named must exist."""
    named = given or environ.get("ARGUS_CONFIG")
    if named:
        path = Path(named).expanduser()
        path = path if path.is_absolute() else folder / path
        with _looking_at(path):
            if path.is_file():
                return _readable(path)
            if path.exists():
                raise _no_file(path)
        raise ArgusError(Code.CONFIG_NOT_FOUND, f"there is no file {path}", file=str(path))
    base = environ.get("XDG_CONFIG_HOME") or str(home.of_the_user(environ) / ".config")
    for path in (folder / "argus.yaml", Path(base) / "argus" / "argus.yaml"):
        with _looking_at(path):
            if path.is_file():
                return _readable(path)
            if path.exists() or path.is_symlink():
                raise _no_file(path)
    return None


@contextlib.contextmanager
def _looking_at(path: Path) -> Iterator[None]:
    try:
        yield
    except PermissionError:
        # Most often the HOME of someone else, kept by su or sudo. Guessing that nothing is there would be a guess.
        message = f"{path} may not be looked at: check HOME and the current folder"
        refused = ArgusError(Code.CONFIG_NOT_FOUND, message, file=str(path))
        refused.actions = NOT_TO_BE_READ
        raise refused from None


def _readable(path: Path) -> Path:
    """Found out here, before anything is made for a daemon that could not read it."""
    if not os.access(path, os.R_OK):
        refused = ArgusError(Code.CONFIG_NOT_FOUND, f"{path} may not be read", file=str(path))
        refused.actions = NOT_TO_BE_READ
        raise refused
    return path


def _no_file(path: Path) -> ArgusError:
    refused = ArgusError(Code.CONFIG_NOT_FOUND, f"{path} is there and is no file", file=str(path))
    refused.actions = NO_FILE
    return refused
