"""The typist: finds the pane, asks the policy, and carries out one act after the other in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from weakref import WeakValueDictionary

from argus.core.failpoints import TypingPlace, reach
from argus.host.panes import Look, Panes, PanesFailed, PanesUncertain, Who
from argus.typist.act import Act, Before, Pace, Told
from argus.typist.answering import Answering
from argus.typist.dialogs import Leave
from argus.typist.erasing import erase
from argus.typist.kinds import Line
from argus.typist.model import By, Deferred, Message, Outcome, Reason, Typed, Unconfirmed, Wanted, held
from argus.typist.policy import may_type, not_the_agents, prepared, shows

_PRESSES = 3
"""One for each thing that a key can be taken for: an editor's mode, a menu, the work itself."""


Busy = Callable[[], Awaitable[bool]]


class Typist:
    def __init__(self, panes: Panes, pace: Pace | None = None) -> None:
        self._panes = panes
        self._pace = pace or Pace()
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def type(
        self,
        socket: str,
        session: str,
        message: Message,
        wanted: Wanted,
        *,
        before: Before | None = None,
        told: Told | None = None,
        left: bool = False,
    ) -> Outcome:
        """Types it and submits it, once, or says why not.

        `left`: it may stand there already, pasted by one that was killed before it pressed Enter. Then it is submitted
        if it does, and never pasted.

        `before` is awaited just before the paste, the place to record that it is about to be done; what it raises stops
        it. `told` says whether the agent itself has told by now that it took the text; without it the pane alone does.
        """
        text = prepared(message, wanted.kind)
        if isinstance(text, Reason):
            return held(text)
        async with self._lock(socket, session):
            act = await self._begin(socket, session, message, text, wanted)
            if not isinstance(act, Act):
                return act
            outcome = await (act.left(before) if left else act.paste(before))
            if outcome is not None:
                return outcome
            reach(TypingPlace.PASTED)
            await asyncio.sleep(self._pace.pause)
            return await act.submit(told)

    async def place(self, socket: str, session: str, message: Message, wanted: Wanted) -> Outcome | None:
        """Pastes it and sees it, and leaves Enter to a person. None: it stands at the prompt."""
        text = prepared(message, wanted.kind)
        if isinstance(text, Reason):
            return held(text)
        async with self._lock(socket, session):
            act = await self._begin(socket, session, message, text, wanted)
            if not isinstance(act, Act):
                return act
            outcome = await act.paste(None)
            if outcome is not None:
                return outcome
            try:
                seen = await act.shown()
            except PanesFailed:
                seen = Reason.UNANSWERED
            return Unconfirmed(seen) if isinstance(seen, Reason) else None

    async def answer(
        self, socket: str, session: str, wanted: Wanted, id: str, leave: Leave, *, before: Before
    ) -> Outcome:
        """Answers the dialog that has this id, if it is that one that stands open: one key, once.

        Refused where another one stands there, or none. Unconfirmed: the key was pressed, and the dialog stands yet.
        """
        async with self._lock(socket, session):
            try:
                look = await self._find(socket, session, wanted)
            except PanesFailed:
                return Deferred(Reason.UNANSWERED)
            if isinstance(look, Reason):
                return held(look)
            return await Answering(self._panes, self._pace, wanted, look, id, leave).answer(look, before)

    async def erase(self, socket: str, session: str, text: str, wanted: Wanted) -> bool:
        """Takes this line back, if it and nothing else stands at the prompt. Whether it is gone."""
        async with self._lock(socket, session):
            try:
                look = await self._find(socket, session, wanted)
                if isinstance(look, Reason) or look.agent is None:
                    return False
                line = wanted.kind.read(look)
                if not isinstance(line, Line) or not shows(line, text):
                    return False
                pinned, pace = replace(wanted, agent=look.agent.who), self._pace
                return await erase(self._panes, look.place, pinned, text, timeout=pace.answer, rest=pace.rest)
            except PanesFailed:
                return False

    async def interrupt(
        self, socket: str, session: str, wanted: Wanted, *, busy: Busy | None = None, ours: str = ""
    ) -> Outcome:
        """Presses the agent's key for it while it is busy, and again if it still is.

        `busy`: the agent's own word, where there is one; else the screen tells. An agent may put back at its prompt
        what it had not begun to answer: if that is `ours`, in one line, and nothing else, it is erased.
        """
        async with self._lock(socket, session):
            pressed = False
            try:
                for _ in range(_PRESSES):
                    look = await self._find(socket, session, wanted)
                    # At a prompt somebody has typed at, the key could erase; in a dialog it would answer.
                    reason = look if isinstance(look, Reason) else may_type(look, wanted)
                    if isinstance(look, Reason) or reason is not None:
                        reason = reason or Reason.GONE
                        return Unconfirmed(reason) if pressed else held(reason)
                    if not await _is_busy(look, wanted, busy):
                        return Typed(By.SIGNAL if busy else By.PANE) if pressed else Deferred(Reason.NOT_BUSY)
                    pressed |= await self._panes.press(look, wanted.kind.interrupt, timeout=self._pace.answer)
                    if await self._is_quiet(socket, session, wanted, busy, ours):
                        return Typed(By.SIGNAL if busy else By.PANE)
            except PanesUncertain:
                return Unconfirmed(Reason.UNANSWERED)
            except PanesFailed:
                return Unconfirmed(Reason.UNANSWERED) if pressed else Deferred(Reason.UNANSWERED)
            return Unconfirmed(Reason.NOT_TAKEN)

    async def _is_quiet(self, socket: str, session: str, wanted: Wanted, busy: Busy | None, ours: str) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._pace.again
        while True:
            look = await self._find(socket, session, wanted)
            if isinstance(look, Reason):
                return False
            if not await _is_busy(look, wanted, busy):
                await self._erase(look, wanted, ours)
                return True
            if loop.time() >= end:
                return False
            await asyncio.sleep(self._pace.rest)

    async def _erase(self, look: Look, wanted: Wanted, ours: str) -> None:
        line = wanted.kind.read(look)
        if ours and look.agent and isinstance(line, Line) and shows(line, ours):
            pinned = replace(wanted, agent=look.agent.who)
            pace = self._pace
            await erase(self._panes, look.place, pinned, ours, timeout=pace.answer, rest=pace.rest)

    async def _begin(self, socket: str, session: str, message: Message, text: str, wanted: Wanted) -> Act | Outcome:
        try:
            look = await self._find(socket, session, wanted)
        except PanesFailed:
            return Deferred(Reason.UNANSWERED)
        return held(look) if isinstance(look, Reason) else Act(self._panes, self._pace, wanted, message, text, look)

    async def _find(self, socket: str, session: str, wanted: Wanted) -> Look | Reason:
        """The one pane of the session that is the agent's, looked at."""
        who = Who(agent=wanted.agent, names=frozenset() if wanted.agent else wanted.kind.processes)
        looks = await self._panes.find(socket, session, who, timeout=self._pace.answer)
        if not looks:
            return Reason.NO_SESSION
        found = [look for look in looks if look.agent is not None]
        if len(found) > 1:
            return Reason.SEVERAL_PANES
        return found[0] if found else not_the_agents(looks[0], wanted) or Reason.NOT_THE_AGENT

    def _lock(self, socket: str, session: str) -> asyncio.Lock:
        return self._locks.setdefault((socket, session), asyncio.Lock())


async def _is_busy(look: Look, wanted: Wanted, busy: Busy | None) -> bool:
    if busy is not None:
        return await busy()
    return wanted.kind.is_busy is not None and wanted.kind.is_busy(look)
