"""Signs of life: what they tell, and what they are answered with."""

from __future__ import annotations

from dataclasses import replace

from argus.agents import book, reports
from argus.agents.ledger import Ledger
from argus.agents.messages import Beat, Pulse
from argus.agents.model import COMPLETED, Agent, Origin, Process, State
from argus.agents.tools import Tools
from argus.core.clock import stamp
from argus.core.vital import Vital

_TWIN = "another process has this id and is alive"
_ENDED = "its process has ended, and its task goes on elsewhere"


class Beats:
    def __init__(self, ledger: Ledger, tools: Tools) -> None:
        self._ledger = ledger
        self._tools = tools

    def quick(self, beat: Beat) -> Pulse | None:
        """For an agent that goes on as before: on disk within a second. None when the record must hear of it first."""
        agent = self._ledger.book.peek(beat.agent_id)
        if agent is None:
            over = self._ledger.over.get(beat.agent_id)
            return Pulse(False, over.why) if over else None
        if agent.state is not State.ALIVE or _says_more(agent, beat, self._tools.host):
            return None
        self._ledger.see(agent, beat.status, beat.task)
        return _pulse(agent)

    async def take(self, beat: Beat) -> Pulse:
        agent = self._ledger.book.get(beat.agent_id)
        if agent is None:
            if beat.agent_id in self._ledger.over:
                return Pulse(False, self._ledger.over[beat.agent_id].why)
            return await self._register(beat)
        process = self._process(beat)
        if process and self._is_twin(agent, process):
            if not agent.warned:
                await self._ledger.note(replace(agent, warned=True), reports.twin(agent, beat.pid))
            return Pulse(False, _TWIN)
        if agent.origin is not Origin.FOREIGN and agent.state is State.DEAD:
            return Pulse(False, _ENDED)  # what it left behind speaks
        known = self._told(agent, beat, process)
        if agent.state in (State.ALIVE, State.SPAWNING):
            # One that is being started is alive when its start says so.
            await self._ledger.note(known)
        else:
            # Also one that was taken for dead: nothing was started in its place yet.
            alive = self._ledger.moved(
                known, State.ALIVE, reason="", warned=False, died=None, wait=0.0, gate="", escalated=False
            )
            await self._ledger.note(replace(alive, trouble=None), reports.back(alive))
        return _pulse(agent)

    def _told(self, agent: Agent, beat: Beat, process: Process | None) -> Agent:
        """What it says, beside what is known. What we launched ourselves we know better: its task, how and where it was
        started and its process are those of its start, whatever its own token says; a respawn rests on them."""
        seen, session = stamp(self._tools.clock), beat.session or agent.session
        if agent.origin is not Origin.FOREIGN:
            status, doing = beat.status or agent.status, beat.task or agent.doing
            return replace(agent, status=status, doing=doing, session=session, seen=seen)
        known = book.merged(agent, status=beat.status, task=beat.task, config=beat.config, project=beat.project)
        return replace(known, process=process or agent.process, session=session, seen=seen)

    async def _register(self, beat: Beat) -> Pulse:
        now = stamp(self._tools.clock)
        agent = Agent(
            beat.agent_id,
            beat.agent_id,
            1,
            State.ALIVE,
            now.wall,
            born=now.wall,
            config=beat.config,
            project=beat.project,
            task=beat.task,
            status=beat.status,
            session=beat.session,
            process=self._process(beat),
            seen=now,
        )
        await self._ledger.note(agent, reports.registered(agent))
        return Pulse(True)

    def _process(self, beat: Beat) -> Process | None:
        """Whose beat it is, if it runs here: a number alone may belong to a stranger tomorrow."""
        if beat.pid <= 0 or beat.host not in ("", self._tools.host):
            return None
        found = self._tools.launcher.identify(beat.pid)
        if found is None:
            return None
        return self._ledger.here(found)

    def _is_twin(self, agent: Agent, process: Process) -> bool:
        known = agent.process
        if known is None or (known.pid, known.started) == (process.pid, process.started):
            return False
        if self._ledger.vital(agent) not in (Vital.ALIVE, Vital.STOPPED):
            return False
        # One that the agent started itself speaks for it.
        return not (agent.nonce and self._tools.launcher.carries(process.pid, agent.nonce))


_GOOD = Pulse(True)


def _pulse(agent: Agent) -> Pulse:
    return Pulse(False, agent.stop) if agent.stop else _GOOD


def _says_more(agent: Agent, beat: Beat, host: str) -> bool:
    """What decides what becomes of the agent: lost with Argus, it would be respawned wrongly, or not at all. What it is
    doing just now is not of that kind, apart from one word."""
    if beat.status and beat.status != agent.status and COMPLETED in (beat.status, agent.status):
        return True
    if beat.session and beat.session != agent.session:
        return True
    if agent.origin is Origin.FOREIGN and (
        (beat.config and beat.config != agent.config) or (beat.project and beat.project != agent.project)
    ):
        return True
    local = beat.pid > 0 and beat.host in ("", host)
    return local and (agent.process is None or agent.process.pid != beat.pid)
