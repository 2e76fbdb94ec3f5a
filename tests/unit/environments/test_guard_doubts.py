"""What seeds of the simulation found in the guardian, each as small as it can be."""

import asyncio
import contextlib
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.environments.guard_rig import Rig, db, guarded

from argus.core.errors import ArgusError, Code
from argus.environments.blueprint import HealthWish, Part, PortWish
from argus.environments.book import CLEAN, Book
from argus.environments.guarding.model import State
from argus.environments.guarding.post import DOMAIN, RESTART
from argus.host.engine.birth import Birth
from argus.host.engine.resources import Happening, HealthCheck
from argus.host.engine.seam import EngineUnavailable
from argus.host.seam import Failure, ProbeFailed
from argus.store.records import Undecided


async def shut(rig: Rig) -> None:
    """Others have failed so often that nobody is let through."""
    for _ in range(5):
        with contextlib.suppress(ArgusError):
            await rig.circuit.call(_fails)


async def _fails() -> None:
    raise EngineUnavailable("refused")


def test_a_clock_that_is_set_forward_does_not_shorten_a_wait() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=60.0)
        rig.one().end(7)
        await asyncio.sleep(1.0)
        rig.clock.step(7200)
        await asyncio.sleep(40.0)  # it was looked at meanwhile
        assert rig.one().starts == 1
        await asyncio.sleep(25.0)
        assert (rig.one().starts, rig.seen().state) == (2, State.WELL)

    guarded(test)


def test_a_clock_that_is_set_back_does_not_lengthen_a_wait() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=20.0)
        rig.one().end(7)
        await asyncio.sleep(1.0)
        rig.clock.step(-3600)
        await asyncio.sleep(25.0)
        assert (rig.one().starts, rig.seen().state) == (2, State.WELL)

    guarded(test)


def test_two_that_fail_together_are_both_on_record() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), Part("api", "api", "any:1"), restart_delay=60.0)
        commit = rig.store.commit

        async def slowly(*writes: Any) -> Any:
            done = await commit(*writes)
            await asyncio.sleep(0.05)
            return done

        rig.store.commit = slowly  # type: ignore[method-assign]
        rig.one("db").end(7)
        rig.one("api").end(7)
        await asyncio.sleep(1.0)
        (document,) = await rig.store.documents(DOMAIN)
        assert [one["spent"] for one in document.data["charges"]] == [1, 1]

    guarded(test)


def test_what_is_stopped_while_its_restart_waits_for_the_record_stays_stopped() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), health=HealthCheck(("true",)), restart_delay=2.0)
        await asyncio.sleep(1.0)
        rig.store.is_full = True
        rig.one().become("unhealthy")
        await asyncio.sleep(1.0)
        await rig.engine.stop(rig.one().id, 10)
        await asyncio.sleep(20.0)
        rig.store.is_full = False
        await asyncio.sleep(60.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.LEFT)

    guarded(test)


def test_what_is_stopped_soon_after_a_new_engine_was_met_stays_stopped() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "restarted"
        await asyncio.sleep(3.0)
        rig.birth = Birth("2-2", rig.clock.wall())
        rig.engine.away = ""
        await asyncio.sleep(5.0)
        await rig.engine.stop(rig.one().id, 10)
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.LEFT)

    guarded(test)


def test_long_after_a_boot_what_nobody_saw_end_did_not_end_with_it() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.clock.boot_id = "boot-2"
        await asyncio.sleep(1000.0)
        await rig.kill()
        rig.one().end(137)
        rig.engine.told.clear()
        await rig.start()
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.LEFT)

    guarded(test)


def test_an_open_breaker_is_not_the_end_of_an_engine() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=2.0)
        await rig.kill()
        await shut(rig)
        await rig.start()
        await asyncio.sleep(5.0)
        rig.one().end(7)
        await asyncio.sleep(60.0)
        (attempt,) = await rig.told("restart_attempt")
        assert (attempt["attempt"], rig.one().starts, rig.seen().restarts) == (1, 2, 1)
        assert await rig.told("engine_lost", "engine_back") == []

    guarded(test)


def test_lost_again_before_anybody_was_told_that_it_is_back_it_was_away_all_the_time() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "gone"
        await asyncio.sleep(3.0)
        rig.engine.away = ""
        while not rig.engine.listeners:  # noqa: ASYNC110 - virtual time costs nothing
            await asyncio.sleep(0.01)
        rig.engine.away = "gone"
        await asyncio.sleep(3.0)
        rig.engine.away = ""
        await asyncio.sleep(5.0)
        assert (len(await rig.told("engine_lost")), len(await rig.told("engine_back"))) == (1, 1)

    guarded(test)


