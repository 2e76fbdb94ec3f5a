"""How an MCP server is reached: a program of ours, or an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_THERE = ("/bin/sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh")


@dataclass(frozen=True, slots=True)
class Definition:
    name: str
    source: str
    """The file that says so."""
    command: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    """What its program is given besides what the caller has."""
    folder: str = ""
    """Where its program runs."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    """Why it cannot be reached as it is written; empty: it can."""
    for_all: bool = False
    """Of argus.yaml, or of a file next to it: it runs in our own environment, and everybody shares it."""

    @property
    def kind(self) -> str:
        return "http" if self.url else "stdio"

    def as_others_write_it(self, folder: str) -> dict[str, Any]:
        """As one server of a `.mcp.json`, for a program that runs in that folder: such a file cannot name another."""
        if self.url:
            return {"type": "http", "url": self.url, "headers": dict(self.headers)}
        is_there = not self.folder or self.folder == folder
        command = self.command if is_there else (*_THERE, self.folder, *self.command)
        return {"type": "stdio", "command": command[0], "args": list(command[1:]), "env": dict(self.environ)}
