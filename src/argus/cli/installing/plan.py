"""What a manager is to start: the program, and the little of this environment that it needs."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus import home
from argus.core.errors import ArgusError, Code

_PASSED_ON = (
    "PATH",  # a manager's own is short, and agents need claude, tmux and docker
    "LANG",
    "LC_ALL",
    "TMUX_TMPDIR",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "XDG_CONFIG_HOME",
)


@dataclass(frozen=True, slots=True)
class Plan:
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    home: Path = Path()
    """The state folder."""


def make(config: Path | None, environ: Mapping[str, str]) -> Plan:
    """`config`: the file that is found from here; the service stands somewhere else."""
    command = [sys.executable, "-m", "argus.daemon", "--folder", str(home.of_the_user(environ))]
    if config is not None:
        command += ["--config", str(config.absolute())]
    folder = home.folder(environ)
    for word in (*command, str(folder)):
        if re.search(r"[\0-\x1f\x7f]", word):
            # A unit is made of lines: systemd would refuse it, or read the rest as settings of its own.
            raise ArgusError(Code.INVALID_REQUEST, f"a path with a control character cannot be written: {word!r}")
    passed_on = {name: environ[name] for name in _PASSED_ON if environ.get(name, "").isprintable() and name in environ}
    return Plan(tuple(command), {**passed_on, "ARGUS_HOME": str(folder)}, folder)


def notices(environ: Mapping[str, str]) -> list[str]:
    """What counts here and will not count there, because it may be a secret."""
    if environ.get("ARGUS_STORE"):
        return ["ARGUS_STORE is set here and is not written into the service: say store.url in argus.yaml"]
    return []
