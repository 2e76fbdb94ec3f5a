"""The bridge: other MCP servers, asked through a model or directly, each behind its breaker."""
