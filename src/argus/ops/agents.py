"""Operations on agents. The JSON of these is snake_case, as in the agents' own sources."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_snake

from argus.agents.messages import Beat
from argus.agents.model import Agent, Origin
from argus.agents.stops import StopRequest
from argus.core.clock import milliseconds, rfc3339
from argus.core.errors import ArgusError, Code
from argus.ops.caller import Role, Scope
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.ops.services import Nothing
from argus.schema import Name

_TASK = 150_000
"""Characters of a task. Escaped, each may take six bytes, and a body has at most 1 MiB."""
_PID = 2**31 - 1


class SnakeAsk(Ask):
    model_config = ConfigDict(extra="forbid", alias_generator=to_snake, validate_by_name=False)


class SnakeAnswer(Answer):
    model_config = ConfigDict(alias_generator=to_snake, validate_by_name=True, validate_by_alias=True)


class BeatAsk(SnakeAsk):
    agent_id: Name = Field(description="Who says that it lives")
    status: str = Field(default="", max_length=200, description="What it is doing, such as working or completed")
    current_task: str = Field(default="", max_length=_TASK, description="What it works on")
    config_name: str = Field(default="", max_length=100, description="Its config in agents.configs")
    project_path: str = Field(default="", max_length=4096, description="Where it works")
    pid: int | None = Field(default=None, ge=1, le=_PID, description="Its process, on this host")
    host: str = Field(default="", max_length=255, description="The host it runs on; left out: this one")
    session: str = Field(default="", max_length=200, description="What its program calls the conversation")


class BeatView(SnakeAnswer):
    ok: bool
    stop: bool | None = Field(default=None, description="It should end")
    reason: str | None = Field(default=None, description="Why it should end")
    timestamp: int


class AgentView(SnakeAnswer):
    """One agent as it stands."""

    agent_id: str
    lineage: str = Field(description="The respawns of one task have one lineage")
    generation: int
    state: str = Field(description="spawning, alive, stale, unknown, dead, respawned or removed")
    since: str
    config_name: str
    project_path: str
    status: str
    current_task: str
    pid: int | None
    host: str | None
    last_seen: str | None
    age_seconds: float | None = Field(description="Since its last sign of life")
    exit_status: int | None
    reason: str
    gate: str | None = Field(description="What holds a respawn back")
    session: str


class HeartbeatList(SnakeAnswer):
    heartbeats: list[AgentView]
    count: int
    interval: float = Field(description="Seconds between two beats of a companion")
    timestamp: int


class AgentList(SnakeAnswer):
    agents: list[AgentView]
    count: int
    timestamp: int


class AgentNamed(SnakeAsk):
    id: Name = Field(description="The agent's id")


class SpawnAsk(SnakeAsk):
    config_name: Name = Field(description="Its config in agents.configs")
    project_path: str = Field(default="", max_length=4096, description="Where it works; else the config's cwd")
    task: str = Field(min_length=1, max_length=_TASK, description="What it is to do, passed on unchanged")


class StopAsk(AgentNamed):
    graceful: bool = Field(default=True, strict=True, description="Ask first; false ends it at once")
    timeout: float = Field(default=30.0, ge=0, le=3600, description="Seconds it has to end after it was asked")


class LaunchAsk(SpawnAsk):
    pid: int = Field(ge=1, le=_PID, description="The launcher's own process")
    here: str = Field(default="", max_length=4096, description="Where it works if nothing else says so")


class HandoverView(SnakeAnswer):
    """How a launcher starts it: this program, with this besides its own environment, from this run folder."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    nonce: str
    folder: str
    attempt: int


class TmuxView(SnakeAnswer):
    socket: str
    session: str


class LaunchView(SnakeAnswer):
    agent: AgentView
    interval: float = Field(description="Seconds between two heartbeats")
    start: HandoverView | None
    tmux: TmuxView | None = Field(description="Where Argus starts it itself")


