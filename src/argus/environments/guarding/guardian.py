"""The guardian as the rest of the environments sees it: which runs are guarded, on which engines, and how they are."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from argus.core.circuit import Circuit
from argus.core.errors import ArgusError, Code
from argus.core.trouble import Trouble
from argus.environments.announcing import Tell
from argus.environments.blueprint import Blueprint
from argus.environments.book import Book
from argus.environments.guarding import asking, incidents, missing, policy, reports, settling
from argus.environments.guarding.diagnosing import Diagnoser
from argus.environments.guarding.missing import Missing
from argus.environments.guarding.model import Charge, Restart, Settings, State
from argus.environments.guarding.peaks import Peaks
from argus.environments.guarding.post import DOMAIN, RESTART, Order, Post, read_order
from argus.environments.guarding.sentry import Sentry
from argus.environments.guarding.turnstile import Turnstile
from argus.environments.guarding.ward import Ward
from argus.environments.runs import Run
from argus.environments.setting_up import SetUp
from argus.environments.tools import Shell, Tools
from argus.environments.waiting import Waiter
from argus.host.engine.resources import Made
from argus.loops import keep_running, log
from argus.store.intents import Intents
from argus.store.records import CloseAct, Document, PutDocument

_ALL = 1.0
"""Since when an engine is asked: for all that it still knows."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How the guardian stands to one container."""

    state: State
    restarts: int
    """Since it was last well for ten minutes, or since it was set up."""
    most: int
    next_attempt: float | None
    """By the wall clock."""
    why: str
    problem: ArgusError | None
    is_loop: bool
    is_judged: bool = True
    """Else it was just seen not to run, and nothing is decided or on record yet."""
    trouble: Trouble | None = None
    """The incident of its failure."""
    is_settling: bool = False
    """It is well again, and nobody knows yet whether that lasts."""

    @property
    def is_finished(self) -> bool:
        return self.state is State.LEFT and self.why == policy.FINISHED


_CLEARING = 30.0
"""Seconds in which an engine that begins has ended what it found of the one before."""
_BOOTING = 120.0
"""Seconds after the machine's boot in which its engine has begun, and has ended what it found."""


