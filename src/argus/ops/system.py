"""Operations on Argus as a whole."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from pydantic import Field, model_validator

from argus.core.autonomy import Level
from argus.core.clock import milliseconds, rfc3339
from argus.core.errors import ArgusError, Code
from argus.core.patterns import ABSOLUTE
from argus.environments.runs import Run
from argus.ops import wellness
from argus.ops.agents import AgentView
from argus.ops.agents import view as agent_view
from argus.ops.breakers import BreakerView, breaker_view
from argus.ops.caller import Role
from argus.ops.house import House
from argus.ops.incidents import IncidentView, incident_view, with_roots
from argus.ops.operation import Answer, Ask, operation
from argus.ops.runs import Guards, names
from argus.ops.services import Nothing, ServiceView, views
from argus.ops.sessions import SessionView
from argus.ops.sessions import view as session_view
from argus.ops.stop_requests import StopRequestView, pending
from argus.schema import Name
from argus.store.interface import Store
from argus.store.records import Incident

_REQUESTS, _RUNS, _INCIDENTS = 100, 50, 20
_PATIENCE = 2.0
"""Seconds that the whole picture waits for the record: when the store hangs is when people look."""


class BudgetView(Answer):
    left: int = Field(description="Restarts left in this sliding hour")
    most: int


class ArgusView(Answer):
    version: str
    pid: int
    url: str
    home: str
    config: str | None = Field(description="The configuration file; null when there is none")
    discovered: bool = Field(description="The services are what was found listening, because there is no configuration")
    started: str
    notices: list[str]
    store: str = Field(description="ok, or why the record cannot be written; then nothing is acted on")


class EnvironmentGlance(Answer):
    """A run of an environment as it is on record. `environments/status` asks the engine about its containers."""

    name: str = Field(description="The project's, with its folder where several on record are called so")
    project: str
    folder: str
    config_file: str | None = Field(description="Where it is not the folder's e2e.yaml")
    state: str = Field(description="setting up, up, cleaning, interrupted or failed")
    since: str
    run_id: str
    network: str | None
    containers: dict[str, str] = Field(description="Their names, by their services' or mocks'")
    mocks: list[str] = Field(description="Those of the parts that are mocks")
    guards: dict[str, str] = Field(description="What the guardian does about each, such as well or waiting")
    waits_for: list[str] = Field(description="What it needs that is not in it, and is down")


class StateView(Answer):
    """Everything the page shows, in one object."""

    well: bool = Field(description="Nothing is named in `notWell`, nor in `needsYou`")
    not_well: list[str] = Field(
        description="By kind and name, such as `service db`: services that fail, flap, are degraded or cannot be "
        "checked, environments with a container that is not well, agents and sessions that are silent or dead, open "
        "`breaker`s, and `record` and `infrastructure event`"
    )
    needs_you: list[str] = Field(
        description="By kind and name: services that are down, agents, sessions and environments to which nothing "
        "happens without a person, and agents that ask to end; `infrastructure event`, while it cannot end by itself; "
        "environments of one name with their folders"
    )
    argus: ArgusView
    autonomy: Level
    budget: BudgetView
    infrastructure_event: str | None = Field(description="The open infrastructure event's incident")
    breakers: list[BreakerView] = Field(description="What is not asked just now because it failed too often, or may be")
    services: list[ServiceView]
    agents: list[AgentView] = Field(description="Every agent with its last sign of life, oldest first")
    sessions: list[SessionView] = Field(description="Every session: what it is doing, and how full its context is")
    stop_requests: list[StopRequestView] = Field(description="Agents that ask to end and have no answer, oldest first")
    environments: list[EnvironmentGlance] = Field(
        description="The runs on record: those that need a person, then the newest"
    )
    incidents: list[IncidentView] = Field(
        description="The newest, and what explains them, however old it is: open ones first, roots before the rest"
    )
    cursor: str | None = Field(
        description="The journal's position; follow /api/events from here. Null while the record cannot be read"
    )
    timestamp: int


class AutonomyView(Answer):
    level: Level


class AutonomyAsk(Ask):
    level: Level = Field(description="observe, cautious, moderate or full")


class ServicesChange(Answer):
    added: list[str]
    removed: list[str]
    changed: list[str] = Field(description="Judged afresh; an open outage goes on")
    unchanged: int = Field(description="How many keep their state as it is")


class ReloadView(Answer):
    file: str | None = Field(description="The configuration file; null when there is none")
    changed: list[str] = Field(description="The sections that say something else now")
    services: ServicesChange
    restart_needed: list[str] = Field(description="Changed sections that only a restart of Argus takes up")
    notices: list[str]


class TokenAsk(Ask):
    role: Literal["agent", "report"] = Field(
        description="agent: reads, speaks for itself, asks for restarts; report: can only report"
    )
    agent: Name | None = Field(default=None, description="Whose token it is; needed for agent")
    project: str | None = Field(
        default=None, max_length=1000, pattern=ABSOLUTE, description="The absolute path of the agent's project"
    )

    @model_validator(mode="after")
    def _fits(self) -> TokenAsk:
        if (self.role == "agent") != (self.agent is not None):
            raise ValueError("agent is given for the role agent, and only for it")
        if self.project and self.agent is None:
            raise ValueError("project is given with agent")
        return self


class TokenView(Answer):
    token: str
    role: str
    agent: str | None
    project: str | None


class LoginView(Answer):
    url: str = Field(description="Opens the page, once, within five minutes")


@operation("state", "GET /api/state", verb="status", read_only=True)
async def state(house: House, ask: Nothing) -> StateView:
    """Shows how everything stands: services, open incidents, autonomy, what is left of the restart budget."""
    watch, facts, setup = house.watch, house.facts, house.setup
    left, most = watch.budget()
    cursor, incidents, unread = await _from_the_record(house.store, watch.infrastructure_event)
    services = await views(house, *sorted(watch.services))
    sessions = [session_view(house, one) for one in house.sessions.all]
    runs = house.environments.runs
    guards, called = {run.key: house.environments.guards(run) for run in runs}, names(runs)
    problem = wellness.problem(house) or unread
    awaited = wellness.awaited(house)
    unwell = wellness.not_well(house, services, guards, called, awaited, problem)
    # Before the rest is cut off: whoever needs somebody is seen, however old it is; then who is not well.
    runs.sort(
        key=lambda run: (
            not wellness.environment_needs(run, guards[run.key], awaited),
            wellness.environment(run, guards[run.key], awaited),
        )
    )
    requests = pending(house)
    asking = {one.agent_id for one in requests}
    needing = wellness.needs_you(house, services, sessions, guards, called, awaited, asking)
    return StateView(
        well=not (unwell or needing),
        not_well=unwell,
        needs_you=needing,
        argus=ArgusView(
            version=facts.version,
            pid=facts.pid,
            url=facts.url,
            home=facts.home,
            config=setup.config,
            discovered=setup.discovered,
            started=rfc3339(facts.started),
            notices=list(setup.notices),
            store=problem or "ok",
        ),
        autonomy=house.autonomy.level,
        budget=BudgetView(left=left, most=most),
        infrastructure_event=watch.infrastructure_event,
        breakers=[breaker_view(house, one) for one in house.breakers.circuits.values()],
        services=services,
        agents=[agent_view(house, one) for one in house.crew.agents],
        sessions=sessions,
        stop_requests=requests[:_REQUESTS],
        environments=[_environment(house, one, called[one.key], guards[one.key]) for one in runs[:_RUNS]],
        incidents=[incident_view(one) for one in incidents],
        cursor=cursor,
        timestamp=milliseconds(house.clock.wall()),
    )


def _environment(house: House, run: Run, called: str, guards: Guards) -> EnvironmentGlance:
    return EnvironmentGlance(
        name=house.clean(called),
        project=run.project,
        folder=run.folder,
        config_file=run.file or None,
        state=run.state.value,
        since=rfc3339(run.since),
        run_id=run.id,
        network=run.network or None,
        containers=dict(run.containers),
        mocks=[*run.mocks, *(name for name in run.served if name not in run.mocks)],
        guards={name: one.state.value for name, one in guards.items()},
        waits_for=wellness.environment_waits(house, run),
    )


async def _from_the_record(store: Store, event: str | None) -> tuple[str | None, list[Incident], str | None]:
    """How things stand is in memory, and is shown also while the record is away; the last says why it is."""
    try:
        # The position first: what happens while the rest is read is in the events that follow, not lost between.
        async with asyncio.timeout(_PATIENCE):
            newest = (await store.span())[1]
            found = await with_roots(store, await store.incidents(limit=_INCIDENTS), event)
            return f"{store.epoch}-{newest}", found, None
    except TimeoutError:
        return None, [], f"the store cannot be read: no answer within {_PATIENCE:g} s"
    except ArgusError as error:
        if error.code is not Code.STORE_UNAVAILABLE:
            raise
        return None, [], error.message


@operation("autonomy.show", "GET /api/autonomy", verb="autonomy", read_only=True)
async def show_autonomy(house: House, ask: Nothing) -> AutonomyView:
    """Shows how much Argus may do by itself."""
    return AutonomyView(level=house.autonomy.level)


@operation(
    "autonomy.set",
    "PUT /api/autonomy",
    verb="autonomy",
    tool="argus_autonomy",
    idempotent=True,
    errors=(Code.STORE_UNAVAILABLE,),
)
async def set_autonomy(house: House, ask: AutonomyAsk) -> AutonomyView:
    """Changes how much Argus may do by itself, until the configuration file's value changes.

    observe checks, records and tells; cautious also proposes; moderate also restarts within the limits; full also tries
    a second restart in an outage. Changes nothing but that, and records who asked. It takes a person's own token: an
    agent's is refused with FORBIDDEN, and asks its person instead.
    """
    await house.autonomy.set(ask.level, house.by)
    return AutonomyView(level=house.autonomy.level)


@operation(
    "reload",
    "POST /api/reload",
    verb="reload",
    errors=(Code.CONFIG_INVALID, Code.CONFIG_NOT_FOUND, Code.STORE_UNAVAILABLE),
)
async def reload(house: House, ask: Nothing) -> ReloadView:
    """Reads the configuration file again and takes it up, whole or not at all; SIGHUP does the same.

    A broken file is refused with all its errors and the old one stays in force. Services that did not change keep their
    state. A changed `server` or `store` needs a restart of Argus. Autonomy set at run time holds until the file's value
    changes.
    """
    done = await house.reload(house.by)
    services = ServicesChange(
        added=list(done.services.added),
        removed=list(done.services.removed),
        changed=list(done.services.changed),
        unchanged=done.services.unchanged,
    )
    return ReloadView(
        file=house.setup.config,
        changed=list(done.changed),
        services=services,
        restart_needed=list(done.restart_needed),
        notices=list(house.setup.notices),
    )


@operation("tokens.make", "POST /api/tokens", status=201)
async def make_token(house: House, ask: TokenAsk) -> TokenView:
    """Makes a token for an agent or its hooks. It outlives a restart, and ends when the root token is replaced.

    An agent's token reads, reports for itself and asks for what the gates allow. A reporting one can only report.
    """
    token = house.make_token(Role(ask.role), ask.agent, ask.project)
    return TokenView(token=token, role=ask.role, agent=ask.agent, project=ask.project)


@operation("login", "POST /api/login", verb="open", status=201)
async def login(house: House, ask: Nothing) -> LoginView:
    """Makes a link that opens the page without typing a token. It works once, within five minutes."""
    return LoginView(url=house.login_link())


OPERATIONS: tuple[Any, ...] = (state, show_autonomy, set_autonomy, reload, make_token, login)
