"""One message into one pane, step by step. Each step acts only on what it has just looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

from argus.host.panes import Key, Look, Panes, PanesFailed, PanesUncertain, Who
from argus.typist.erasing import erase
from argus.typist.kinds import Closed, Line
from argus.typist.model import By, Deferred, Message, Outcome, Reason, Refused, Typed, Unconfirmed, Wanted, held
from argus.typist.policy import may_enter, may_type, not_the_agents, shows

Before = Callable[[], Awaitable[object]]
Told = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds."""

    pause: float = 0.15
    """At least so long between the paste and Enter: sooner, an agent takes the Enter for a part of the paste."""
    answer: float = 2.0
    """For one question to tmux."""
    show: float = 5.0
    """Until what was pasted must show."""
    again: float = 2.0
    """With the text still at the prompt for so long, Enter is pressed once more."""
    take: float = 5.0
    """Until what was submitted must be taken, where it does not stand there any more, and after the second Enter."""
    settle: float = 0.8
    """So long a dialog must stand unchanged before it is answered: sooner, it may not heed the key, or be another."""
    glance: float = 0.001
    """Between two looks, after the first few; each waits twice as long as the one before, up to `rest`."""
    rest: float = 0.1

    def waits(self) -> Iterator[float]:
        yield from [0.0] * _AT_ONCE
        wait = self.glance
        while True:
            yield wait
            wait = min(2 * wait, self.rest)


_AT_ONCE = 5
"""Looks without a wait: most agents show what is typed within a millisecond."""
_TRIES = 5
"""Looks at a pane that changes while it is looked at."""


class Act:
    def __init__(self, panes: Panes, pace: Pace, wanted: Wanted, message: Message, text: str, seen: Look) -> None:
        assert seen.agent is not None
        self._panes = panes
        self._pace = pace
        # From here on it must be this very process, whatever was known of it before.
        self._wanted = replace(wanted, agent=seen.agent.who)
        self._who = Who(agent=seen.agent.who)
        self._message = message
        self._text = text
        self._seen = seen

    async def paste(self, before: Before | None) -> Outcome | None:
        """None: it was pasted. `before` is awaited once, and only if it is about to be."""
        seen: Look | None = self._seen
        if (reason := may_type(seen, self._wanted)) is not None:
            return held(reason)
        if before is not None:
            await before()
        try:
            if before is not None:
                seen = await self._look()
            for _ in range(_TRIES):
                reason = may_type(seen, self._wanted)
                if reason is not None or seen is None:
                    return held(reason or Reason.GONE)
                if await self._panes.paste(seen, self._text, timeout=self._pace.answer):
                    return None
                seen = await self._look()
        except PanesUncertain:
            return Unconfirmed(Reason.UNANSWERED)
        except PanesFailed:
            return Deferred(Reason.UNANSWERED)
        return Deferred(Reason.CHANGED)

    async def left(self, before: Before | None) -> Outcome | None:
        """None: it stands there already, from whoever died before Enter, and nothing else does."""
        seen: Look | None = self._seen
        try:
            for _ in range(2):
                if (reason := may_enter(seen, self._wanted, self._message, self._text)) is not None:
                    return held(reason) if reason is not Reason.NOT_SEEN else Refused(reason)
                if before is None:
                    return None
                await before()
                before, seen = None, await self._look()
        except PanesFailed:
            return Deferred(Reason.UNANSWERED)
        return None

    async def shown(self) -> Look | Reason:
        """Looks until the text, and nothing else, stands at the prompt."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._pace.show
        # Who shows nothing of it is not waited for any longer than the pause.
        patience = loop.time() + self._pace.pause if self._wanted.kind.silent else end
        waits = self._pace.waits()
        while True:
            look = await self._look()
            reason = may_enter(look, self._wanted, self._message, self._text)
            if look is None or reason is None:
                return look or Reason.GONE
            if reason is Reason.NOT_SEEN and self._wanted.kind.silent and loop.time() >= patience:
                return look
            # A pane that is being drawn shows all kinds of things; whose it is does not change back.
            if not_the_agents(look, self._wanted) is not None or loop.time() >= end:
                return reason
            await asyncio.sleep(next(waits))

    async def submit(self, told: Told | None) -> Outcome:
        """Enter on its own, once; and once more if the text still stands there. Never a second paste."""
        try:
            look = await self._enter()
            if isinstance(look, Reason):
                return await self._taken_back(look)
            by = await self._taken(look, told, self._pace.again)
            if by is not None:
                return Typed(by)
            now = await self._look()
            if now is not None and self._still_there(now):
                look = await self._enter()
                if isinstance(look, Reason):
                    return Unconfirmed(Reason.NOT_TAKEN)
            by = await self._taken(look, told, self._pace.take)
            return Typed(by) if by is not None else Unconfirmed(Reason.NOT_TAKEN)
        except PanesFailed:
            return Unconfirmed(Reason.UNANSWERED)

    async def _enter(self) -> Look | Reason:
        """What was seen just before Enter was pressed."""
        for _ in range(_TRIES):
            look = await self.shown()
            if isinstance(look, Reason):
                return look
            if await self._panes.press(look, Key.ENTER, timeout=self._pace.answer):
                return look
        return Reason.CHANGED

    async def _taken(self, before: Look, told: Told | None, patience: float) -> By | None:
        """By what it is known that the agent took it; None: nobody can tell."""
        loop = asyncio.get_running_loop()
        end = loop.time() + patience
        waits = self._pace.waits()
        while True:
            if told is not None and told():
                return By.SIGNAL
            look = await self._look()
            if look is not None and self._is_taken(before, look):
                return By.PANE
            if loop.time() >= end:
                return None
            await asyncio.sleep(next(waits))

    def _is_taken(self, before: Look, look: Look) -> bool:
        if look.agent is None or self._still_there(look):
            return False
        if self._wanted.kind.silent:
            return look.mark != before.mark or look.lines != before.lines
        # A dialog in its place is an answer as well: it would not be there without the question.
        return self._wanted.kind.read(look) is not Closed.NO_PROMPT

    def _still_there(self, look: Look) -> bool:
        line = self._wanted.kind.read(look)
        return isinstance(line, Line) and bool(line.text) and shows(line, self._text)

    async def _taken_back(self, reason: Reason) -> Outcome:
        """Erased, where exactly ours stands there and the keys reach the agent; else it is told."""
        look = await self._look()
        if look is None or may_enter(look, self._wanted, self._message, self._text) is not Reason.OTHER_COMMAND:
            return Unconfirmed(reason)
        pace = self._pace
        place, wanted = self._seen.place, self._wanted
        erased = await erase(self._panes, place, wanted, self._text, timeout=pace.answer, rest=pace.rest)
        return Refused(reason) if erased else Unconfirmed(reason)

    async def _look(self) -> Look | None:
        return await self._panes.look(self._seen.place, self._who, timeout=self._pace.answer)
