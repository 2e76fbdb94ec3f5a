"""One engine that is listened to, whatever the number of environments on it.

Its events say at once what happens to which container. After each gap everything is looked at once, and slowly at all
times: an event that was missed costs half a minute, and nothing for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from argus.core.breaker import State as Breaking
from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.environments.guarding import missing
from argus.environments.guarding.missing import Loss, Missing
from argus.environments.guarding.model import State
from argus.environments.guarding.peaks import EVERY, Peaks
from argus.environments.guarding.post import Post
from argus.environments.guarding.ward import Ward
from argus.environments.labels import MANAGED, RUN
from argus.host.engine.listening import Listener, Outage
from argus.host.engine.resources import Happening, Made
from argus.host.engine.seam import EngineRefused, EngineUnavailable

_BEGIN = 10.0
_LOOK = 5.0
_SWEEP = 30.0
_DOUBT = 1.0
"""Seconds after which an engine that could not be asked is asked again; then twice as many, up to a sweep's."""
_SHUT = 2.0
"""Seconds after which one is tried again whose breaker refused: it may have closed at any time."""
_HANGS = 2
"""Looks in a row that an engine leaves without an answer before it is lost. One alone may be an engine that is busy, or
an Argus that was."""
_TOLD_AGAIN = 0.2
"""Seconds in which an engine tells what happened meanwhile, before what it shows is judged."""
_SKEW = 2.0


@dataclass(frozen=True, slots=True)
class Gap:
    """While an engine was away, by the wall clock. Where somebody set that meanwhile, what lies between its two ends
    says nothing: hours that never were, or that are still to come."""

    lost: float
    until: float
    lasted: float
    """Seconds, by the monotonic clock."""

    def holds(self, at: float, skew: float = 0.0) -> bool:
        begins = (self.lost, self.until - self.lasted)
        return any(begin - skew <= at <= begin + self.lasted + skew for begin in begins)


