"""What is not well: decided here for everybody who shows the whole, so that they all say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argus.agents.model import Agent
from argus.agents.model import State as Life
from argus.core.breaker import State as Breaking
from argus.environments.runs import Run, State
from argus.ops.house import House
from argus.ops.runs import Guards
from argus.ops.services import ServiceView
from argus.services.model import Status
from argus.sessions.model import Activity
from argus.sessions.watched import Watched

_WELL = (Status.UP.value, Status.PENDING.value)


def service(one: ServiceView) -> bool:
    """A failing reading counts before the outage is confirmed: whoever works is about to run into it."""
    return one.state in _WELL and not one.flapping and not one.failures


def environment(run: Run, guards: Guards) -> bool:
    """A setup that failed has taken back what it had made, and told whoever asked for it."""
    return run.state is not State.INTERRUPTED and all(one.state.is_fine for one in guards.values())


def agent(one: Agent) -> bool:
    return one.state not in (Life.DEAD, Life.STALE, Life.UNKNOWN)


def session(one: Watched) -> bool:
    return one.session.state not in (Activity.DEAD, Activity.STALLED)


def problem(house: House) -> str | None:
    """Why the record cannot be written, or is behind."""
    waiting = f"; {house.notes.waiting} records wait to be written" if house.notes.waiting else ""
    found = house.store.problem or (waiting and "the record is behind")
    return f"{found}{waiting}" if found else None


def not_well(
    house: House,
    services: Sequence[ServiceView],
    guards: Mapping[str, Guards],
    called: Mapping[str, str],
    problem: str | None,
) -> list[str]:
    """By kind and name; `guards` and `called` are of each run, by its key."""
    runs = house.environments.runs
    return [
        *(["infrastructure event"] if house.watch.infrastructure_event else []),
        *(["record"] if problem else []),
        *(
            f"breaker {one.name}"
            for one in house.breakers.circuits.values()
            if one.breaker.state is not Breaking.CLOSED
        ),
        *(f"environment {house.clean(called[run.key])}" for run in runs if not environment(run, guards[run.key])),
        *(f"service {one.name}" for one in services if not service(one)),
        *(f"agent {one.id}" for one in house.crew.agents if not agent(one)),
        *(f"session {one.session.project}" for one in house.sessions.all if not session(one)),
    ]
