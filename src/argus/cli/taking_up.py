"""How a configuration file comes to count: a running Argus reads its own again, and no other."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from argus import home
from argus.cli import client, here
from argus.core.errors import ArgusError

_PATIENCE = 5.0
START = "argus up --detach"


@dataclass(frozen=True, slots=True)
class Running:
    """What a daemon says that it has read; None: it looked around, without a file."""

    config: str | None

    def uses(self, path: Path) -> bool:
        return self.config is not None and os.path.realpath(self.config) == os.path.realpath(path)

    @property
    def said(self) -> str:
        return f"the Argus that runs uses {self.config or 'no file'}"


def running() -> Running | None:
    """None: no daemon runs, or none that answers; a start will say which."""
    try:
        if client.running(home.folder(os.environ)) is None:
            return None
        state = client.ask(None, "GET", "/api/state", timeout=_PATIENCE, start=False)
    except (ArgusError, client.Refused):
        return None
    return Running(state["argus"]["config"])


def own_ports() -> set[int]:
    """Where a daemon that runs listens: it would refuse a file in which it is to watch itself."""
    try:
        found = client.running(home.folder(os.environ))
    except ArgusError:
        return set()
    return set() if found is None else {found.port}


def command(path: Path, found: Running | None) -> str:
    """What makes this file the one that counts."""
    if found is not None and found.uses(path):
        return "argus reload"
    start = START if _is_found(path) else f"argus --config {quote(str(path))} up --detach"
    return start if found is None else f"argus down && {start}"


def _is_found(path: Path) -> bool:
    """Whether a start from here takes it without being told to."""
    try:
        return here.configuration(None) == path
    except ArgusError:
        return False
