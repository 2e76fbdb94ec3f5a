"""The graph as the rest of Argus sees it: what is broken for whom, and that everybody who needs it is told once.

What is broken is worked out whenever somebody asks, from what the parts know at that moment: there is no copy of it
that could be wrong. Only what was told is kept, on record, so that a restart of Argus tells nobody twice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from functools import cache
from typing import Any

from argus.core.backoff import Backoff
from argus.core.depending import Broke, Thing, thing
from argus.core.errors import ArgusError
from argus.graph import model, policy, reports, words
from argus.graph.model import Dependant, Told
from argus.graph.policy import Back, Lost
from argus.graph.tools import Tools
from argus.loops import log
from argus.store import kept
from argus.store.records import Append, Document, PutDocument, PutSetting, Write

_DOMAIN = "graph"
_TOLD = "graph.told"
"""Where an earlier Argus kept all of it together."""
_EVERY = 0.5
"""Seconds between two looks. A look costs nothing where nobody depends on anything."""
_AT_ONCE = 8
"""Lines that are typed at the same time."""
_PATIENCE = Backoff(base=2.0, cap=60.0)


def _understood(found: Any) -> dict[str, Any]:
    for key, data in found.items():
        model.read(key, data)
    return dict(found)


class Overtaken(Exception):
    """What was to be said is no longer so."""


class Graph:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._told: dict[str, Told] = {}
        self._down: frozenset[Thing] = frozenset()
        self._hands = asyncio.Semaphore(_AT_ONCE)
        self._tried: dict[str, tuple[int, float]] = {}
        """How often somebody could not be told, and when it is tried again."""
        self._saying: set[str] = set()
        """Who is being told something."""

    async def restore(self) -> None:
        earlier: dict[str, Any] = await kept.setting(self._tools.store, _TOLD, _understood, {})
        known = earlier | {one.id: one.data for one in await self._tools.store.documents(_DOMAIN)}
        read = {key: model.read(key, data) for key, data in known.items()}
        self._told = {key: told for key, told in read.items() if told is not None}
        if earlier:
            moved = [_written(key, self._told.get(key)) for key in earlier]
            await self._tools.notes.note(*moved, PutSetting(_TOLD, None))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as lines:
            lines.create_task(self._tools.finish())
            while True:
                await self.look(lines)
                await asyncio.sleep(_EVERY)

    # What may be asked.

    def broken(self, depends_on: tuple[Thing, ...]) -> Broke:
        return policy.broken(depends_on, self._tools.look)

    def waits_for(self, key: str, depends_on: tuple[Thing, ...]) -> list[str]:
        """What it needs and is down, and what it was told of and has not settled since."""
        roots, told = self.broken(depends_on), self._told.get(key)
        unsettled = [thing(name) for name in policy.unsettled(told.things if told else (), roots, self._tools.look)]
        needed = [one for one in unsettled if policy.reaches(depends_on, one, self._tools.look)]
        return [str(one) for one in (*(root.thing for root in roots), *needed)]

    async def notice(self, key: str, depends_on: tuple[Thing, ...], *, is_typed: bool) -> str:
        """What one that asks hears: how it stands now, and once what is back. `is_typed`: it hears that another way."""
        told = self._told.get(key)
        roots = policy.settled(self.broken(depends_on), told, self._tools.look)
        said = [words.lost(roots, self._tools.clock.wall())] if roots else []
        if told is None or is_typed:
            return " ".join(said)
        down, back = [root.thing.written for root in roots], self._still_back(depends_on, told)
        unsettled = policy.unsettled(told.said, roots, self._tools.look)
        if back:
            said.insert(0, words.back(back, self._is_well, down, unsettled))
        elif unsettled:
            said.insert(0, words.restless(unsettled))
        heard = told.hearing(down).hearing_back(back)
        if heard != told:
            with contextlib.suppress(ArgusError):  # then it hears it again
                await self._record(key, heard)
        return " ".join(said)

    # Telling.

    async def look(self, lines: asyncio.TaskGroup) -> None:
        here = {one.key: one for one in self._tools.dependants(self._told)}
        await self._forget(here)
        down: set[Thing] = set()
        seen = cache(self._tools.look)  # hundreds may need the same few things
        for key, who in here.items():
            down |= {root.thing for root in policy.broken(who.depends_on, seen)}
            told = self._told.get(key)
            if policy.news(who.depends_on, told, seen) is not None:
                await self._compare(who, told)
        if self._down - down:
            self._tools.wake()
        self._down = frozenset(down)
        # Typing takes a moment, and a terminal may not answer: nobody waits for the others, and neither does a look.
        unsaid = [key for key, told in self._told.items() if told.back or told.unsaid]
        for key in [key for key in unsaid if key in here and key not in self._saying]:
            self._saying.add(key)
            lines.create_task(self._say(here[key]))

    async def _forget(self, here: dict[str, Dependant]) -> None:
        """Who is gone needs to hear nothing any more, and waits no longer."""
        gone = {key: told for key, told in self._told.items() if key not in here}
        writes: list[Write] = []
        for key, told in gone.items():
            self._take(key, None)
            self._tried.pop(key, None)
            who = Dependant.called(key)
            drafts = reports.gone(who, told, self._tools.gone(who.role, who.name))
            writes += [_written(key, None), *map(Append, drafts)]
        try:
            await self._tools.notes.note(*writes)
        except ArgusError:
            self._told |= gone  # the next look puts it on record
            raise

    async def _compare(self, who: Dependant, told: Told | None) -> None:
        match policy.news(who.depends_on, told, self._tools.look):
            case Lost(fresh):
                things = {one.thing.written: {"since": one.since, "incident": one.incident} for one in fresh}
                text = words.lost(fresh, self._tools.clock.wall())
                after = (told or Told(who.key)).losing(things)
                await self._record(who.key, after, *map(Append, reports.lost(who, fresh, text)))
            case Back(things) if told is not None:
                left = told.ending(things)
                text = self._back(who, things, left)
                still = self._still_down(who, left.things if left else ())
                drafts = reports.back(who, told, things, text, self._is_well, still)
                await self._record(who.key, left, *map(Append, drafts))
            case _:
                pass

    async def _say(self, who: Dependant) -> None:
        try:
            await self._say_what_is_unsaid(who)
        except Overtaken:
            pass  # the next look has the news
        except Exception:  # noqa: BLE001 - one that cannot be told is not everybody's trouble
            log.exception("%s could not be told", who.key)
        finally:
            self._saying.discard(who.key)

    async def _say_what_is_unsaid(self, who: Dependant) -> None:
        told, now = self._told.get(who.key), self._tools.clock.monotonic()
        tried, again = self._tried.get(who.key, (0, 0.0))
        if told is None or now < again:
            return
        text, story, heard = self._unsaid(who, told)
        if not text:
            return

        def before() -> tuple[Write, ...]:
            if self._told.get(who.key) is not told:
                raise Overtaken
            self._take(who.key, heard)
            return (_written(who.key, heard),)

        # Who cannot be told now is asked less and less often: every try has its row in the record.
        self._tried[who.key] = tried + 1, now + _PATIENCE.delay(tried + 1)
        try:
            async with self._hands:
                await self._tools.say(who, text, story, before)
        except ArgusError:
            # It could not be put on record, so it was not typed.
            if self._told.get(who.key) is heard:
                self._take(who.key, told)
            raise
        if self._told.get(who.key) is not told:
            self._tried.pop(who.key, None)

    def _unsaid(self, who: Dependant, told: Told) -> tuple[str, str, Told | None]:
        """One line, in whose story it stands, and what is known once it was heard. What is back comes first: it may go
        on with something."""
        if back := self._still_back(who.depends_on, told):
            return self._back(who, back, told), told.story, told.hearing_back(back)
        roots = tuple(root for root in self.broken(who.depends_on) if root.thing.written in told.unsaid)
        story = next((root.incident for root in roots if root.incident), "")
        heard = told.hearing([root.thing.written for root in roots])
        return (words.lost(roots, self._tools.clock.wall()) if roots else ""), story, heard

    def _back(self, who: Dependant, things: Iterable[str], told: Told | None) -> str:
        """Of what it never heard of it is not told that it has not settled: it would not hear the end of that."""
        roots = self.broken(who.depends_on)
        unsettled = policy.unsettled(told.said if told else (), roots, self._tools.look)
        return words.back(things, self._is_well, [root.thing.written for root in roots], unsettled)

    def _still_back(self, depends_on: tuple[Thing, ...], told: Told) -> tuple[str, ...]:
        """Where one of them is down again, the next looks have the news."""
        return tuple(name for name in told.back if not policy.is_down_again(name, depends_on, self._tools.look))

    def _still_down(self, who: Dependant, told: Iterable[str]) -> list[str]:
        roots = self.broken(who.depends_on)
        return [*(root.thing.written for root in roots), *policy.unsettled(told, roots, self._tools.look)]

    def _is_well(self, name: str) -> bool:
        return policy.is_well(name, self._tools.look)

    # Keeping.

    async def _record(self, key: str, told: Told | None, *writes: Write) -> None:
        self._tried.pop(key, None)
        known = self._told.get(key)
        # At once: whoever asks meanwhile is told nothing twice.
        self._take(key, told)
        try:
            await self._tools.notes.note(_written(key, told), *writes)
        except ArgusError:
            self._take(key, known)
            raise

    def _take(self, key: str, told: Told | None) -> None:
        if told is None:
            self._told.pop(key, None)
        else:
            self._told[key] = told


def _written(key: str, told: Told | None) -> Write:
    """Each by itself: when something that hundreds need breaks, it is written for each of them."""
    return PutDocument(Document(_DOMAIN, key, told.written() if told else {}, live=told is not None))
