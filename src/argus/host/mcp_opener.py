"""Opens sessions to MCP servers. What speaks to them is loaded with the first: it costs a second and 60 MB."""

from __future__ import annotations

import asyncio
import importlib

from argus.host.mcp_seam import Reach, Session
from argus.host.piped import Pipes

_CLIENT = "argus.host.mcp_client"


class McpOpener:
    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes

    async def open(self, reach: Reach) -> Session:
        # In a thread: inline it would hold the loop, and every check with it, for most of a second.
        client = await asyncio.to_thread(importlib.import_module, _CLIENT)
        session: Session = await client.open_session(self._pipes, reach)
        return session
