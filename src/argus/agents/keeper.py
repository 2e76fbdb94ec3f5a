"""The sole writer of the agents' state: takes in signs of life, ends and requests one by one, and decides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from argus.agents import policy, reports
from argus.agents.beats import Beats
from argus.agents.launches import Launches
from argus.agents.ledger import Ledger, put
from argus.agents.messages import (
    Beaten,
    EndReported,
    Exited,
    Forgotten,
    Jumped,
    Launched,
    Look,
    Message,
    Reconfigured,
    RespawnAsked,
    SpawnAsked,
    StopAsked,
)
from argus.agents.model import Agent, Origin, State
from argus.agents.policy import Gate, Hold, Keep, Remove, Report, Respawn
from argus.agents.settings import Agents as Settings
from argus.agents.starts import Starts
from argus.agents.tools import Tools
from argus.core.clock import age, stamp
from argus.core.errors import ArgusError, Code
from argus.core.vital import Vital
from argus.host.identity import Identity
from argus.host.launching import Ended, Running
from argus.loops import log
from argus.store.records import Act, Append, CloseAct, OpenAct

STOP = "stop_agent"
_A_PERSON_MAY_PASS = frozenset({Gate.AUTONOMY, Gate.BACKOFF, Gate.CAP, Gate.DISABLED})


class Keeper:
    def __init__(self, settings: Settings, tools: Tools) -> None:
        self._tools = tools
        self.queue: asyncio.Queue[Message] = asyncio.Queue()
        self.ledger = Ledger(settings, tools)
        self.launches = Launches(tools, self.queue.put_nowait)
        self.starts = Starts(self.ledger, self.launches, tools)
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
            match message:
                case Beaten(beat, reply):
                    _answer(reply, await self.beats.take(beat))
                case SpawnAsked(config, project, task, by, reply, terminal):
                    _answer(reply, await self.starts.spawn(config, project, task, by, terminal))
                case RespawnAsked(id, by, reply):
                    _answer(reply, await self._respawn_asked(self.ledger.find(id), by))
                case StopAsked(id, grace, by, reply):
                    _answer(reply, await self._stop(self.ledger.find(id), grace, by))
                case Forgotten(id, by, reply):
                    _answer(reply, await self.ledger.remove(self.ledger.find(id), "removed by hand", by))
                case EndReported(id, exit_status, reply):
                    _answer(reply, await self._end_reported(self.ledger.find(id), exit_status))
                case Launched():
                    await self._launched(message)
                case Exited(id, ended):
                    await self._exited(id, ended)
                case Look(id):
                    await self._look(id)
                case Jumped():
                    self.ledger.trusted_from = stamp(self._tools.clock)
                case Reconfigured(settings):
                    self.ledger.settings = settings
        except Exception as error:  # noqa: BLE001 - one bad message must not end the reader of all the others
            if not isinstance(error, ArgusError):
                log.exception("a message to the agents could not be handled: %r", message)
            if isinstance(message, Launched | Exited):
                # An act gets its one outcome, and an end is noticed, however long the store is away.
                self.launches.tell_again(message)
            elif not isinstance(message, Look | Jumped | Reconfigured) and not message.reply.done():
                message.reply.set_exception(error)

    # Looking at who is silent or has ended.

    async def _look(self, id: str | None) -> None:
        for agent in [self.ledger.book.get(id)] if id else list(self.ledger.book):
            if agent is None:
                continue
            try:
                await self._look_at(agent)
            except ArgusError as error:
                # The record is away: this one is looked at again the next time, and the others now.
                log.warning("agent %s could not be judged: %s", agent.id, error.message)

    async def _look_at(self, agent: Agent) -> None:
        if agent.state is State.SPAWNING:
            return  # its start has a deadline of its own
        if agent.state is not State.DEAD:
            vital = self.ledger.vital(agent)
            if agent.origin is not Origin.FOREIGN and vital is Vital.ALIVE:
                await self._found_alive(agent)
                return
            if vital is not Vital.DEAD and self.ledger.silence(agent) <= self.ledger.settings.heartbeat.stale_after:
                return
        await self._decide(agent)

    async def _found_alive(self, agent: Agent) -> None:
        """The daemon is the companion of what it started itself, and of what outlived its launcher."""
        if agent.state is State.ALIVE and not agent.warned:
            self.ledger.see(agent)
            return
        alive = self.ledger.moved(agent, State.ALIVE, warned=False, reason="", seen=stamp(self._tools.clock))
        await self.ledger.note(alive, reports.back(alive))

    async def _decide(self, agent: Agent) -> None:
        silent = self.ledger.silence(agent)
        match policy.decide(self._facts(agent)):
            case Remove(reason):
                await self.ledger.remove(agent, reason, "argus")
            case Keep(hung):
                kept = self.ledger.moved(agent, State.STALE, warned=True, seen=stamp(self._tools.clock))
                await self.ledger.note(kept, *([] if agent.warned else [reports.silent(kept, silent, hung=hung)]))
            case Report():
                if agent.state is not State.UNKNOWN:
                    unknown = self.ledger.moved(agent, State.UNKNOWN, warned=True)
                    await self.ledger.note(unknown, reports.lost(unknown, silent))
            case Hold(gate):
                await self._hold(await self._death(agent), gate)
            case Respawn():
                await self._respawn(agent)

    async def _respawn(self, agent: Agent) -> None:
        dead = await self._death(agent)
        # A death that was noticed only now begins its wait now.
        decision = policy.decide(self._facts(dead))
        if isinstance(decision, Respawn):
            await self.starts.respawn(dead, "argus")
        elif isinstance(decision, Hold):
            await self._hold(dead, decision.gate)

    async def _death(self, agent: Agent) -> Agent:
        """Recorded once, at once, whatever comes of it."""
        if agent.state is State.DEAD:
            return agent
        dead = self.ledger.dead(agent)
        await self.ledger.note(dead, reports.died(dead, self._tools.autonomy()))
        return dead

    async def _hold(self, dead: Agent, gate: Gate) -> None:
        """Not started again now. Said once for each gate; one that no time opens is escalated, once."""
        held = replace(dead, gate=gate.value, escalated=dead.escalated or gate in policy.ESCALATED)
        hint = reports.hint(gate, held, self.ledger.settings.respawn.max_per_hour)
        drafts = []
        if gate.value != dead.gate:
            drafts.append(reports.held_back(held, gate, self._tools.autonomy(), hint))
        if held.escalated and not dead.escalated:
            drafts.append(reports.escalated(held, gate, hint))
        if drafts:
            await self.ledger.note(held, *drafts)
        if gate is Gate.BACKOFF and held.died:
            left = held.wait - age(held.died, stamp(self._tools.clock))
            self.launches.look_later(held.id, max(0.0, left))

    def _facts(self, agent: Agent) -> policy.Facts:
        respawn = self.ledger.settings.respawn
        now = stamp(self._tools.clock)
        return policy.Facts(
            stop_approved=bool(agent.stop),
            finished=agent.status == "completed" or agent.exit_status == 0,
            vital=self.ledger.vital(agent),
            all_are_late=not self._tools.time_is_sound(),
            respawn_enabled=respawn.enabled,
            config_known=agent.config in self.ledger.settings.configs,
            path_exists=self._tools.is_folder(agent.project),
            autonomy=self._tools.autonomy(),
            respawns=self.ledger.lately(agent.lineage),
            most=respawn.max_per_hour,
            wait=max(0.0, agent.wait - age(agent.died, now)) if agent.died else 0.0,
            recordable=not self._tools.notes.is_away,
        )

    # What is asked for, and what was carried out.

    async def _respawn_asked(self, agent: Agent, by: str) -> Agent:
        decision = policy.decide(self._facts(agent))
        if isinstance(decision, Respawn) or (isinstance(decision, Hold) and decision.gate in _A_PERSON_MAY_PASS):
            return await self.starts.respawn(await self._death(agent), by)
        gate, hint = type(decision).__name__.lower(), f"it is {agent.state.value}"
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
            await self._decide(agent)
        elif message.ended is not None:
            await self._exited(agent.id, message.ended)
        elif message.running is not None:
            self.launches.watch(agent.id, message.running)
            if agent.stop:
                self.launches.stop(message.running, 0.0)

    async def _end_reported(self, agent: Agent, exit_status: int | None) -> Agent:
        """Believed when our own look says the same: an agent that lives is not replaced because of a word."""
        if self.ledger.vital(agent) is not Vital.DEAD:
            raise ArgusError(Code.INVALID_STATE, f"{agent.id} is not known to have ended", agent=agent.id)
        await self._exited(agent.id, Ended(exit_status))
        return self.ledger.book.get(agent.id) or agent

    async def _exited(self, id: str, ended: Ended) -> None:
        agent = self.ledger.book.get(id)
        if agent is None or agent.state in (State.DEAD, State.SPAWNING):
            return
        how = "exit status unknown" if ended.exit_status is None else f"exit status {ended.exit_status}"
        gone = replace(agent, exit_status=ended.exit_status, reason=how)
        if agent.stop or ended.exit_status == 0 or agent.status == "completed":
            await self.ledger.remove(gone, agent.stop or "finished", "argus")
            return
        await self._decide(await self._death(gone))

    async def _stop(self, agent: Agent, grace: float, by: str) -> Agent:
        """What a person stopped stays stopped: that is on record before the signal."""
        act = Act(self._tools.new_id(), STOP, agent.id, stamp(self._tools.clock), None, {"agent": agent.id})
        stopping = replace(agent, stop="shutdown_requested", reason=f"stopped by {by}")
        await self._tools.notes.commit(put(stopping), OpenAct(act), Append(reports.stop_started(stopping, act, by)))
        self.ledger.book.put(stopping)
        running = self._ours(stopping)
        if running is not None:
            self.launches.stop(running, grace)
        outcome = "signalled" if running else "asked"
        told = reports.stop_finished(stopping, act, outcome)
        await self.starts.close(CloseAct(act.id, outcome, self._tools.clock.wall(), {}), Append(told))
        if self.ledger.vital(stopping) is Vital.DEAD:
            return await self.ledger.remove(stopping, stopping.stop, by)
        return stopping

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