class ExitedAsk(AgentNamed):
    exit_status: int | None = Field(default=None, ge=0, le=255, description="As a shell counts; left out: not known")
    failure: str = Field(default="", max_length=2000, description="Why it could not be started")


class NextAsk(AgentNamed):
    pid: int = Field(ge=1, le=_PID, description="The launcher's own process")


class NextView(SnakeAnswer):
    launch: LaunchView | None = Field(description="What to start in this terminal")
    over: str = Field(description="Why nothing follows; empty without a launch: ask again")
    waits_for: str
    wait_seconds: float


class LogsAsk(AgentNamed):
    lines: int = Field(default=100, ge=1, le=10_000, description="How many of the last")


class LogsView(SnakeAnswer):
    agent_id: str
    text: str


class StopRequestAsk(SnakeAsk):
    agent_id: Name = Field(description="Who wants to end")
    reason: str = Field(default="", max_length=2000, description="Why")
    context: str = Field(default="", max_length=20_000, description="What whoever answers should know")
    work_completed: str = Field(default="", max_length=20_000, description="What is done")


class StopRequestView(SnakeAnswer):
    id: str
    agent_id: str
    reason: str
    context: str
    work_completed: str
    status: str = Field(description="pending, approved or denied")
    response: str
    created: str
    answered: str | None


class StopRequestList(SnakeAnswer):
    stop_requests: list[StopRequestView]
    count: int
    timestamp: int


class RespondAsk(SnakeAsk):
    id: Name = Field(description="The request's id")
    approved: bool = Field(strict=True, description="Whether it may end")
    response: str = Field(default="", max_length=20_000, description="What it is told")


def view(house: House, agent: Agent) -> AgentView:
    process = agent.process
    clean = house.clean
    return AgentView(
        agent_id=agent.id,
        lineage=agent.lineage,
        generation=agent.generation,
        state=agent.state.value,
        since=rfc3339(agent.since),
        config_name=agent.config,
        project_path=clean(agent.project),
        status=clean(agent.status),
        current_task=clean(agent.task),
        pid=process.pid if process else None,
        host=process.host if process else None,
        last_seen=rfc3339(agent.seen.wall) if agent.seen else None,
        age_seconds=round(house.crew.silence(agent), 3),
        exit_status=agent.exit_status,
        reason=clean(agent.reason),
        gate=agent.gate or None,
        session=agent.session,
    )


def _speaks_for(house: House, agent: str) -> None:
    """An agent's own token is good for that agent alone."""
    caller = house.caller
    if caller.role is Role.AGENT and caller.agent != agent:
        raise ArgusError(Code.FORBIDDEN, f"this token is of {caller.agent}, not of {agent}", agent=agent)


@operation("agents.beat", "POST /api/heartbeat", scope=Scope.REPORT, errors=(Code.STORE_UNAVAILABLE,))
async def beat(house: House, ask: BeatAsk) -> BeatView:
    """Takes a sign of life. An empty or missing field erases nothing; an unknown id is registered.

    Answered with `ok: false` and `stop: true` when the agent should end, with the reason.
    """
    _speaks_for(house, ask.agent_id)
    pulse = await house.crew.beat(
        Beat(
            ask.agent_id,
            ask.status,
            ask.current_task,
            ask.config_name,
            ask.project_path,
            ask.pid or 0,
            ask.host,
            ask.session,
        )
    )
    now = milliseconds(house.clock.wall())
    return (
        BeatView(ok=True, timestamp=now)
        if pulse.ok
        else BeatView(ok=False, stop=True, reason=pulse.reason, timestamp=now)
    )


@operation("agents.beats", "GET /api/heartbeats", read_only=True)
async def list_beats(house: House, ask: Nothing) -> HeartbeatList:
    """Lists the heartbeat of every agent with its age and state, oldest first."""
    found = [view(house, agent) for agent in house.crew.agents]
    interval = house.crew.settings.heartbeat.interval
    now = milliseconds(house.clock.wall())
    return HeartbeatList(heartbeats=found, count=len(found), interval=interval, timestamp=now)