class Sentry:
    def __init__(self, engine: str, clock: Clock, peaks: Peaks, missing: Missing, since: float | None) -> None:
        self.engine = engine
        self.missing = missing
        self.posts: dict[str, Post] = {}
        self.peaks = peaks
        self._clock = clock
        self._wards: dict[str, Ward] = {}
        """By the container's id."""
        self._turn = asyncio.Lock()
        self._is_doubtful = False
        self._is_shut = False
        """To some, by their breakers: those were not looked at."""
        self._tries = 0
        self._due = asyncio.Event()
        self._vain = 0
        """Looks in a row that it did not answer,"""
        self._silent = 0.0
        """and when the first of them began, by the wall clock."""
        self._hangs = False
        """Its events did not end, and it answers nothing."""
        self._outage: Outage | None = None
        """That is not over."""
        self._loss: Loss | None = None
        """The one or the other, until it was seen to be over."""
        self._told: dict[str, float] = {}
        """Of the runs that were told that it is lost, and not yet that it is back, since when it is."""
        self._held: set[str] = set()
        """The runs whose cases wait for it."""
        self._over = 0.0
        """When the last one was over, by the monotonic clock,"""
        self._gap = Gap(0.0, 0.0, 0.0)
        """and from when until when that was."""
        self._listener = Listener(
            self._begin, clock, heard=self._heard, began=self._began, away=self._away, since=since
        )

    def add(self, post: Post) -> None:
        self.posts[post.order.run] = post
        self._wards |= {ward.charge.id: ward for ward in post.wards.values()}
        self._due.set()

    def drop(self, run: str) -> None:
        post = self.posts.pop(run)
        self._held.discard(run)
        self._told.pop(run, None)
        for ward in post.wards.values():
            self._wards.pop(ward.charge.id, None)
            self.peaks.forget(ward.charge.id)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listener.run())
            group.create_task(self._sweeps())
            group.create_task(self._samples())
            group.create_task(self._misses())

    # What wards ask.

    async def look(self, post: Post, id: str, has_died: bool) -> tuple[Made | None, list[str] | None]:
        """One at a time, and none once it was in vain: an engine that is away is asked once, not once for each.

        Of one that died its last words are asked for at the same time: whoever waits for it waits for both.
        """
        async with self._turn:
            if self._is_doubtful or not self._listener.is_on:
                raise EngineUnavailable("the Docker engine is away", is_the_engines=False)
            try:
                if not has_died:
                    return await post.dock.container(id, timeout=_LOOK), None
                looking = post.dock.container(id, timeout=_LOOK)
                return await asyncio.gather(looking, post.diagnoser.words(id))
            except (ArgusError, EngineRefused):
                self._doubt()
                raise

    def fell(self, ward: Ward, made: Made) -> bool:
        """An engine that is ended takes nobody's questions any more, ends its containers as `docker stop` does, and
        only then its events. So one that was asked to end on the last stream, and could not be looked at before that
        was over, fell with it; and so did one that nobody saw end."""
        outage = self._listener.outage
        if outage is None or self._listener.remembers:
            return False  # it never ended
        if ward.signs.died is None:
            if ward.ran is not None and ward.ran > self._over:
                return False  # and was seen to run since
            return self._gap.holds(made.finished or 0.0, _SKEW)
        if self._gap.holds(ward.signs.died):
            return True  # the next one ends what it finds of a killed one, as `docker stop` does, before it answers
        return ward.signs.stream == outage.stream and not ward.signs.is_asked_by_somebody

    def is_blind(self, post: Post) -> str:
        """Why nothing is seen of a run just now; empty where it is."""
        if self._outage is not None:
            return f"the engine is away: {self._outage.why}"
        if post.circuit.breaker.state is Breaking.OPEN:
            return f"{post.circuit.name} is not asked just now, after too many failures"
        return "the engine does not answer" if self._is_doubtful else ""

    # The stream.

    @contextlib.asynccontextmanager
    async def _begin(self, since: float | None) -> AsyncIterator[AsyncIterator[Happening]]:
        """Through the breaker of any environment that lets it pass: one that is closed to one must not be to all."""
        problem: Exception = EngineUnavailable("nobody is guarded", is_the_engines=False)
        async with contextlib.AsyncExitStack() as stack:
            for post in list(self.posts.values()):
                beginning = post.dock.happenings({MANAGED: "true"}, since, timeout=_BEGIN)
                try:
                    told = await stack.enter_async_context(beginning)
                except ArgusError as error:
                    if error.code is not Code.CIRCUIT_OPEN:
                        raise
                    problem = error
                    continue
                yield told
                return
            raise problem

    def _heard(self, told: Happening) -> None:
        if told.action == "start":
            self.peaks.begin(told.id)
        elif told.action == "oom":
            self.peaks.look(told.id)  # while there is something to read
        ward = self._wards.get(told.id)
        if ward is not None:
            ward.hear(told, self._listener.stream)

    def _began(self) -> None:
        self._is_doubtful, self._tries = False, 0
        self._answers()
        for post in self.posts.values():
            post.circuit.vouch()  # the next look is its probe
            post.meet(post.tools.birth(post.order.engine))
        if self._outage is not None:
            self._over = self._clock.monotonic()
            self._gap = Gap(self._outage.lost, self._clock.wall(), self._over - self._outage.began)
            self._outage = None
        self._due.set()

    def _away(self, outage: Outage) -> None:
        self._outage = outage
        self._lose(outage.lost, outage.why)
        for post in self.posts.values():
            if post.order.run not in self._held:
                # What fell with it is known only once it is back: until then no case begins.
                self._held.add(post.order.run)
                post.turnstile.close()

    def _lose(self, at: float, why: str) -> None:
        """Lost again before anybody was told that it is back, or ended after it hung: it was away all the time."""
        self._loss = self._loss or Loss(at, self._clock.monotonic(), why)
        for post in self.posts.values():
            if post.order.run not in self._told:
                self._told[post.order.run] = at
                post.tell("resilience", "engine_lost", {"engine": self.engine, "runId": post.order.run, "reason": why})

    def _doubt(self) -> None:
        self._is_doubtful = True
        self._due.set()

    def _is_silent(self, error: ArgusError, asked: float) -> None:
        """A look was in vain while its events go on. Nothing falls with one that hangs, so no case waits for it."""
        self._is_doubtful = True
        self._silent = self._silent if self._vain else asked
        self._vain += 1
        if self._vain >= _HANGS and not self._hangs and self._listener.is_on:
            self._hangs = True
            self._lose(self._silent, error.message)

    def _answers(self) -> None:
        self._vain, self._hangs = 0, False

    # Looking at everything.

    async def _sweeps(self) -> None:
        while True:
            if self._is_doubtful and self._listener.is_on:
                await asyncio.sleep(min(_SWEEP, _DOUBT * 2**self._tries))
                self._tries = min(self._tries + 1, 10)
            else:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_SHUT if self._is_shut else _SWEEP):
                        await self._due.wait()
                if self._due.is_set():
                    self._due.clear()
                    await asyncio.sleep(_TOLD_AGAIN)
            if self._listener.is_on:
                await self._sweep()

    async def _sweep(self) -> None:
        self._is_shut = False
        for post in list(self.posts.values()):
            wanted = {MANAGED: "true", RUN: post.order.run}
            asked = self._clock.wall()
            try:
                found = {one.id: one for one in await post.dock.containers(wanted, timeout=_LOOK)}
            except ArgusError as error:
                if error.code is Code.CIRCUIT_OPEN:
                    self._is_shut = True  # to this one alone, perhaps
                    continue
                self._is_silent(error, asked)
                return
            except EngineRefused:
                continue
            self._is_doubtful, self._tries = False, 0
            self._answers()
            seen = [(ward, found.get(ward.charge.id)) for ward in post.wards.values()]
            lost = self._told.pop(post.order.run, None) if self._outage is None else None
            if lost is not None:
                dead = [(one, made) for one, made in seen if made is not None and made.state == "exited"]
                fallen = [one.part.name for one, made in dead if not one.is_settled(made) and post.fell(one, made)]
                seconds = round(max(0.0, self._clock.wall() - lost), 1)
                said = {"engine": self.engine, "runId": post.order.run, "awaySeconds": seconds, "fallen": fallen}
                post.tell("resilience", "engine_back", said)
            for ward, made in seen:
                ward.see(made)
            if post.order.run in self._held and self._outage is None:
                self._held.remove(post.order.run)
                post.turnstile.open()
        if self._outage is None and not self._hangs:
            self._loss = None

    async def _misses(self) -> None:
        while True:
            await asyncio.sleep(missing.EVERY)
            is_there = self._listener.is_on and not self._is_doubtful
            await self.missing.look(self._loss, [one.order.project for one in self.posts.values()], is_there=is_there)

    async def _samples(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            if self._listener.is_on and not self._is_doubtful:
                running = {
                    ward.charge.id: post.dock
                    for post in self.posts.values()
                    for ward in post.wards.values()
                    if ward.charge.state is State.WELL
                }
                await self.peaks.look_at_all(running)
