"""What starts and resumes each kind of agent. Pure: a configuration and values in, arguments out."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from argus.agents.settings import AgentConfig
from argus.host.conversations import Conversation

_PLACE = re.compile(r"\{\{\s*(task|agent_id|project_path|session)\s*\}\}")
CONTINUE = "You were interrupted. Look at what is done already and go on with your task: "
_BY_ITSELF = ("-c", "features.daemon_auto_start=false")
"""Else Codex in a terminal hands its work to a daemon that all of them share: it would go on when the agent is dead,
beside the one that follows."""
_A_SESSION = "0" * 36


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
        return Start(_filled(_no_option(config, config.resume or _resume(config), task), values), env, session)
    values["session"] = fresh_session
    argv = _filled(_no_option(config, _begin(config), task), values)
    return Start(argv, env, fresh_session if _names_session(config) else "")


def longest(config: AgentConfig, *, task: str, agent_id: str, project: str) -> int:
    """Bytes of the longest argument or variable with which that task would ever be started, now or resumed."""
    made = [
        start(config, task=task, agent_id=agent_id, project=project, session=session, fresh_session=_A_SESSION)
        for session in ("", _A_SESSION)
    ]
    texts = [text for one in made for text in (*one.argv, *(f"{name}={value}" for name, value in one.env.items()))]
    return max(len(os.fsencode(text)) for text in texts)


def asks_what_it_left(config: AgentConfig) -> bool:
    """Whether its program keeps its conversations where they can be looked up; of others, what they said is believed.

    Claude Code refuses to resume what it never wrote down, and refuses the id of what it did: an agent that died early
    would never start again.
    """
    return config.kind in ("claude", "codex")


def own(begun: Iterable[Conversation], task: str, taken: Collection[str]) -> str:
    """Which of the conversations that began in its project since it did is an agent's; empty: nobody can say.

    It was asked for the agent's task. Two that were asked for the same are nobody's: another's must not be resumed.
    """
    asked = task.strip()
    found = [one.id for one in begun if one.id not in taken and any(asked in prompt for prompt in one.prompts)]
    return found[0] if len(found) == 1 and asked else ""


def _begin(config: AgentConfig) -> tuple[str, ...]:
    """Claude Code takes the id of its session from us, so that a respawn knows what to resume."""
    if config.kind == "claude" and not _uses(config.command, "session"):
        return (config.command[0], "--session-id", "{{session}}", *config.command[1:])
    return _by_itself(config.command) if config.kind == "codex" else config.command


def _resume(config: AgentConfig) -> tuple[str, ...]:
    if config.kind == "plain":
        return config.command
    program, *rest = (_PLACE.sub(_continued, one) for one in config.command)
    if config.kind == "claude":
        return (program, "--resume", "{{session}}", *rest)
    # Its options stay in front: `resume` does not take all of them.
    place = next((n for n, one in enumerate(rest) if _uses((one,), "task")), len(rest))
    if place and rest[place - 1] == "--":
        place -= 1
    return _by_itself((program, *rest[:place], "resume", "{{session}}", *rest[place:]))


def _by_itself(codex: tuple[str, ...]) -> tuple[str, ...]:
    said = any("daemon_auto_start" in one for one in codex)
    return codex if said else (codex[0], *_BY_ITSELF, *codex[1:])


def _no_option(config: AgentConfig, argv: tuple[str, ...], task: str) -> tuple[str, ...]:
    """A task that begins with a dash (a list, say) is a task, and not an option of the program."""
    is_last = _PLACE.fullmatch(argv[-1]) is not None and _uses(argv[-1:], "task")
    if config.kind == "plain" or not task.startswith("-") or not is_last or "--" in argv:
        return argv
    return (*argv[:-1], "--", argv[-1])


def _continued(place: re.Match[str]) -> str:
    return CONTINUE + place[0] if place[1] == "task" else place[0]


def _names_session(config: AgentConfig) -> bool:
    return config.kind == "claude" or _uses(config.command, "session")


def _uses(argv: tuple[str, ...], name: str) -> bool:
    return any(place == name for one in argv for place in _PLACE.findall(one))


def _filled(argv: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """Inside its argument, once: what is put in is never looked at again, split or quoted."""
    return tuple(_PLACE.sub(lambda place: values[place[1]], one) for one in argv)
