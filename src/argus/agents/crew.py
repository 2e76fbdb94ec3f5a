"""The agents' part as the rest of Argus sees it: who there is, how they are, and what may be asked of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from argus.agents.keeper import Keeper
from argus.agents.messages import (
    Beat,
    Beaten,
    EndReported,
    Forgotten,
    Look,
    Message,
    Pulse,
    Reconfigured,
    RespawnAsked,
    SpawnAsked,
    StopAsked,
    Turn,
    TurnTold,
    WriteSeen,
)
from argus.agents.model import Agent, Over, State
from argus.agents.restoring import restore
from argus.agents.settings import Agents as Settings
from argus.agents.stops import Stops
from argus.agents.terminals import Following, Handover, Terminals
from argus.agents.tools import Tools
from argus.core.clock import Jump, stamp
from argus.core.depending import Broke, Thing
from argus.core.errors import ArgusError, Code
from argus.host.launching import Ended, LaunchFailed
from argus.loops import keep_running

T = TypeVar("T")
_FOLLOWS = 5.0
"""Seconds that a launcher's question is kept open; it asks again."""
_APPROVED = 30.0
"""Seconds to end after a wish to end was granted."""
_WRITE = 0.1
"""Seconds between two looks for what has waited long enough to be written: a beat is on disk within a second."""
_AWAY = 1.0
"""The same while the record is away: to make it all ready, and ten times a second, is the most that beats cost."""

_CUT = 1.0
"""Seconds between two looks at how long the logs have grown; a look costs microseconds for each."""


