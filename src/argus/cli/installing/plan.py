"""What a manager is to start: the program, and the little of this environment that it needs."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus import home
from argus.core.errors import ArgusError, Code
from argus.core.redact import passwords_in

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
    passed_on = {
        name: environ[name]
        for name in _PASSED_ON
        if name in environ and environ[name].isprintable() and not any(passwords_in(environ[name]))
    }
    return Plan(tuple(command), {**passed_on, "ARGUS_HOME": str(folder)}, folder)


def notices(environ: Mapping[str, str]) -> list[str]:
    """What counts here and will not count there, because it may be a secret."""
    said = []
    if environ.get("ARGUS_STORE"):
        said.append("ARGUS_STORE is set here and is not written into the service: say store.url in argus.yaml")
    said += [
        f"{name} has a password in it and is not written into the service: set it in a drop-in of yours"
        for name in _PASSED_ON
        if any(passwords_in(environ.get(name, "")))
    ]
    return said
