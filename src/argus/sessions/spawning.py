"""The spawns that are known: registered, judged every few minutes, and told of once for each change."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from argus.core.clock import Stamp, stamp
from argus.core.depending import Broke
from argus.core.errors import ABOUT_SPAWNS, ArgusError, Code
from argus.sessions import reports
from argus.sessions import spawns as judging
from argus.sessions.outputs import Reach
from argus.sessions.settings import SpawnSettings
from argus.sessions.spawns import Limits, Spawn, Status
from argus.sessions.tools import Answer, Tools
from argus.store.records import Append, PutSpawn, SpawnRow

_LIVE = 2_000
"""Spawns that may run at once."""
_KEPT = TypeAdapter(Spawn)
Prompt = Callable[[str, str], Awaitable[Answer]]
"""Tells a project's session something; what came of it."""


@dataclass(frozen=True, slots=True)
class Rate:
    project: str
    task_type: str
    completed: int
    failed: int
    running: int

    @property
    def success(self) -> float | None:
        over = self.completed + self.failed
        return round(self.completed / over, 4) if over else None


class Spawning:
    def __init__(
        self,
        tools: Tools,
        settings: Callable[[], SpawnSettings],
        every: Callable[[], float],
        folders: Callable[[], Mapping[str, str]],
        broken: Callable[[str], Broke] = lambda project: (),
    ) -> None:
        """`folders`: where each project's session works, by the project's name; `broken`: what it needs and does not
        have just now."""
        self._broken = broken
        self._tools = tools
        self._folders = folders
        self._settings = settings
        self._every = every
        self._live: dict[int, Spawn] = {}
        self._last = 0
        self._due = 0.0
        self.news = asyncio.Event()
        """Set when something is to be judged or told sooner than it was."""
        self._untold: dict[int, tuple[str, str]] = {}
        """Prompts that could not be typed yet, with their project, one for each spawn: the newest."""

    async def restore(self) -> None:
        for data in await self._tools.store.spawns(open_only=True, limit=_LIVE):
            spawn = _KEPT.validate_python(data)
            self._live[spawn.id] = spawn
        newest = await self._tools.store.spawns(limit=1)
        self._last = max((one["id"] for one in newest), default=0)

    def time_jumped(self, now: Stamp) -> None:
        """Nobody saw what happened meanwhile: every silence is counted anew."""
        self._live = {id: replace(one, changed=now) for id, one in self._live.items()}

    @property
    def limits(self) -> Limits:
        settings = self._settings()
        return Limits(settings.stalled_after, settings.abandoned_after)

    def _reach(self, project: str, folder: str) -> Reach:
        """`folder`: the project's, where no session tells it."""
        folders = dict(self._folders())
        own = folders.pop(project, "") or folder
        return Reach(own, [*folders.values()], [os.path.expanduser(one) for one in self._settings().outputs])

    def runs_for(self, project: str) -> bool:
        return any(one.project == project and one.status.goes_on for one in self._live.values())

    def of(self, project: str) -> list[Spawn]:
        return [one for one in self._live.values() if one.project == project and one.status.goes_on]

    async def all(self, limit: int) -> list[Spawn]:
        """The newest first, those that are over among them."""
        kept = [_KEPT.validate_python(data) for data in await self._tools.store.spawns(limit=limit)]
        return [self._live.get(one.id, one) for one in kept]

    async def find(self, id: int) -> Spawn:
        if id in self._live:
            return self._live[id]
        for one in await self.all(10_000):
            if one.id == id:
                return one
        missing = ArgusError(Code.NOT_FOUND, f"there is no spawn {id}", spawn=id)
        missing.actions = ABOUT_SPAWNS
        raise missing

    async def add(
        self,
        project: str,
        task_id: str,
        *,
        task_type: str,
        description: str,
        output_file: str,
        by: str,
        folder: str = "",
    ) -> Spawn:
        """`folder`: in which whoever asks works, where it is known."""
        if output_file:
            output_file = await self._tools.files.settle(output_file, self._reach(project, folder))
        same = next((one for one in self._live.values() if (one.project, one.task_id) == (project, task_id)), None)
        if same is not None and same.status.goes_on:
            message = f"{task_id!r} of {project} runs already as spawn {same.id}"
            raise ArgusError(Code.CONFLICT, message, spawn=same.id)
        if len(self._live) >= _LIVE:
            raise ArgusError(Code.CONFLICT, f"{_LIVE} spawns run already", limit=_LIVE)
        now = stamp(self._tools.clock)
        before = same or next(
            (one for one in await self.all(10_000) if (one.project, one.task_id) == (project, task_id)), None
        )
        # One row for each task of a project: begun again, it is the same one, from the start.
        id = before.id if before else self._last + 1
        spawn = Spawn(id, project, task_id, now, now, task_type, description, output_file, folder=folder)
        await self._keep(spawn, reports.spawn("spawn_registered", spawn, by=by), certain=True)
        self._last = max(self._last, id)
        self.news.set()
        return spawn

    async def update(self, id: int, status: Status, exit_code: int | None, error: str, by: str) -> Spawn:
        known = await self.find(id)
        if not known.status.goes_on and not known.is_hint and known.status is not Status.ABANDONED:
            raise ArgusError(
                Code.CONFLICT, f"spawn {id} is {known.status.value} already", spawn=id, status=known.status
            )
        now = stamp(self._tools.clock)
        ended = None if status.goes_on else now.wall
        reason = error or (f"exit status {exit_code}" if exit_code is not None else "")
        # Who says that it runs has seen it run: its silence is counted from then.
        changed = now if status.goes_on else known.changed
        after = replace(
            known, status=status, exit_code=exit_code, error=error, reason=reason, ended=ended, is_hint=False,
            changed=changed,
        )  # fmt: skip
        await self._keep(after, reports.spawn("spawn_status_changed", after, by=by), certain=True)
        if status is Status.FAILED:
            self._untold[id] = after.project, judging.prompt(after, self.limits)
            self._due = 0.0
        self.news.set()
        return after

    async def rates(self) -> list[Rate]:
        counts: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for one in await self.all(10_000):
            key = (one.project, one.task_type)
            counts[key]["running" if one.status.goes_on else one.status.value] += 1
        return [
            Rate(*key, found["completed"], found["failed"] + found["abandoned"], found["running"])
            for key, found in sorted(counts.items())
        ]

    def wait(self, now: float) -> float:
        return max(0.0, self._due - now) if self._live or self._untold else 3600.0

    async def judge_due(self, prompt: Prompt) -> None:
        now = self._tools.clock.boot()
        if now < self._due or not (self._live or self._untold):
            return
        self._due = now + self._every()
        for one in list(self._live.values()):
            await self._judge(one)
        for id, (project, text) in list(self._untold.items()):
            answer = await prompt(project, text)
            if answer.typed or not answer.again:
                self._untold.pop(id, None)
        moment = stamp(self._tools.clock)
        self._live = {id: one for id, one in self._live.items() if not judging.is_settled(one, moment, self.limits)}

    async def _judge(self, one: Spawn) -> None:
        if self._broken(one.project):
            # Its silence comes from that, and is counted from when that is back.
            self._live[one.id] = replace(one, changed=stamp(self._tools.clock))
            return
        output = judging.Output(None)
        if one.output_file:
            output = await self._tools.files.output(one.output_file, self._reach(one.project, one.folder))
        if self._live.get(one.id) is not one:
            return  # somebody said meanwhile what became of it
        now = stamp(self._tools.clock)
        after = self._live[one.id] = judging.judge(one, output, now, self.limits)
        row = reports.spawn_row(after, now.wall)
        if after.status is one.status:
            await self._tools.notes.note(PutSpawn(_row(after)), row)
            return
        told = reports.spawn("spawn_status_changed", after, by="argus")
        await self._tools.notes.note(PutSpawn(_row(after)), Append(told), row)
        if self._live.get(one.id) is not after:
            return
        text = judging.prompt(after, self.limits)
        if text:
            self._untold[one.id] = after.project, text
        else:
            self._untold.pop(one.id, None)

    async def _keep(self, spawn: Spawn, told: Any, *, certain: bool) -> None:
        keep = self._tools.notes.commit if certain else self._tools.notes.note
        await keep(PutSpawn(_row(spawn)), Append(told))
        if spawn.status.goes_on:
            self._live[spawn.id] = spawn
        else:
            self._live.pop(spawn.id, None)


def _row(one: Spawn) -> SpawnRow:
    data: Mapping[str, Any] = _KEPT.dump_python(one, mode="json")
    return SpawnRow(
        one.id,
        one.project,
        one.task_id,
        one.status.value,
        one.began.wall,
        one.task_type,
        one.description,
        one.changed.wall if one.mark else None,
        one.output_file,
        data,
    )
