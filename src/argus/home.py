"""The state folder. Light: the CLI asks at every start."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ANOTHER = "; ARGUS_HOME=FOLDER names another state folder"
"""What to say to someone whose state folder cannot be used."""


def of_the_user(environ: Mapping[str, str]) -> Path:
    """The user's own folder. A user whom the machine does not know has none, and Debian has a name for that."""
    try:
        return Path(environ.get("HOME") or "~").expanduser()
    except RuntimeError:
        return Path("/nonexistent")


def folder(environ: Mapping[str, str]) -> Path:
    if environ.get("ARGUS_HOME"):
        return Path(environ["ARGUS_HOME"]).expanduser().absolute()
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"]).expanduser().absolute() / "argus"
    home = of_the_user(environ)
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "argus"
    return home / ".local" / "state" / "argus"
