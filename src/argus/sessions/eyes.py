"""Looking at a session from outside: its pane, its process and its transcript. Nothing is typed, no token is spent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from argus.core.clock import Clock, Stamp, stamp
from argus.host.identity import Identity, is_alive
from argus.host.panes import Look, Panes, PanesFailed
from argus.host.transcripts import Position, Row, Transcripts
from argus.sessions import claude, codex, prompts, screen
from argus.sessions.kinds import kind_of, who
from argus.sessions.model import WAITING, Activity, Source
from argus.sessions.session import SDK, Place
from argus.sessions.signals import Sign
from argus.sessions.tools import Seen
from argus.typist.kinds import Line
from argus.typist.screens import Screen

_ANSWER = 2.0
_GLANCES, _BETWEEN = 5, 0.1
"""How often, and with how many seconds in between, one that is not there any more is looked for before it is called
dead. Between two of its programs, a shell has the terminal of a session that is a script."""


@dataclass(slots=True)
class _Known:
    """What earlier looks at one session have found."""

    was_there: bool = False
    is_missed: bool = False
    """It was looked for as often as that makes sense."""
    path: str = ""
    position: Position | None = None
    agent: Identity | None = None
    pid: int = 0
    env: dict[str, str] = field(default_factory=dict)
    shown: Sign | None = None
    lines: tuple[str, ...] = ()


class MachineEyes:
    def __init__(self, panes: Panes, transcripts: Transcripts, clock: Clock, socket: Callable[[], str]) -> None:
        self._panes = panes
        self._transcripts = transcripts
        self._clock = clock
        self._socket = socket
        self._known: dict[str, _Known] = {}

    async def look(self, place: Place, conversation: str) -> Seen:
        if place.type == SDK:
            return Seen()
        known = self._known.setdefault(place.project, _Known())
        pane, alive = await self._pane(place, known)
        now = stamp(self._clock)
        shown = self._plain(place, pane, now, known) if place.agent == "plain" else self._shown(pane, now, known)
        told = await self._transcript(place, known, conversation, now) if place.agent != "plain" else []
        sources = (1 if pane is not None else 0) + (1 if known.path else 0)
        pid = pane.agent.who.pid if pane is not None and pane.agent is not None else 0
        text = "".join("".join(Screen(pane.lines).texts()).split()) if pane is not None else None
        line = kind_of(place).read(pane) if pane is not None else None
        typed = line if isinstance(line, Line) else None
        read = kind_of(place).dialog
        dialog = read(pane) if read and pane is not None else None
        return Seen(alive, [*told, *shown], _named(known.path), pid, text, sources, typed, dialog)

    async def spoken(self, place: Place, conversation: str, ours: Sequence[str]) -> bool | None:
        known = self._known.setdefault(place.project, _Known())
        if place.type == SDK:
            return None
        if place.agent == "plain":
            pane, _ = await self._pane(place, known)
            return prompts.on_screen(list(Screen(pane.lines).texts()), ours) if pane is not None else None
        path = await self._transcripts.find(place.agent, place.folder, known.env, conversation)
        words = codex.prompted if place.agent == "codex" else claude.prompted
        look = await self._transcripts.look(path, None, lambda row: prompts.holds(words(row), ours)) if path else None
        return prompts.after(map(words, look.rows), ours) if look is not None else None

    async def _pane(self, place: Place, known: _Known) -> tuple[Look | None, bool | None]:
        """The agent's pane, and whether the agent is there. One that was never seen there is not dead: nobody knows."""
        try:
            found = await self._agents(place)
            for _ in range(_GLANCES if known.was_there and not known.is_missed else 0):
                if found:
                    break
                await asyncio.sleep(_BETWEEN)
                found = await self._agents(place)
        except PanesFailed:
            return None, None
        known.is_missed = not found
        if len(found) == 1:
            known.was_there = True
            agent = found[0].agent
            known.agent = agent.who if agent is not None else None
            if agent is not None and (agent.who.pid != known.pid or not known.env):
                known.pid, known.env = agent.who.pid, dict(await self._transcripts.homes(agent.who.pid))
            return found[0], True
        if found:
            return None, True  # which of them is meant, nobody can say
        if known.agent is not None and is_alive(known.agent):
            return None, None  # in a terminal that is called otherwise by now, or in none
        return None, False if known.was_there else None

    async def _agents(self, place: Place) -> list[Look]:
        looks = await self._panes.find(self._socket(), place.session, who(place), timeout=_ANSWER)
        return [look for look in looks if look.agent is not None]

    def _shown(self, pane: Look | None, now: Stamp, known: _Known) -> list[Sign]:
        """What the screen says, when it says something else than before: a picture is no news by standing there. A
        dialog is: it stands there only for as long as it waits, and a transcript tells of the tool alone."""
        if pane is None:
            known.shown = None
            return []
        sign = screen.read("\n".join(Screen(pane.lines).texts()), now)
        if sign is None:
            return []
        before, known.shown = known.shown, sign
        is_same = before is not None and _meaning(before) == _meaning(sign)
        return [] if is_same and sign.context is None and sign.activity not in WAITING else [sign]

    def _plain(self, place: Place, pane: Look | None, now: Stamp, known: _Known) -> list[Sign]:
        """Of a program that says nothing of itself: at rest while nothing moves and nothing stands at its prompt."""
        before, known.lines = known.lines, pane.lines if pane is not None else ()
        if pane is None or not before:
            return []
        line = kind_of(place).read(pane)
        is_empty = isinstance(line, Line) and not line.text
        reading = screen.context("\n".join(Screen(pane.lines).texts()), now)
        resting = Activity.IDLE if is_empty else None
        activity = resting if before == pane.lines else Activity.WORKING
        return [Sign(activity, Source.PANE, now, event="screen", context=reading)]

    async def _transcript(self, place: Place, known: _Known, conversation: str, now: Stamp) -> list[Sign]:
        path = await self._transcripts.find(place.agent, place.folder, known.env, conversation)
        if path is None:
            return []
        if path != known.path:
            known.path, known.position = path, None
        look = await self._transcripts.look(path, known.position, _speaks(place))
        if look is None:
            return []
        known.position = look.position
        if place.agent == "codex":
            return codex.transcript(look.rows, now, _named(path))
        return claude.transcript(look.rows, now, place.window)


def _speaks(place: Place) -> Callable[[Row], bool]:
    return codex.speaks if place.agent == "codex" else claude.speaks


def _meaning(sign: Sign) -> tuple[object, ...]:
    used = sign.context.used if sign.context else None
    return (sign.activity, sign.question, sign.resets_at, used)


def _named(path: str) -> str:
    """The conversation, by the name of its file."""
    name = path.rpartition("/")[2].removesuffix(".jsonl")
    return name[-36:] if name.startswith("rollout-") else name