@operation("agents.forget", "DELETE /api/heartbeats/{id}", errors=(Code.AGENT_NOT_FOUND, Code.STORE_UNAVAILABLE))
async def forget(house: House, ask: AgentNamed) -> AgentView:
    """Removes an agent from the list. It is not respawned, and its beats are answered with stop."""
    return view(house, await house.crew.forget(ask.id, house.by))


@operation("agents.list", "GET /api/agents", verb="agents list", tool="argus_agents", read_only=True)
async def list_agents(house: House, ask: Nothing) -> AgentList:
    """Lists the agents that Argus knows: state, task, process, age of the last sign of life.

    Changes nothing. Look here to see whether another agent is still at work.
    """
    found = [view(house, agent) for agent in house.crew.agents]
    return AgentList(agents=found, count=len(found), timestamp=milliseconds(house.clock.wall()))


@operation(
    "agents.spawn",
    "POST /api/agents/spawn",
    verb="agents spawn",
    status=201,
    errors=(Code.CONFIG_NOT_FOUND, Code.STORE_UNAVAILABLE, Code.CONFLICT),
)
async def spawn(house: House, ask: SpawnAsk) -> AgentView:
    """Starts an agent. Returns once its intent is on record; `agents:agent_spawned` says that it runs.

    It outlives a restart of Argus, which takes it over again.
    """
    return view(house, await house.crew.spawn(ask.config_name, ask.project_path, ask.task, house.by))


@operation(
    "agents.launch",
    "POST /api/agents/launch",
    status=201,
    errors=(Code.CONFIG_NOT_FOUND, Code.INVALID_STATE, Code.STORE_UNAVAILABLE, Code.CONFLICT),
)
async def launch(house: House, ask: LaunchAsk) -> LaunchView:
    """Registers an agent that its launcher starts in a terminal: claim and intent are on record before it runs.

    The first heartbeat with its PID says that it runs. For `argus agent run`.
    """
    crew = house.crew
    config = crew.settings.configs.get(ask.config_name)
    project = ask.project_path or (config.project if config else "") or ask.here
    return _launch(house, await crew.launch(ask.config_name, project, ask.task, ask.pid, house.by))


def _launch(house: House, agent: Agent) -> LaunchView:
    start = tmux = None
    if agent.origin is Origin.TERMINAL:
        given = house.crew.terminals.handover(agent)
        start = HandoverView(
            argv=list(given.argv),
            env=dict(given.env),
            cwd=given.cwd,
            nonce=given.nonce,
            folder=given.folder,
            attempt=given.attempt,
        )
    else:
        tmux = TmuxView(socket=house.crew.tmux_socket, session=agent.id)
    interval = house.crew.settings.heartbeat.interval
    return LaunchView(agent=view(house, agent), interval=interval, start=start, tmux=tmux)


@operation(
    "agents.next",
    "POST /api/agents/{id}/next",
    errors=(
        Code.INVALID_STATE,
        Code.STORE_UNAVAILABLE,
    ),
)
async def following(house: House, ask: NextAsk) -> NextView:
    """Tells a launcher what follows in its terminal after this agent ended. Waits a few seconds for the answer."""
    found = await house.crew.following(ask.id, ask.pid)
    return NextView(
        launch=_launch(house, found.start) if found.start else None,
        over=house.clean(found.over),
        waits_for=house.clean(found.waits_for),
        wait_seconds=round(found.seconds, 3),
    )


