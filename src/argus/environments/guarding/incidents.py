"""The incident of a container: from its failure until it is well, somebody took it over, or its run is over. Pure.

Opened, changed and closed in the commit of its charge, which holds it: whoever restores the charge has it.
"""

from __future__ import annotations

from typing import Any

from argus.environments.guarding.model import Charge, State
from argus.store.records import Incident, PutIncident

FAILURE = "container_failure"
GONE = "its run was cleaned or replaced"


def writes(before: Charge, after: Charge, wall: float, **where: Any) -> list[PutIncident]:
    if after.trouble is None:
        ended = "it is well again" if after.state is State.WELL else f"left alone: {after.why}"
        return closing(before, wall, ended, **where)
    if _told(before) == _told(after):
        return []
    return [_put(after, None, where)]


def closing(charge: Charge, wall: float, ended: str, **where: Any) -> list[PutIncident]:
    return [_put(charge, wall, {**where, "ended": ended})] if charge.trouble is not None else []


def _told(charge: Charge) -> tuple[Any, ...]:
    return charge.trouble, charge.state.is_given_up, charge.spent


def _put(charge: Charge, closed: float | None, more: dict[str, Any]) -> PutIncident:
    trouble = charge.trouble
    assert trouble is not None
    data = {
        "service": charge.service,
        "container": charge.container,
        "restarts": charge.spent,
        "givenUp": charge.state.is_given_up,
        **more,
    }
    if trouble.explained_by:
        data["explainedBy"] = trouble.explained_by
    return PutIncident(
        Incident(trouble.incident, FAILURE, trouble.subject, trouble.opened, closed, trouble.cause, data)
    )
