"""A fake terminal multiplexer: panes in which an agent reads lines, and in which anything can happen meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from argus.host.identity import Identity
from argus.host.panes import SHELLS, Key, Look, PanesFailed, PanesUncertain, Place, Process, Who

_WIDE, _HIGH = 80, 10
_LONG = 60
_SHELL = Process(Identity(900, "shell"), "sh")


@dataclass
class FakePane:
    """Shows `> ` and what is typed. As `boxed` it looks as Claude Code does: between two rules."""

    session: str
    agent: Process | None = field(default_factory=lambda: Process(Identity(1000, "agent"), "agent"))
    """None: the agent has gone, and a shell has the pane."""
    pane: str = "%0"
    pid: int = 999
    boxed: bool = False
    typed: str = ""
    submitted: list[str] = field(default_factory=list)
    executed: list[str] = field(default_factory=list)
    """What a shell ran."""
    pressed: list[Key] = field(default_factory=list)
    busy: bool = False
    dialog: bool = False
    asks: tuple[str, ...] = ()
    """The rows of a dialog in which it asks for leave, its choices last, the first of them chosen. It closes when one
    of their numbers is pressed."""
    answered: list[Key] = field(default_factory=list)
    dead: bool = False
    in_mode: bool = False
    gone: bool = False
    shows: bool = True
    deaf: int = 0
    """So many Enters are lost."""

    def receive(self, text: str) -> None:
        self.typed += text

    def press(self, key: Key) -> None:
        self.pressed.append(key)
        if key is Key.ENTER:
            if self.deaf:
                self.deaf -= 1
                return
            (self.executed if self.agent is None else self.submitted).append(self.typed)
            self.typed = ""
        elif key is Key.ERASE_LINE:
            self.typed = ""
        elif key.value.isdigit():
            if not self.asks:
                self.typed += key.value
            elif self.deaf:
                self.deaf -= 1
            elif any(f" {key.value}. " in row for row in self.asks):
                self.answered.append(key)
                self.asks = ()
        else:
            self.busy = False

    def lines(self) -> tuple[list[str], tuple[int, int]]:
        shown = (
            "" if not self.shows else self.typed if len(self.typed) <= _LONG else f"[Pasted {len(self.typed)} chars]"
        )
        shown = shown.replace("\n", " ")
        if self.asks:
            chosen = next(n for n, row in enumerate(self.asks) if "❯ 1. " in row)
            return [*self.asks, "", " Esc to cancel"], (1, chosen)
        if self.dialog:
            return ["Do you want to go on?", "❯ 1. Yes", "  2. No"], (0, 1)
        done = [f"taken: {len(self.submitted) + len(self.executed)}", "✻ Thinking…" if self.busy else ""]
        if self.boxed:
            rule = "─" * _WIDE
            return [*done, rule, f"❯\xa0{shown}", rule], (2 + len(shown), 3)
        return [*done, f"{'$' if self.agent is None else '>'} {shown}"], (2 + len(shown), 2)

    def look(self, socket: str, who: Who) -> Look:
        lines, cursor = self.lines()
        leader = self.agent or _SHELL
        return Look(
            Place(socket, self.session, self.pane, self.pid),
            f"{self.pid} {self.dead} {self.in_mode} {cursor} {leader.name}",
            _WIDE,
            _HIGH,
            cursor,
            (*lines, *[""] * (_HIGH - len(lines))),
            leader,
            leader if _is_meant(leader, who) else None,
            dead=self.dead,
            in_mode=self.in_mode,
        )


def _is_meant(process: Process, who: Who) -> bool:
    if who.agent is not None:
        return process.who == who.agent
    return process.name in who.names if who.names else process.name not in SHELLS


class FakePanes:
    """`meanwhile` is called before every question with its name: where a test lets something happen in between."""

    def __init__(self, *panes: FakePane) -> None:
        self.panes = list(panes)
        self.meanwhile: Callable[[str], None] = lambda asked: None
        self.hangs = False
        self.loses_replies = False

    async def find(self, socket: str, session: str, who: Who, *, timeout: float) -> list[Look]:
        await self._reach("find", timeout)
        return [one.look(socket, who) for one in self.panes if one.session == session and not one.gone]

    async def look(self, place: Place, who: Who, *, timeout: float) -> Look | None:
        await self._reach("look", timeout)
        pane = self._at(place)
        return pane.look(place.socket, who) if pane else None

    async def paste(self, seen: Look, text: str, *, timeout: float) -> bool:
        return await self._act("paste", seen, lambda pane: pane.receive(text), timeout)

    async def press(self, seen: Look, key: Key, *, timeout: float, shows: Sequence[str] = ()) -> bool:
        return await self._act("press", seen, lambda pane: pane.press(key), timeout, shows)

    async def _act(
        self, asked: str, seen: Look, act: Callable[[FakePane], None], timeout: float, shows: Sequence[str] = ()
    ) -> bool:
        await self._reach(asked, timeout)
        pane = self._at(seen.place)
        if pane is None or pane.look(seen.place.socket, Who()).mark != seen.mark:
            return False
        text = "\n".join(pane.lines()[0])
        if not all(row.strip() in text for row in shows):
            return False
        act(pane)
        if self.loses_replies:
            raise PanesUncertain("the reply was lost")
        return True

    async def _reach(self, asked: str, timeout: float) -> None:
        self.meanwhile(asked)
        if self.hangs:
            await asyncio.sleep(timeout)
            raise PanesFailed(f"no answer within {timeout:g} s")
        await asyncio.sleep(0)

    def _at(self, place: Place) -> FakePane | None:
        for one in self.panes:
            if (one.session, one.pane, one.pid) == (place.session, place.pane, place.pid) and not one.gone:
                return one
        return None