def test_time_in_which_nobody_could_look_is_no_health() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=2.0)
        rig.one().end(7)
        await asyncio.sleep(60.0)
        rig.engine.is_frozen = True
        rig.one().end(7)
        await asyncio.sleep(1200.0)
        rig.engine.is_frozen = False
        await asyncio.sleep(60.0)
        assert [one["attempt"] for one in await rig.told("restart_attempt")] == [1, 2]

    guarded(test)


def test_one_that_heals_by_its_own_check_is_well_after_all() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), health=HealthCheck(("true",)), restarts=1, restart_delay=2.0)
        await asyncio.sleep(1.0)
        rig.one().image.health = "unhealthy"
        rig.one().become("unhealthy")
        await asyncio.sleep(60.0)
        assert rig.seen().state is State.EXHAUSTED
        rig.one().become("healthy")
        await asyncio.sleep(60.0)
        assert rig.seen().state is State.WELL

    guarded(test)


def test_one_whose_start_was_missed_is_not_taken_for_stopped_when_it_crashes() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=2.0)
        await rig.engine.stop(rig.one().id, 10)
        await asyncio.sleep(5.0)
        assert rig.seen().state is State.LEFT
        heard, rig.engine.tell = rig.engine.tell, lambda told: None  # type: ignore[method-assign]
        await rig.engine.start(rig.one().id)
        rig.engine.tell = heard  # type: ignore[method-assign]
        await asyncio.sleep(60.0)
        assert rig.seen().state is State.WELL
        rig.one().end(7)
        await asyncio.sleep(60.0)
        assert (rig.one().starts, rig.seen().state) == (3, State.WELL)

    guarded(test)


def test_a_run_that_is_over_is_so_on_record_also_where_the_store_could_not_be_read() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        open_acts = rig.store.open_acts

        async def away() -> Any:
            raise ArgusError(Code.STORE_UNAVAILABLE, "away")

        rig.store.open_acts = away  # type: ignore[method-assign]
        rig.book._runs.clear()
        await rig.guardian.sync()
        rig.store.open_acts = open_acts  # type: ignore[method-assign]
        assert await rig.store.documents(DOMAIN) == []

    guarded(test)


def test_an_act_of_the_book_whose_answer_is_lost_is_begun_all_the_same() -> None:
    async def test(rig: Rig) -> None:
        commit, asked = rig.store.commit, []

        async def loses(*writes: Any) -> Any:
            await commit(*writes)
            raise Undecided("lost", "t1")

        async def was_committed(transaction: str) -> bool:
            asked.append(transaction)
            if len(asked) == 1:
                raise ArgusError(Code.STORE_UNAVAILABLE, "away")
            return True

        rig.store.commit = loses  # type: ignore[method-assign]
        rig.store.was_committed = was_committed  # type: ignore[method-assign]
        book = Book(rig.store, rig.notes, rig.clock)
        act = await book.begin(CLEAN, "act9", rig.run)
        rig.store.commit = commit  # type: ignore[method-assign]
        assert ([one.id for one in await rig.store.open_acts()], act.id) == (["act9"], "act9")
        await book.end(act, rig.run, "cleaned", {})
        assert await rig.open_acts() == 0

    guarded(test)


def test_whoever_was_set_up_while_the_engine_was_away_is_not_told_that_it_is_back() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "gone"
        await asyncio.sleep(3.0)
        rig.engine.away = ""
        rig.run = replace(rig.run, project="other", folder="/other", id="run2")
        rig.show(rig.run)
        await rig.guard(Part("cache", "cache", "any:1"))
        await asyncio.sleep(10.0)
        assert [one["runId"] for one in await rig.told("engine_back")] == ["run1"]

    guarded(test)


def test_what_a_run_has_on_record_is_closed_with_it_also_where_the_answer_was_lost() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=20.0)
        commit = rig.store.commit

        async def loses(*writes: Any) -> Any:
            await commit(*writes)
            raise Undecided("lost", "t1")

        async def was_committed(transaction: str) -> bool:
            return True

        rig.store.commit, rig.store.was_committed = loses, was_committed  # type: ignore[method-assign]
        rig.one().end(7)
        await asyncio.sleep(0.5)
        rig.store.commit = commit  # type: ignore[method-assign]
        assert len(await rig.store.incidents(open_only=True)) == 1
        rig.book._runs.clear()
        await rig.guardian.sync()
        assert await rig.store.incidents(open_only=True) == []

    guarded(test)


