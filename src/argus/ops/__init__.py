"""The operations: one definition each. REST routes, MCP tools and CLI verbs are derived from them."""

from argus.ops import incidents, services, system
from argus.ops.operation import Operation

OPERATIONS: tuple[Operation, ...] = (*system.OPERATIONS, *services.OPERATIONS, *incidents.OPERATIONS)

__all__ = ["OPERATIONS", "Operation"]
