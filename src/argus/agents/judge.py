"""Looking at agents that are silent or have ended: the facts, the decision, and what follows from it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from argus.agents import policy, reports
from argus.agents.launches import Launches
from argus.agents.ledger import Ledger
from argus.agents.model import COMPLETED, Agent, Origin, State
from argus.agents.policy import Gate, Hold, Keep, Remove, Report, Respawn
from argus.agents.starts import Starts
from argus.agents.tools import Tools
from argus.core.clock import age, stamp
from argus.core.errors import ArgusError
from argus.core.vital import Vital
from argus.loops import log
from argus.store.records import Undecided

_AT_ONCE = 10
"""Agents that are looked at in one go: a thousand would hold up for a tenth of a second whoever beats meanwhile."""
_SOON = 0.05
"""Seconds by which a look comes after the moment it is for: too early, it would be in vain."""


class Judge:
    def __init__(self, ledger: Ledger, launches: Launches, starts: Starts, tools: Tools) -> None:
        self._ledger = ledger
        self._launches = launches
        self._starts = starts
        self._tools = tools

    async def look(self, id: str | None) -> None:
        book = self._ledger.book
        for place, one in enumerate([id] if id else [agent.id for agent in book.peek_at_all()]):
            if place % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)
            agent = book.get(one)
            if agent is None:
                continue
            try:
                await self._look_at(agent)
            except ArgusError as error:
                # The record is away: this one is looked at again the next time, and the others now.
                log.warning("agent %s could not be judged: %s", one, error.message)

    async def _look_at(self, agent: Agent) -> None:
        if agent.state is State.SPAWNING:
            await self._starts.try_again(agent)
            return  # else its start has a deadline of its own
        if agent.state is not State.DEAD:
            vital = self._ledger.vital(agent)
            if agent.origin is not Origin.FOREIGN and vital is Vital.ALIVE:
                await self._found_alive(agent)
                return
            if agent.origin is not Origin.FOREIGN and vital is Vital.DEAD:
                # Whether it had finished is in its run folder, and nowhere else.
                self._launches.take_up(agent)
                return
            if self._ledger.broken(agent):
                self._ledger.excuse(agent)
                return
            # Of what others started, a PID alone says little (a hook may have sent its own): its beats speak for it.
            if not self._is_silent(agent):
                return
        await self.decide(agent)

    def _is_silent(self, agent: Agent) -> bool:
        """For longer than it may be, and by a time that is sound: a silence may be ours as long as it is not."""
        silent = self._ledger.silence(agent)
        return silent > self._ledger.settings.heartbeat.stale_after and self._tools.time_is_sound()

    async def _found_alive(self, agent: Agent) -> None:
        """The daemon is the companion of what it started itself, and of what outlived its launcher."""
        if agent.state is State.ALIVE and not agent.warned:
            self._ledger.see(agent)
            return
        alive = self._ledger.moved(agent, State.ALIVE, warned=False, reason="", seen=stamp(self._tools.clock))
        await self._ledger.note(alive, reports.back(alive))

    async def ended(self, gone: Agent, logs: Sequence[str] = ()) -> None:
        """Its end was reported, with how. A death is on record at once, whatever is decided then."""
        decision = policy.decide(self.facts(gone))
        if isinstance(decision, Remove):
            await self._ledger.remove(gone, gone.stop or decision.reason)
        else:
            await self._died(gone, logs)

    async def decide(self, agent: Agent) -> None:
        silent = self._ledger.silence(agent)
        match policy.decide(self.facts(agent)):
            case Remove(reason):
                await self._ledger.remove(agent, reason)
            case Keep(hung):
                kept = self._ledger.moved(agent, State.STALE, warned=True, seen=stamp(self._tools.clock))
                await self._ledger.note(kept, *([] if agent.warned else [reports.silent(kept, silent, hung=hung)]))
            case Report():
                if agent.state is not State.UNKNOWN:
                    unknown = self._ledger.moved(agent, State.UNKNOWN, warned=True)
                    await self._ledger.note(unknown, reports.lost(unknown, silent))
            case Hold(gate):
                await self._hold(await self.death(agent), gate)
            case Respawn() if agent.state is State.DEAD:
                await self._starts.respawn(agent, "argus")
            case Respawn():
                await self._died(agent)

    async def _died(self, agent: Agent, logs: Sequence[str] = ()) -> None:
        """Its death, and a start that follows at once, in one commit: a second sync would double the time between."""
        dead = self._ledger.dead(agent)
        told = reports.died(dead, self._tools.autonomy(), logs)
        # A death that was noticed only now begins its wait now.
        if isinstance(policy.decide(self.facts(dead)), Respawn):
            try:
                await self._starts.respawn(dead, "argus", told)
            except Undecided:
                raise
            except ArgusError as error:
                # The death is on record, or noted, whatever stands against the start; that is then asked for itself.
                log.info("agent %s could not be respawned at once: %s", agent.id, error.message)
            else:
                return
        await self._ledger.note(dead, told)
        await self.decide(dead)

    async def death(self, agent: Agent) -> Agent:
        """Recorded once, at once, whatever comes of it."""
        if agent.state is State.DEAD:
            return agent
        dead = self._ledger.dead(agent)
        await self._ledger.note(dead, reports.died(dead, self._tools.autonomy()))
        return dead

    async def _hold(self, dead: Agent, gate: Gate) -> None:
        """Not started again now. Said once for each gate; one that no time opens is escalated, once."""
        held = replace(dead, gate=gate.value, escalated=dead.escalated or gate in policy.ESCALATED)
        if gate is Gate.DEPENDENCY:
            held = self._ledger.explained(held)
        hint = reports.hint(gate, held, self._ledger.settings.respawn.max_per_hour)
        drafts = []
        if gate.value != dead.gate:
            drafts.append(reports.held_back(held, gate, self._tools.autonomy(), hint))
        if held.escalated and not dead.escalated:
            drafts.append(reports.escalated(held, gate, hint))
        # With nothing else to write, this shows whether the record is back.
        if drafts or held.trouble != dead.trouble or (gate is Gate.RECORD and not self._tools.notes.waiting):
            await self._ledger.note(held, *drafts)
        if gate is Gate.BACKOFF and held.died:
            left = held.wait - age(held.died, stamp(self._tools.clock))
            self._launches.look_later(held.id, max(0.0, left) + _SOON)

    def facts(self, agent: Agent) -> policy.Facts:
        respawn = self._ledger.settings.respawn
        now = stamp(self._tools.clock)
        return policy.Facts(
            stop_approved=bool(agent.stop),
            dependency_down=bool(self._ledger.broken(agent)),
            finished=agent.status == COMPLETED or agent.exit_status == 0,
            vital=self._ledger.vital(agent),
            all_are_late=not self._tools.time_is_sound(),
            respawn_enabled=respawn.enabled,
            config_known=agent.config in self._ledger.settings.configs,
            path_exists=self._tools.is_folder(self._starts.place(agent)),
            autonomy=self._tools.autonomy(),
            respawns=self._ledger.lately(agent.lineage),
            most=respawn.max_per_hour,
            wait=max(0.0, agent.wait - age(agent.died, now)) if agent.died else 0.0,
            recordable=not self._tools.notes.is_away,
        )
