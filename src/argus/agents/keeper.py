"""The sole writer of the agents' state: takes in signs of life, ends and requests one by one, and decides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from argus.agents import policy, reports
from argus.agents.beats import Beats
from argus.agents.judge import Judge
from argus.agents.launches import Launches
from argus.agents.ledger import Ledger, put
from argus.agents.messages import (
    Asked,
    Beaten,
    EndReported,
    Exited,
    Forgotten,
    Launched,
    Look,
    Message,
    Reconfigured,
    RespawnAsked,
    SpawnAsked,
    StopAsked,
    Turn,
    TurnTold,
    WriteSeen,
)
from argus.agents.model import STOPPED, Agent, Origin, State
from argus.agents.policy import Hold, Respawn
from argus.agents.settings import Agents as Settings
from argus.agents.starts import Starts
from argus.agents.tools import Tools
from argus.core.autonomy import Level
from argus.core.clock import stamp
from argus.core.errors import ArgusError, Code
from argus.core.vital import Vital
from argus.host.identity import Identity
from argus.host.launching import Ended, Running
from argus.loops import log
from argus.store.records import Act, Append, CloseAct, OpenAct

STOP = "stop_agent"
_WAITED = 0.5
"""Seconds after which what an agent said is written; what it says meanwhile is written with it."""
_A_PERSON_MAY: dict[str, Any] = {
    "autonomy": Level.FULL, "wait": 0.0, "respawns": -1, "respawn_enabled": True, "dependency_down": False,
}  # fmt: skip
"""Pass these gates, and no other."""


class Keeper:
    def __init__(self, settings: Settings, tools: Tools) -> None:
        self._tools = tools
        self.queue: asyncio.Queue[Message] = asyncio.Queue()
        self.ledger = Ledger(settings, tools)
        self.launches = Launches(tools, self.queue.put_nowait)
        self.starts = Starts(self.ledger, self.launches, tools)
        self._judge = Judge(self.ledger, self.launches, self.starts, tools)
        self.beats = Beats(self.ledger, tools)
        self.turn = asyncio.Event()
        """Set, and replaced, when the next message has been handled."""

    async def run(self) -> None:
        while True:
            await self._handle(await self.queue.get())
            self.turn.set()
            self.turn = asyncio.Event()

    async def _handle(self, message: Message) -> None:
        try:
            if isinstance(message, WriteSeen):
                self.ledger.is_asked_to_write = False
            if not isinstance(message, Reconfigured):
                await self.ledger.intents.settle()
            match message:
                case Turn(work, reply):
                    _answer(reply, await work())
                case Beaten(beat, reply):
                    _answer(reply, await self.beats.take(beat))
                case SpawnAsked(config, project, task, by, reply, terminal):
                    _answer(reply, await self.starts.spawn(config, project, task, by, terminal))
                case RespawnAsked(id, by, reply):
                    _answer(reply, await self._respawn_asked(self.ledger.find(id), by))
                case StopAsked(id, grace, by, reply):
                    _answer(reply, await self._stop(self.ledger.find(id), grace, by))
                case Forgotten(id, by, reply):
                    _answer(reply, await self._forget(self.ledger.find(id), by))
                case EndReported(id, ended, reply):
                    _answer(reply, await self._end_reported(self.ledger.find(id), ended))
                case Launched():
                    await self._launched(message)
                case Exited(id, ended):
                    await self._exited(id, ended)
                case Look(id):
                    await self._judge.look(id)
                case TurnTold(id, in_turn):
                    await self._turn_told(id, in_turn)
                case WriteSeen():
                    await self.ledger.write_seen(_WAITED)
                case Reconfigured(settings):
                    self.ledger.settings = settings
        except Exception as error:  # noqa: BLE001 - one bad message must not end the reader of all the others
            if not isinstance(error, ArgusError):
                log.exception("a message to the agents could not be handled: %r", message)
            if isinstance(message, Launched | Exited):
                # An act gets its one outcome, and an end is noticed, however long the store is away.
                self.launches.tell_again(message)
            elif isinstance(message, Asked) and not message.reply.done():
                message.reply.set_exception(error)

    async def _turn_told(self, id: str, in_turn: bool) -> None:
        agent = self.ledger.book.get(id)
        if agent is not None and agent.in_turn != in_turn:
            await self.ledger.note(replace(agent, in_turn=in_turn))

    # What is asked for, and what was carried out.

    async def _respawn_asked(self, agent: Agent, by: str) -> Agent:
        allowed = replace(self._judge.facts(agent), **_A_PERSON_MAY)
        decision = policy.decide(allowed)
        # What we started is dead when its run folder has said how it ended: it may have finished.
        is_known_dead = agent.state is State.DEAD or agent.origin is Origin.FOREIGN
        if isinstance(decision, Respawn) and is_known_dead:
            return await self.starts.respawn(await self._judge.death(agent), by)
        gate, hint = agent.state.value, f"it is {agent.state.value}"
        if isinstance(decision, Hold):
            gate = decision.gate.value
            hint = reports.hint(decision.gate, agent, self.ledger.settings.respawn.max_per_hour)
        raise ArgusError(
            Code.GATE_REFUSED, f"{agent.id} was not respawned: {gate}", agent=agent.id, gate=gate, hint=hint
        )

    async def _launched(self, message: Launched) -> None:
        agent = await self.starts.launched(message)
        if agent is None:
            return
        if agent.state is State.DEAD:
            await self._judge.decide(agent)
        elif message.ended is not None:
            await self._exited(agent.id, message.ended)
        elif message.running is not None:
            self.launches.watch(agent.id, message.running)
            if agent.stop:
                self.launches.stop(message.running, 0.0)

    async def _end_reported(self, agent: Agent, ended: Ended) -> Agent:
        """Believed when our own look says the same: an agent that lives is not replaced because of a word."""
        if self.ledger.vital(agent) is not Vital.DEAD:
            raise ArgusError(Code.INVALID_STATE, f"{agent.id} is not known to have ended", agent=agent.id)
        await self._exited(agent.id, ended)
        return self.ledger.book.get(agent.id) or agent

    async def _exited(self, id: str, ended: Ended) -> None:
        agent = self.ledger.book.get(id)
        if agent is None or agent.state in (State.DEAD, State.SPAWNING):
            return
        if self.ledger.vital(agent) in (Vital.ALIVE, Vital.STOPPED):
            return  # only its run folder is gone
        how = "exit status unknown" if ended.exit_status is None else f"exit status {ended.exit_status}"
        if ended.exit_status != 0:  # one that finished may leave a server
            self.launches.clear(agent)
        await self._judge.ended(replace(agent, exit_status=ended.exit_status, reason=how), ended.words)

    async def _forget(self, agent: Agent, by: str) -> Agent:
        if agent.state is not State.SPAWNING and self._ours(agent) is not None:
            why = f"{agent.id} is alive, and would go on without anybody who knows of it: argus agents stop {agent.id}"
            raise ArgusError(Code.INVALID_STATE, why, agent=agent.id)
        return await self.ledger.remove_asked(
            agent, "removed by hand", by, then=lambda: self.starts.no_longer_waits(agent)
        )

    async def _stop(self, agent: Agent, grace: float, by: str) -> Agent:
        """What a person stopped stays stopped: that is on record before the signal."""
        incident = agent.trouble.incident if agent.trouble else None
        act = Act(self._tools.new_id(), STOP, agent.id, stamp(self._tools.clock), incident, {"agent": agent.id})
        stopping = replace(agent, stop=STOPPED, ended_by=by, reason=f"stopped by {by}")
        if self.starts.waits(agent):
            # There is nobody yet who could be told to end.
            return await self.ledger.remove_asked(
                stopping, STOPPED, by, then=lambda: self.starts.no_longer_waits(agent)
            )
        started = reports.stop_started(stopping, act, by)
        await self.ledger.intents.commit(
            put(stopping), OpenAct(act), Append(started), then=lambda: self._end(stopping, act, grace)
        )
        if self.ledger.vital(stopping) is Vital.DEAD:
            return await self.ledger.remove(stopping, stopping.stop, by)
        return stopping

    async def _end(self, stopping: Agent, act: Act, grace: float) -> None:
        self.ledger.book.put(stopping)
        running = self._ours(stopping)
        if running is not None:
            self.launches.stop(running, grace)
        outcome = "signalled" if running else "asked"
        closed = CloseAct(act.id, outcome, self._tools.clock.wall(), {})
        await self._tools.notes.note(closed, Append(reports.stop_finished(stopping, act, outcome)))

    def _ours(self, agent: Agent) -> Running | None:
        """Only what we started ourselves gets a signal from us."""
        process = agent.process
        if process is None or not process.shim_pid or self.ledger.vital(agent) is Vital.DEAD:
            return None
        shim = Identity(process.shim_pid, process.shim_started)
        folder = self._tools.run_folder(agent.id)
        return Running(Identity(process.pid, process.started), shim, agent.nonce, folder)


def _answer(reply: asyncio.Future[Any], value: Any) -> None:
    if not reply.done():
        reply.set_result(value)
