"""How a caller comes to an MCP server: its program, with the environment that it is given, or its address."""

from __future__ import annotations

from collections.abc import Mapping

from argus.bridge.definition import Definition
from argus.host.launching import NONCE
from argus.host.mcp_seam import Reach

_OF_THE_SHELL = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "TMUX", "TMUX_PANE", "WINDOWID", NONCE})
"""What tells one terminal of the same person from another, or whose child somebody is: callers that differ in nothing
else share a session, which is no part of an agent."""


def reach(definition: Definition, environ: Mapping[str, str], own: Mapping[str, str]) -> Reach:
    """`environ`: the caller's; `own`: ours."""
    if definition.url:
        return Reach(url=definition.url, headers=definition.headers)
    given = own if definition.for_all else {name: one for name, one in environ.items() if name not in _OF_THE_SHELL}
    return Reach(definition.command, definition.folder, {**given, **definition.environ})
