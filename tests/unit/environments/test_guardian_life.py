"""Whatever happens to a guarded container, its engine, the store and Argus, and in whatever order."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.environments.guard_rig import Rig, db, guarded

from argus.environments.guarding.model import State
from argus.host.engine.resources import Happening

SETTLED = (State.LEFT, State.EXHAUSTED, State.FAILED)
STEP = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from((0.0, 0.1, 1.0, 5.0, 40.0, 700.0))),
    st.tuples(st.sampled_from(("crash", "end", "oom", "kill", "stop", "start", "away", "full", "argus")), st.just(0.0)),
)

_UNHEARD = 1.5
"""Seconds in which an engine that is back is heard again."""


class Life:
    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.by_a_person = False
        """A person is starting it right now."""
        self.is_stopped = False
        """A person stopped it, and has not started it since."""
        self.back = -_UNHEARD
        """When the engine was there again."""
        self.wrong: list[str] = []
        tell = rig.engine.tell

        def heard(one: Happening) -> None:
            if one.action == "start" and self.is_stopped and not self.by_a_person:
                self.wrong.append(f"started at {rig.loop.time():g} though a person had stopped it")
            tell(one)

        rig.engine.tell = heard  # type: ignore[method-assign]

    async def step(self, what: str, seconds: float) -> None:
        rig, one = self.rig, self.rig.one()
        is_running = one.state == "running"
        if what == "wait":
            await asyncio.sleep(seconds)
        elif what == "away":
            rig.engine.away = "" if rig.engine.away else "gone"
            self.back = rig.loop.time()
        elif what == "full":
            rig.store.is_full = not rig.store.is_full
        elif what == "argus" and not rig.store.is_full:
            await rig.kill()
            await rig.start()
        elif what in ("crash", "end", "oom") and is_running:
            one.end({"crash": 7, "end": 0, "oom": 137}[what], out_of_memory=what == "oom")
        elif what == "kill" and is_running and not rig.engine.away:
            await rig.engine.kill(one.id, "9")
        elif what == "stop" and is_running and not rig.engine.away:
            # An Argus that has not heard an engine yet cannot tell what it did at its beginning from what a person did.
            await asyncio.sleep(max(0.0, self.back + _UNHEARD - rig.loop.time()))
            if one.state != "running":
                return
            self.is_stopped = True
            await rig.engine.stop(one.id, 10)
            await asyncio.sleep(0.02)  # in the very instant of its end nobody could tell that from an engine's own
        elif what == "start" and not is_running and not rig.engine.away:
            self.by_a_person, self.is_stopped = True, False
            await rig.engine.start(one.id)
            self.by_a_person = False

    async def settle(self) -> None:
        self.rig.engine.away, self.rig.store.is_full = "", False
        await asyncio.sleep(400.0)


@settings(max_examples=120, deadline=None)
@given(st.lists(STEP, max_size=25), st.sampled_from((0.0, 2.0)), st.booleans())
def test_it_ends_well_or_given_up_and_what_a_person_stopped_stays_stopped(
    steps: list[tuple[str, float]], delay: float, is_stubborn: bool
) -> None:
    async def test(rig: Rig) -> None:
        rig.engine.images["any:1"].ignores_term = is_stubborn  # then it ends with 137, as one that is killed
        await rig.guard(db(), restart_delay=delay)
        life = Life(rig)
        for what, seconds in steps:
            await life.step(what, seconds)
        await life.settle()
        assert life.wrong == []
        state: Any = rig.seen().state
        is_running = rig.one().state == "running"
        assert (state is State.WELL and is_running) or (state in SETTLED and not is_running), (state, is_running)
        assert await rig.open_acts() == 0
        attempts = [one["attempt"] for one in await rig.told("restart_attempt")]
        assert max(attempts, default=0) <= 3
        assert rig.guardian.turnstile("run1").inside == ()
        async with asyncio.timeout(1.0), rig.guardian.turnstile("run1").case("the next"):
            pass  # nobody holds it up for ever

    guarded(test)
