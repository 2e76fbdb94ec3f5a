"""The holder of a breaker: who is let through, what an error means, and that ten at once are one probe."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.breaker import Breaker, Failure, Limits, Pass, State, abandoned, admit, failed, reset, succeeded
from argus.core.circuit import Circuit, CircuitOpen, Verdict
from argus.core.errors import REGISTRY, Code


class Sick(Exception):
    pass


class Missing(Exception):
    pass


VERDICTS = {Sick: Verdict.FAILED, Missing: Verdict.ANSWERED}


class Rig:
    def __init__(self, limits: Limits | None = None, breaker: Breaker | None = None) -> None:
        self.now = 0.0
        self.reached = 0
        self.changes: list[Breaker] = []
        self.gate: asyncio.Event | None = None
        self.circuit = Circuit(
            "engine",
            lambda: self.now,
            lambda error: VERDICTS.get(type(error), Verdict.NOTHING),
            limits,
        )
        if breaker is not None:
            self.circuit.restore(breaker)
        self.circuit.changed = lambda: self.changes.append(self.circuit.breaker)

    async def call(self, error: type[Exception] | None = None) -> str:
        return await self.circuit.call(self._work(error))

    async def look(self, error: type[Exception] | None = None) -> str:
        return await self.circuit.look(self._work(error))

    def _work(self, error: type[Exception] | None) -> Callable[[], Awaitable[str]]:
        async def work() -> str:
            self.reached += 1
            if self.gate is not None:
                await self.gate.wait()
            if error is not None:
                raise error("why")
            return "well"

        return work

    async def fail(self, times: int, error: type[Exception] = Sick) -> None:
        for _ in range(times):
            with pytest.raises(error):
                await self.call(error)

    @property
    def state(self) -> State:
        return self.circuit.breaker.state


async def test_what_the_work_says_comes_back():
    rig = Rig()
    assert await rig.call() == "well"
    assert rig.changes == []


async def test_it_opens_after_failures_in_a_row_and_then_reaches_nobody():
    rig = Rig()
    await rig.fail(4)
    assert rig.state is State.CLOSED
    await rig.fail(1)
    assert rig.state is State.OPEN
    assert rig.changes[-1] is rig.circuit.breaker
    with pytest.raises(CircuitOpen) as refused:
        await rig.call()
    assert rig.reached == 5
    error = refused.value
    assert (error.code, error.status) == (Code.CIRCUIT_OPEN, 503)
    assert error.structured(0)["details"] == {
        "breaker": "engine",
        "failures": 5,
        "lastFailure": "why",
        "retryInSeconds": 30.0,
    }
    assert str(error) == error.structured(0)["message"] != ""
    assert set(error.details) == set(REGISTRY[Code.CIRCUIT_OPEN].details), "as docs/errors.md shows it"
    assert "30 s" in str(error)


async def test_a_success_between_failures_starts_the_count_again():
    rig = Rig()
    for _ in range(3):
        await rig.fail(4)
        await rig.call()
    assert (rig.state, rig.circuit.breaker.consecutive) == (State.CLOSED, 0)


async def test_an_error_of_somebody_who_is_well_ends_the_row():
    rig = Rig()
    await rig.fail(4)
    await rig.fail(1, Missing)
    await rig.fail(4)
    assert rig.state is State.CLOSED


async def test_an_error_that_says_nothing_neither_counts_nor_ends_the_row():
    rig = Rig()
    await rig.fail(4)
    await rig.fail(20, KeyError)
    assert rig.state is State.CLOSED
    await rig.fail(1)
    assert rig.state is State.OPEN


@pytest.mark.parametrize("how", ["by-time", "by-hand"])
async def test_ten_calls_at_once_on_a_half_open_breaker_are_one_that_passes(how: str):
    rig = Rig()
    await rig.fail(5)
    if how == "by-time":
        rig.now = 30.0
    else:
        assert rig.circuit.reset()
    rig.gate = asyncio.Event()
    calls = [asyncio.ensure_future(rig.call()) for _ in range(10)]
    await asyncio.sleep(0)
    assert rig.reached == 6
    rig.gate.set()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert ended.count("well") == 1
    assert sum(isinstance(one, CircuitOpen) for one in ended) == 9
    assert rig.state is State.CLOSED
    assert await rig.call() == "well"


async def test_a_probe_that_fails_opens_it_again_for_the_whole_time():
    rig = Rig()
    await rig.fail(5)
    rig.now = 30.0
    await rig.fail(1)
    rig.now = 59.0
    with pytest.raises(CircuitOpen):
        await rig.call()
    rig.now = 60.0
    assert await rig.call() == "well"


async def test_a_probe_that_was_cancelled_gives_its_place_up_at_once():
    rig = Rig()
    await rig.fail(5)
    rig.now = 30.0
    rig.gate = asyncio.Event()
    probe = asyncio.ensure_future(rig.call())
    await asyncio.sleep(0)
    probe.cancel()
    await asyncio.wait([probe])
    assert rig.state is State.HALF_OPEN
    rig.gate = None
    assert await rig.call() == "well"
    assert rig.state is State.CLOSED


async def test_a_probe_that_learnt_nothing_gives_its_place_up_at_once():
    rig = Rig()
    await rig.fail(5)
    rig.now = 30.0
    await rig.fail(1, KeyError)
    assert await rig.call() == "well"


async def test_zero_means_that_only_a_person_resets_it():
    rig = Rig(Limits(failures=1, reset_after=0))
    await rig.fail(1)
    rig.now = 1e9
    with pytest.raises(CircuitOpen) as refused:
        await rig.call()
    assert refused.value.details["retryInSeconds"] is None
    assert rig.circuit.reset()
    assert await rig.call() == "well"


async def test_a_reset_of_what_is_not_open_changes_nothing():
    rig = Rig()
    assert not rig.circuit.reset()
    await rig.fail(5)
    rig.circuit.reset()
    assert not rig.circuit.reset()


async def test_it_goes_on_where_an_earlier_holder_left_off():
    before = Rig()
    await before.fail(5)
    rig = Rig(breaker=before.circuit.breaker)
    with pytest.raises(CircuitOpen):
        await rig.call()
    assert rig.reached == 0
    assert before.circuit.breaker.history == rig.circuit.breaker.history


async def test_a_call_from_before_it_opened_does_not_close_it():
    rig = Rig()
    rig.gate = asyncio.Event()
    slow = asyncio.ensure_future(rig.call())
    await asyncio.sleep(0)
    gate, rig.gate = rig.gate, None
    await rig.fail(5)
    gate.set()
    assert await slow == "well"
    assert rig.state is State.OPEN


@given(
    steps=st.lists(
        st.one_of(
            st.sampled_from([None, Sick, Missing, KeyError]),
            st.sampled_from([1.0, 29.0, 30.0, -5.0]),
            st.just("reset"),
        ),
        max_size=40,
    )
)
@settings(deadline=None, max_examples=200)
def test_the_short_ways_decide_as_the_breaker_does(steps: list[type[Exception] | float | str | None]):
    """Its fast paths against a holder that asks the pure breaker every time."""

    async def whole() -> None:
        rig, plain, limits = Rig(Limits(failures=3)), Breaker(), Limits(failures=3)
        for step in steps:
            if isinstance(step, float):
                rig.now += step
            elif step == "reset":
                rig.circuit.reset()
                plain = reset(plain, rig.now)
            else:
                error = step if isinstance(step, type) else None
                plain, leave = admit(plain, limits, rig.now)
                expected: type[Exception] | None = error if isinstance(leave, Pass) else CircuitOpen
                try:
                    await rig.call(error)
                    got = None
                except (CircuitOpen, Sick, Missing, KeyError) as raised:
                    got = type(raised)
                assert got is expected
                if isinstance(leave, Pass):
                    if error is Sick:
                        plain = failed(plain, limits, leave, Failure(rig.now, "Sick", "why"))
                    elif error is KeyError:
                        plain = abandoned(plain, leave)
                    else:
                        plain = succeeded(plain, leave, rig.now)
            assert rig.circuit.breaker == plain

    asyncio.run(whole())


async def test_whoever_asks_beforehand_is_told_what_a_call_would_be_told_and_takes_nobodys_turn():
    rig = Rig(Limits(reset_after=30.0))
    rig.circuit.check()
    await rig.fail(5)
    with pytest.raises(CircuitOpen) as refused:
        rig.circuit.check()
    assert refused.value.details["retryInSeconds"] == 30.0
    rig.now = 30.0
    rig.circuit.check()
    assert rig.state is State.OPEN, "only a call takes the probe's turn"
    rig.gate = asyncio.Event()
    probe = asyncio.ensure_future(rig.call())
    await asyncio.sleep(0)
    with pytest.raises(CircuitOpen):
        rig.circuit.check()
    rig.gate.set()
    assert await probe == "well"
    rig.circuit.check()


async def test_who_only_looks_spends_one_failure_however_often():
    rig = Rig()
    for _ in range(20):
        with pytest.raises(Sick):
            await rig.look(Sick)
    assert (rig.reached, rig.circuit.breaker.consecutive, rig.state) == (20, 1, State.CLOSED)
    await rig.fail(4)  # of who wants something done each counts
    assert rig.state is State.OPEN
    with pytest.raises(CircuitOpen):
        await rig.look()
    assert rig.reached == 24


async def test_a_look_in_vain_at_a_half_open_breaker_gives_its_place_to_the_next():
    rig = Rig(breaker=Breaker(State.OPEN, consecutive=5))
    rig.now = 31.0
    for _ in range(3):
        with pytest.raises(Sick):
            await rig.look(Sick)
    assert rig.state is State.HALF_OPEN
    assert await rig.look() == "well"
    assert rig.state is State.CLOSED


@pytest.mark.parametrize(("reset_after", "then"), [(30.0, State.HALF_OPEN), (0.0, State.OPEN)])
def test_one_that_another_vouches_for_may_be_tried_at_once_but_not_where_only_a_person_may(
    reset_after: float, then: State
):
    rig = Rig(Limits(reset_after=reset_after), Breaker(State.OPEN, consecutive=5))
    rig.circuit.vouch()
    assert rig.state is then
