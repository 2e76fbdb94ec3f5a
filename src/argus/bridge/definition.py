"""How an MCP server is reached: a program of ours, or an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.host.mcp_seam import Reach

_OF_THE_SHELL = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "TMUX", "TMUX_PANE", "WINDOWID"})
"""What tells one terminal of the same person from another: callers that differ in nothing else share a session."""

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

    def reach(self, environ: Mapping[str, str], own: Mapping[str, str]) -> Reach:
        """How a caller with this environment comes to it; `own` is ours."""
        if self.url:
            return Reach(url=self.url, headers=self.headers)
        given = own if self.for_all else {name: one for name, one in environ.items() if name not in _OF_THE_SHELL}
        return Reach(self.command, self.folder, {**given, **self.environ})

    def as_others_write_it(self, folder: str) -> dict[str, Any]:
        """As one server of a `.mcp.json`, for a program that runs in that folder: such a file cannot name another."""
        if self.url:
            return {"type": "http", "url": self.url, "headers": dict(self.headers)}
        is_there = not self.folder or self.folder == folder
        command = self.command if is_there else (*_THERE, self.folder, *self.command)
        return {"type": "stdio", "command": command[0], "args": list(command[1:]), "env": dict(self.environ)}
