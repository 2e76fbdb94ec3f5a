"""The agents and their record, changed together: what is not on record, or noted for it, did not happen."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from typing import Any

from argus.agents import book, incidents, policy, reports
from argus.agents.book import DOMAIN, Book
from argus.agents.model import Agent, Over, Process, State, over
from argus.agents.settings import Agents as Settings
from argus.agents.tools import Tools
from argus.core.backoff import HEALTHY_AGAIN, Backoff
from argus.core.clock import Stamp, age, rebooted, stamp
from argus.core.depending import Broke, Thing
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.core.trouble import Trouble
from argus.core.vital import Vital
from argus.host.identity import Identity
from argus.store.intents import Intents, Then
from argus.store.records import Append, Document, PutDocument, PutIncident, Write

_HOUR = 3600.0
_JITTER = 0.25
_AT_ONCE = 100
"""Agents whose last words are written in one commit."""


class Ledger:
    def __init__(self, settings: Settings, tools: Tools) -> None:
        self.settings = settings
        self._tools = tools
        self.book = Book()
        self.over: dict[str, Over] = {}
        """Those that are over, with why: their beats are answered with it."""
        self._respawns: dict[str, list[Stamp]] = {}
        self.unknown_until: Stamp | None = None
        self._unwritten: dict[str, float] = {}
        """Whose last words are not on record yet, and since when; the longest waiting first."""
        self.seen = asyncio.Event()
        """Somebody was seen, and that is not written yet."""
        self.is_asked_to_write = False
        self.intents = Intents(tools.store, tools.notes)
        self._excused: dict[str, Stamp] = {}
        self.trusted_from = stamp(tools.clock)
        """Silence before this moment counts for nobody: Argus was away, or time jumped."""

    def find(self, id: str) -> Agent:
        agent = self.book.get(id)
        if agent is None:
            known = sorted(one.id for one in self.book)[:50]
            why = f" any more: {self.over[id].why}" if id in self.over else ""
            raise ArgusError(Code.AGENT_NOT_FOUND, f"there is no agent {id[:100]!r}{why}", agent=id[:100], known=known)
        return agent

    # Changing one.

    async def note(self, agent: Agent, *drafts: Draft) -> None:
        await self._tools.notes.note(*self.incident(agent), put(agent), *(Append(draft) for draft in drafts))
        self.book.put(agent)

    def incident(self, agent: Agent) -> list[PutIncident]:
        """What of its incident is to be written with it."""
        before = self.book.peek(agent.id)
        if before is not None and before.trouble is not None and agent.trouble is None:
            return incidents.closing(before, self._tools.clock.wall(), "it is alive")
        return incidents.writes(before, agent)

    async def remove(self, agent: Agent, reason: str, by: str = "") -> Agent:
        """Of one that was seen to be over."""
        removed, writes = self.removal(agent, reason, by)
        await self._tools.notes.note(*writes)
        self.forget(removed)
        return removed

    async def remove_asked(self, agent: Agent, reason: str, by: str, then: Then) -> Agent:
        """As a person wants it. Who is told that it is done has it on record: what is only noted a kill may undo."""
        removed, writes = self.removal(agent, reason, by)

        async def gone() -> None:
            self.forget(removed)
            await then()

        await self.intents.commit(*writes, then=gone)
        return removed

    def removal(self, agent: Agent, reason: str, by: str = "") -> tuple[Agent, list[Write]]:
        """`by`: who wants it just now; else it is whoever stopped it, if anybody did."""
        who = by or agent.ended_by
        removed = self.moved(agent, State.REMOVED, reason=reason, ended_by=who)
        ending = incidents.closing(removed, self._tools.clock.wall(), f"removed: {reason}")
        waited = reports.waited(removed, "stopped" if removed.stop else "removed", who)
        told = [reports.removed(removed, who or "argus"), *waited]
        removed = replace(removed, trouble=None, waits_under=())
        return removed, [*ending, put(removed), *map(Append, told)]

    def forget(self, gone: Agent) -> None:
        self.book.forget(gone.id)
        self.over[gone.id] = over(gone)
        self._unwritten.pop(gone.id, None)
        self._excused.pop(gone.id, None)

    def end(self, id: str) -> Over | None:
        """What became of it; None: it goes on, or nobody knows of it."""
        agent = self.book.peek(id)
        if agent is not None:
            return over(agent) if agent.state is State.DEAD else None
        return self.over.get(id)

    def moved(self, agent: Agent, state: State, **more: Any) -> Agent:
        since = agent.since if state is agent.state else self._tools.clock.wall()
        return replace(agent, state=state, since=since, **more)

    def dead(self, agent: Agent) -> Agent:
        """Dead from now on, with the time until it may be started again."""
        now = stamp(self._tools.clock)
        # Up to when it was last seen: one that died at once while Argus was away did not live until now.
        lived = age(agent.spawned, agent.seen) if agent.spawned and agent.seen else 0.0
        if lived >= HEALTHY_AGAIN:
            agent = replace(agent, tries=0, waited=0.0)
        limits = self.settings.respawn
        backoff = Backoff(limits.backoff, limits.max_backoff, jitter=_JITTER)
        wait = policy.delay(backoff, agent.tries, agent.waited, self._tools.chance())
        reason = agent.reason or "its process is gone"
        trouble = agent.trouble or Trouble(self._tools.new_id(), now.wall, agent.id, reason)
        return self.explained(self.moved(agent, State.DEAD, died=now, wait=wait, reason=reason, trouble=trouble))

    def explained(self, dead: Agent) -> Agent:
        """What it needs is down when it dies, or holds its respawn back: its death stands under that from then on."""
        roots = self.broken(dead) if dead.trouble and not dead.trouble.explained_by else ()
        if not roots or dead.trouble is None:
            return dead
        return replace(dead, trouble=replace(dead.trouble, explained_by=roots[0].incident))

    # Who was seen when, and what it was doing: kept in memory, written now and then.

    def see(self, agent: Agent, status: str = "", task: str = "") -> None:
        now = stamp(self._tools.clock)
        self.book.hear(agent.id, now, status, task)
        if not self._unwritten:
            self.seen.set()
        self._unwritten.setdefault(agent.id, now.boot)

    @property
    def unwritten(self) -> int:
        return len(self._unwritten)

    async def write_seen(self, waited: float = 0.0) -> None:
        """Those who have waited so long. In turn with every other change: written beside them, it could undo one that
        is on its way."""
        until = self._tools.clock.boot() - waited
        while self._unwritten and next(iter(self._unwritten.values())) <= until:
            await self._write_some()

    async def _write_some(self) -> None:
        """To make a thousand ready at once would hold everybody else up for as long."""
        some = dict(islice(self._unwritten.items(), _AT_ONCE))
        found = [agent for id in some if (agent := self.book.get(id)) is not None]
        for id in some:
            del self._unwritten[id]
        if not found:
            return
        try:
            await self._tools.notes.commit(*(put(agent) for agent in found))
        except ArgusError:
            kept = {id: since for id, since in some.items() if self.book.peek(id)}
            self._unwritten = {**kept, **{id: since for id, since in self._unwritten.items() if id not in kept}}
            self.seen.set()  # whoever looks for them may have found none meanwhile
            raise

    def broken(self, agent: Agent) -> Broke:
        """What it needs and does not have just now."""
        needs = self.needs(agent)
        return self._tools.broken(needs) if needs else ()

    def needs(self, agent: Agent) -> tuple[Thing, ...]:
        config = self.settings.configs.get(agent.config)
        return config.needs if config is not None else ()

    def excuse(self, agent: Agent) -> None:
        """Its silence up to now counts for nothing: what it needs is down."""
        self._excused[agent.id] = stamp(self._tools.clock)

    def silence(self, agent: Agent) -> float:
        """Seconds without a sign of life."""
        now = stamp(self._tools.clock)
        trusted = age(self.trusted_from, now)
        if agent.id in self._excused:
            trusted = min(trusted, age(self._excused[agent.id], now))
        return min(age(agent.seen, now), trusted) if agent.seen else trusted

    def vital(self, agent: Agent) -> Vital | None:
        """None when nobody here can look."""
        if agent.state is State.DEAD:
            return Vital.DEAD
        process = agent.process
        if process is None or not self.is_here(process.host, process.boot_id, process.space):
            return None
        if rebooted(process.boot_id, self._tools.clock.boot_id):
            return Vital.DEAD
        return self._tools.launcher.look(Identity(process.pid, process.started))

    def is_here(self, host: str, boot_id: str, space: str) -> bool:
        """By its name, or by the running kernel and its space of PIDs: a machine may be renamed."""
        tools = self._tools
        return host == tools.host or (bool(space) and (boot_id, space) == (tools.clock.boot_id, tools.space))

    def here(self, found: Identity, shim: Identity | None = None) -> Process:
        tools = self._tools
        above = (shim.pid, shim.started) if shim else (0, "")
        return Process(tools.host, tools.clock.boot_id, found.pid, found.started, tools.space, *above)

    # How often a lineage was started again.

    def respawned(self, lineage: str, begun: Stamp) -> None:
        self._respawns.setdefault(lineage, []).append(begun)

    def lately(self, lineage: str) -> int:
        now = stamp(self._tools.clock)
        if self.unknown_until and age(self.unknown_until, now) <= _HOUR:
            return self.settings.respawn.max_per_hour  # the record before is lost: all of it counts as spent
        recent = [begun for begun in self._respawns.get(lineage, []) if age(begun, now) <= _HOUR]
        if lineage in self._respawns:
            self._respawns[lineage] = recent
        return len(recent)


def put(agent: Agent) -> Write:
    return PutDocument(Document(DOMAIN, agent.id, book.written(agent), live=not agent.state.is_over))
