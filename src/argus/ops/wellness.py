"""What is not well, and who needs a person: decided here for everybody who shows the whole, so that they agree."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from argus.agents.model import Agent
from argus.agents.model import State as Life
from argus.core.breaker import State as Breaking
from argus.core.depending import Broke, Kind
from argus.environments.runs import Run, State
from argus.ops.house import House
from argus.ops.runs import Guards, needs_a_person
from argus.ops.services import ServiceView
from argus.ops.sessions import SessionView
from argus.services.model import OPENED_BY_A_PERSON, Gate, Status
from argus.sessions.model import Activity
from argus.sessions.watched import Watched

_WELL = (Status.UP.value, Status.PENDING.value)


def service(one: ServiceView) -> bool:
    """A failing reading counts before the outage is confirmed: whoever works is about to run into it."""
    return one.state in _WELL and not one.flapping and not one.failures


def environment(run: Run, guards: Guards, awaited: Collection[str] = ()) -> bool:
    """A setup that failed has taken back what it had made, and told whoever asked for it. What a person stopped is as
    they wanted it, unless somebody waits for it."""
    is_fine = all(one.state.is_fine for one in guards.values())
    return run.state is not State.INTERRUPTED and is_fine and not _is_missed(run, guards, awaited)


def awaited(house: House) -> frozenset[str]:
    """The environments for which agents or sessions wait, by their projects."""
    broke = [roots for _, roots in waiting(house)]
    return frozenset(root.thing.name for roots in broke for root in roots if root.thing.kind is Kind.ENVIRONMENT)


def waiting(house: House) -> Iterator[tuple[str, Broke]]:
    """Every agent and session that waits, by kind and name, and for what."""
    broke = [(f"agent {one.id}", house.crew.broken(one)) for one in house.crew.agents]
    projects = [one.session.project for one in house.sessions.all]
    broke += [(f"session {one}", house.sessions.broken(one)) for one in projects]
    return ((who, roots) for who, roots in broke if roots)


def waits(house: House) -> Iterator[tuple[str, list[str]]]:
    """The same as everybody is shown it, also for what has not settled yet."""
    graph, crew, sessions = house.graph, house.crew, house.sessions
    found = [(f"agent {one.id}", graph.waits_for(f"agent:{one.id}", crew.needs(one))) for one in crew.agents]
    projects = [one.session.project for one in sessions.all]
    found += [(f"session {one}", graph.waits_for(f"session:{one}", sessions.needs(one))) for one in projects]
    return ((who, things) for who, things in found if things)


def environment_waits(house: House, run: Run) -> list[str]:
    """For what it needs that is not in it: one that is not up needs nothing."""
    needs = house.needed(run) if run.state is State.UP else ()
    return house.graph.waits_for(f"environment:{run.project}", needs)


def environment_needs(run: Run, guards: Guards, awaited: Collection[str]) -> bool:
    return needs_a_person(run, guards) or _is_missed(run, guards, awaited)


def _is_missed(run: Run, guards: Guards, awaited: Collection[str]) -> bool:
    return run.state is State.UP and run.project in awaited and any(one.state.is_left for one in guards.values())


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
    awaited: Collection[str],
    problem: str | None,
) -> list[str]:
    """By kind and name; `guards` and `called` are of each run, by its key."""
    runs = house.environments.runs
    sick = [run for run in runs if not environment(run, guards[run.key], awaited)]
    return [
        *(["infrastructure event"] if house.watch.infrastructure_event else []),
        *(["record"] if problem else []),
        *(
            f"breaker {one.name}"
            for one in house.breakers.circuits.values()
            if one.breaker.state is not Breaking.CLOSED
        ),
        *(f"environment {house.clean(called[run.key])}" for run in sick),
        *(f"service {one.name}" for one in services if not service(one)),
        *(f"agent {one.id}" for one in house.crew.agents if not agent(one)),
        *(f"session {one.session.project}" for one in house.sessions.all if not session(one)),
    ]


def needs_you(
    house: House,
    services: Sequence[ServiceView],
    sessions: Sequence[SessionView],
    guards: Mapping[str, Guards],
    called: Mapping[str, str],
    awaited: Collection[str],
    asking: Collection[str],
) -> list[str]:
    """By kind and name, what keeps work from going on before the rest; `asking`: agents that ask to end."""
    runs = [run for run in house.environments.runs if environment_needs(run, guards[run.key], awaited)]
    return [
        *(["infrastructure event"] if house.watch.event_needs_a_person else []),
        *(f"service {one.name}" for one in services if service_needs(one)),
        *(f"agent {one.id}" for one in house.crew.agents if _agent_needs(house, one) or one.id in asking),
        *(f"session {one.project}" for one in sessions if one.needs_you),
        *(f"environment {house.clean(called[run.key])}" for run in runs),
    ]


def service_needs(one: ServiceView) -> bool:
    gate = one.gate or ("" if one.restartable else Gate.NO_RESTART.value)
    return one.state == Status.DOWN.value and gate in OPENED_BY_A_PERSON


def _agent_needs(house: House, one: Agent) -> bool:
    """What died because of something else may be mended with that: until then only the root needs somebody."""
    return one.needs_a_person and not (one.trouble and one.trouble.explained_by and house.crew.broken(one))