def test_what_is_stopped_beside_a_broken_way_and_told_just_before_that_breaks_again_stays_stopped() -> None:
    async def test(rig: Rig) -> None:
        rig.birth = None
        await rig.guard(db())
        await asyncio.sleep(1.0)
        rig.engine.away = "no route to host"
        await asyncio.sleep(3.0)
        rig.one().tells(rig.one(), "kill", {"signal": "15"})
        rig.one().end(0)
        await asyncio.sleep(3.0)
        rig.engine.away = ""
        while not rig.engine.listeners:  # noqa: ASYNC110 - virtual time costs nothing
            await asyncio.sleep(0.0005)
        rig.engine.away = "no route to host"  # before it could be looked at
        await asyncio.sleep(3.0)
        rig.engine.away = ""
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.LEFT)

    guarded(test)


def test_an_end_that_is_told_late_is_not_taken_for_the_one_after_it() -> None:
    async def test(rig: Rig) -> None:
        rig.birth = None
        await rig.guard(db())
        rig.engine.away = "killed"
        await asyncio.sleep(3.0)
        rig.engine.told.clear()
        late: list[Happening] = []
        tell, rig.engine.tell = rig.engine.tell, late.append  # type: ignore[method-assign]
        rig.one().tells(rig.one(), "kill", {"signal": "15"})
        rig.one().end(0)
        rig.engine.away = ""
        await asyncio.sleep(5.0)
        assert (rig.one().starts, rig.seen().state) == (2, State.WELL)
        assert [one.action for one in late[:3]] == ["kill", "die", "start"]
        for one in late[:2]:
            tell(one)
        await asyncio.sleep(5.0)
        await rig.engine.stop(rig.one().id, 10)
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state) == (2, State.LEFT)

    guarded(test)


def ill(retries: int) -> Part:
    wish = HealthWish("/health", 80, interval=10.0, timeout=5.0, retries=retries, start_period=0.0)
    return db(ports=(PortWish(80, 8080),), health=wish)


def test_what_one_did_not_answer_before_it_was_started_again_is_not_held_against_it() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(ill(retries=2), restart_delay=0.0)
        said = iter([ProbeFailed(Failure.REFUSED), 200, ProbeFailed(Failure.REFUSED)])
        rig.answers = lambda: next(said, 200)
        await asyncio.sleep(15.0)
        rig.one().end(7)  # started again it is well, and then slow for once
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state, next(said, None)) == (2, State.WELL, None)

    guarded(test)


def test_a_question_that_was_asked_before_it_was_started_again_is_not_held_against_it() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(ill(retries=1), restart_delay=0.0)

        def meanwhile() -> ProbeFailed:
            rig.answers = lambda: 200
            ward.hear(Happening("container", "start", ward.charge.id, "db", {}, rig.clock.wall()), 1)
            return ProbeFailed(Failure.TIMEOUT)

        ward = rig.guardian._posts["run1"].wards["db"]
        rig.answers = meanwhile
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.WELL)

    guarded(test)


@pytest.mark.parametrize("is_engine", [True, False])
def test_nothing_falls_with_an_engine_that_is_known_to_be_the_same(is_engine: bool) -> None:
    async def test(rig: Rig) -> None:
        rig.birth = Birth("1-1", 0.0, is_engine)
        await rig.guard(db())
        rig.engine.away = "no route to host"
        await asyncio.sleep(3.0)
        rig.one().tells(rig.one(), "kill", {"signal": "15"})
        rig.one().end(0)
        rig.engine.told.clear()  # it tells of that much later
        rig.engine.away = ""
        await asyncio.sleep(40.0)
        # Who only passes on what an engine is asked may outlive it: then it may have fallen.
        assert (rig.one().starts, rig.seen().state) == ((1, State.LEFT) if is_engine else (2, State.WELL))
        (back,) = await rig.told("engine_back")
        assert back["fallen"] == ([] if is_engine else ["db"])

    guarded(test)


def test_a_restart_that_was_ordered_counts_though_argus_was_killed_before_it_was_carried_out() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(ill(retries=2), restart_delay=1.0)
        restart, is_ordered = rig.engine.restart, asyncio.Event()

        async def in_its_time(id: str) -> None:
            is_ordered.set()
            await asyncio.sleep(10.0)  # it does not listen to SIGTERM
            await restart(id)

        rig.engine.restart = lambda id: asyncio.shield(rig.loop.create_task(in_its_time(id)))  # type: ignore[method-assign]
        rig.answers = lambda: 500
        await is_ordered.wait()
        await rig.kill()
        rig.answers = lambda: 200
        await rig.start()
        await asyncio.sleep(60.0)
        assert (rig.one().starts, rig.seen().state, rig.seen().restarts) == (2, State.WELL, 1)
        (document,) = await rig.store.documents(DOMAIN)
        (charge,) = document.data["charges"]
        assert (charge["spent"], [one["outcome"] for one in charge["attempts"]]) == (1, ["interrupted"])

    guarded(test)


