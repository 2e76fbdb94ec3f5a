"""The operations: one definition each. REST routes, MCP tools and CLI verbs are derived from them."""

from argus.ops import agents, incidents, reports, services, system
from argus.ops.operation import Operation

_PARTS = (system, services, agents, incidents, reports)

OPERATIONS: tuple[Operation, ...] = tuple(one for part in _PARTS for one in part.OPERATIONS)

__all__ = ["OPERATIONS", "Operation"]
