"""What starts and resumes each kind of agent. Pure: a configuration and values in, arguments out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from argus.agents.settings import AgentConfig

_PLACE = re.compile(r"\{\{\s*(task|agent_id|project_path|session)\s*\}\}")
CONTINUE = "You were interrupted. Look at what is done already and go on with your task: "


@dataclass(frozen=True, slots=True)
class Start:
    argv: tuple[str, ...]
    env: Mapping[str, str]
    session: str
    """What a later start can resume; empty when this kind of agent has no such thing."""


def start(config: AgentConfig, *, task: str, agent_id: str, project: str, session: str, fresh_session: str) -> Start:
    """`session` is what the generation before had; `fresh_session` a new one, should this be the beginning."""
    values = {"task": task, "agent_id": agent_id, "project_path": project, "session": session}
    env = {**config.env, "ARGUS_AGENT_ID": agent_id, "ARGUS_TASK": task}
    if session:
        return Start(_filled(config.resume or _resume(config), values), env, session)
    values["session"] = fresh_session
    argv = _filled(_begin(config), values)
    return Start(argv, env, fresh_session if _names_session(config) else "")


def _begin(config: AgentConfig) -> tuple[str, ...]:
    """Claude Code takes the id of its session from us, so that a respawn knows what to resume."""
    if config.kind == "claude" and not _uses(config.command, "session"):
        return (config.command[0], "--session-id", "{{session}}", *config.command[1:])
    return config.command


def _resume(config: AgentConfig) -> tuple[str, ...]:
    if config.kind == "claude":
        rest = tuple(_PLACE.sub(_continued, one) for one in config.command[1:])
        return (config.command[0], "--resume", "{{session}}", *rest)
    return config.command


def _continued(place: re.Match[str]) -> str:
    return CONTINUE + place[0] if place[1] == "task" else place[0]


def _names_session(config: AgentConfig) -> bool:
    return config.kind == "claude" or _uses(config.command, "session")


def _uses(argv: tuple[str, ...], name: str) -> bool:
    return any(place == name for one in argv for place in _PLACE.findall(one))


def _filled(argv: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """Inside its argument, once: what is put in is never looked at again, split or quoted."""
    return tuple(_PLACE.sub(lambda place: values[place[1]], one) for one in argv)
