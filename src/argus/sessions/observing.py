"""What was seen of a session, into what is kept of it: its state, its context, and what a person has to hear."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from argus.core.clock import Stamp, age, stamp
from argus.core.depending import Broke
from argus.sessions import reports
from argus.sessions.bands import Band, band
from argus.sessions.fusing import Patience
from argus.sessions.handing import Put
from argus.sessions.model import WAITING, Activity, ContextReading, Source
from argus.sessions.session import SDK
from argus.sessions.settings import Sessions as Settings
from argus.sessions.spawning import Spawning
from argus.sessions.tools import Tools
from argus.sessions.watched import Watched
from argus.store.records import Append, Write

_ESTIMATED = 20_000 / 3600
"""Tokens a second that a session nobody can read is taken to use."""
_OLD = 2 * 3600.0


class Observing:
    def __init__(
        self,
        tools: Tools,
        put: Put,
        spawns: Spawning,
        settings: Callable[[], Settings],
        broken: Callable[[str], Broke],
    ) -> None:
        """`broken`: what a project needs and does not have just now."""
        self._broken = broken
        self._tools = tools
        self._put = put
        self._spawns = spawns
        self._settings = settings

    def is_active(self, one: Watched, now: Stamp) -> bool:
        return self._spawns.runs_for(one.session.project) or age(one.session.active, now) < 3600.0

    async def observe(self, one: Watched) -> None:
        before = one.session
        seen = await self._tools.eyes.look(before.place, one.own)
        now = stamp(self._tools.clock)
        asked = one.dialog
        one.see(seen, now, Patience(self._patience(one, now)))
        if one.dialog != asked:
            # Its hooks tell of it before it is drawn: who looks at the session would hear of nothing more.
            shown: dict[str, object] = {"project": before.project, "prompt": one.dialog.id if one.dialog else None}
            self._tools.show("sessions", "session_dialog", shown)
        if before.place.type == SDK:
            await self._estimate(one, now)
        standing = one.standing
        if standing.context is not None and _is_newer(standing.context, before.context, now):
            await self._read(one, standing.context, now)
        await self._report(one, now)
        if one.checked is None or now.boot - one.checked >= self._settings().check_every:
            await self._check(one, now)

    def _patience(self, one: Watched, now: Stamp) -> float:
        """While what it needs is down its silence comes from that, and is counted from when that is back."""
        patience = self._settings().spawns.stalled_after
        if self._broken(one.session.project):
            one.excused = now
        is_excused = one.excused is not None and age(one.excused, now) <= patience
        return math.inf if is_excused else patience

    async def _report(self, one: Watched, now: Stamp) -> None:
        """A change of state, and what a person has to hear: once each."""
        before, standing = one.session, one.standing
        after, drafts = before, []
        if standing.state is not before.state:
            after = replace(before, state=standing.state, since=now.wall, active=now)
            drafts.append(reports.moved(after, before.state, standing))
        endless = standing.state is Activity.RATE_LIMITED and standing.resets_at is None
        waits = standing.state in WAITING or endless
        need = f"{standing.state.value}:{standing.question}" if waits else ""
        if need and need != before.told:
            drafts.append(reports.needs_you(after, standing))
        if drafts:
            told = need if need or before.told.startswith(("waiting", Activity.RATE_LIMITED.value)) else before.told
            await self._put(replace(after, told=told), *map(Append, drafts), certain=False)

    async def _check(self, one: Watched, now: Stamp) -> None:
        """The row in the record, every ten minutes, of those that are active."""
        first = one.checked is None
        one.checked = now.boot
        if first and one.session.context is None and one.session.place.type != SDK:
            return
        if self.is_active(one, now) or one.session.place.type == SDK:
            rows: list[Write] = [reports.context_row(one.session, one.standing, now.wall)]
            if one.session.state is Activity.DEAD:
                rows += [
                    reports.orphaned_row(spawn, one.session.state, now.wall)
                    for spawn in self._spawns.of(one.session.project)
                ]
            await self._put(one.session, *rows, certain=False)

    async def _estimate(self, one: Watched, now: Stamp) -> None:
        """Of a session that nobody can read: by its age. Marked as what it is, and never acted on."""
        session = one.session
        known = session.context
        if known is not None and known.source is not Source.ESTIMATE and age(known.at, now) < _OLD:
            return
        since = age(session.started, now)
        used = int(min(since * _ESTIMATED, session.place.window))
        await self._read(one, ContextReading(used, session.place.window, Source.ESTIMATE, now), now)

    async def _read(self, one: Watched, reading: ContextReading, now: Stamp) -> None:
        """A new reading. On record when it crosses a boundary; else with the next check."""
        before, found = band(one.session.share), band(reading.share)
        session = one.session
        learnt = reading.source is Source.STATUS_LINE and session.window != reading.total
        if reading.source is Source.STATUS_LINE:
            session = replace(session, window=reading.total, window_told=now)
        active = now if reading.source is not Source.ESTIMATE else session.active
        one.session = replace(session, context=reading, active=active)
        if found is not before and not (before is Band.UNKNOWN and found in (Band.FREE, Band.CONSIDER)):
            told = reports.context_rose(one.session, found)
            await self._put(
                one.session, Append(told), reports.context_row(one.session, one.standing, now.wall), certain=False
            )
        elif learnt:
            await self._put(one.session, certain=False)


def _is_newer(found: ContextReading, known: ContextReading | None, now: Stamp) -> bool:
    if known is None:
        return True
    if found.session and known.session and found.session != known.session:
        return True
    return age(found.at, now) < age(known.at, now) or (
        found.used != known.used and age(found.at, now) <= age(known.at, now)
    )
