"""The sessions as the rest of Argus sees them. One thing at a time for each; nobody else writes their state."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace

from argus.core.autonomy import Level
from argus.core.clock import Jump, Stamp, age, stamp
from argus.core.errors import ABOUT_SESSIONS, ArgusError, Code
from argus.loops import keep_running, log
from argus.sessions import policy, reports
from argus.sessions import session as sessions
from argus.sessions.bands import Admission, Band, Size, admission, band
from argus.sessions.ear import Ear
from argus.sessions.fusing import Patience
from argus.sessions.growth import Growth
from argus.sessions.handing import TYPED, Handing
from argus.sessions.handoff import Limits, Step
from argus.sessions.model import WAITING, Activity, ContextReading, Source
from argus.sessions.policy import AskContext, Circumstances, GoOn, HandOff, HeldBack
from argus.sessions.prompting import Prompting, untyped
from argus.sessions.session import SDK, Place, Session
from argus.sessions.settings import Sessions as Settings
from argus.sessions.signals import Sign
from argus.sessions.spawning import Spawning
from argus.sessions.tools import Answer, Tools
from argus.sessions.watched import Watched
from argus.store.records import Append, CloseAct, PutSession, RemoveSession, Write

_SOON = 1.0
"""Seconds between two looks at a session that is being handed on."""
_AT_ONCE = 0.2
"""Seconds after which what a hook told is looked at: several come together."""
_ESTIMATED = 20_000 / 3600
"""Tokens a second that a session nobody can read is taken to use."""
_OLD = 2 * 3600.0
_MOST = 500
"""Sessions that are kept."""
_CONTEXT_QUESTION = "Report your current context window usage from system warnings"
_GO_ON = "The usage limit is over. Continue with what you were doing."


class Sessions:
    def __init__(self, settings: Settings, tools: Tools) -> None:
        self._tools = tools
        self.settings = settings
        self._all: dict[str, Watched] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._news = asyncio.Event()
        self._handing = Handing(tools, self._put, lambda project: self._all[project].signs)
        self._prompting = Prompting(tools)
        self.spawns = Spawning(
            tools,
            lambda: self.settings.spawns,
            lambda: self.settings.check_every,
            lambda: {name: one.session.place.folder for name, one in self._all.items()},
        )
        self.ear = Ear(tools.clock)
        self._taken_out: dict[str, Watched] = {}
        """Of argus.yaml, by a reload."""
        self._began: dict[str, Stamp] = {}
        self._went_on: dict[str, Stamp] = {}
        """Known at once, before anything is on record: two sessions are looked at in the same moment."""

    # The part's own life.

    async def restore(self) -> None:
        for data in await self._tools.store.sessions():
            kept = sessions.read(data)
            self._all[kept.project] = Watched(kept)
            if kept.handed is not None:
                self._began[kept.project] = kept.handed
        self._take_up(self.settings)
        for act in await self._tools.store.open_acts():
            if act.kind == TYPED and "what" in act.intent and act.subject in self._all:
                self._all[act.subject].left.append(act)
            elif act.kind == TYPED:
                await self._tools.store.commit(CloseAct(act.id, "interrupted", self._tools.clock.wall(), {}))
        await self.spawns.restore()

    async def run(self) -> None:
        store = self._tools.store
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_running("sessions.look", lambda: self._look_forever(group), store))
            group.create_task(keep_running("sessions.spawns", self._judge_forever, store))

    def configure(self, settings: Settings) -> None:
        self.settings = settings
        self._take_up(settings)
        self._news.set()

    def time_jumped(self, jump: Jump) -> None:
        """Silence across a jump is nobody's: what was heard before says nothing of now."""
        for one in self._all.values():
            one.looked = None
        self.spawns.time_jumped(stamp(self._tools.clock))

    def _take_up(self, settings: Settings) -> None:
        now = stamp(self._tools.clock)
        for name, project in settings.projects.items():
            place = sessions.configured(name, project)
            known = self._all.get(name) or self._taken_out.pop(name, None)
            if known is None:
                self._all[name] = Watched(Session(place, now, now, since=now.wall))
            else:
                self._all[name] = known
                known.session = replace(known.session, place=place)
        for name, one in list(self._all.items()):
            if one.session.place.configured and name not in settings.projects:
                # What is known of it is kept for the case that it comes back; what was under way ends here.
                self._taken_out[name] = self._all.pop(name)
                self._news.set()

    # What may be asked.

    @property
    def all(self) -> list[Watched]:
        return sorted(self._all.values(), key=lambda one: one.session.project)

    @property
    def is_idle(self) -> bool:
        now = stamp(self._tools.clock)
        return not any(self.is_active(one, now) for one in self._all.values())

    def is_active(self, one: Watched, now: Stamp) -> bool:
        return self.spawns.runs_for(one.session.project) or age(one.session.active, now) < 3600.0

    def find(self, project: str) -> Watched:
        found = self._all.get(project)
        if found is None:
            message = f"there is no session of a project {project!r}"
            missing = ArgusError(Code.NOT_FOUND, message, project=project, known=sorted(self._all))
            missing.actions = ABOUT_SESSIONS
            raise missing
        return found

    def admission(self, project: str, size: Size) -> Admission:
        one = self.find(project).session
        return admission(size, one.share, is_handing_off=one.is_handing_off, is_dead=one.state is Activity.DEAD)

    async def add(self, place: Place, by: str) -> Watched:
        known = self._all.get(place.project)
        if known is not None and known.session.place.configured:
            raise ArgusError(Code.CONFLICT, f"{place.project!r} stands in argus.yaml, which says where it is")
        if known is None and len(self._all) >= _MOST:
            raise ArgusError(Code.CONFLICT, f"there are {_MOST} sessions already; remove some", limit=_MOST)
        async with self._lock(place.project):
            now, known = stamp(self._tools.clock), self._all.get(place.project)
            made = Session(place, now, now, since=now.wall)
            if known is not None and known.session.place.type == place.type:
                made = replace(known.session, place=place, active=now)
            if known is not None:
                known.session = replace(known.session, place=place)
            await self._put(made, Append(reports.registered(made, by)), certain=True)
        self._wake(place.project)
        return self._all[place.project]

    async def remove(self, project: str, by: str) -> None:
        one = self.find(project)
        if one.session.place.configured:
            raise ArgusError(Code.CONFLICT, f"{project!r} stands in argus.yaml; take it out there")
        async with self._lock(project):
            await self._tools.notes.commit(RemoveSession(project), Append(reports.removed(project, by)))
            self._all.pop(project, None)

    async def report_context(self, project: str, used: int, total: int, source: Source = Source.REPORTED) -> Watched:
        """Where it can be read as well, that counts more."""
        one = self.find(project)
        now = stamp(self._tools.clock)
        reading = ContextReading(used, total, source, now, one.standing.session)
        async with self._lock(project):
            one.hear([Sign(None, source, now, reading.session, "reported", context=reading)])
            await self._observe(one)
            await self._note(reports.context_row(one.session, one.standing, now.wall, "reported"))
        self._wake(project)
        return one

    async def hand_off(self, project: str, by: str) -> Watched:
        """Asked for by somebody: the gates of doing it by itself do not hold it up, all others do."""
        one = self.find(project)
        if one.session.place.type == SDK:
            raise ArgusError(Code.INVALID_STATE, "nobody can type into it: hand it on by hand", project=project)
        async with self._lock(project):
            if one.session.is_handing_off:
                raise ArgusError(Code.CONFLICT, f"{project} is being handed on already", project=project)
            await self._observe(one)
            if one.there is None:
                name = one.session.place.session
                raise ArgusError(Code.PANE_NOT_FOUND, f"no agent is seen in a tmux session {name}", project=project)
            await self._handing.begin(one.session, one.standing, policy.Why.ASKED.value, by)
        self._wake(project)
        return one

    async def tell(self, project: str, text: str) -> Answer:
        """Types what somebody wants to say, once."""
        one = self.find(project)
        if one.session.place.type == SDK:
            raise ArgusError(Code.INVALID_STATE, "nobody can type into it", project=project)
        async with self._lock(project):
            answer = await self._prompting.type(one.session.place, "message", text)
        if not answer.typed:
            raise untyped(answer, project)
        self._wake(project)
        return answer

    def heard(self, kind: str, folder: str, sign: Sign) -> None:
        """What an agent told by itself, wherever it works."""
        self.ear.heard(kind, folder, sign)
        found = self._whose(folder, kind)
        if found is not None:
            found.hear([sign])
            self._wake(found.session.project)

    def _whose(self, folder: str, kind: str) -> Watched | None:
        inside = [
            one
            for one in self._all.values()
            if one.session.place.agent == kind and _is_inside(folder, one.session.place.folder)
        ]
        return max(inside, key=lambda one: len(one.session.place.folder), default=None)

    # Looking.

    def _wake(self, project: str) -> None:
        one = self._all.get(project)
        if one is not None:
            one.due = min(one.due, self._tools.clock.boot() + _AT_ONCE)
            self._news.set()

    async def _look_forever(self, group: asyncio.TaskGroup) -> None:
        clock = self._tools.clock
        while True:
            now = clock.boot()
            for one in [one for one in self._taken_out.values() if one.session.is_handing_off]:
                one.session = await self._handing.end(one.session, "its project was taken out of argus.yaml")
            if self._tools.time_is_sound():
                for name, one in list(self._all.items()):
                    if one.due <= now and not one.is_busy:
                        one.is_busy = True
                        group.create_task(self._look(name, one))
            waits = [one.due - now for one in self._all.values() if not one.is_busy]
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.05, min([*waits, self.settings.look_every]))):
                    await self._news.wait()

    async def _judge_forever(self) -> None:
        while True:
            if self._tools.time_is_sound():
                await self.spawns.judge_due(self._tell_of_spawn)
            self.spawns.news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.2, self.spawns.wait(self._tools.clock.boot()))):
                    await self.spawns.news.wait()

    async def _tell_of_spawn(self, project: str, text: str) -> Answer:
        """The session that gave the work away. Below `moderate` only a person is told, by the journal."""
        one = self._all.get(project)
        if one is None or one.session.place.type == SDK or not self._tools.autonomy().allows(Level.MODERATE):
            return Answer(False, reason="there is no such session, or it may not be typed into")
        async with self._lock(project):
            if one.session.is_handing_off:
                return Answer(False, again=True, reason="it is being handed on")
            return await self._prompting.type(one.session.place, "spawn", text)

    async def _look(self, name: str, one: Watched) -> None:
        try:
            async with self._lock(name):
                if self._all.get(name) is one:
                    await self._observe(one)
                    await self._finish(one)
                    await self._act(one)
        except ArgusError as error:
            if error.code is not Code.STORE_UNAVAILABLE:
                log.warning("session %s: %s", name, error.message)
        except Exception:  # noqa: BLE001
            # One session that cannot be looked at is not everybody's trouble.
            log.exception("session %s could not be looked at", name)
        finally:
            one.is_busy = False
            pause = _SOON if one.session.is_handing_off else self.settings.look_every
            one.due = self._tools.clock.boot() + pause
            self._news.set()

    async def _finish(self, one: Watched) -> None:
        while one.left and one.line is not None:
            await self._prompting.finish(one.session.place, one.left.pop(0), one.line)

    async def _observe(self, one: Watched) -> None:
        before = one.session
        seen = await self._tools.eyes.look(before.place, one.own)
        now = stamp(self._tools.clock)
        one.see(seen, now, Patience(self.settings.spawns.stalled_after))
        if before.place.type == SDK:
            await self._estimate(one, now)
        standing = one.standing
        if standing.context is not None and _is_newer(standing.context, before.context, now):
            await self._read(one, standing.context, now)
        await self._report(one, now)
        if one.checked is None or now.boot - one.checked >= self.settings.check_every:
            await self._check(one, now)

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
                    for spawn in self.spawns.of(one.session.project)
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

    # Acting.

    async def _act(self, one: Watched) -> None:
        session = one.session
        if session.is_handing_off:
            settings = self.settings.handoff
            limits = Limits(settings.timeout, settings.settle, self.settings.context.quiet_from / 100)
            after = await self._handing.advance(one, limits)
            if after.handoff is not None and after.handoff.step is Step.DONE:
                one.growth = Growth()
            return
        match policy.decide(session, one.standing, self._around(one)):
            case HandOff(why):
                self._began[session.project] = stamp(self._tools.clock)
                await self._handing.begin(session, one.standing, why.value, "argus")
            case HeldBack(gate):
                key = f"held:{gate}"
                if session.told != key:
                    told = reports.handoff_held_back(session, gate, self._tools.autonomy().value)
                    await self._put(replace(session, told=key), Append(told), certain=False)
            case AskContext():
                asked = replace(session, asked=stamp(self._tools.clock))
                await self._put(asked, certain=False)
                await self._prompting.type(session.place, "context", _CONTEXT_QUESTION)
            case GoOn(resets_at):
                self._went_on[session.project] = stamp(self._tools.clock)
                await self._put(replace(session, resumed=resets_at), certain=True)
                await self._prompting.type(session.place, "limit", _GO_ON)
            case None:
                pass

    def _around(self, one: Watched) -> Circumstances:
        now, settings = stamp(self._tools.clock), self.settings
        name = one.session.project
        return Circumstances(
            now=now,
            autonomy=self._tools.autonomy(),
            enabled=settings.handoff.enabled,
            others_began=_since(self._began, name, now),
            gap=settings.handoff.gap,
            ask_after=settings.context.ask_after,
            quiet_from=settings.context.quiet_from / 100,
            look_ahead=settings.context.look_ahead,
            until_full=one.until_full(now),
            untold=one.untold(now),
            others_went_on=_since(self._went_on, name, now),
        )

    # Keeping.

    async def _put(self, session: Session, *writes: Write, certain: bool) -> None:
        keep = self._tools.notes.commit if certain else self._tools.notes.note
        await keep(PutSession(session.row()), *writes)
        known = self._all.get(session.project) or self._taken_out.get(session.project)
        if known is None:
            self._all[session.project] = Watched(session)
        else:
            # Where it is may have been changed meanwhile, by a reload, which does not wait for a look.
            known.session = replace(session, place=known.session.place)

    async def _note(self, *writes: Write) -> None:
        await self._tools.notes.note(*writes)

    def _lock(self, project: str) -> asyncio.Lock:
        return self._locks.setdefault(project, asyncio.Lock())


def _since(moments: Mapping[str, Stamp], but: str, now: Stamp) -> float | None:
    return min((age(at, now) for name, at in moments.items() if name != but), default=None)


def _is_inside(folder: str, project: str) -> bool:
    return bool(project) and (folder == project or folder.startswith(project.rstrip("/") + "/"))


def _is_newer(found: ContextReading, known: ContextReading | None, now: Stamp) -> bool:
    if known is None:
        return True
    if found.session and known.session and found.session != known.session:
        return True
    return age(found.at, now) < age(known.at, now) or (
        found.used != known.used and age(found.at, now) <= age(known.at, now)
    )
