"""The graph as the rest of Argus sees it: what is broken for whom, and that everybody who needs it is told once.

What is broken is worked out whenever somebody asks, from what the parts know at that moment: there is no copy of it
that could be wrong. Only what was told is kept, on record, so that a restart of Argus tells nobody twice.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from argus.core.backoff import Backoff
from argus.core.depending import Broke, Thing
from argus.graph import model, policy, reports, words
from argus.graph.model import Dependant, Told
from argus.graph.policy import Back, Lost
from argus.graph.tools import Tools
from argus.loops import log
from argus.store.records import Append, PutSetting, Write

_TOLD = "graph.told"
_EVERY = 0.5
"""Seconds between two looks. A look costs nothing where nobody depends on anything."""
_AT_ONCE = 8
"""Lines that are typed at the same time."""
_PATIENCE = Backoff(base=2.0, cap=60.0)


class Graph:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._told: dict[str, Told] = {}
        self._down: frozenset[Thing] = frozenset()
        self._hands = asyncio.Semaphore(_AT_ONCE)
        self._tried: dict[str, tuple[int, float]] = {}
        """How often somebody could not be told, and when it is tried again."""

    async def restore(self) -> None:
        kept = await self._tools.store.setting(_TOLD) or {}
        self._told = {key: model.read(key, data) for key, data in kept.items()}

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(_EVERY)

    # What may be asked.

    def broken(self, depends_on: tuple[Thing, ...]) -> Broke:
        return policy.broken(depends_on, self._tools.look)

    # Telling.

    async def look(self) -> None:
        here = {one.key: one for one in self._tools.dependants()}
        await self._forget(here)
        down: set[Thing] = set()
        for key, who in here.items():
            roots = self.broken(who.depends_on)
            down |= {root.thing for root in roots}
            await self._compare(who, roots, self._told.get(key))
        if self._down - down:
            self._tools.wake()
        self._down = frozenset(down)
        # Typing takes a moment each: nobody has to wait for all the others.
        await asyncio.gather(*(self._say(here[key]) for key in self._told if key in here))

    async def _forget(self, here: dict[str, Dependant]) -> None:
        """Who is gone needs to hear nothing any more."""
        gone = [key for key in self._told if key not in here]
        if gone:
            left = {key: told for key, told in self._told.items() if key not in gone}
            await self._tools.notes.note(_written(left))
            self._told = left
            self._tried = {key: one for key, one in self._tried.items() if key in left}

    async def _compare(self, who: Dependant, roots: Broke, told: Told | None) -> None:
        match policy.news(roots, told):
            case Lost(fresh):
                known = told if told is not None and not told.is_back else Told(who.key)
                things = {one.thing.written: {"since": one.since, "incident": one.incident} for one in fresh}
                after = replace(known, things={**known.things, **things})
                text = words.lost(fresh, self._tools.clock.wall())
                await self._record(who.key, after, *map(Append, reports.lost(who, fresh, text)))
            case Back(things) if told is not None:
                text = words.back(things)
                # Who has heard nothing of it is not told that it is over.
                end = replace(told, is_back=True) if told.said else None
                await self._record(who.key, end, *map(Append, reports.back(who, told, text)))
            case _:
                pass

    async def _say(self, who: Dependant) -> None:
        told, now = self._told.get(who.key), self._tools.clock.monotonic()
        tried, again = self._tried.get(who.key, (0, 0.0))
        text = self._text(who, told) if told is not None and now >= again else ""
        if told is None or not text:
            return

        def before() -> tuple[Write, ...]:
            self._take(who.key, _heard(told))
            self._tried.pop(who.key, None)
            return (_written(self._told),)

        # Who cannot be told now is asked less and less often: every try has its row in the record.
        self._tried[who.key] = tried + 1, now + _PATIENCE.delay(tried + 1)
        try:
            async with self._hands:
                await self._tools.say(who, text, before)
        except Exception:  # noqa: BLE001 - one that cannot be told is not everybody's trouble
            log.exception("%s could not be told: %s", who.key, text)

    def _text(self, who: Dependant, told: Told) -> str:
        if told.is_back:
            return words.back(told.said)
        unsaid = set(told.unsaid)
        roots = tuple(root for root in self.broken(who.depends_on) if root.thing.written in unsaid)
        return words.lost(roots, self._tools.clock.wall()) if roots else ""

    # Keeping.

    async def _record(self, key: str, told: Told | None, *writes: Write) -> None:
        self._tried.pop(key, None)
        await self._tools.notes.note(self._kept(key, told), *writes)
        self._take(key, told)

    def _kept(self, key: str, told: Told | None) -> Write:
        others = {name: one for name, one in self._told.items() if name != key}
        return _written({**others, key: told} if told is not None else others)

    def _take(self, key: str, told: Told | None) -> None:
        if told is None:
            self._told.pop(key, None)
        else:
            self._told[key] = told


def _heard(told: Told) -> Told | None:
    return None if told.is_back else replace(told, said=tuple(told.things))


def _written(told: dict[str, Told]) -> Write:
    return PutSetting(_TOLD, {key: one.written() for key, one in told.items()} or None)
