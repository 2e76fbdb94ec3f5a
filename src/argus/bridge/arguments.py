"""Arguments against the schema of a tool, before they are sent. What cannot be checked is left to the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.bridge import schemas
from argus.bridge.schemas import Schema, Unfit
from argus.host.mcp_seam import Tool


class Checks:
    """Of the tools of one server, each made when it is needed."""

    def __init__(self) -> None:
        self._made: dict[str, Schema | None] = {}

    async def wrong(self, tool: Tool, arguments: Mapping[str, Any]) -> list[dict[str, str]]:
        """What is wrong with them, each with its field; nothing where the schema cannot be understood."""
        if tool.name not in self._made:
            self._made[tool.name] = await _read(tool)
        made = self._made[tool.name]
        try:
            found = made.misfits(dict(arguments)) if made else []
        except Unfit:
            return []
        return [{"field": ".".join(filter(None, ("arguments", where))), "message": why} for where, why in found]


async def _read(tool: Tool) -> Schema | None:
    try:
        return await schemas.read(tool.input_schema)
    except Unfit:
        return None
