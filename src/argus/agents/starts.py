"""Starting an agent, for the first time or again: claim and intent in one commit, then the start, then its outcome.

A claim is made once for each lineage and generation, and for each id; the run folder is a latch besides. So neither two
Arguses nor a crash between claim and start make two agents of one task, or give one name to two: whoever comes after a
crash carries the same claim out again, and the latch lets one through.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from argus.agents import adapters, incidents, reports
from argus.agents.launches import Launches
from argus.agents.ledger import Ledger, put
from argus.agents.messages import Launched
from argus.agents.model import Agent, Origin, Process, State
from argus.agents.policy import Gate
from argus.agents.tools import Tools
from argus.core.clock import stamp
from argus.core.depending import Broke, Broken
from argus.core.errors import ABOUT_CONFIGS, IN_A_WRONG_FOLDER, WITHOUT_A_FOLDER, ArgusError, Code
from argus.core.events import Draft
from argus.core.vital import Vital
from argus.host.identity import Identity
from argus.host.launching import LaunchFailed, Running
from argus.host.programs import LONGEST
from argus.store.records import Act, Append, Claim, CloseAct, OpenAct, Write

SPAWN = "spawn_agent"
RESPAWN = "respawn_agent"
_NAMED = 10


class Starts:
    def __init__(self, ledger: Ledger, launches: Launches, tools: Tools) -> None:
        self._ledger = ledger
        self._launches = launches
        self._tools = tools
        self._held: dict[str, Act] = {}
        """First starts that wait until what the agent needs is back."""

    async def spawn(self, config: str, project: str, task: str, by: str, terminal: Process | None = None) -> Agent:
        configs = self._ledger.settings.configs
        if config not in configs:
            raise _not_configured(config, sorted(configs))
        # Named as what it was said by: a command is right where the cwd of the configuration is not.
        said_by = "project_path" if project else f"agents.configs.{config}.cwd"
        project = project or configs[config].project
        if not self._tools.is_folder(project):
            raise _no_folder(config, project, said_by)
        id = self._ledger.book.first_id(config)
        folder = self._worktree(project, id, said_by) if configs[config].worktree else ""
        self._check_task(config, task, id, folder or project)
        agent = Agent(
            id, id, 1, State.SPAWNING, 0.0,
            config=config, project=project, folder=folder, task=task, terminal=terminal,
        )  # fmt: skip
        roots = self._ledger.broken(agent)
        if roots and terminal is not None:
            raise _not_now(agent, roots)
        if roots:
            agent = replace(agent, gate=Gate.DEPENDENCY.value, reason=_waits(roots), waits_under=_stories(roots))
        return await self._begin(agent, by, None, *reports.waits(agent, roots))

    def _worktree(self, project: str, lineage: str, said_by: str) -> str:
        place = self._tools.worktrees.place(project, lineage)
        if not place:
            why = f"{said_by}: {project} is in no git repository, and this config has worktree: true"
            raise ArgusError(Code.INVALID_REQUEST, why)
        return place

    def place(self, agent: Agent) -> str:
        """Where its task goes on: in its project, or where its config says."""
        config = self._ledger.settings.configs.get(agent.config)
        return agent.project or (config.project if config else "")

    async def respawn(self, dead: Agent, by: str, *told: Draft) -> Agent:
        """The next generation of its lineage: the same config, path and task; its conversation, where there is one.

        `told` comes before it in the record.
        """
        session = await self._conversation(dead)
        following = replace(
            dead,
            id=self._ledger.book.next_id(dead.id, dead.config),
            generation=dead.generation + 1,
            project=self.place(dead),
            tries=dead.tries + 1,
            waited=dead.wait,
            session=session,
            resumes=bool(session),
            in_turn=False,
            process=None,
            terminal=self._waiting(dead.terminal),
            died=None,
            exit_status=None,
            reason="",
            gate="",
            stop="",
            ended_by="",
            status="",
            escalated=False,
            warned=False,
        )
        return await self._begin(following, by, dead, *told)

    async def _begin(self, agent: Agent, by: str, before: Agent | None, *told: Draft) -> Agent:
        now = stamp(self._tools.clock)
        if self._ledger.settings.configs[agent.config].tmux:
            agent = replace(agent, terminal=None)  # it has a terminal of its own
        elif agent.terminal is not None:
            self._prepare(agent)
        session = self.start(agent).session
        agent = replace(
            agent,
            state=State.SPAWNING,
            since=now.wall,
            born=now.wall,
            origin=Origin.TERMINAL if agent.terminal else Origin.DAEMON,
            session=session or agent.session,
            spawned=now,
            seen=now,
            nonce=self._tools.new_id(),
            wait=0.0,
        )
        intent: dict[str, Any] = {"agent": agent.id, "generation": agent.generation, "host": self._tools.host}
        intent |= {"boot": self._tools.clock.boot_id, "space": self._tools.space}
        if before is not None:
            intent |= {"previous": before.id, "wait": before.wait}
        incident = agent.trouble.incident if agent.trouble else None
        act = Act(self._tools.new_id(), RESPAWN if before else SPAWN, agent.lineage, now, incident, intent)
        named = Claim(f"agent-id:{agent.id}", now.wall)
        writes: list[Write] = [
            Claim(f"agent:{agent.lineage}:{agent.generation}", now.wall),
            named,
            put(agent),
            OpenAct(act),
            *(Append(draft) for draft in told),
            Append(reports.spawn_started(agent, act, by)),
        ]
        over = None
        if before is not None:
            # The incident is its successor's now, until that one works.
            over = self._ledger.moved(before, State.RESPAWNED, reason=f"respawned as {agent.id}", trouble=None)
            writes += [*self._ledger.incident(before), put(over)]

        async def then() -> None:
            if over is not None:
                self._ledger.forget(over)
                self._ledger.respawned(agent.lineage, now)
            self._ledger.book.put(agent)
            self.carry_out(agent, act)

        if agent.terminal is None:
            # Making it takes as long as writing the intent, and is done meanwhile: nothing runs in it before.
            asyncio.get_running_loop().call_soon(self._try_to_prepare, agent)
        try:
            await self._ledger.intents.commit(*writes, then=then)
        except ArgusError as error:
            if error.details.get("key") == named.key:
                # Another Argus on this record has given it to somebody else; the next try takes the one after it.
                self._ledger.book.use(agent.id)
            raise
        return agent

    async def try_again(self, agent: Agent) -> None:
        """Starts one that has waited, when nothing that it needs is down any more; or ends it, if it was stopped."""
        if agent.id not in self._held:
            return
        roots = self._ledger.broken(agent)
        if agent.stop or not roots:
            # Its gate is on record until it runs: an Argus that is killed here knows that it was meant to wait.
            self.carry_out(agent, self._held.pop(agent.id))
        elif agent.reason != _waits(roots):
            # One thing is back and another is down by now: it waits in the story of that one too.
            more = [root for root in roots if root.incident and root.incident not in agent.waits_under]
            agent = replace(agent, reason=_waits(roots), waits_under=(*agent.waits_under, *_stories(more)))
            await self._tools.notes.note(put(agent), *map(Append, reports.waits(agent, more)))
            self._ledger.book.put(agent)

    def waits(self, agent: Agent) -> bool:
        """Whether nothing was done yet to start it."""
        return agent.id in self._held

    async def no_longer_waits(self, agent: Agent) -> None:
        act = self._held.pop(agent.id, None)
        if act is not None:
            await self.close(CloseAct(act.id, "withdrawn", self._tools.clock.wall(), {"reason": "removed meanwhile"}))

    def carry_out(self, agent: Agent, act: Act) -> None:
        if agent.gate == Gate.DEPENDENCY.value:
            if self._ledger.broken(agent) and not agent.stop:
                self._held[agent.id] = act
                return
            # It was meant to wait: how long ago it was decided says nothing against it.
            act = replace(act, begun=stamp(self._tools.clock))
        config = self._ledger.settings.configs.get(agent.config)
        if agent.origin is Origin.TERMINAL:
            self._launches.hand_over(agent, act)
        elif config is None:
            why = f"the configuration has no agents.configs.{agent.config} any more"
            self._launches.give_up(agent, act, why)
        else:
            self._launches.start(agent, act, self.start(agent), config)

    async def _conversation(self, dead: Agent) -> str:
        """What the next one resumes; empty: it begins anew. Looked up now: facts outlive a restart of Argus."""
        config, look = self._ledger.settings.configs[dead.config], self._tools.conversations
        if not adapters.asks_what_it_left(config):
            return dead.session
        if dead.session and await look.can_resume(config.kind, dead.session, config.env):
            return dead.session
        if dead.origin is Origin.FOREIGN:
            return ""  # it was started elsewhere, nobody knows when
        begun = await look.begun(config.kind, dead.works_in, dead.born, config.env)
        return adapters.own(begun, dead.task, {one.session for one in self._ledger.book})

    def _check_task(self, config: str, task: str, id: str, project: str) -> None:
        """Refused now: a start that can never work, or a resume that cannot, would be tried again and again."""
        if "\0" in task:
            raise ArgusError(Code.INVALID_REQUEST, "task: a program cannot be given a NUL character")
        size = adapters.longest(self._ledger.settings.configs[config], task=task, agent_id=id, project=project)
        if size > LONGEST:
            said = f"task: as agents.configs.{config} passes it on it has {size} bytes; a program takes {LONGEST}"
            raise ArgusError(Code.INVALID_REQUEST, said, bytes=size, most=LONGEST)

    def _waiting(self, terminal: Process | None) -> Process | None:
        """A launcher that is gone, or was stopped, does not come back for the next one."""
        if terminal is None or terminal.boot_id != self._tools.clock.boot_id:
            return None
        vital = self._tools.launcher.look(Identity(terminal.pid, terminal.started))
        return terminal if vital is Vital.ALIVE else None

    def _try_to_prepare(self, agent: Agent) -> None:
        with contextlib.suppress(LaunchFailed):  # the start says it, and is on record then
            self._tools.launcher.prepare(self._tools.run_folder(agent.id))

    def _prepare(self, agent: Agent) -> None:
        """Before anybody is told to start it: what was prepared can be fenced, should its launcher be late."""
        try:
            self._tools.launcher.prepare(self._tools.run_folder(agent.id))
        except LaunchFailed as failed:
            raise ArgusError(Code.STORE_UNAVAILABLE, str(failed), agent=agent.id) from failed

    def start(self, agent: Agent) -> adapters.Start:
        return adapters.start(
            self._ledger.settings.configs[agent.config],
            task=agent.task,
            agent_id=agent.id,
            project=agent.works_in,
            session=agent.session if agent.resumes else "",
            fresh_session=agent.session or self._tools.new_session(),
        )

    async def launched(self, message: Launched) -> Agent | None:
        """Gives the act its outcome. Returns the agent as it is now."""
        agent = self._ledger.book.get(message.id)
        if agent is None:
            await self._nobody_wants(message)
        if agent is None or agent.state is not State.SPAWNING:
            return agent  # its outcome is on record, and this is the same news again
        is_started = message.running is not None or message.ended is not None
        if agent.stop and not is_started:
            return await self._never_began(agent, message)
        waited = reports.waited(agent, "started" if is_started else "failed")
        agent = replace(agent, waits_under=())
        if not is_started:
            agent = self._ledger.dead(replace(agent, reason=message.failure, gate=""))
            ending = self._ledger.incident(agent)
            outcome, detail = "failed", {"reason": message.failure}
            told = reports.spawn_failed(agent, message.act, message.failure)
        else:
            process = self._where(message.running) if message.running else agent.process
            # It may have begun, and ended, long ago: how long it lives is counted from when it is known to.
            now = stamp(self._tools.clock)
            agent = self._ledger.moved(agent, State.ALIVE, process=process, spawned=now, seen=now, gate="", reason="")
            outcome, detail = "started", {"pid": str(process.pid) if process else ""}
            told = reports.spawned(agent, message.act, str(message.act.intent.get("previous", "")))
            ending = incidents.closing(agent, now.wall, f"respawned as {agent.id}")
            agent = replace(agent, trouble=None)
        closed = CloseAct(message.act.id, outcome, self._tools.clock.wall(), detail)
        await self._settled(agent, *ending, put(agent), closed, *map(Append, (told, *waited)))
        return agent

    async def _never_began(self, agent: Agent, message: Launched) -> Agent:
        """It was stopped before it lived: nobody died, and nothing failed."""
        removed, writes = self._ledger.removal(agent, agent.stop)
        closed = CloseAct(message.act.id, "withdrawn", self._tools.clock.wall(), {"reason": message.failure})
        await self._settled(removed, *writes, closed)
        return removed

    async def _settled(self, agent: Agent, *writes: Write) -> None:
        async def known() -> None:
            if agent.state.is_over:
                self._ledger.forget(agent)
            else:
                self._ledger.book.put(agent)

        try:
            # If its answer is lost, what came of it is asked, and not made up anew: a second try would have another
            # incident, and leave the first one open for good.
            await self._ledger.intents.commit(*writes, then=known)
        except ArgusError as error:
            if error.code is not Code.CONFLICT:
                raise
            await known()  # the act has its outcome on record

    async def _nobody_wants(self, message: Launched) -> None:
        """It was removed while it was being started: what came of that is ended, and the act has its outcome."""
        if message.running is not None:
            self._launches.stop(message.running, 0.0)
        outcome = "failed" if message.running is None and message.ended is None else "started"
        await self.close(CloseAct(message.act.id, outcome, self._tools.clock.wall(), {"reason": "removed meanwhile"}))

    async def close(self, *writes: Write) -> None:
        try:
            await self._tools.notes.commit(*writes)
        except ArgusError as error:
            # The act has its outcome on record: only the answer to that commit was lost on its way.
            if error.code is not Code.CONFLICT:
                raise

    def _where(self, running: Running) -> Process:
        return self._ledger.here(running.agent, running.shim)


def _not_configured(config: str, known: list[str]) -> ArgusError:
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    has = f"it has: {', '.join(known[:_NAMED])}{more}" if known else "it has no agents yet"
    error = ArgusError(
        Code.CONFIG_NOT_FOUND,
        f"the configuration has no agents.configs.{config[:100]}; {has}",
        config=config[:100],
        known=known[:50],
    )
    error.actions = ABOUT_CONFIGS
    return error


def _no_folder(config: str, project: str, said_by: str) -> ArgusError:
    what = "is not a folder here" if project.startswith("/") else "is not an absolute path"
    if said_by == "project_path":
        return ArgusError(Code.INVALID_REQUEST, f"{said_by}: {project} {what}")
    if not project:
        why = f"project_path: it is not given, and agents.configs.{config} has no cwd"
        error = ArgusError(Code.INVALID_REQUEST, why, config=config)
        error.actions = WITHOUT_A_FOLDER
        return error
    error = ArgusError(Code.CONFIG_INVALID, f"{said_by}: {project} {what}", config=config, cwd=project)
    error.actions = IN_A_WRONG_FOLDER
    return error


def _stories(roots: Iterable[Broken]) -> tuple[str, ...]:
    return tuple(root.incident for root in roots if root.incident)


def _waits(roots: Broke) -> str:
    return "waits for " + " and ".join(str(root.thing) for root in roots)


def _not_now(agent: Agent, roots: Broke) -> ArgusError:
    """Somebody sits in front of that terminal: told at once, and not left waiting."""
    gate = Gate.DEPENDENCY.value
    error = ArgusError(Code.GATE_REFUSED, f"nothing was started: {gate}", agent=agent.id, gate=gate)
    down = ", ".join(str(root.thing) for root in roots)
    return error.adding(hint=f"{down} is down; start it when that is back", incident=roots[0].incident or None)