def test_what_an_earlier_argus_is_mending_did_not_fall_with_a_boot_that_the_clock_moved_behind_it() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=60.0)
        await rig.kill()
        rig.clock.boot_id = "boot-2"
        await asyncio.sleep(1000.0)
        await rig.start()
        await asyncio.sleep(1.0)
        rig.one().end(7)
        await asyncio.sleep(5.0)
        rig.clock.step(7200)
        await rig.kill()
        rig.engine.told.clear()  # nobody tells the next one how it ended
        await rig.start()
        await asyncio.sleep(5.0)
        (attempt,) = rig.guardian.restarts("run1")
        assert (attempt.code, attempt.attempt) == ("CONTAINER_CRASH", 1)
        assert [act.intent["attempt"] for act in await rig.store.acts(kind=RESTART)] == [1]

    guarded(test)


def test_what_somebody_started_on_a_new_engine_did_not_fall_with_the_old_one() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restarts=0)
        rig.one().end(7)
        await asyncio.sleep(1.0)
        rig.engine.away = "restarted"
        await asyncio.sleep(3.0)
        rig.birth = Birth("2-2", rig.engine.now())
        rig.engine.away = ""
        await asyncio.sleep(5.0)
        # An engine that tells late: started by hand, and ended again, before it told of either.
        rig.one().started, rig.one().finished = rig.engine.now(), rig.engine.now() + 1
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.EXHAUSTED)

    guarded(test)


def test_an_intent_that_is_on_its_way_to_the_record_when_its_run_is_over_gets_its_outcome() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        commit = rig.store.commit

        async def goes_on(*writes: Any) -> Any:
            """As a store does: what was handed to it is written, whether anybody still waits for it or not."""

            async def later() -> Any:
                await asyncio.sleep(0.5)
                return await commit(*writes)

            return await asyncio.shield(asyncio.ensure_future(later()))

        rig.store.commit = goes_on  # type: ignore[method-assign]
        rig.one().end(7)
        await asyncio.sleep(0.2)
        rig.book._runs.clear()
        await rig.guardian.sync()
        await asyncio.sleep(5.0)
        assert [act.outcome for act in await rig.store.acts(kind=RESTART)] == ["abandoned"]

    guarded(test)


def test_an_illness_that_was_over_before_anybody_looked_ends_the_ten_minutes_all_the_same() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db(), health=HealthCheck(("true",)), restart_delay=0.0)
        await asyncio.sleep(1.0)
        rig.one().end(7)
        await asyncio.sleep(300.0)
        rig.one().become("unhealthy")
        rig.one().become("healthy")
        await asyncio.sleep(310.0)
        rig.one().end(7)
        await asyncio.sleep(5.0)
        assert [one["attempt"] for one in await rig.told("restart_attempt")] == [1, 2]

    guarded(test)


def test_one_that_heals_over_http_while_its_restart_is_waited_for_needs_none() -> None:
    async def test(rig: Rig) -> None:
        health = HealthWish("/health", 80, 5.0, timeout=2.0, retries=2)
        await rig.guard(db(ports=(PortWish(80, 9000),), health=health), restart_delay=60.0)
        rig.answers = lambda: 500
        await asyncio.sleep(20.0)
        assert rig.seen().state is State.WAITING
        rig.answers = lambda: 200
        await asyncio.sleep(120.0)
        assert (rig.one().starts, rig.seen().state, rig.seen().restarts) == (1, State.WELL, 0)

    guarded(test)


def test_what_a_person_stops_did_not_fall_in_hours_that_a_clock_made_of_an_outage() -> None:
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "refused"
        await asyncio.sleep(3.0)
        rig.clock.step(7200)  # now the outage seems to last for two hours,
        rig.engine.told.clear()
        rig.engine.away = ""
        await asyncio.sleep(3.0)
        rig.clock.step(-3600)  # and what happens from here on, in the middle of it
        await asyncio.sleep(60.0)
        await rig.engine.stop(rig.one().id, 1.0)
        await asyncio.sleep(40.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.LEFT)

    guarded(test)
