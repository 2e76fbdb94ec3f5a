"""The guardian on a fake engine: exact times, and what gets in its way."""

import asyncio
import json
from dataclasses import replace

import pytest
from tests.unit.environments.guard_rig import Rig, db, guarded

from argus.core.errors import Code
from argus.environments.blueprint import HealthWish, Part, PortWish
from argus.environments.guarding.model import State
from argus.environments.runs import State as RunState
from argus.environments.tools import Shell
from argus.host.engine.birth import Birth
from argus.host.engine.resources import Happening, HealthCheck
from argus.host.seam import Failure, ProbeFailed
from argus.store.records import Document, PutDocument
from argus.testing import FakeEngine

CHECK = HealthCheck(("CMD", "true"))
WISH = HealthWish("/health", 80, interval=10.0, timeout=5.0, retries=3, start_period=0.0)


@pytest.mark.req("US3.3", "FR-R09", "FR-R11")
@pytest.mark.parametrize(("growth", "delays"), [("exponential", (2, 4, 8)), ("linear", (2, 4, 6))])
def test_delays_are_exact_and_after_the_last_it_is_given_up_once(growth: str, delays: tuple[int, ...]):
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_growth=growth)
        starts = []
        for delay in delays:
            began = rig.loop.time()
            rig.one().end(7)
            count = rig.one().starts
            await rig.until_started(count + 1)
            starts.append(rig.loop.time() - began)
            assert starts[-1] == pytest.approx(delay, abs=0.1)
            await asyncio.sleep(5.0)
            assert rig.seen().state is State.WELL
        rig.one().end(7)
        await asyncio.sleep(600.0)
        (given_up,) = await rig.told("restart_exhausted")
        assert [one["delayMs"] for one in given_up["history"]["attempts"]] == [delay * 1000 for delay in delays]
        assert given_up["crashLoop"]
        assert rig.one().starts == 4
        (error,) = rig.guardian.problems("run1")
        assert error.code is Code.CONTAINER_RESTART_EXHAUSTED
        assert [one.outcome for one in rig.guardian.restarts("run1")] == ["recovered"] * 3
        assert all(one.crash_loop for one in rig.guardian.restarts("run1"))
        assert rig.guardian.restarts("run1", since=rig.clock.wall()) == []
        assert await rig.open_acts() == 0

    guarded(test)


@pytest.mark.parametrize(("well", "attempt"), [(590.0, 2), (610.0, 1)])
def test_the_count_begins_anew_after_ten_minutes_that_it_was_well(well: float, attempt: int):
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        rig.one().end(7)
        await asyncio.sleep(well)
        rig.one().end(7)
        await asyncio.sleep(5.0)
        assert [one["attempt"] for one in await rig.told("restart_attempt")] == [1, attempt]

    guarded(test)


@pytest.mark.req("US3.6")
def test_one_that_docker_calls_unhealthy_is_restarted_between_two_cases():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), health=CHECK, restart_delay=0.0)
        turnstile, began = rig.guardian.turnstile("run1"), rig.loop.time()
        async with turnstile.case("a case"):
            rig.one().become("unhealthy", "the disk is\nfull")
            await asyncio.sleep(7.0)
            assert rig.one().starts == 1
        await asyncio.sleep(1.0)
        assert rig.one().starts == 2
        (begun,) = await rig.told("restart_attempt")
        assert begun["code"] == "HEALTH_CHECK_TIMEOUT"
        assert begun["reason"] == "its own health check says unhealthy: the disk is full"
        assert begun["diagnostics"]["healthOutput"] == "the disk is\nfull"
        assert rig.loop.time() - began < 20

    guarded(test)


SECRET = "HuntEr2SecretPw99xyz"