@operation(
    "agents.exited",
    "POST /api/agents/{id}/exited",
    scope=Scope.REPORT,
    errors=(Code.AGENT_NOT_FOUND, Code.INVALID_STATE, Code.STORE_UNAVAILABLE),
)
async def exited(house: House, ask: ExitedAsk) -> AgentView:
    """Says that an agent has ended, so that nobody waits for its silence. Believed when its process is gone."""
    _speaks_for(house, ask.id)
    return view(house, await house.crew.ended(ask.id, ask.exit_status, ask.failure))


@operation(
    "agents.respawn",
    "POST /api/agents/{id}/respawn",
    verb="agents respawn",
    status=202,
    errors=(Code.AGENT_NOT_FOUND, Code.GATE_REFUSED, Code.STORE_UNAVAILABLE, Code.CONFLICT),
)
async def respawn(house: House, ask: AgentNamed) -> AgentView:
    """Starts a dead agent's task again now: a person's approval where autonomy, backoff or the cap hold it back."""
    return view(house, await house.crew.respawn(ask.id, house.by))


@operation(
    "agents.stop",
    "POST /api/agents/{id}/stop",
    verb="agents stop",
    status=202,
    errors=(Code.AGENT_NOT_FOUND, Code.STORE_UNAVAILABLE),
)
async def stop(house: House, ask: StopAsk) -> AgentView:
    """Stops an agent and its whole process group. It stays stopped: nothing respawns it."""
    return view(house, await house.crew.stop(ask.id, ask.timeout if ask.graceful else 0.0, house.by))


@operation("agents.logs", "GET /api/agents/{id}/logs", verb="agents logs", read_only=True)
async def logs(house: House, ask: LogsAsk) -> LogsView:
    """Shows the last of what an agent printed, also of one that has ended."""
    return LogsView(agent_id=ask.id, text=house.clean(await house.crew.tail(ask.id, ask.lines)))


def _request(house: House, one: StopRequest) -> StopRequestView:
    return StopRequestView(
        id=one.id,
        agent_id=one.agent,
        reason=house.clean(one.reason),
        context=house.clean(one.context),
        work_completed=house.clean(one.work_completed),
        status=one.status,
        response=house.clean(one.response),
        created=rfc3339(one.created),
        answered=rfc3339(one.answered) if one.answered else None,
    )


@operation(
    "stop_requests.ask",
    "POST /api/stop-requests",
    scope=Scope.REPORT,
    status=201,
    errors=(Code.AGENT_NOT_FOUND, Code.STORE_UNAVAILABLE),
)
async def request_stop(house: House, ask: StopRequestAsk) -> StopRequestView:
    """Asks a person whether an agent may end. Its beats are answered with stop once that is approved."""
    _speaks_for(house, ask.agent_id)
    made = await house.crew.stops.ask(ask.agent_id, ask.reason, ask.context, ask.work_completed)
    return _request(house, made)


@operation("stop_requests.list", "GET /api/stop-requests", read_only=True)
async def list_stop_requests(house: House, ask: Nothing) -> StopRequestList:
    """Lists the requests of agents to end, oldest first, with their answers."""
    found = sorted(house.crew.stops.requests.values(), key=lambda one: one.created)
    views = [_request(house, one) for one in found]
    return StopRequestList(stop_requests=views, count=len(views), timestamp=milliseconds(house.clock.wall()))


@operation(
    "stop_requests.respond",
    "POST /api/stop-requests/{id}/respond",
    errors=(Code.NOT_FOUND, Code.CONFLICT, Code.STORE_UNAVAILABLE),
)
async def respond(house: House, ask: RespondAsk) -> StopRequestView:
    """Answers an agent's request to end. Approved, it is told with its next beat, and is not respawned."""
    return _request(house, await house.crew.stops.answer(ask.id, ask.approved, ask.response, house.by))


OPERATIONS: tuple[Any, ...] = (
    beat,
    list_beats,
    forget,
    list_agents,
    spawn,
    launch,
    following,
    exited,
    respawn,
    stop,
    logs,
    request_stop,
    list_stop_requests,
    respond,
)
