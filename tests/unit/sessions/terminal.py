"""The world of the handoff machine: one agent in its terminal, a folder, people, and an Argus that comes and goes.

What Argus submits is noted in the moment it does so, beside what was true then; whether that was allowed is said by the
machine.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from argus.core.autonomy import Level
from argus.core.clock import Stamp, stamp
from argus.core.events import Event
from argus.sessions import prompts
from argus.sessions.keeper import Sessions
from argus.sessions.model import Activity, ContextReading, Source
from argus.sessions.outputs import Reach
from argus.sessions.session import Place
from argus.sessions.settings import Sessions as Settings
from argus.sessions.signals import Sign
from argus.sessions.spawns import Output
from argus.sessions.tools import Answer, Before, Leaf, Seen, Told, Tools
from argus.store.notes import Notes
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, SimulatedLoop
from argus.typist import Leave, Line

WINDOW = 200_000
OUTCOMES = frozenset({"handoff_done", "handoff_failed", "handoff_called_off"})
Kind = Literal["hooks", "transcript", "plain"]
"""How an agent tells of itself: by hooks and its transcript, by that alone, or not at all."""
_NUDGE = "The handoff document is not there yet"
_PATH = re.compile(r"(?:Write it to|Read handoff from) (\S+)")


@dataclass
class Document:
    size: int = 0
    modified: float = 0.0
    is_being_written: bool = False
    problem: str = ""

    @property
    def is_complete(self) -> bool:
        return self.size > 0 and not self.is_being_written and not self.problem


@dataclass(frozen=True)
class Row:
    """Of its transcript."""

    at: Stamp
    conversation: str
    activity: Activity
    prompt: str = ""
    used: int = 0


@dataclass(frozen=True)
class Submitted:
    """A line of the handoff for which Enter was pressed, and what was true then."""

    handoff: str
    line: str
    """ask, nudge, clear or resume."""
    was_over: bool
    taken: bool
    destroys: bool
    """It is a clear, and there was something in the conversation."""
    is_complete: bool
    is_at_rest: bool
    is_spoken: bool
    """A person gave it something to do since it was asked for the document, as far as that can be known."""


@dataclass
class Truth:
    paths: dict[str, str] = field(default_factory=dict)
    """Of every handoff that was begun."""
    outcomes: dict[str, list[str]] = field(default_factory=dict)
    lasted: dict[str, float] = field(default_factory=dict)
    """Seconds of each in which Argus ran and nobody was asked for leave."""
    submitted: list[Submitted] = field(default_factory=list)

    @property
    def current(self) -> str:
        return list(self.paths)[-1] if self.paths else ""

    @property
    def is_under_way(self) -> bool:
        return bool(self.current) and not self.outcomes[self.current]


class Recorded:
    """The store; what happens to handoffs is noted when it is committed."""

    def __init__(self, real: SqliteStore, truth: Truth) -> None:
        self._real = real
        self._truth = truth

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def commit(self, *writes: Any) -> list[Event]:
        events = await self._real.commit(*writes)
        for event in events:
            if event.type == "handoff_started":
                self._truth.paths[event.data["handoff"]] = event.data["path"]
                self._truth.outcomes[event.data["handoff"]] = []
                self._truth.lasted[event.data["handoff"]] = 0.0
            elif event.type in OUTCOMES:
                self._truth.outcomes[event.data["handoff"]].append(event.type)
        return events


class Terminal:
    """Eyes, hands and files of an Argus; and what a machine may do to the agent, the folder and Argus itself."""

    def __init__(self, loop: SimulatedLoop, kind: Kind, *, is_readable: bool) -> None:
        self.loop, self.kind = loop, kind
        self.is_readable = is_readable
        """Whether it can be looked up what was given to it to do."""
        self.clock = FakeClock(loop)
        self.truth = Truth()
        self.real = SqliteStore(None, clock=self.clock, inline=True)
        self.store = Recorded(self.real, self.truth)
        self.documents: dict[str, Document] = {}
        self.rows: list[Row] = []
        self.read = 0
        self.number = 1
        self.state = Activity.IDLE
        self.used = 40_000
        self.is_there, self.pid = True, 7
        self.is_deaf = False
        """What is submitted comes to nothing."""
        self.is_stubborn = False
        """It cannot be interrupted."""
        self.is_unsure = False
        """Nothing shows whether what was submitted was taken."""
        self.is_seen = True
        """What stands at its prompt can be read."""
        self.half_typed = False
        self.prompt = ""
        self.is_typing = False
        self.cut_at = ""
        self.is_reached = False
        self.heard_person = -1.0
        """When a person was last heard to ask for something, by an Argus that still runs."""
        self.argus: Sessions | None = None
        self._life: asyncio.Task[None] | None = None
        self._ids = 0
        self._row(Activity.IDLE, "first of all")

    # Argus.

    async def up(self) -> None:
        notes = Notes(self.store, self.clock)  # type: ignore[arg-type]
        tools = Tools(
            self.store,  # type: ignore[arg-type]
            *(notes, self.clock, lambda: Level.MODERATE, lambda: True, self._new_id, self, self, self),
        )
        agent = "plain" if self.kind == "plain" else "claude"
        self.argus = Sessions(Settings.model_validate({"projects": {"p": {"path": "/work/p", "agent": agent}}}), tools)
        await self.argus.restore()
        self.read = max([n for n, row in enumerate(self.rows) if row.used], default=0)
        self._life = self.loop.create_task(self._run(self.argus, notes))

    async def _run(self, argus: Sessions, notes: Notes) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(argus.run())
            group.create_task(notes.run())

    async def kill(self) -> None:
        assert self._life is not None
        self.argus, self.is_typing, self.cut_at, self.heard_person = None, False, "", -1.0
        self._life.cancel()
        await asyncio.wait([self._life])

    async def end(self) -> None:
        if self.argus is not None:
            await self.kill()
        await self.real.close()

    async def passes(self, seconds: float) -> None:
        """Who writes, writes on."""
        until = self.clock.boot() + seconds
        while True:
            for document in self.documents.values():
                if document.is_being_written:
                    document.size, document.modified = document.size + 10, self.clock.wall()
            left = until - self.clock.boot()
            if left <= 0:
                return
            step = min(left, 2.0) if any(one.is_being_written for one in self.documents.values()) else left
            if self.truth.is_under_way and self.argus is not None and self.state is not Activity.WAITING_FOR_PERMISSION:
                step = min(step, 10.0)
                self.truth.lasted[self.truth.current] += step
            await asyncio.sleep(step)

    def _new_id(self) -> str:
        self._ids += 1
        return f"id{self._ids}"

    # The agent.

    @property
    def conversation(self) -> str:
        return f"c{self.number}"

    @property
    def content(self) -> list[Row]:
        return [row for row in self.rows if row.conversation == self.conversation]

    def _row(self, activity: Activity, prompt: str = "") -> None:
        used = 0 if prompt else self.used
        self.rows.append(Row(stamp(self.clock), self.conversation, activity, prompt, used))

    def tell(
        self, activity: Activity, event: str, *, prompt: str = "", clears: bool = False, starts: bool = False
    ) -> None:
        self.clock.advance(0.001)  # of the same moment, nobody could say what came after what
        self.state = activity
        if not starts:
            # That it waits for leave stands in no transcript: there it is a tool that runs.
            self._row(Activity.WORKING if activity is Activity.WAITING_FOR_PERMISSION else activity, prompt)
        if self.kind == "hooks" and self.argus is not None:
            now = stamp(self.clock)
            reading = None if starts else ContextReading(self.used, WINDOW, Source.HOOK, now, self.conversation)
            sign = Sign(activity, Source.HOOK, now, self.conversation, event, context=reading)
            self.argus.heard("claude", "/work/p", replace(sign, clears=clears, starts=starts, pid=self.pid))

    def goes(self) -> None:
        self.is_there = self.half_typed = False
        self.prompt = ""

    def another_comes(self) -> None:
        self.is_there, self.number, self.pid = True, self.number + 1, self.pid + 1
        self.tell(Activity.IDLE, "SessionStart", starts=True)

    def is_given(self, text: str) -> None:
        """Something to do, by whomever."""
        self.tell(Activity.WORKING, "UserPromptSubmit", prompt=text)

    def person_asks(self, text: str) -> None:
        self.is_given(text)
        if self.argus is not None and self.kind == "hooks":
            self.heard_person = self.clock.wall()

    # What Argus sees.

    async def look(self, place: Place, conversation: str) -> Seen:
        if not self.is_there:
            return Seen(alive=False)
        now = stamp(self.clock)
        line = Line("words of a person" if self.half_typed else self.prompt) if self.is_seen else None
        screen = "".join("".join(row.prompt.split()) for row in self.content)
        if self.kind == "plain":
            signs = [Sign(self.state, Source.PANE, now, event="screen")]
            return Seen(True, signs, pid=self.pid, text=screen, sources=1, line=line)
        news, self.read = self.rows[self.read :], len(self.rows)
        return Seen(True, [_sign(row) for row in news], self.rows[-1].conversation, self.pid, screen, 2, line)

    async def spoken(self, place: Place, conversation: str, ours: Sequence[str]) -> bool | None:
        return self.is_spoken(ours) if self.is_readable else None

    def is_spoken(self, ours: Sequence[str]) -> bool | None:
        return prompts.after((row.prompt or None for row in self.content), ours)

    # What Argus does.

    async def type(
        self, place: Place, text: str, *, command: bool, before: Before, told: Told | None, left: bool = False
    ) -> Answer:
        if not self.is_there:
            return Answer(False, reason="the agent is gone")
        if self.half_typed or self.state is Activity.WAITING_FOR_PERMISSION or self.prompt != (text if left else ""):
            return Answer(False, again=True, reason="somebody has begun to type")
        self.is_typing = True
        await before()
        await self._reach("recorded")
        self.prompt = text
        await self._reach("pasted")
        await asyncio.sleep(0.3)
        self.prompt = ""
        self._submit(text, command=command)
        await self._reach("submitted")
        await asyncio.sleep(0.2)
        self.is_typing = False
        return Answer(True, certain=not self.is_unsure, reason="nothing shows it" if self.is_unsure else "")

    async def _reach(self, place: str) -> None:
        if self.cut_at == place:
            self.is_reached = True
            await asyncio.Event().wait()

    def _submit(self, text: str, *, command: bool) -> None:
        truth, line = self.truth, _line(text, command=command)
        path = _PATH.search(text)
        if line:
            id = truth.current if command else next(one for one, at in truth.paths.items() if path and at == path[1])
            self._note(id, line)
        if self.is_deaf:
            return
        if command:
            self.number, self.used = self.number + 1, 15_000
            self.tell(Activity.IDLE, "SessionStart", clears=True, starts=True)
        else:
            self.is_given(text)

    def _note(self, id: str, line: str) -> None:
        path = self.truth.paths[id]
        document = self.documents.get(path, Document())
        ours = (f"Write it to {path}",)
        known = self.is_spoken(ours) if self.is_readable else self.heard_person > document.modified
        self.truth.submitted.append(
            Submitted(
                id,
                line,
                bool(self.truth.outcomes[id]),
                not self.is_deaf,
                line == "clear" and bool(self.content) and not self.is_deaf,
                document.is_complete,
                self.state is Activity.IDLE,
                bool(known),
            )
        )

    async def interrupt(self, place: Place, before: Before) -> Answer:
        await before()
        if not self.is_there or self.is_stubborn or self.state is not Activity.WORKING:
            return Answer(False, again=True, reason="it is not busy")
        self.tell(Activity.IDLE, "Stop")
        return Answer(True)

    async def erase(self, place: Place, text: str) -> bool:
        if self.is_there and self.prompt == text and not self.half_typed:
            self.prompt = ""
        return not self.prompt

    async def answer(self, place: Place, id: str, leave: Leave, before: Before) -> Answer:
        raise AssertionError("nobody answers anything here")

    # Files.

    async def choose(self, place: Place, wall: float) -> str:
        """One that is not there yet, whatever lies in the folder."""
        names = (f"/work/p/.bmad/handoffs/handoff-{n}.md" for n in range(1, 1000))
        taken = {*self.documents, *self.truth.paths.values()}
        return next(name for name in names if name not in taken)

    async def leaf(self, place: Place, path: str) -> Leaf | None:
        found = self.documents.get(path)
        return Leaf(1, found.size, found.modified, found.problem) if found else None

    async def output(self, path: str, reach: Reach) -> Output:
        return Output(None)

    async def settle(self, path: str, reach: Reach) -> str:
        return path


def _line(text: str, *, command: bool) -> str:
    if command:
        return "clear"
    if text.startswith("Create handoff"):
        return "ask"
    if text.startswith("Read handoff"):
        return "resume"
    return "nudge" if text.startswith(_NUDGE) else ""


def _sign(row: Row) -> Sign:
    reading = ContextReading(row.used, WINDOW, Source.TRANSCRIPT, row.at, row.conversation) if row.used else None
    event = "prompt" if row.prompt else "assistant"
    return Sign(row.activity, Source.TRANSCRIPT, row.at, row.conversation, event, context=reading)