@pytest.mark.parametrize("before", [0, 120, 150, 170, 1980])
def test_what_a_health_check_prints_is_on_record_and_told_without_its_secrets(before: int):
    """Also where it is too long: half a password is no pattern any more."""

    async def test(rig: Rig) -> None:
        rig.redactor.learn("learned-of-its-file-42")
        await rig.guard(db(), health=CHECK, restart_delay=0.0, restarts=1)
        for _ in range(2):
            # Of the long ones the end is kept as well as the beginning, and each has its cut.
            said = f"{'0' * before} postgres://app:{SECRET}@db/shop learned-of-its-file-42 {'1' * (2000 - before)}"
            rig.one().become("unhealthy", said)
            await asyncio.sleep(60.0)
        assert rig.seen().state is State.EXHAUSTED
        everything = [rig.seen(), rig.guardian.problems("run1")[0].details, await rig.told()]
        everything += [await rig.store.documents("guarding"), await rig.store.incidents()]
        for one in everything:
            assert not any(SECRET[at : at + 5] in str(one) for at in range(len(SECRET) - 4))
            assert "learned-of" not in str(one)
        assert "its own health check says unhealthy: " in rig.seen().why

    guarded(test)


def test_what_the_file_asks_and_what_the_engine_refuses_is_on_record_without_secrets():
    async def test(rig: Rig) -> None:
        wish = replace(WISH, path=f"/health?token={SECRET}")
        rig.answers = lambda: 500
        await rig.guard(db(ports=(PortWish(80, 8080),), health=wish), restart_delay=0.0, restarts=1)
        await asyncio.sleep(60.0)
        rig.one().refuses = f"{'x' * 480} password={SECRET}"
        rig.one().end(7)
        await asyncio.sleep(600.0)
        assert rig.seen().state is State.EXHAUSTED
        (document,) = await rig.store.documents("guarding")
        found = [rig.seen(), await rig.told(), document.data["charges"], await rig.store.incidents()]
        assert not [one for one in found if SECRET[:5] in str(one)]

    guarded(test)


def test_secrets_that_an_earlier_argus_wrote_down_are_taken_out_when_it_is_taken_up_again():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0, restarts=1)
        for _ in range(2):
            rig.one().end(7)
            await asyncio.sleep(60.0)
        assert rig.seen().state is State.EXHAUSTED
        await rig.kill()
        (before,) = await rig.store.documents("guarding")
        text = json.dumps(before.data).replace("exit status 7", f"postgres://app:{SECRET}@db")
        assert SECRET in text
        await rig.store.commit(PutDocument(Document(before.domain, before.id, json.loads(text))))
        await rig.start()
        (after,) = await rig.store.documents("guarding")
        assert SECRET not in str(after)
        assert rig.seen().why == "it ended with postgres://[redacted]@db"

    guarded(test)


def test_a_case_that_hangs_does_not_keep_an_unhealthy_one_from_its_restart():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), health=CHECK, restart_delay=0.0)
        async with rig.guardian.turnstile("run1").case("it hangs"):
            rig.one().become("unhealthy")
            await asyncio.sleep(59.0)
            assert rig.one().starts == 1
            await asyncio.sleep(3.0)
            assert rig.one().starts == 2

    guarded(test)


@pytest.mark.parametrize("dead", [True, False])
def test_one_that_is_dead_or_silent_waits_for_no_case_and_the_next_case_waits_for_it(dead: bool):
    async def test(rig: Rig) -> None:
        wish = None if dead else WISH
        rig.answers = lambda: 200
        await rig.guard(db(ports=(PortWish(80, 8080),), health=wish), restart_delay=5.0)
        turnstile = rig.guardian.turnstile("run1")
        async with turnstile.case("a case"):
            if dead:
                rig.one().end(1)
            else:
                rig.answers = lambda: ProbeFailed(Failure.REFUSED)
            await asyncio.sleep(1.0 if dead else 31.0)
            assert rig.seen().state is State.WAITING
            rig.answers = lambda: 200 if rig.one().starts == 2 else ProbeFailed(Failure.REFUSED)
            await asyncio.sleep(10.0)
            assert rig.one().starts == 2
        if dead:
            rig.one().end(1)
            await asyncio.sleep(0.1)
            began = rig.loop.time()
            async with turnstile.case("the next"):
                assert rig.loop.time() - began == pytest.approx(10.0, abs=1.0)
                assert rig.seen().state is State.WELL

    guarded(test)


