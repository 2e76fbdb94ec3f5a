"""The journal's words for what happens to agents. Other parts and other programs read them: names are fixed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from argus.agents.model import Agent
from argus.agents.policy import Gate
from argus.core.autonomy import Level
from argus.core.cutting import beginning
from argus.core.depending import Broken
from argus.core.errors import Code
from argus.core.events import Draft
from argus.store.records import Act

CHANNEL: Final = "agents"
_TASK = 500
"""Characters of a task that go into a record; the whole is kept with the agent."""


def _agent(agent: Agent) -> dict[str, Any]:
    return {
        "agent_id": agent.id,
        "lineage": agent.lineage,
        "generation": agent.generation,
        "config_name": agent.config,
        "task": beginning(agent.task, _TASK),
        "state": agent.state.value,
    }


def _draft(type: str, agent: Agent, **more: Any) -> Draft:
    story = {"incident": agent.trouble.incident} if agent.trouble else {}
    return Draft(CHANNEL, type, agent.id, {**_agent(agent), **story, **more})


def registered(agent: Agent) -> Draft:
    return _draft("agent_registered", agent, project_path=agent.project)


def spawn_started(agent: Agent, act: Act, by: str) -> Draft:
    return _draft("spawn_started", agent, act=act.id, by=by, project_path=agent.project)


def waits(agent: Agent, roots: Iterable[Broken]) -> list[Draft]:
    """Its first start waits for what it needs: one for each, it stands in that one's story."""
    return [
        _draft(
            "spawn_waits",
            agent,
            dependencies=[root.thing.written],
            **({"incident": root.incident} if root.incident else {}),
        )
        for root in roots
    ]


def waited(agent: Agent, outcome: str, by: str = "") -> list[Draft]:
    """What came of that wait, in every story that it stands in: started, failed, stopped or removed, and by whom."""
    who = {"by": by} if by else {}
    return [_draft("spawn_wait_ended", agent, outcome=outcome, incident=one, **who) for one in agent.waits_under]


def spawned(agent: Agent, act: Act, before: str) -> Draft:
    pid = agent.process.pid if agent.process else None
    if not before:
        return _draft("agent_spawned", agent, act=act.id, pid=pid)
    message = f"Agent {before} died, respawned as {agent.id} to continue task"
    return _draft("agent_respawned", agent, act=act.id, pid=pid, previous=before, message=message)


def spawn_failed(agent: Agent, act: Act, why: str) -> Draft:
    return _draft("spawn_failed", agent, act=act.id, reason=why)


def died(agent: Agent, autonomy: Level, logs: Sequence[str] = ()) -> Draft:
    """`logs`: the last lines it printed. On record now: later they may be gone."""
    how = {"exit_status": agent.exit_status, "reason": agent.reason, "wait": round(agent.wait, 3)}
    return _draft("agent_died", agent, autonomy=autonomy.value, **how, **({"logs": [*logs]} if logs else {}))


def held_back(agent: Agent, gate: Gate, autonomy: Level, hint: str) -> Draft:
    return _draft("respawn_held_back", agent, autonomy=autonomy.value, gate=gate.value, hint=hint)


def escalated(agent: Agent, gate: Gate, hint: str) -> Draft:
    return _draft("agent_escalated", agent, gate=gate.value, hint=hint, exit_status=agent.exit_status)


def silent(agent: Agent, seconds: float, *, hung: bool) -> Draft:
    code = {"code": Code.AGENT_HUNG.value} if hung else {}
    return _draft("agent_hung" if hung else "agent_silent", agent, silentSeconds=round(seconds, 1), **code)


def back(agent: Agent) -> Draft:
    return _draft("agent_back", agent)


def lost(agent: Agent, seconds: float) -> Draft:
    return _draft("agent_unknown", agent, silentSeconds=round(seconds, 1))


def removed(agent: Agent, by: str) -> Draft:
    return _draft("agent_removed", agent, reason=agent.reason, by=by, exit_status=agent.exit_status)


def stop_started(agent: Agent, act: Act, by: str) -> Draft:
    return _draft("stop_started", agent, act=act.id, by=by)


def stop_finished(agent: Agent, act: Act, outcome: str) -> Draft:
    return _draft("stop_finished", agent, act=act.id, outcome=outcome)


def twin(agent: Agent, pid: int) -> Draft:
    known = agent.process.pid if agent.process else None
    return _draft("agent_twin", agent, pid=known, twin=pid)


def hint(gate: Gate, agent: Agent, most: int) -> str:
    """How the gate opens, in words a person or an agent can act on."""
    return {
        Gate.DISABLED: "agents.respawn.enabled is false",
        Gate.CONFIG: f"the configuration has no agents.configs.{agent.config or '(none was given)'}",
        Gate.PATH: f"{agent.project or 'the project'} is not a folder any more",
        Gate.AUTONOMY: f"respawn requires moderate+; argus agents respawn {agent.id} does it once",
        Gate.DEPENDENCY: "what it needs is down; it is started when that is back",
        Gate.CAP: f"all {most} respawns of this hour are spent; find out why it keeps ending",
        Gate.BACKOFF: f"is started again {math.ceil(10 * agent.wait) / 10:g} s after its death",
        Gate.RECORD: "the record cannot be written, and nothing is done without it",
    }[gate]


def stop_requested(agent: str, id: str, reason: str) -> Draft:
    return Draft(CHANNEL, "stop_requested", agent, {"agent_id": agent, "id": id, "reason": beginning(reason, _TASK)})


def stop_answered(agent: str, id: str, status: str, by: str) -> Draft:
    return Draft(CHANNEL, "stop_answered", agent, {"agent_id": agent, "id": id, "status": status, "by": by})
