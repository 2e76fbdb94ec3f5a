"""The HTTP face: REST from the operations, SSE from the journal, MCP, and the page."""
