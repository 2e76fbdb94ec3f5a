"""The state folder. Light: the CLI asks at every start."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path


def folder(environ: Mapping[str, str]) -> Path:
    if environ.get("ARGUS_HOME"):
        return Path(environ["ARGUS_HOME"]).expanduser().absolute()
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"]).expanduser().absolute() / "argus"
    home = Path(environ.get("HOME") or "~").expanduser()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "argus"
    return home / ".local" / "state" / "argus"
