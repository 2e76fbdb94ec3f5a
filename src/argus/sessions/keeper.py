"""The sessions as the rest of Argus sees them. One thing at a time for each; nobody else writes their state."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace

from argus.core.autonomy import Level
from argus.core.clock import Jump, age, stamp
from argus.core.depending import Broke, Thing
from argus.core.errors import ABOUT_SESSIONS, ArgusError, Code
from argus.loops import keep_running, log
from argus.sessions import policy, reports, turns
from argus.sessions import session as sessions
from argus.sessions.acting import Acting
from argus.sessions.answering import ANSWERED, Answering, unanswered
from argus.sessions.bands import Admission, Size, admission
from argus.sessions.ear import Ear
from argus.sessions.fusing import Patience, fuse
from argus.sessions.handing import TYPED, Handing
from argus.sessions.leftovers import Leftovers
from argus.sessions.model import Activity, ContextReading, Source
from argus.sessions.observing import Observing
from argus.sessions.overhearing import Overhearing
from argus.sessions.prompting import Prompting, untyped
from argus.sessions.session import SDK, Place, Session
from argus.sessions.settings import Sessions as Settings
from argus.sessions.signals import Sign
from argus.sessions.spawning import Spawning
from argus.sessions.tools import Answer, Hands, Tools
from argus.sessions.turns import Turn
from argus.sessions.watched import Watched
from argus.store.records import Append, CloseAct, PutSession, RemoveSession, Write
from argus.typist import Leave

_SOON = 1.0
"""Seconds between two looks at a session that is being handed on."""
_AT_ONCE = 0.2
"""Seconds after which what a hook told is looked at: several come together."""
_MOST = 500
"""Sessions that are kept."""


class Sessions:
    def __init__(self, settings: Settings, tools: Tools) -> None:
        self._tools = tools
        self._began = stamp(tools.clock)
        self.settings = settings
        self._all: dict[str, Watched] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._news = asyncio.Event()
        self._handing = Handing(tools, self._put, lambda project: self._all[project].signs)
        self._prompting = Prompting(tools)
        self._answering = Answering(tools)
        self.spawns = Spawning(
            tools,
            lambda: self.settings.spawns,
            lambda: self.settings.check_every,
            lambda: {name: one.session.place.folder for name, one in self._all.items()},
            self.broken,
        )
        self.ear = Ear(tools.clock)
        self.leftovers = Leftovers()
        self._taken_out: dict[str, Watched] = {}
        """Of argus.yaml, by a reload."""
        self._observing = Observing(tools, self._put, self.spawns, lambda: self.settings, self.broken)
        self._acting = Acting(tools, self._put, self._handing, self._prompting, lambda: self.settings)

    # The part's own life.

    async def restore(self) -> None:
        for data in await self._tools.store.sessions():
            kept = sessions.read(data)
            self._all[kept.project] = Watched(kept)
            if kept.handed is not None:
                self._acting.began(kept.project, kept.handed)
        self._take_up(self.settings)
        for act in await self._tools.store.open_acts():
            if act.kind == TYPED and "what" in act.intent and act.subject in self._all:
                self._all[act.subject].left.append(act)
            elif act.kind == TYPED and "what" in act.intent:
                self.leftovers.take(act)
            elif act.kind == TYPED:
                await self._tools.store.commit(CloseAct(act.id, "interrupted", self._tools.clock.wall(), {}))
            elif act.kind == ANSWERED:
                await self._answering.close(act)
        await self.spawns.restore()

    async def run(self) -> None:
        store = self._tools.store
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_running("sessions.look", lambda: self._look_forever(group), store))
            group.create_task(keep_running("sessions.spawns", self._judge_forever, store))
            if (read := self._tools.overhearing) is not None:
                group.create_task(keep_running("sessions.overhearing", lambda: self._overhear_forever(read), store))

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
        return not any(self._observing.is_active(one, now) for one in self._all.values())

    def find(self, project: str) -> Watched:
        found = self._all.get(project)
        if found is None:
            message = f"there is no session of a project {project!r}"
            missing = ArgusError(Code.NOT_FOUND, message, project=project, known=sorted(self._all))
            missing.actions = ABOUT_SESSIONS
            raise missing
        return found

    def admission(self, project: str, size: Size) -> Admission:
        one, roots = self.find(project).session, self.broken(project)
        found = admission(size, one.share, is_handing_off=one.is_handing_off, is_dead=one.state is Activity.DEAD)
        if roots and found.accept:
            down = " and ".join(f"{root.thing} is down" for root in roots)
            return Admission(False, found.band, f"{down}: no new work until it is back")
        return found

    def broken(self, project: str) -> Broke:
        """What it needs and does not have just now."""
        needs = self.needs(project)
        return self._tools.broken(needs) if needs else ()

    def needs(self, project: str) -> tuple[Thing, ...]:
        known = self.settings.projects.get(project)
        return known.needs if known is not None else ()

    def prompting(self, hands: Hands) -> Prompting:
        """For lines into other terminals than the sessions': on record as all of them are."""
        return Prompting(replace(self._tools, hands=hands))

    def turn(self, project: str) -> Turn | None:
        """The one that a session is in."""
        one, now = self.find(project), stamp(self._tools.clock)
        return Turn(turns.age_of(one.turn_began(now), now)) if one.is_at_work else None

    def turn_of(self, kind: str, conversation: str, *, was_in_turn: bool = False) -> Turn | None:
        """The one that a conversation, wherever it goes on, was last heard to be in. `was_in_turn`: as an earlier Argus
        put it on record; believed until it tells something itself, for as long as its silence is no stall."""
        now, read = stamp(self._tools.clock), self._tools.overhearing
        signs = (*self.ear.signs(kind, conversation), *(read.signs(kind, conversation) if read else ()))
        patience = Patience(self.settings.spawns.stalled_after)
        standing = fuse(signs, now, alive=True, session=conversation, patience=patience)
        if standing.state is Activity.UNKNOWN and was_in_turn:
            is_over = any(sign.ends and not sign.subagent for sign in signs)
            is_stalled = age(self._began, now) >= patience.stalled_after
            return None if is_over or is_stalled else Turn(None)
        if standing.state is not Activity.WORKING:
            return None
        return Turn(None if standing.subagents else turns.age_of(turns.began(signs, now, conversation), now))

    async def inform(self, project: str, text: str, also: Callable[[], Iterable[Write]], incident: str = "") -> Answer:
        """Tells it something by ourselves, once; `also` is on record before it is typed. Below `moderate`, and where
        nobody can type, only the record says it."""
        one = self._all.get(project)
        if one is None or one.session.place.type == SDK or not self._tools.autonomy().allows(Level.MODERATE):
            return Answer(False, reason="there is no such session, or it may not be typed into")
        if one.there is None:
            return Answer(False, again=True, reason="nobody is there")
        async with self._lock(project):
            if one.session.is_handing_off:
                return Answer(False, again=True, reason="it is being handed on")
            return await self._prompting.type(one.session.place, "dependency", text, also, incident)

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
            await self._observing.observe(one)
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
            await self._observing.observe(one)
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

    async def answer(self, project: str, id: str, leave: Leave, by: str) -> Answer:
        """Answers the question for leave that somebody saw, if it is still that one that stands open."""
        one = self.find(project)
        if one.session.place.type == SDK:
            raise ArgusError(Code.INVALID_STATE, "nobody can type into it", project=project)
        async with self._lock(project):
            seen = one.dialog
            dialog = id.partition("-")[0]
            if id != one.name_of(dialog):
                why = "that question was answered meanwhile, and is asked anew: look at it again"
                raise ArgusError(Code.CONFLICT, why, project=project)
            question = seen.question if seen is not None and seen.id == dialog else ""
            place, asked = one.session.place, one.standing.question or question
            answer = await self._answering.answer(place, dialog, leave, asked, by)
            one.answers[dialog] += answer.typed
            await self._observing.observe(one)
        self._wake(project)
        if not answer.typed:
            raise unanswered(answer, one.session.place)
        return answer

    def heard(self, kind: str, folder: str, sign: Sign) -> None:
        """What an agent told by itself, wherever it works."""
        self.ear.heard(kind, folder, sign)
        self._tools.turned(kind, sign.session)
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
            for name, one in self._taken_out.items():
                if one.session.is_handing_off and not one.is_busy:
                    one.is_busy = True
                    group.create_task(self._end(name, one))
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

    async def _overhear_forever(self, overhearing: Overhearing) -> None:
        while True:
            for one in await overhearing.look():
                self._tools.turned(one.kind, one.conversation)
            await asyncio.sleep(self.settings.look_every)

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
                    await self._observing.observe(one)
                    await self._finish(one)
                    await self._acting.act(one)
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

    async def _end(self, name: str, one: Watched) -> None:
        """What was under way in a project that was taken out. In its turn: a look may be in the middle of a step, and
        a handoff has one outcome."""
        try:
            async with self._lock(name):
                if self._taken_out.get(name) is one:
                    one.session = await self._handing.end(one.session, "its project was taken out of argus.yaml")
        except ArgusError as error:
            log.warning("session %s: %s", name, error.message)  # tried again: it is still under way
        finally:
            one.is_busy = False

    async def _finish(self, one: Watched) -> None:
        while one.left and one.line is not None:
            await self._prompting.finish(one.session.place, one.left.pop(0), one.line)

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


def _is_inside(folder: str, project: str) -> bool:
    return bool(project) and (folder == project or folder.startswith(project.rstrip("/") + "/"))
