"""Operations on agents: their heartbeats, and starting and ending them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.agents.messages import Beat
from argus.agents.model import Agent
from argus.core.autonomy import Level
from argus.core.clock import milliseconds, rfc3339
from argus.core.errors import Code
from argus.core.patterns import CONVERSATION
from argus.ops.caller import Scope
from argus.ops.house import House
from argus.ops.operation import operation
from argus.ops.services import Nothing
from argus.ops.snake import TASK, AgentNamed, Pid, Said, SnakeAnswer, SnakeAsk, speaks_for
from argus.schema import Name


class BeatAsk(SnakeAsk):
    agent_id: Name = Field(description="Who says that it lives")
    status: str = Field(default="", max_length=200, description="What it is doing, such as working or completed")
    current_task: Said = Field(
        default="", max_length=TASK, description="What it works on; of one that Argus started, what it is doing now"
    )
    config_name: Said = Field(default="", max_length=100, description="Its config in agents.configs")
    project_path: Said = Field(default="", max_length=4096, description="Where it works")
    pid: Pid | None = Field(default=None, description="Its process, on this host")
    host: str = Field(default="", max_length=255, description="The host it runs on; left out: this one")
    session: str = Field(
        default="", max_length=200, pattern=CONVERSATION, description="What its program calls the conversation"
    )


class BeatView(SnakeAnswer):
    ok: bool
    stop: bool | None = Field(default=None, description="It should end")
    reason: str | None = Field(default=None, description="Why it should end")
    notice: str | None = Field(
        default=None, description="What it needs is down: what, since when, what is done; and, once, what is back"
    )
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
    doing: str = Field(description="What it says it is doing just now, within its task")
    worktree: str | None = Field(description="Where it works, when it has a git worktree of its own")
    pid: int | None
    host: str | None
    last_seen: str | None
    age_seconds: float | None = Field(description="Since its last sign of life")
    exit_status: int | None
    reason: str
    gate: str | None = Field(description="What holds a start or a respawn back")
    waits_for: list[str] = Field(description="What it needs and is down, or has not settled since")
    session: str
    incident: str | None = Field(description="Of its death, until its task goes on; argus explain shows its story")


_BEFORE = 100
"""Lines before the wanted ones that are looked at for secrets."""


class HeartbeatList(SnakeAnswer):
    heartbeats: list[AgentView]
    count: int
    interval: float = Field(description="Seconds between two beats of a companion")
    timestamp: int


class AgentList(SnakeAnswer):
    agents: list[AgentView]
    count: int
    configs: list[str] = Field(description="What can be spawned, by its name in agents.configs")
    timestamp: int


class SpawnAsk(SnakeAsk):
    config_name: Name = Field(description="Its config in agents.configs")
    project_path: str = Field(
        default="",
        max_length=4096,
        description="Where it works; else the config's cwd, and needed where that has none",
        json_schema_extra={"format": "path"},
    )
    task: str = Field(min_length=1, max_length=TASK, description="What it is to do, passed on unchanged")


class StopAsk(AgentNamed):
    graceful: bool = Field(default=True, strict=True, description="Ask first; false ends it at once")
    timeout: float = Field(default=30.0, ge=0, le=3600, description="Seconds it has to end after it was asked")


class LogsAsk(AgentNamed):
    lines: int = Field(default=100, ge=1, le=10_000, description="How many of the last")


class LogsView(SnakeAnswer):
    agent_id: str
    text: str


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
        doing=clean(agent.doing),
        worktree=clean(agent.folder) or None,
        pid=process.pid if process else None,
        host=process.host if process else None,
        last_seen=rfc3339(agent.seen.wall) if agent.seen else None,
        age_seconds=round(house.crew.silence(agent), 3),
        exit_status=agent.exit_status,
        reason=clean(agent.reason),
        gate=agent.gate or None,
        waits_for=house.graph.waits_for(f"agent:{agent.id}", house.crew.needs(agent)),
        session=agent.session,
        incident=agent.trouble.incident if agent.trouble else None,
    )


@operation(
    "agents.beat", "POST /api/heartbeat", tool="argus_heartbeat", scope=Scope.REPORT, idempotent=True,
    errors=(Code.STORE_UNAVAILABLE,),
)  # fmt: skip
async def beat(house: House, ask: BeatAsk) -> BeatView:
    """Takes a sign of life of an agent. An empty or missing field erases nothing; an unknown id is registered.

    Changes what Argus knows of that agent, and keeps it from being taken for dead; every 30 seconds is plenty. Answered
    with `ok: false` and `stop: true` when the agent should end, with the reason: then finish and end. FORBIDDEN: an
    agent's token speaks for that agent alone.
    """
    speaks_for(house, ask.agent_id)
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
        BeatView(ok=True, notice=await _notice(house, ask.agent_id), timestamp=now)
        if pulse.ok
        else BeatView(ok=False, stop=True, reason=pulse.reason, timestamp=now)
    )


async def _notice(house: House, agent_id: str) -> str | None:
    agent = house.crew.peek(agent_id)
    if agent is None:
        return None
    config = house.crew.settings.configs.get(agent.config)
    is_typed = config is not None and config.tmux and house.autonomy.level.allows(Level.MODERATE)
    said = await house.graph.notice(f"agent:{agent_id}", house.crew.needs(agent), is_typed=is_typed)
    return house.clean(said) or None


@operation("agents.beats", "GET /api/heartbeats", read_only=True)
async def list_beats(house: House, ask: Nothing) -> HeartbeatList:
    """Lists the heartbeat of every agent with its age and state, oldest first."""
    found = [view(house, agent) for agent in house.crew.agents]
    interval = house.crew.settings.heartbeat.interval
    now = milliseconds(house.clock.wall())
    return HeartbeatList(heartbeats=found, count=len(found), interval=interval, timestamp=now)


@operation(
    "agents.forget",
    "DELETE /api/heartbeats/{id}",
    verb="agents forget",
    errors=(Code.AGENT_NOT_FOUND, Code.INVALID_STATE, Code.STORE_UNAVAILABLE),
)
async def forget(house: House, ask: AgentNamed) -> AgentView:
    """Removes an agent from the list. It is not respawned, and its beats are answered with stop.

    One that Argus started and that is alive is stopped instead, by `agents stop`.
    """
    return view(house, await house.crew.forget(ask.id, house.by))


@operation("agents.list", "GET /api/agents", verb="agents list", tool="argus_agents", read_only=True)
async def list_agents(house: House, ask: Nothing) -> AgentList:
    """Lists the agents that Argus knows: state, task, process, age of the last sign of life.

    Changes nothing. Look here to see whether another agent is still at work, and on what, before you begin the same.
    """
    found = [view(house, agent) for agent in house.crew.agents]
    configs = sorted(house.crew.settings.configs)
    return AgentList(agents=found, count=len(found), configs=configs, timestamp=milliseconds(house.clock.wall()))


@operation(
    "agents.spawn",
    "POST /api/agents/spawn",
    verb="agents spawn",
    places=("config_name",),
    status=201,
    errors=(Code.CONFIG_NOT_FOUND, Code.CONFIG_INVALID, Code.STORE_UNAVAILABLE, Code.CONFLICT),
)
async def spawn(house: House, ask: SpawnAsk) -> AgentView:
    """Starts an agent. Returns once its intent is on record; `agents:agent_spawned` says that it runs.

    It outlives a restart of Argus, which takes it over again.
    """
    return view(house, await house.crew.spawn(ask.config_name, ask.project_path, ask.task, house.by))


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


@operation(
    "agents.logs",
    "GET /api/agents/{id}/logs",
    verb="agents logs",
    read_only=True,
    errors=(Code.AGENT_NOT_FOUND,),
)
async def logs(house: House, ask: LogsAsk) -> LogsView:
    """Shows the last of what an agent printed, also of one that has ended."""
    # Cleaned before it is cut: a key has many lines, and without its first one it is not known for one.
    text = house.clean(await house.crew.tail(ask.id, ask.lines + _BEFORE))
    return LogsView(agent_id=ask.id, text="".join(text.splitlines(keepends=True)[-ask.lines :]))


OPERATIONS: tuple[Any, ...] = (beat, list_beats, forget, list_agents, spawn, respawn, stop, logs)
