"""The section `agents` of argus.yaml."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from argus.core.depending import Thing, thing
from argus.core.names import LETTERS
from argus.core.patterns import VARIABLE
from argus.schema import Dependencies, Duration, Name, PositiveDuration, Section, lasting

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
"""What is a name also to tmux and to git."""


def _argv(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError('a command is a list of arguments, such as [claude, "{{task}}"]')
    return value


Argv = Annotated[tuple[str, ...], BeforeValidator(_argv), Field(min_length=1)]


class Heartbeat(Section):
    interval: PositiveDuration = lasting("30s", "How often an agent's companion says that it lives.")
    stale_after: PositiveDuration = lasting("120s", "Silent for longer, an agent is looked at.")
    check_every: PositiveDuration = lasting("60s", "How often silence is looked for; an exit is noticed at once.")

    @model_validator(mode="after")
    def _in_order(self) -> Heartbeat:
        if self.stale_after <= self.interval:
            raise ValueError("staleAfter must be longer than interval: one late beat is not a silence")
        return self


class Respawn(Section):
    enabled: bool = Field(default=True, strict=True, description="false: a dead agent is reported, never respawned.")
    backoff: Duration = lasting("10s", "Before the first respawn; doubles with each, plus up to a quarter.")
    max_backoff: PositiveDuration = lasting("5m", "The longest wait between two respawns.")
    max_per_hour: int = Field(
        default=5, ge=0, le=1000, strict=True, description="Respawns of one task in any sliding hour; then escalated."
    )


class AgentConfig(Section):
    """How one kind of agent is started. `{{task}}`, `{{agent_id}}`, `{{project_path}}` and `{{session}}` are replaced
    inside their argument."""

    command: Argv = Field(description="The program and its arguments; without {{task}} the task is in ARGUS_TASK.")
    resume: Argv | None = Field(
        default=None, description="For a respawn that goes on with {{session}}; else what the kind of agent needs."
    )
    agent: Literal["claude", "codex", "plain"] | None = Field(
        default=None, description="What kind of agent it is; by default told from the program's name."
    )
    cwd: str | None = Field(
        default=None,
        min_length=1,
        description="The project, where a spawn names none; an absolute path. Without it argus agents spawn needs "
        "--project-path, and argus agent run takes the folder it is run in.",
    )
    env: dict[Annotated[str, Field(pattern=VARIABLE)], str] = Field(
        default_factory=dict, description="Added to the environment."
    )
    tmux: bool = Field(default=False, strict=True, description="In a tmux session of its own.")
    worktree: bool = Field(
        default=False, strict=True, description="In a git worktree of its own, on the branch argus/ID."
    )
    depends_on: Dependencies = Field(
        default=(),
        description="What these agents need: services, and environment:NAME. While one of them is down they are told "
        "so, none is started, and none is judged.",
    )

    @property
    def project(self) -> str:
        return os.path.expanduser(self.cwd) if self.cwd else ""

    @property
    def needs(self) -> tuple[Thing, ...]:
        return tuple(map(thing, self.depends_on))

    @property
    def kind(self) -> Literal["claude", "codex", "plain"]:
        match os.path.basename(self.command[0]):
            case "claude" | "codex" as name:
                return self.agent or name
        return self.agent or "plain"


class Agents(Section):
    """The agents that Argus knows how to start, and when it starts one again."""

    heartbeat: Heartbeat = Field(default_factory=Heartbeat, description="When silence is noticed.")
    respawn: Respawn = Field(default_factory=Respawn, description="When an agent is started again.")
    configs: dict[Name, AgentConfig] = Field(default_factory=dict, description="The kinds of agents, by name.")

    @model_validator(mode="after")
    def _can_be_named_there(self) -> Agents:
        for name, config in self.configs.items():
            where = "tmux" if config.tmux else "worktree" if config.worktree else ""
            if where and not _PLAIN.fullmatch(name):
                raise ValueError(f"{where}: true needs a name of {LETTERS}, digits, _ and -, which {name!r} is not")
        return self