class Guardian:
    def __init__(self, tools: Tools, book: Book, tell: Callable[[str], Tell]) -> None:
        self._tools = tools
        self._book = book
        self._tell = tell
        self._posts: dict[str, Post] = {}
        self._sentries: dict[str, Sentry] = {}
        self._missed: dict[str, float] = {}
        """Since when which engine was away, of which an earlier Argus told a person."""
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """Of a run by its id, of an engine by its address."""

    # Its life.

    async def restore(self) -> None:
        """The runs that are up are guarded again, with what is on record of each."""
        open_acts = {act.id: act for act in await self._tools.store.open_acts() if act.kind == RESTART}
        told = {one.id: missing.read(one.data) for one in await self._tools.store.documents(missing.DOMAIN)}
        self._missed = {engine: at for engine, at in told.items() if at is not None}
        for document in await self._tools.store.documents(DOMAIN):
            try:
                order, charges = read_order(document.data)
            except (KeyError, TypeError, ValueError):
                log.error("what is on record of the guarded run %s is not understood", document.id)
                continue
            if not self._book.is_up(order.run):
                wall = self._tools.clock.wall()
                over = [put for one in charges for put in incidents.closing(one, wall, incidents.GONE, runId=order.run)]
                await self._tools.store.commit(*over, _ended(order.key))
                continue
            shell = Shell("/", order.engine)
            plan = Blueprint(order.project, "", "", is_recorded=True)
            circuit = self._tools.circuit(plan, shell)
            clean = {one.service: one.cleaned(self._tools.clean) for one in charges}
            post = self._add(order, clean, shell, circuit, since=_ALL)
            if [*clean.values()] != charges:
                await self._tools.store.commit(post.document())
            for one in charges:
                open_acts.pop(one.act, None)
        for act in open_acts.values():
            await self._tools.store.commit(CloseAct(act.id, "interrupted", self._tools.clock.wall(), {}))
        for engine in told.keys() - self._sentries.keys():  # nobody needs it any more
            await self._tools.store.commit(PutDocument(Document(missing.DOMAIN, engine, {}, live=False)))
        self._missed.clear()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._tasks.clear()
            try:
                for sentry in self._sentries.values():
                    self._listen(sentry)
                for post in self._posts.values():
                    self._watch(post)
                await asyncio.Event().wait()
            finally:
                self._group = None

    async def begin(self, run: Run, done: SetUp, plan: Blueprint, shell: Shell, circuit: Circuit) -> None:
        """A run that is complete."""
        parts = tuple(one.part for one in done.raised.parts)
        settings = Settings(plan.restart, plan.restarts, plan.restart_delay, plan.restart_growth)
        clock = self._tools.clock
        engine = self._tools.engine(shell)
        born = self._tools.birth(engine)
        order = Order(
            *(run.id, run.key, run.project, engine, settings, parts, clock.wall(), clock.boot_id),
            born=born.who if born else "",
        )
        charges = {one.part.name: Charge(one.part.name, one.made.name, one.made.id) for one in done.raised.parts}
        await self.sync()
        # From its beginning: what an engine tells again later shows that it is still the same one.
        post = self._add(order, charges, shell, circuit, since=run.since)
        await self._tools.notes.note(post.document())
        if self._group is not None:
            self._watch(post)

    async def sync(self) -> None:
        """Those that were cleaned or replaced are not guarded any more."""
        for run, post in list(self._posts.items()):
            if not self._book.is_up(run):
                await self._drop(run, post)

    # What may be asked.

    def seen(self, run: str, found: Mapping[str, Made | None] | None = None) -> Mapping[str, Seen]:
        """`found`: what whoever asks has just seen of each container himself, by the part's name."""
        post = self._posts.get(run)
        return {name: self._seen(post, ward, found or {}) for name, ward in post.wards.items()} if post else {}

    def ids(self, run: str) -> Mapping[str, str]:
        """Of the containers, by the part's name: what they are called may be changed by anybody."""
        post = self._posts.get(run)
        return {name: ward.charge.id for name, ward in post.wards.items()} if post else {}

    def restarts(self, run: str, since: float = 0.0) -> list[Restart]:
        """Begun since then, by the wall clock, in their order."""
        post = self._posts.get(run)
        found = [one for ward in post.wards.values() for one in reports.restarts(ward.charge, since)] if post else []
        return sorted(found, key=lambda one: one.at)

    def problems(self, run: str) -> list[ArgusError]:
        """Of each container that is not well: CONTAINER_RESTART_EXHAUSTED, with its history, where it was given up."""
        post = self._posts.get(run)
        return settling.problems(post) if post else []

    async def settled(self, run: str) -> None:
        """Returns when nothing more will become of its containers, or that takes too long."""
        post = self._posts.get(run)
        if post is not None:
            await settling.settled(post)

    def turnstile(self, run: str) -> Turnstile:
        """Between the cases of a run and its restarts. Of a run that is not guarded, one that lets everybody pass."""
        post = self._posts.get(run)
        return post.turnstile if post else Turnstile()

    def _seen(self, post: Post, ward: Ward, found: Mapping[str, Made | None]) -> Seen:
        charge = ward.charge
        if charge.state is State.WELL:
            blind = self._sentries[post.order.engine.get("DOCKER_HOST", "")].is_blind(post)
            charge = reports.shown(charge, blind, ward.made, found)
        due = charge.due if charge.state is State.WAITING and charge.due else None
        problem = reports.problem(charge) or ward.trouble
        most = post.order.settings.most if post.order.settings.restart else 0
        is_judged = ward.charge.state is charge.state
        return Seen(
            *(charge.state, charge.spent, most, due, charge.why, problem, charge.is_loop, is_judged, charge.trouble),
            is_settling=policy.is_settling(charge, self._tools.clock.wall()),
        )

    # How it is done.

    def _sentry(self, order: Order, since: float) -> Sentry:
        engine = order.engine.get("DOCKER_HOST", "")
        known = self._sentries.get(engine)
        if known is None:
            tools = self._tools
            absence = Missing(engine, tools.notes, tools.clock, self._missed.get(engine))
            known = Sentry(engine, tools.clock, Peaks(tools.memory_peak), absence, since)
            self._sentries[engine] = known
            self._listen(known)
        return known

    def _add(
        self, order: Order, charges: Mapping[str, Charge], shell: Shell, circuit: Circuit, *, since: float
    ) -> Post:
        tools = self._tools
        sentry = self._sentry(order, since)
        dock = tools.dock(shell, circuit).watching()
        rebooted = order.boot != tools.clock.boot_id

        async def look(id: str, has_died: bool) -> tuple[Made | None, list[str] | None]:
            made, words = await sentry.look(post, id, has_died)
            return (replace(made, health_output=tools.clean(made.health_output)) if made else None), words

        def fell(ward: Ward, made: Made) -> bool:
            if ward.is_being_mended(made):
                return False  # whoever judged that saw more of it; and by now the clock may have been set
            started, finished = made.started or 0.0, made.finished or 0.0
            is_unseen = ward.ran is None or ward.ran < post.met
            # Not what was started since, also where an engine that tells late has not told of that.
            if post.renewed is not None and is_unseen and started <= post.renewed >= finished - _CLEARING:
                return True  # while nobody looked; `docker stop` of a person was then not seen either
            booted = tools.clock.wall() - tools.clock.boot()
            is_over = ward.signs.died is None and ward.ran is None and finished <= booted + _BOOTING
            return (rebooted and is_over) or (not post.is_same and sentry.fell(ward, made))

        post = Post(
            order,
            tools,
            dock,
            circuit,
            Waiter(dock, tools.http, tools.clock, tools.published(shell), lambda part, what: None, clean=tools.clean),
            Diagnoser(dock, sentry.peaks, tools.clean, tools.clock),
            Intents(tools.store, tools.notes),
            is_up=lambda: self._book.is_up(order.run),
            look=look,
            fell=fell,
            tell=self._tell(order.project),
        )
        post.wards = {part.name: Ward(part, charges[part.name], post) for part in order.parts if part.name in charges}
        self._posts[order.run] = post
        sentry.add(post)
        return post

    def _listen(self, sentry: Sentry) -> None:
        if self._group is not None:
            work = keep_running(f"guardian of {sentry.engine}", sentry.run, self._tools.store)
            self._tasks[sentry.engine] = self._group.create_task(work)

    def _watch(self, post: Post) -> None:
        if self._group is not None:
            self._tasks[post.order.run] = self._group.create_task(self._guard(post))

    async def _guard(self, post: Post) -> None:
        store = self._tools.store
        async with asyncio.TaskGroup() as group:
            for ward in post.wards.values():
                group.create_task(keep_running(f"guardian of {ward.charge.container}", ward.run, store))
                if ward.part.health is not None:
                    group.create_task(self._poll(ward, post))

    async def _poll(self, ward: Ward, post: Post) -> None:
        async def polling() -> None:
            await asking.poll(ward, post.waiter, self._tools.is_sound)

        await keep_running(f"health of {ward.charge.container}", polling, self._tools.store)

    async def _drop(self, run: str, post: Post) -> None:
        if self._posts.pop(run, None) is None:
            return
        await self._end(run)
        engine = post.order.engine.get("DOCKER_HOST", "")
        sentry = self._sentries[engine]
        sentry.drop(run)
        closing: list[Any] = []
        if not sentry.posts:
            del self._sentries[engine]
            await self._end(engine)
            closing = sentry.missing.closing()
        with contextlib.suppress(ArgusError):
            await post.intents.settle()  # what it has on record is closed with it
        # Ended in the middle of something: what became of it is not known, and nobody will look.
        wall = self._tools.clock.wall()
        closing += [CloseAct(act, "abandoned", wall, {}) for act in await self._open(post)]
        closing += post.closing()
        replaced = any(other.order.key == post.order.key for other in self._posts.values())
        if not replaced:
            closing.append(_ended(post.order.key))
        await self._tools.notes.note(*closing)

    async def _open(self, post: Post) -> list[str]:
        try:
            acts = await self._tools.store.open_acts()
        except ArgusError as error:
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
            # What is known of them here: that it is not guarded any more is noted all the same.
            mine = [ward.charge.act for ward in post.wards.values() if ward.charge.act]
        else:
            mine = [act.id for act in acts if act.kind == RESTART and act.intent.get("run") == post.order.run]
        return [act for act in mine if act not in post.closed.values()]

    async def _end(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])


def _ended(key: str) -> PutDocument:
    return PutDocument(Document(DOMAIN, key, {}, live=False))