def test_as_many_failures_in_a_row_as_the_file_says_make_it_unhealthy():
    async def test(rig: Rig) -> None:
        said = [200, 500, 500, 200, 500, 500, 200, 500, 500, 500]
        rig.answers = lambda: said.pop(0) if said else 200
        await rig.guard(db(ports=(PortWish(80, 8080),), health=WISH), restart_delay=0.0)
        await asyncio.sleep(85.0)
        assert rig.one().starts == 1
        await asyncio.sleep(30.0)
        assert rig.one().starts == 2
        (begun,) = await rig.told("restart_attempt")
        assert begun["reason"] == "its health check fails: /health answers 500"

    guarded(test)


def test_what_timed_out_while_time_itself_was_wrong_does_not_count():
    async def test(rig: Rig) -> None:
        await rig.guard(db(ports=(PortWish(80, 8080),), health=WISH), restart_delay=0.0)
        rig.answers = lambda: ProbeFailed(Failure.TIMEOUT)
        rig.is_sound = False
        await asyncio.sleep(300.0)
        assert rig.one().starts == 1
        rig.is_sound = True
        await asyncio.sleep(50.0)
        assert rig.one().starts == 2

    guarded(test)


def test_nothing_is_done_while_it_cannot_be_put_on_record():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        rig.store.is_full = True
        rig.one().end(1)
        await asyncio.sleep(100.0)
        assert rig.one().starts == 1
        rig.store.is_full = False
        await asyncio.sleep(5.0)
        assert rig.one().starts == 2
        assert len(await rig.told("restart_attempt")) == len(await rig.told("restart_success")) == 1
        assert await rig.open_acts() == 0

    guarded(test)


def test_an_engine_that_is_away_when_it_is_to_start_is_waited_for_and_nothing_is_counted():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=5.0)
        rig.one().end(1)
        await asyncio.sleep(2.0)
        rig.engine.away = "refused"
        await asyncio.sleep(100.0)
        assert len(await rig.told("engine_lost")) == 1
        assert rig.circuit.breaker.consecutive == 1  # it does not open the breaker by asking again and again
        rig.engine.away = ""
        await asyncio.sleep(20.0)
        assert (rig.one().starts, rig.seen().state, rig.seen().restarts) == (2, State.WELL, 1)
        assert len(await rig.told("engine_back")) == 1
        assert len(await rig.told("restart_attempt")) == 1
        assert await rig.open_acts() == 0

    guarded(test)


def test_those_that_fell_with_their_engine_come_back_after_those_they_depend_on():
    async def test(rig: Rig) -> None:
        api = Part("api", "api", "any:1", depends_on=("db",))
        await rig.guard(api, db(health=WISH, ports=(PortWish(80, 8080),)), restarts=0)
        rig.answers = lambda: ProbeFailed(Failure.REFUSED)
        rig.engine.away = "refused"
        await asyncio.sleep(3.0)
        rig.engine.told.clear()
        for name in ("db", "api"):  # nobody hears of it
            one = rig.one(name)
            one.state, one.exit_code, one.finished, one.ports = "exited", 137, rig.engine.now(), ()
        rig.engine.away = ""
        await asyncio.sleep(10.0)
        assert (rig.one("db").starts, rig.one("api").starts) == (2, 1)
        rig.answers = lambda: 200
        await asyncio.sleep(10.0)
        assert (rig.one("db").starts, rig.one("api").starts) == (2, 2)
        assert {rig.seen(name).state for name in ("db", "api")} == {State.WELL}
        assert {rig.seen(name).restarts for name in ("db", "api")} == {0}
        (back,) = await rig.told("engine_back")
        assert sorted(back["fallen"]) == ["api", "db"]
        assert await rig.told("restart_attempt", "restart_exhausted") == []
        assert await rig.open_acts() == 0

    guarded(test)


