"""The tools that a query may use, and the MCP servers they belong to. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from argus.core.errors import ArgusError, Code

MOST = 50
TOOL = r"^mcp__([A-Za-z0-9]+(?:(?:_|-+)[A-Za-z0-9]+)*)(?:__([A-Za-z0-9_.*-]{1,128}))?$"
_TOOL = re.compile(TOOL)


def servers(tools: Sequence[str]) -> tuple[str, ...]:
    """Of `mcp__github__list_issues` and of `mcp__github__*`: `github`. Each once, in order."""
    if not tools:
        raise ArgusError(Code.INVALID_REQUEST, "tools: name at least one, such as mcp__github__list_issues")
    if len(tools) > MOST:
        raise ArgusError(Code.INVALID_REQUEST, f"tools: at most {MOST}; a whole server is mcp__NAME__*")
    return tuple(dict.fromkeys(server_of(tool) for tool in tools))


def server_of(tool: str) -> str:
    found = _TOOL.fullmatch(tool)
    if found is None:
        # Only tools of MCP servers: whoever may ask a question may not run commands by it.
        message = f"tools: {tool[:100]!r} is not the tool of an MCP server: write mcp__SERVER__TOOL, or mcp__SERVER__*"
        raise ArgusError(Code.INVALID_REQUEST, message, tool=tool[:200])
    return found[1]


def server_in(tool: str, known: Iterable[str]) -> str | None:
    """Whose tool a program says it used; None for one of its own. Names that others gave may hold `__`."""
    if not tool.startswith("mcp__"):
        return None
    name = tool.removeprefix("mcp__")
    fitting = [one for one in known if name == one or name.startswith(f"{one}__")]
    return max(fitting, key=len, default=name.partition("__")[0])
