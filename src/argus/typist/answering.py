"""One answer to one question for leave: looked at twice, pressed once, and seen to be gone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from argus.core.failpoints import TypingPlace, reach
from argus.host.panes import Look, Panes, PanesFailed, PanesUncertain, Who
from argus.typist.act import Before, Pace
from argus.typist.dialogs import Dialog, Leave
from argus.typist.model import By, Deferred, Outcome, Reason, Typed, Unconfirmed, Wanted, held
from argus.typist.policy import not_the_agents

_TRIES = 5
"""Looks at a pane that changes while it is looked at."""


class Answering:
    def __init__(self, panes: Panes, pace: Pace, wanted: Wanted, seen: Look, id: str, leave: Leave) -> None:
        assert seen.agent is not None
        self._panes = panes
        self._pace = pace
        # From here on it must be this very process, whatever was known of it before.
        self._wanted = replace(wanted, agent=seen.agent.who)
        self._place = seen.place
        self._id = id
        self._leave = leave

    async def answer(self, seen: Look, before: Before) -> Outcome:
        """`before` is awaited once, just before the press, and only if it is about to be."""
        try:
            found = self._stands(seen)
            if isinstance(found, Reason):
                return held(found)
            # A dialog takes no key in its first moments. One that has stood for so long takes it, and takes it once.
            await asyncio.sleep(self._pace.settle)
            found = self._stands(await self._look())
            if isinstance(found, Reason):
                return held(found)
            await before()
            pressed = await self._press()
        except PanesUncertain:
            return Unconfirmed(Reason.UNANSWERED)
        except PanesFailed:
            return Deferred(Reason.UNANSWERED)
        return pressed or await self._gone()

    async def _press(self) -> Outcome | None:
        """None: it was pressed, once. A second press could fall into whatever comes after it."""
        for _ in range(_TRIES):
            look = await self._look()
            found = self._stands(look)
            if isinstance(found, Reason) or look is None:
                return held(found if isinstance(found, Reason) else Reason.GONE)
            key = found.key(self._leave)
            assert key is not None
            if await self._panes.press(look, key, timeout=self._pace.answer, shows=found.sure):
                reach(TypingPlace.ANSWERED)
                return None
        return Deferred(Reason.CHANGED)

    async def _gone(self) -> Outcome:
        """By the screen: it is gone, and the agent is not."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._pace.take
        waits = self._pace.waits()
        try:
            while True:
                look = await self._look()
                if not_the_agents(look, self._wanted) is None and self._stands(look) in _OVER:
                    return Typed(By.PANE)
                if loop.time() >= end:
                    return Unconfirmed(Reason.NOT_TAKEN)
                await asyncio.sleep(next(waits))
        except PanesFailed:
            return Unconfirmed(Reason.UNANSWERED)

    def _stands(self, look: Look | None) -> Dialog | Reason:
        """The dialog that is meant, if it stands there and can be answered so."""
        if (reason := not_the_agents(look, self._wanted)) is not None or look is None:
            return reason or Reason.GONE
        read = self._wanted.kind.dialog
        found = read(look) if read else None
        if found is None:
            return Reason.NO_DIALOG
        if found.id != self._id:
            return Reason.OTHER_DIALOG
        if found.key(self._leave) is None:
            return Reason.NO_SUCH_CHOICE
        return found if found.may(self._leave) else Reason.NOT_WHOLE

    async def _look(self) -> Look | None:
        return await self._panes.look(self._place, Who(agent=self._wanted.agent), timeout=self._pace.answer)


_OVER = frozenset({Reason.NO_DIALOG, Reason.OTHER_DIALOG})
