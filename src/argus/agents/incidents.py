"""The incident of a death: from the death until the task goes on, or nobody is to go on with it.

Opened, changed and closed in the commit of the agent's own record, which holds it: whoever restores the agent has it.
"""

from __future__ import annotations

from typing import Any

from argus.agents.model import Agent
from argus.store.records import Incident, PutIncident

DEATH = "agent_death"


def writes(before: Agent | None, after: Agent) -> list[PutIncident]:
    """What of the incident changes with the agent, while it is open."""
    if after.trouble is None or (before is not None and _told(before) == _told(after)):
        return []
    return [_put(after, None, {})]


def closing(agent: Agent, wall: float, ended: str) -> list[PutIncident]:
    return [_put(agent, wall, {"ended": ended})] if agent.trouble is not None else []


def _told(agent: Agent) -> tuple[Any, ...]:
    return agent.trouble, agent.gate, agent.escalated


def _put(agent: Agent, closed: float | None, more: dict[str, Any]) -> PutIncident:
    trouble = agent.trouble
    assert trouble is not None
    data = {"lineage": agent.lineage, "gate": agent.gate or None, "escalated": agent.escalated, **more}
    if trouble.explained_by:
        data["explainedBy"] = trouble.explained_by
    return PutIncident(Incident(trouble.incident, DEATH, trouble.subject, trouble.opened, closed, trouble.cause, data))
