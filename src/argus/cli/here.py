"""The folder in which a command was called. It may be gone: an agent's worktree is taken away from under it."""

from __future__ import annotations

import os
from pathlib import Path

from argus import config_file
from argus.core.errors import FROM_NOWHERE, ArgusError, Code

_NOWHERE = Path("/")


def folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise gone() from None


def gone() -> ArgusError:
    error = ArgusError(Code.INVALID_REQUEST, "the folder you are in no longer exists")
    error.actions = FROM_NOWHERE
    return error


def is_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def or_nowhere() -> Path:
    """For what does without one, where everything it needs was named whole."""
    return _NOWHERE if is_gone() else folder()


def configuration(named: str | None) -> Path | None:
    """The configuration file that is meant here. One that is named whole is meant wherever we are."""
    given = named or os.environ.get("ARGUS_CONFIG")
    is_whole = bool(given) and Path(str(given)).expanduser().is_absolute()
    return config_file.find(named, os.environ, or_nowhere() if is_whole else folder())