class Crew:
    def __init__(self, settings: Settings, tools: Tools) -> None:
        self._tools = tools
        self._keeper = Keeper(settings, tools)
        self.stops = Stops(self._keeper.ledger, tools, self._in_turn, self._end)
        self.terminals = Terminals(self._keeper.ledger, self._keeper.starts, tools)
        self._changed = asyncio.Event()

    async def restore(self) -> None:
        """Takes up what the record says, and who still lives. Before `run`."""
        await self.stops.restore()
        await restore(self._keeper, self._tools)

    async def run(self) -> None:
        store = self._tools.store
        # Nobody could be heard until now, however long the record took to read, or the machine slept meanwhile.
        self._keeper.ledger.trusted_from = stamp(self._tools.clock)
        async with asyncio.TaskGroup() as group:
            self._keeper.launches.adopt(group)
            group.create_task(keep_running("agents.keeper", self._keeper.run, store))
            group.create_task(keep_running("agents.look", self._look, store))
            group.create_task(keep_running("agents.seen", self._write, store))
            group.create_task(keep_running("agents.logs", self._bound, store))

    def configure(self, settings: Settings) -> None:
        self._tell(Reconfigured(settings))
        self._changed.set()

    def look(self) -> None:
        """At everybody, now: what somebody waited for may be back."""
        self._tell(Look())

    def time_jumped(self, jump: Jump) -> None:
        """At once, and not in its turn: a look that is under way would go on counting the silence as an agent's."""
        self._keeper.ledger.trusted_from = stamp(self._tools.clock)

    @property
    def settings(self) -> Settings:
        return self._keeper.ledger.settings

    @property
    def agents(self) -> list[Agent]:
        """Oldest first."""
        return sorted(self._keeper.ledger.book, key=lambda agent: agent.born)

    @property
    def tmux_socket(self) -> str:
        return self._tools.tmux_socket

    @property
    def is_idle(self) -> bool:
        return not self.agents

    def peek(self, id: str) -> Agent | None:
        return self._keeper.ledger.book.peek(id)

    def find(self, id: str) -> Agent:
        return self._keeper.ledger.find(id)

    def end(self, id: str) -> Over | None:
        """What became of it; None: it goes on, or nobody knows of it."""
        return self._keeper.ledger.end(id)

    def broken(self, agent: Agent) -> Broke:
        """What it needs and does not have just now."""
        return self._keeper.ledger.broken(agent)

    def needs(self, agent: Agent) -> tuple[Thing, ...]:
        return self._keeper.ledger.needs(agent)

    def silence(self, agent: Agent) -> float:
        return self._keeper.ledger.silence(agent)

    def speaking(self, kind: str, conversation: str) -> Agent | None:
        """Whose conversation it is, of those whose turns are waited for: they depend on something."""
        configs = self.settings.configs
        for agent in self._keeper.ledger.book.peek_at_all() if conversation else ():
            if agent.session == conversation and agent.state is not State.DEAD:
                config = configs.get(agent.config)
                return agent if config is not None and config.kind == kind and config.depends_on else None
        return None

    def turned(self, agent: Agent, *, in_turn: bool) -> None:
        """What its program tells of its turn. On record when one begins and when it ends, and not in between."""
        # In its turn it is compared with what is on record: a beginning may still be on its way there.
        self._tell(TurnTold(agent.id, in_turn))

    async def beat(self, beat: Beat) -> Pulse:
        agent = self._keeper.ledger.book.peek(beat.agent_id)
        if agent is not None and agent.state is State.SPAWNING and beat.pid:
            self._keeper.launches.reported(agent.id)
        pulse = self._keeper.beats.quick(beat)
        return pulse if pulse is not None else await self._ask(lambda reply: Beaten(beat, reply))

    async def spawn(self, config: str, project: str, task: str, by: str) -> Agent:
        return await self._ask(lambda reply: SpawnAsked(config, project, task, by, reply))

    async def launch(self, config: str, project: str, task: str, launcher: int, by: str) -> Agent:
        """As `spawn`, for the launcher of that PID, which starts it in its terminal; `handover` tells it how."""
        terminal = self.terminals.who(launcher)
        return await self._ask(lambda reply: SpawnAsked(config, project, task, by, reply, terminal))

    async def handover(self, agent: Agent) -> Handover:
        """What its launcher needs to start it, once the folder it works in is there."""
        try:
            await self._keeper.launches.placed(agent.id)
        except LaunchFailed as failed:
            raise ArgusError(Code.INVALID_STATE, f"{agent.id} was not started: {failed}", agent=agent.id) from failed
        return self.terminals.handover(agent)

    async def ended(self, id: str, exit_status: int | None, failure: str) -> Agent:
        """A companion says that it ended, or a launcher that it could not start it."""
        agent = self.find(id)
        if agent.state is State.SPAWNING:
            self._keeper.launches.reported(id, failure)
            return agent
        ended = await self._keeper.launches.with_words(id, Ended(exit_status))
        return await self._ask(lambda reply: EndReported(id, ended, reply))

    async def following(self, id: str, launcher: int) -> Following:
        """What comes after this agent in its launcher's terminal; waits a while for it."""
        terminal = self.terminals.who(launcher)
        until = self._tools.clock.monotonic() + _FOLLOWS
        while True:
            turn = self._keeper.turn
            found = self.terminals.following(id, terminal)
            left = until - self._tools.clock.monotonic()
            if found.start is not None or found.over or left <= 0:
                return found
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await turn.wait()

    async def respawn(self, id: str, by: str) -> Agent:
        return await self._ask(lambda reply: RespawnAsked(id, by, reply))

    async def stop(self, id: str, grace: float, by: str) -> Agent:
        return await self._ask(lambda reply: StopAsked(id, grace, by, reply))

    async def forget(self, id: str, by: str) -> Agent:
        return await self._ask(lambda reply: Forgotten(id, by, reply))

    async def written(self) -> None:
        """Writes who was seen and what they said, now. For the end of Argus."""
        await self._in_turn(self._keeper.ledger.write_seen)

    def _end(self, id: str, by: str) -> None:
        """In its own turn: on record as any other stop."""
        reply: asyncio.Future[Agent] = asyncio.get_running_loop().create_future()
        reply.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._tell(StopAsked(id, _APPROVED, by, reply))

    async def tail(self, id: str, lines: int) -> str:
        if id not in self._keeper.ledger.over:
            self.find(id)
        return await self._tools.launcher.tail(self._tools.run_folder(id), lines)

    def _tell(self, message: Message) -> None:
        self._keeper.queue.put_nowait(message)

    async def _ask(self, make: Callable[[asyncio.Future[T]], Message]) -> T:
        reply: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._tell(make(reply))
        return await reply

    async def _in_turn(self, work: Callable[[], Awaitable[T]]) -> T:
        return await self._ask(lambda reply: Turn(work, reply))

    async def _look(self) -> None:
        """At every agent, and often enough to be the companion of those that the daemon started."""
        while True:
            heartbeat = self.settings.heartbeat
            self._changed.clear()
            try:
                async with asyncio.timeout(min(heartbeat.interval, heartbeat.check_every)):
                    await self._changed.wait()
            except TimeoutError:
                pass
            if self._tools.time_is_sound():
                self._tell(Look())

    async def _bound(self) -> None:
        """Cuts the logs of who writes a lot."""
        while True:
            await asyncio.sleep(_CUT)
            for agent in self._keeper.ledger.book.peek_at_all():
                if agent.nonce:
                    # One that replaced its log or its folder by something else is not everybody's trouble.
                    with contextlib.suppress(OSError):
                        self._tools.launcher.bound(self._tools.run_folder(agent.id))

    async def _write(self) -> None:
        ledger = self._keeper.ledger
        while True:
            while ledger.unwritten:
                await asyncio.sleep(_WRITE if not self._tools.notes.is_away else _AWAY)
                self._ask_to_write()
            # Nobody beats: nobody looks.
            await ledger.seen.wait()
            ledger.seen.clear()

    def _ask_to_write(self) -> None:
        """Once: while the store is slow, no more of them wait in the queue."""
        ledger = self._keeper.ledger
        if ledger.unwritten and not ledger.is_asked_to_write:
            ledger.is_asked_to_write = True
            self._tell(WriteSeen())
