"""An engine that goes away and comes back: nobody who only looks gets into the way of what is brought back then."""

import asyncio
import contextlib
from dataclasses import replace

import pytest
from tests.unit.environments.guard_rig import Rig, db, guarded

from argus.core.breaker import State as Breaking
from argus.core.circuit import Circuit
from argus.core.errors import ArgusError
from argus.environments.blueprint import Blueprint, HealthWish, Part, PortWish
from argus.environments.guarding.model import State
from argus.environments.looking import Looker
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.seam import EngineRefused
from argus.host.seam import Failure, ProbeFailed

QUICK = HealthWish("/health", 80, interval=0.5, timeout=2.0, retries=4, start_period=10.0)


def falls(rig: Rig, *names: str) -> None:
    """With its engine, which forgets what it told: nobody hears of it."""
    rig.engine.told.clear()
    for name in names:
        one = rig.one(name)
        one.state, one.exit_code, one.finished, one.ports = "exited", 137, rig.engine.now(), ()


async def looked_at(rig: Rig, seconds: float) -> None:
    """Somebody asks for the status every second."""
    looker = Looker(GuardedDock(rig.engine, rig.circuit).watching())
    plan = Blueprint("shop", "/shop", "net", (db(),))
    for _ in range(int(seconds)):
        await looker.picture(plan, rig.run, None, rig.guardian.ids("run1"))
        await asyncio.sleep(1.0)


async def asks(rig: Rig, times: int) -> None:
    """Somebody wants something done."""
    for _ in range(times):
        with contextlib.suppress(ArgusError, EngineRefused):
            await GuardedDock(rig.engine, rig.circuit).remove("any", timeout=5)


def test_who_looks_while_the_engine_is_away_does_not_delay_what_is_brought_back():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "refused"
        await looked_at(rig, 60)
        falls(rig, "db")
        rig.engine.away = ""
        await asyncio.sleep(3.0)
        assert (rig.one().starts, rig.seen().state) == (2, State.WELL)
        assert len(await rig.told("engine_back")) == 1

    guarded(test)


def test_an_open_breaker_is_tried_as_soon_as_another_environment_hears_the_engine():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        first, rig.run = rig.circuit, replace(rig.run, project="other", folder="/other", id="run2")
        rig.show(rig.run)
        rig.circuit = Circuit("docker:other", rig.clock.monotonic, judge)
        await rig.guard(Part("cache", "cache", "any:1"))
        rig.engine.away = "refused"
        await asyncio.sleep(20.0)
        await asks(rig, 5)
        assert (first.breaker.state, rig.circuit.breaker.state) == (Breaking.CLOSED, Breaking.OPEN)
        falls(rig, "db", "cache")
        rig.engine.away = ""
        await asyncio.sleep(3.0)
        assert (rig.one("db").starts, rig.one("cache").starts) == (2, 2)
        assert rig.circuit.breaker.state is Breaking.CLOSED
        assert sorted(one["runId"] for one in await rig.told("engine_back")) == ["run1", "run2"]

    guarded(test)


def test_one_whose_breaker_only_a_person_closes_is_brought_back_when_he_has():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.run = replace(rig.run, project="other", folder="/other", id="run2")
        rig.show(rig.run)
        rig.circuit = Circuit("docker:other", rig.clock.monotonic, judge)
        rig.circuit.configure(replace(rig.circuit.limits, reset_after=0.0))
        await rig.guard(Part("cache", "cache", "any:1"))
        rig.engine.away = "refused"
        await asks(rig, 5)
        falls(rig, "cache")
        rig.engine.away = ""
        await asyncio.sleep(40.0)
        assert (rig.one("cache").starts, rig.circuit.breaker.state) == (1, Breaking.OPEN)
        said = rig.guardian.seen("run2")["cache"]
        assert (said.state, "not asked just now" in said.why) == (State.UNWATCHED, True)
        rig.circuit.reset()
        await asyncio.sleep(5.0)
        assert rig.one("cache").starts == 2
        assert sorted(one["runId"] for one in await rig.told("engine_back")) == ["run1", "run2"]

    guarded(test)


def test_nobody_is_called_well_whom_nobody_can_see():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        assert rig.seen().state is State.WELL
        rig.engine.away = "refused"
        await asyncio.sleep(3.0)
        assert (rig.seen().state, rig.seen().why) == (
            State.UNWATCHED,
            "nobody can look at it: the engine is away: the Docker engine cannot be reached: refused",
        )
        rig.engine.away = ""
        await asyncio.sleep(3.0)
        assert (rig.seen().state, rig.seen().why) == (State.WELL, "")
        # Seen by somebody else before the guardian has.
        dead = replace(await GuardedDock(rig.engine, rig.circuit).container("db", timeout=5), state="exited")
        for made, why in ((dead, "it has ended"), (None, "it is not there")):
            (said,) = rig.guardian.seen("run1", {"db": made}).values()
            assert (said.state, said.why) == (State.WAITING, f"{why}, and is about to be looked at")

    guarded(test)


