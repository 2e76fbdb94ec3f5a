"""Where a caller works: the folder whose files count for it, and its environment."""

from __future__ import annotations

import os

from pydantic import Field

from argus.core.errors import ArgusError, Code
from argus.environments.tools import Shell
from argus.ops.caller import Role
from argus.ops.environments import NO_NUL, ShellAsk
from argus.ops.house import House
from argus.ops.operation import CLI_SHELL, Ask
from argus.ops.owning import own_folder


class Placed(Ask):
    project_path: str | None = Field(
        default=None,
        max_length=4096,
        pattern=NO_NUL,
        description="The folder whose .mcp.json counts; where the caller works when left out",
        json_schema_extra={"format": "path"},
    )
    shell: ShellAsk | None = Field(
        default=None, description="The caller's folder and environment", json_schema_extra={"cli": CLI_SHELL}
    )


def place(house: House, ask: Placed) -> Shell:
    """An agent's is in its own project: what a folder's files say is started."""
    shell = Shell(ask.shell.folder, ask.shell.environ) if ask.shell else house.shell
    folder = os.path.realpath(os.path.join(shell.folder, ask.project_path or "."))
    if house.caller.role is not Role.AGENT:
        return Shell(folder, shell.environ)
    own = own_folder(house)
    if own and ask.project_path is None and ask.shell is None:
        return Shell(own, shell.environ)
    if not own or not (folder == own or folder.startswith(own.rstrip("/") + "/")):
        message = "an agent uses the MCP servers of its own project"
        raise ArgusError(Code.FORBIDDEN, message, project=house.caller.project, asked=folder)
    return Shell(folder, shell.environ)
