"""Agents in somebody's terminal: a launcher starts them there, and asks here what to start and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from argus.agents import reports
from argus.agents.ledger import Ledger
from argus.agents.model import Agent, Origin, Process, State
from argus.agents.policy import Gate
from argus.agents.starts import Starts
from argus.agents.tools import Tools
from argus.core.clock import age, stamp
from argus.core.errors import ArgusError, Code

ATTEMPT = 1
"""The only one a launcher may make. Argus fences it when it has waited long enough, and decides anew."""


@dataclass(frozen=True, slots=True)
class Handover:
    """All that a launcher needs to start an agent."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Added to the launcher's own."""
    cwd: str
    nonce: str
    folder: str
    attempt: int = ATTEMPT


@dataclass(frozen=True, slots=True)
class Following:
    start: Agent | None = None
    over: str = ""
    """Why nothing follows in this terminal. Empty, with no start: wait."""
    waits_for: str = ""
    seconds: float = 0.0
    """Of backoff that are left."""


class Terminals:
    def __init__(self, ledger: Ledger, starts: Starts, tools: Tools) -> None:
        self._ledger = ledger
        self._starts = starts
        self._tools = tools

    def who(self, pid: int) -> Process:
        found = self._tools.launcher.identify(pid)
        if found is None:
            raise ArgusError(Code.INVALID_STATE, f"there is no process {pid} here", pid=pid)
        return self._ledger.here(found)

    def handover(self, agent: Agent) -> Handover:
        start = self._starts.start(agent)
        env = {**self._tools.environment(agent.id, agent.project), **start.env}
        return Handover(start.argv, env, agent.works_in, agent.nonce, self._tools.run_folder(agent.id))

    def following(self, id: str, terminal: Process) -> Following:
        for one in self._ledger.book:
            waits_here = one.state is State.SPAWNING and one.origin is Origin.TERMINAL and one.terminal == terminal
            if waits_here and not one.stop and one.id != id and one.config in self._ledger.settings.configs:
                return Following(start=one)
        agent = self._ledger.book.get(id)
        if agent is None:
            over = self._ledger.over.get(id)
            return Following(over=over.why if over else "Argus does not know it any more")
        if agent.state is not State.DEAD or not agent.gate:
            return Following()
        hint = reports.hint(Gate(agent.gate), agent, self._ledger.settings.respawn.max_per_hour)
        if agent.escalated or agent.gate == Gate.DISABLED:
            return Following(over=f"{agent.gate}: {hint}")
        left = agent.wait - age(agent.died, stamp(self._tools.clock)) if agent.died else 0.0
        return Following(waits_for=f"{agent.gate}: {hint}", seconds=max(0.0, left))
