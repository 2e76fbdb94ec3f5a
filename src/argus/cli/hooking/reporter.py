"""The program that an agent's own program starts to tell Argus something."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from argus.cli.hooking import tell

MARK = "argus hooks"
"""Stands in everything that is ours, so that it can be found again."""


@dataclass(frozen=True, slots=True)
class Reporter:
    """What is written into settings: where Argus is, and with what it may be told."""

    url: str
    token: str
    home: str
    """The state folder."""
    python: str = sys.executable
    program: str = str(Path(tell.__file__).absolute())

    def argv(self, agent: str) -> list[str]:
        return [self.python, "-I", "-S", self.program, self.home, agent]

    def in_the_background(self, agent: str) -> str:
        """For a shell that has the input in `$i`. A job in the background has no input of its own."""
        return f"""printf '%s' "$i" | ARGUS_AGENT_PID=$PPID {shlex.join(self.argv(agent))} >/dev/null 2>&1 &"""