def test_an_event_that_was_never_told_costs_half_a_minute():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        rig.one().tells = lambda one, action, more: None
        rig.one().end(7)
        await asyncio.sleep(35.0)
        assert rig.one().starts == 2

    guarded(test)


def test_a_stream_that_is_cut_is_asked_for_what_was_missed():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0)
        rig.engine.away = "cut"
        await asyncio.sleep(0.05)
        rig.one().tells(rig.one(), "kill", {"signal": "15"})
        rig.one().end(143)
        rig.engine.away = ""
        await asyncio.sleep(60.0)
        assert (rig.one().starts, rig.seen().state) == (1, State.LEFT)

    guarded(test)


@pytest.mark.parametrize("how", ["started by a person", "started and stopped", "removed by a person", "cleaned"])
def test_what_changes_while_a_restart_is_waited_for_is_seen(how: str):
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=30.0)
        one = rig.one()
        one.end(7)
        await asyncio.sleep(10.0)
        if how.startswith("started"):
            await rig.engine.start(one.id)
            if how.endswith("stopped"):  # what a person does to say that it is to be left alone
                await asyncio.sleep(1.0)
                await rig.engine.stop(one.id, 1.0)
        elif how.startswith("removed"):
            await rig.engine.remove(one.id)
        else:
            rig.show(rig.run.__class__("shop", "/shop", "run1", RunState.CLEANING, 0.0))
            await rig.guardian.sync()
        await asyncio.sleep(100.0)
        assert one.starts == (2 if how.startswith("started") else 1)
        assert await rig.told("restart_success") == []
        assert await rig.open_acts() == 0
        if how.startswith("started"):
            then = State.LEFT if how.endswith("stopped") else State.WELL
            assert (rig.seen().state, rig.seen().restarts) == (then, 0)
            assert rig.guardian.restarts("run1") == []
        elif how.startswith("removed"):
            assert rig.seen().state is State.LEFT
        else:
            assert rig.guardian.seen("run1") == {}

    guarded(test)


def test_a_port_that_stays_taken_is_an_attempt_each_until_it_is_given_up():
    async def test(rig: Rig) -> None:
        await rig.guard(db(ports=(PortWish(80, 8080),)), restart_delay=1.0)
        rig.engine.taken_ports = {8080}
        rig.one().end(7)
        await asyncio.sleep(60.0)
        codes = [one["code"] for one in await rig.told("restart_attempt")]
        assert codes == ["CONTAINER_CRASH", "PORT_CONFLICT", "PORT_CONFLICT"]
        assert len(await rig.told("port_conflict")) == 3
        (given_up,) = await rig.told("restart_exhausted")
        assert (given_up["cause"], given_up["attempts"]) == ("PORT_CONFLICT", 3)

    guarded(test)


@pytest.mark.parametrize("after", [0.5, 4.0])
def test_the_next_argus_goes_on_with_the_count_and_the_wait(after: float):
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=2.0)
        rig.one().end(7)
        await asyncio.sleep(10.0)
        rig.one().end(7)  # the second wait is 4 s
        await asyncio.sleep(1.0)
        await rig.kill()
        await asyncio.sleep(after)
        await rig.start()
        assert (rig.seen().state, rig.seen().restarts) == (State.WAITING, 2)
        began = rig.loop.time()
        await rig.until_started(3)
        assert rig.loop.time() - began == pytest.approx(max(0.2, 3.0 - after), abs=0.3)
        await asyncio.sleep(5.0)
        assert [one["attempt"] for one in await rig.told("restart_attempt")] == [1, 2]
        assert await rig.open_acts() == 0

    guarded(test)