def test_what_is_tried_since_it_fell_with_its_engine_is_not_counted_once_it_is_well():
    async def test(rig: Rig) -> None:
        await rig.guard(db(health=QUICK, ports=(PortWish(80, 8080),)), restart_delay=2.0)
        rig.one().end(7)
        await asyncio.sleep(10.0)
        assert rig.seen().restarts == 1
        rig.engine.away = "refused"
        await asyncio.sleep(3.0)
        falls(rig, "db")
        rig.answers = lambda: 200 if rig.one().starts == 5 else ProbeFailed(Failure.REFUSED)
        rig.engine.away = ""
        await asyncio.sleep(90.0)
        assert (rig.one().starts, rig.seen().state, rig.seen().restarts) == (5, State.WELL, 1)
        # The limit is as far away as before, and its report is of those that count.
        rig.answers = lambda: 200
        for _ in range(3):
            rig.one().end(7)
            await asyncio.sleep(40.0)
        (given_up,) = await rig.told("restart_exhausted")
        assert [one["code"] for one in given_up["history"]["attempts"]] == ["CONTAINER_CRASH"] * 3

    guarded(test)


def test_one_that_never_comes_back_after_its_engine_is_given_up_all_the_same():
    async def test(rig: Rig) -> None:
        await rig.guard(db(health=QUICK, ports=(PortWish(80, 8080),)), restart_delay=2.0)
        rig.engine.away = "refused"
        await asyncio.sleep(3.0)
        falls(rig, "db")
        rig.answers = lambda: ProbeFailed(Failure.REFUSED)
        rig.engine.away = ""
        await asyncio.sleep(300.0)
        assert rig.seen().state is State.EXHAUSTED
        assert rig.one().starts == 5  # after the engine, and three times

    guarded(test)


def test_a_service_waits_for_a_mock_that_it_does_not_depend_on_only_for_a_moment():
    async def test(rig: Rig) -> None:
        pay = Part("pay", "pay", "any:1", is_mock=True, health=QUICK, ports=(PortWish(80, 8080),))
        await rig.guard(pay, Part("api", "api", "any:1", starts_after=("pay",)))
        rig.engine.away = "refused"
        await asyncio.sleep(3.0)
        falls(rig, "pay", "api")
        rig.answers = lambda: ProbeFailed(Failure.REFUSED)
        rig.engine.away = ""
        await asyncio.sleep(4.0)
        assert (rig.one("pay").starts, rig.one("api").starts) == (2, 1)
        await asyncio.sleep(4.0)
        assert (rig.one("pay").starts, rig.one("api").starts) == (2, 2)

    guarded(test)


def test_no_case_begins_between_the_engines_coming_back_and_what_fell_with_it():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "refused"
        await asyncio.sleep(3.0)
        falls(rig, "db")
        rig.engine.away = ""
        async with rig.guardian.turnstile("run1").case("the next"):
            assert (rig.one().starts, rig.seen().state) == (2, State.WELL)

    guarded(test)


@pytest.mark.parametrize("how", ["renamed", "as it was"])
def test_a_container_is_known_by_its_id_whatever_it_is_called_now(how: str):
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        id = rig.guardian.ids("run1")["db"]
        if how == "renamed":
            one = rig.engine.containers_by_name.pop("db")
            one.name = "db2"
            rig.engine.containers_by_name["db2"] = one
        run = replace(rig.run, containers={"db": "db"})
        plan = Blueprint("shop", "/shop", "net", (db(),))
        rig.engine.containers_by_name["db2" if how == "renamed" else "db"].labels["argusai.project"] = "shop"
        looker = Looker(GuardedDock(rig.engine, rig.circuit))
        (seen,) = (await looker.picture(plan, run, None, rig.guardian.ids("run1"))).parts
        assert seen.made is not None
        assert (seen.made.id, seen.container) == (id, "db2" if how == "renamed" else "db")
        made, _ = await looker.logs(run, "db", 10, None, rig.guardian.ids("run1"))
        assert made.id == id

    guarded(test)


def test_all_that_the_guardian_asks_in_vain_is_one_failure():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        before = rig.engine.asked
        rig.one().end(7)
        while rig.engine.asked == before:  # noqa: ASYNC110 - virtual time costs nothing
            await asyncio.sleep(0.0001)
        rig.engine.away = "refused"  # while it looks, and asks for the last words
        await asyncio.sleep(20.0)
        assert rig.circuit.breaker.consecutive == 1

    guarded(test)
