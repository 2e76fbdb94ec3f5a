"""The operations: one definition each. REST routes, MCP tools and CLI verbs are derived from them."""

from argus.ops import (
    agents,
    breakers,
    calls,
    charts,
    context,
    environments,
    hooks,
    incidents,
    leave,
    queries,
    services,
    sessions,
    spawns,
    stop_requests,
    system,
    terminals,
    tests,
)
from argus.ops.operation import Operation

_PARTS = (
    system,
    context,
    services,
    agents,
    terminals,
    stop_requests,
    breakers,
    environments,
    tests,
    queries,
    calls,
    incidents,
    sessions,
    leave,
    spawns,
    hooks,
    charts,
)

OPERATIONS: tuple[Operation, ...] = tuple(one for part in _PARTS for one in part.OPERATIONS)

__all__ = ["OPERATIONS", "Operation"]