def test_killed_together_with_its_engine_the_next_argus_brings_back_what_the_engine_ends_when_it_begins():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "refused"
        await rig.kill()
        await rig.start()
        await asyncio.sleep(5.0)
        assert rig.seen().state is State.UNWATCHED
        rig.engine.told.clear()  # it is another one, and has forgotten
        one = rig.one()  # an engine ends what it finds of a killed one as `docker stop` does, before it answers
        one.tells(one, "kill", {"signal": "15"})
        one.end(143)
        one.tells(one, "stop", {})
        await asyncio.sleep(1.0)
        rig.engine.away = ""
        await asyncio.sleep(10.0)
        assert (rig.one().starts, rig.seen().state, rig.seen().restarts) == (2, State.WELL, 0)
        assert len(await rig.told("engine_back")) == 1

    guarded(test)


@pytest.mark.parametrize("how", ["ended", "killed"])
def test_what_an_engine_ended_that_was_started_anew_while_nobody_looked_is_brought_back(how: str):
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restarts=0)
        await rig.kill()
        one = rig.one()
        rig.engine.told.clear()  # it is another one, and has forgotten
        if how == "ended":
            one.state, one.exit_code, one.finished = "exited", 0, rig.engine.now()
        await asyncio.sleep(60.0)
        rig.birth = Birth("2-2", rig.engine.now())
        if how == "killed":  # then the next one ends it, as `docker stop` does
            one.tells(one, "kill", {"signal": "15"})
            one.end(143)
            one.tells(one, "stop", {})
        await asyncio.sleep(60.0)
        await rig.start()
        await asyncio.sleep(10.0)
        assert (one.starts, rig.seen().state, rig.seen().restarts) == (2, State.WELL, 0)
        # What a person stops later stays so, also for the next Argus.
        await asyncio.sleep(60.0)
        one.tells(one, "kill", {"signal": "15"})
        one.end(143)
        one.tells(one, "stop", {})
        await asyncio.sleep(5.0)
        await rig.kill()
        await rig.start()
        await asyncio.sleep(60.0)
        assert (one.starts, rig.seen().state) == (2, State.LEFT)

    guarded(test)


def test_after_a_reboot_all_of_it_is_started_again_and_nothing_is_counted():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        await rig.kill()
        one = rig.one()
        one.state, one.exit_code, one.finished = "exited", 137, rig.engine.now()
        rig.engine.told.clear()
        rig.clock.boot_id = "boot-2"
        await rig.start()
        await asyncio.sleep(5.0)
        assert (one.starts, rig.seen().state, rig.seen().restarts) == (2, State.WELL, 0)

    guarded(test)


def test_one_engine_is_listened_to_once_whatever_the_number_of_containers():
    async def test(rig: Rig) -> None:
        await rig.guard(*(Part(f"db{n}", f"db{n}", "any:1") for n in range(20)))
        assert len(rig.engine.listeners) == 1
        asked = rig.engine.asked
        await asyncio.sleep(120.0)
        # Four sweeps, and a look at the memory of each now and then: nothing else while nothing happens.
        assert rig.engine.asked - asked <= 4 + 20 * 4
        rig.engine.tell(Happening("container", "die", "f" * 64, "stranger", {}, rig.engine.now(), 1))
        await asyncio.sleep(1.0)
        assert await rig.told("restart_attempt") == []

    guarded(test)


def test_an_environment_of_another_engine_is_guarded_there_also_by_the_next_argus():
    async def test(rig: Rig) -> None:
        other = FakeEngine()
        other.images = rig.engine.images
        await rig.guard(db(), restart_delay=0.0)
        rig.engines["unix:///run/other.sock"] = other
        rig.engine = other
        rig.run = replace(rig.run, id="run2", project="mall")
        rig.show(rig.run)
        await rig.guard(db(), restart_delay=0.0, shell=Shell("/", {"DOCKER_HOST": "unix:///run/other.sock"}))
        assert len(other.listeners) == 1
        await rig.kill()
        await rig.start()
        await asyncio.sleep(1.0)
        rig.one().end(7)
        await asyncio.sleep(5.0)
        assert rig.one().starts == 2
        assert [one.container for one in rig.guardian.restarts("run2")] == ["db"]

    guarded(test)
