"""How an MCP server is reached: a program of ours, or an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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

    @property
    def kind(self) -> str:
        return "http" if self.url else "stdio"

    def as_others_write_it(self) -> dict[str, Any]:
        """As one server of a `.mcp.json`."""
        if self.url:
            return {"type": "http", "url": self.url, "headers": dict(self.headers)}
        return {
            "type": "stdio",
            "command": self.command[0],
            "args": list(self.command[1:]),
            "env": dict(self.environ),
        }
