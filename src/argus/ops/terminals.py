"""Operations for `argus agent run`, which starts agents in somebody's terminal."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.agents.model import Agent, Origin
from argus.core.errors import Code
from argus.ops.agents import AgentView, SpawnAsk, view
from argus.ops.caller import Scope
from argus.ops.house import House
from argus.ops.operation import operation
from argus.ops.snake import PID, AgentNamed, SnakeAnswer, speaks_for


class LaunchAsk(SpawnAsk):
    pid: int = Field(ge=1, le=PID, description="The launcher's own process")
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
    pid: int = Field(ge=1, le=PID, description="The launcher's own process")


class NextView(SnakeAnswer):
    launch: LaunchView | None = Field(description="What to start in this terminal")
    over: str = Field(description="Why nothing follows; empty without a launch: ask again")
    waits_for: str
    wait_seconds: float


@operation(
    "agents.launch",
    "POST /api/agents/launch",
    status=201,
    errors=(
        Code.CONFIG_NOT_FOUND,
        Code.CONFIG_INVALID,
        Code.INVALID_STATE,
        Code.STORE_UNAVAILABLE,
        Code.CONFLICT,
    ),
)
async def launch(house: House, ask: LaunchAsk) -> LaunchView:
    """Registers an agent that its launcher starts in a terminal: claim and intent are on record before it runs.

    The first heartbeat with its PID says that it runs. For `argus agent run`.
    """
    crew = house.crew
    config = crew.settings.configs.get(ask.config_name)
    project = ask.project_path or ("" if config and config.project else ask.here)
    return await _launch(house, await crew.launch(ask.config_name, project, ask.task, ask.pid, house.by))


async def _launch(house: House, agent: Agent) -> LaunchView:
    start = tmux = None
    if agent.origin is Origin.TERMINAL:
        given = await house.crew.handover(agent)
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
        launch=await _launch(house, found.start) if found.start else None,
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
    speaks_for(house, ask.id)
    return view(house, await house.crew.ended(ask.id, ask.exit_status, ask.failure))


OPERATIONS: tuple[Any, ...] = (launch, following, exited)
