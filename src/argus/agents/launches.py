"""Carrying out what the keeper decided: starts, ends, and waiting for both. Judging what came of it is not here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from argus.agents.adapters import Start
from argus.agents.messages import Exited, Launched, Look, Message
from argus.agents.model import Agent
from argus.agents.settings import AgentConfig
from argus.agents.tools import Tools
from argus.core.clock import Stamp, age, rebooted, stamp
from argus.core.vital import Vital
from argus.host.identity import Identity
from argus.host.launching import Ended, Launch, LaunchFailed, LaunchUncertain, Running
from argus.host.worktrees import WorktreeFailed
from argus.loops import log
from argus.store.records import Act

_START = 30.0
"""Seconds in which an agent's shim has to say that it runs."""
_LATEST = 60.0
"""Seconds after its intent in which a start may still begin; later, Argus would act on an old judgement."""
_AGAIN = 1.0
WORDS = 20
"""Lines that are kept of what an agent printed before it died,"""
_WORDS = 4096
"""and characters."""
_BEFORE = 100
"""Lines before those that are looked at: a key has many, and without its first one it is not known for one."""
_LOOKED_AT = 5 * _WORDS
_LAUNCHER = 0.5
"""Seconds between two looks at a launcher that has not reported yet."""


class Launches:
    def __init__(self, tools: Tools, tell: Callable[[Message], None]) -> None:
        self._tools = tools
        self._tell = tell
        self._group: asyncio.TaskGroup | None = None
        self._before: list[Coroutine[Any, Any, None]] = []
        self._reports: dict[str, asyncio.Future[str]] = {}
        """Of the launchers that were told to start something: why they could not; empty: it runs."""
        self._places: dict[str, asyncio.Future[str]] = {}
        """Of what a launcher is to start: whether its folder is there; else why not."""

    def adopt(self, group: asyncio.TaskGroup) -> None:
        """The owner of the tasks; what was asked for before it was there begins now."""
        self._group = group
        for work in self._before:
            group.create_task(work)
        self._before.clear()

    def start(self, agent: Agent, act: Act, start: Start, config: AgentConfig) -> None:
        self._spawn(self._start(agent, act, start, config))

    def hand_over(self, agent: Agent, act: Act) -> None:
        """A launcher in a terminal carries it out. Here its word is waited for, and its end."""
        loop = asyncio.get_running_loop()
        self._reports.setdefault(agent.id, loop.create_future())
        self._places.setdefault(agent.id, loop.create_future())
        self._spawn(self._hand_over(agent, act))

    async def placed(self, id: str) -> None:
        """Returns when the folder it is to work in is there. Raises LaunchFailed."""
        place = self._places.get(id)
        if place is not None and (why_not := await asyncio.shield(place)):
            raise LaunchFailed(why_not)

    def reported(self, id: str, failure: str = "") -> None:
        if id in self._reports:
            _settle(self._reports[id], failure)

    def give_up(self, agent: Agent, act: Act, why: str) -> None:
        """It cannot be started any more; but an earlier Argus may have done so."""
        self._spawn(self._give_up(agent, act, why))

    def take_up(self, agent: Agent) -> None:
        """One that an earlier Argus started: it still runs, or how it ended is in its run folder."""
        self._spawn(self._take_up(agent))

    def watch(self, id: str, running: Running) -> None:
        self._spawn(self._watch(id, running))

    def stop(self, running: Running, grace: float) -> None:
        self._spawn(self._stop(running, grace))

    def clear(self, agent: Agent) -> None:
        """What one that died left elsewhere would go on beside its successor."""
        known = self._known(agent)
        if known is not None:
            self._tools.launcher.clear(known)

    def look_later(self, id: str, seconds: float) -> None:
        async def later() -> None:
            await asyncio.sleep(seconds)
            self._tell(Look(id))

        self._spawn(later())

    def tell_again(self, message: Message) -> None:
        async def again() -> None:
            await asyncio.sleep(_AGAIN)
            self._tell(message)

        self._spawn(again())

    async def _start(self, agent: Agent, act: Act, start: Start, config: AgentConfig) -> None:
        try:
            launch = self._launch(agent, start, config)
            why_not = self._too_late(agent, act)
            # It may have begun before; it is not begun anew.
            if why_not and await self._tools.launcher.find(launch.folder, agent.nonce) is None:
                raise LaunchFailed(f"{why_not}; nothing was started")
            await self._make_worktree(agent)
            self._tell(Launched(agent.id, act, await self._tools.launcher.launch(launch, timeout=_START)))
        except LaunchUncertain:
            # Nothing may replace what may still begin: asked again until it is known.
            await asyncio.sleep(_AGAIN)
            self.start(agent, act, start, config)
        except LaunchFailed as failed:
            await self._give_up(agent, act, str(failed))
        except Exception as error:  # noqa: BLE001 - however it fails, the act gets its outcome
            log.exception("the start of agent %s crashed", agent.id)
            await self._give_up(agent, act, f"{type(error).__name__}: {error}")

    async def _give_up(self, agent: Agent, act: Act, why: str) -> None:
        try:
            found = await self._tools.launcher.find(self._tools.run_folder(agent.id), agent.nonce)
        except LaunchUncertain:
            await asyncio.sleep(_AGAIN)
            self.give_up(agent, act, why)
            return
        except Exception:  # noqa: BLE001 - one agent's trouble is not everybody's; and nothing may replace what may run
            log.exception("what became of agent %s is not known", agent.id)
            await asyncio.sleep(_START)
            self.give_up(agent, act, why)
            return
        await self._tell_found(agent, act, found, why)

    async def _make_worktree(self, agent: Agent) -> None:
        if agent.folder:
            try:
                await self._tools.worktrees.make(agent.project, agent.lineage)
            except WorktreeFailed as failed:
                raise LaunchFailed(str(failed)) from failed

    async def _hand_over(self, agent: Agent, act: Act) -> None:
        report, place = self._reports[agent.id], self._places[agent.id]
        try:
            await self._make_worktree(agent)
            _settle(place, "")
            begun = stamp(self._tools.clock)
            while not report.done() and self._may_still_report(agent, begun):
                await asyncio.wait([report], timeout=_LAUNCHER)
            # Whatever it said or did not say, its run folder knows; and what has not begun by now never will.
            found = await self._tools.launcher.find(self._tools.run_folder(agent.id), agent.nonce)
        except LaunchUncertain:
            await asyncio.sleep(_AGAIN)
            self.hand_over(agent, act)
            return
        except LaunchFailed as failed:
            _settle(place, str(failed))
            self._forget_report(agent)
            await self._give_up(agent, act, str(failed))
            return
        except Exception:  # noqa: BLE001 - one agent's trouble is not everybody's; and nothing may replace what may run
            log.exception("what became of agent %s is not known", agent.id)
            await asyncio.sleep(_START)
            self.hand_over(agent, act)
            return
        self._forget_report(agent)
        failure = (report.result() if report.done() else "") or "its launcher did not start it"
        await self._tell_found(agent, act, found, failure)

    def _forget_report(self, agent: Agent) -> None:
        self._reports.pop(agent.id, None)
        self._places.pop(agent.id, None)

    async def _tell_found(self, agent: Agent, act: Act, found: Running | Ended | None, why: str) -> None:
        if isinstance(found, Running):
            self._tell(Launched(agent.id, act, found))
        else:
            ended = await self.with_words(agent.id, found) if found is not None else None
            self._tell(Launched(agent.id, act, None, why, ended))

    def _may_still_report(self, agent: Agent, begun: Stamp) -> bool:
        who = agent.terminal
        if who is None or self._tools.launcher.look(Identity(who.pid, who.started)) is Vital.DEAD:
            return False
        return age(begun, stamp(self._tools.clock)) < _START

    def _launch(self, agent: Agent, start: Start, config: AgentConfig) -> Launch:
        return Launch(
            folder=self._tools.run_folder(agent.id),
            argv=start.argv,
            cwd=agent.works_in,
            nonce=agent.nonce,
            env={**self._tools.environment(agent.id, agent.project), **start.env},
            tmux=agent.id if config.tmux else None,
            tmux_socket=self._tools.tmux_socket,
        )

    def _too_late(self, agent: Agent, act: Act) -> str:
        if agent.stop:
            return "it was stopped before it began"
        held_up = age(act.begun, stamp(self._tools.clock))
        return f"Argus was held up for {held_up:.0f} s after it decided" if held_up > _LATEST else ""

    async def _take_up(self, agent: Agent) -> None:
        known = self._known(agent)
        try:
            found = await self._tools.launcher.find(self._tools.run_folder(agent.id), agent.nonce) or known
        except LaunchUncertain:
            found = known
            if found is None:
                await asyncio.sleep(_AGAIN)
                self.take_up(agent)
                return
        except Exception:  # noqa: BLE001 - the next look at it says whether it lives
            log.exception("agent %s cannot be found again", agent.id)
            return
        if isinstance(found, Running):
            if agent.stop:
                self.stop(found, 0.0)
            await self._watch(agent.id, found)
        else:
            self._tell(Exited(agent.id, await self.with_words(agent.id, found or Ended(None))))

    def _known(self, agent: Agent) -> Running | None:
        """By the record, for when its run folder is gone or was spoilt."""
        process = agent.process
        if process is None or not process.shim_pid or process.host != self._tools.host:
            return None
        if rebooted(process.boot_id, self._tools.clock.boot_id):
            return None
        shim = Identity(process.shim_pid, process.shim_started)
        folder = self._tools.run_folder(agent.id)
        return Running(Identity(process.pid, process.started), shim, agent.nonce, folder)

    async def _watch(self, id: str, running: Running) -> None:
        try:
            ended = await self._tools.launcher.ended(running)
        except Exception:  # noqa: BLE001 - the next look at it says whether it lives
            log.exception("agent %s cannot be watched", id)
            return
        self._tell(Exited(id, await self.with_words(id, ended)))

    async def with_words(self, id: str, ended: Ended) -> Ended:
        """With the last lines it printed, where it did not end well: who wants to know why needs them."""
        if ended.exit_status == 0:
            return ended
        try:
            said = await self._tools.launcher.tail(self._tools.run_folder(id), _BEFORE + WORDS)
        except Exception:  # noqa: BLE001 - a log that cannot be read, or is none any more, is no reason to miss an end
            log.exception("the log of agent %s cannot be read", id)
            return ended
        return replace(ended, words=last_words(said, self._tools.clean))

    async def _stop(self, running: Running, grace: float) -> None:
        try:
            await self._tools.launcher.stop(running, grace=grace)
        except Exception:  # noqa: BLE001 - it is on record that it is to end; its beats are answered with it
            log.exception("process %d could not be ended", running.agent.pid)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._group is None:
            self._before.append(work)
        else:
            self._group.create_task(work)


def last_words(said: str, clean: Callable[[str], str]) -> tuple[str, ...]:
    """Cleaned before it is cut: half a secret is not known any more, and still one."""
    lines = clean(said[-_LOOKED_AT:]).splitlines()[-WORDS:]
    kept: list[str] = []
    room = _WORDS
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return tuple(reversed(kept)) or tuple(line[-_WORDS:] for line in lines[-1:])


def _settle(future: asyncio.Future[str], result: str) -> None:
    if not future.done():
        future.set_result(result)
