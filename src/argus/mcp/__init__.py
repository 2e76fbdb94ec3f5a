"""Argus as an MCP server: a tool for every operation that has one, resources, progress; over HTTP and over stdio.

Importing the SDK takes most of a second and much memory, so `api.mcp_door` imports `server` in a thread, when the first
agent comes.
"""
