"""The circuit breaker: tables over single steps, and a machine over many callers, late reports, resets and timeouts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from argus.core.breaker import (
    Breaker,
    Failure,
    Limits,
    Pass,
    Refused,
    State,
    abandoned,
    admit,
    failed,
    reset,
    succeeded,
)

LIMITS = Limits()
BOOM = "DOCKER_UNAVAILABLE"

CLOSED = Breaker(consecutive=2, since=1.0, probes=3)
OPEN = Breaker(state=State.OPEN, consecutive=5, since=100.0, probes=3, history=(Failure(100.0, BOOM, ""),))
HALF_OPEN = replace(OPEN, state=State.HALF_OPEN, since=130.0)
PROBING = replace(HALF_OPEN, probe=4, probes=4, probe_since=130.0)


def failure(at: float) -> Failure:
    return Failure(at, BOOM, "no answer")


def fail(breaker: Breaker, limits: Limits, times: int, *, at: float = 0.0) -> Breaker:
    for _ in range(times):
        breaker = failed(breaker, limits, Pass(era=breaker.probes), failure(at))
    return breaker


def test_the_defaults_are_those_of_docker_operations():
    assert (LIMITS.failures, LIMITS.reset_after, LIMITS.history) == (5, 30.0, 20)
    assert LIMITS.probe_timeout == 60.0


@pytest.mark.parametrize(
    ("breaker", "limits", "now", "answer"),
    [
        pytest.param(Breaker(), LIMITS, 0.0, Pass(), id="a-new-breaker-lets-every-call-through"),
        pytest.param(
            CLOSED, LIMITS, 0.0, Pass(0, 3), id="a-closed-breaker-with-failures-below-the-limit-lets-calls-through"
        ),
        pytest.param(OPEN, LIMITS, 100.0, Refused(30.0), id="an-open-breaker-says-when-it-will-probe"),
        pytest.param(OPEN, LIMITS, 129.0, Refused(1.0), id="an-open-breaker-refuses-until-the-last-second"),
        pytest.param(OPEN, LIMITS, 130.0, Pass(4, 4), id="an-open-breaker-probes-once-the-time-is-over"),
        pytest.param(OPEN, Limits(reset_after=0), 1e9, Refused(None), id="zero-means-that-only-a-person-resets-it"),
        pytest.param(OPEN, Limits(reset_after=0.5), 100.5, Pass(4, 4), id="less-than-a-second-is-a-time-too"),
        pytest.param(HALF_OPEN, LIMITS, 130.0, Pass(4, 4), id="half-open-without-a-probe-lets-one-through"),
        pytest.param(PROBING, LIMITS, 189.0, Refused(None), id="a-probe-under-way-holds-all-others-back"),
        pytest.param(PROBING, LIMITS, 190.0, Pass(5, 5), id="a-probe-that-never-reports-gives-its-place-up"),
        pytest.param(OPEN, LIMITS, 99.0, Pass(4, 4), id="a-clock-set-back-a-little-keeps-it-open-no-longer"),
        pytest.param(OPEN, LIMITS, 3.0, Pass(4, 4), id="the-clock-of-another-boot-keeps-it-open-no-longer"),
        pytest.param(OPEN, Limits(reset_after=0), 3.0, Refused(None), id="no-clock-opens-what-only-a-person-resets"),
        pytest.param(PROBING, LIMITS, 130.0, Refused(None), id="a-probe-of-this-moment-holds-all-others-back"),
        pytest.param(PROBING, LIMITS, 129.0, Pass(5, 5), id="a-probe-from-the-future-holds-nobody-back"),
    ],
)
def test_admission(breaker: Breaker, limits: Limits, now: float, answer: Pass | Refused):
    after, got = admit(breaker, limits, now)
    assert got == answer
    if not (isinstance(got, Pass) and got.probe):
        assert after == breaker


def test_a_probe_is_written_into_the_state():
    after, leave = admit(OPEN, LIMITS, 131.0)
    assert after == replace(OPEN, state=State.HALF_OPEN, since=131.0, probe=4, probes=4, probe_since=131.0)
    assert leave == Pass(4, 4)


def test_a_probe_after_the_clock_was_set_back_holds_its_place_by_the_new_clock():
    after, leave = admit(OPEN, LIMITS, 3.0)
    assert after == replace(OPEN, state=State.HALF_OPEN, since=3.0, probe=4, probes=4, probe_since=3.0)
    assert admit(after, LIMITS, 62.0)[1] == Refused(None)
    assert isinstance(leave, Pass)
    assert succeeded(after, leave, 5.0) == Breaker(since=5.0, probes=4)


@pytest.mark.parametrize(("since", "reset_after"), [(0.1, 0.2), (4090.1, 30.0)])
def test_at_the_moment_it_opened_no_probe_passes(since: float, reset_after: float):
    opened = replace(OPEN, since=since)
    assert admit(opened, Limits(reset_after=reset_after), since) == (opened, Refused(pytest.approx(reset_after)))


@pytest.mark.parametrize("limit", [1, 3, 5, 20])
def test_opens_at_the_limit_and_not_before(limit: int):
    limits = Limits(failures=limit)
    before = fail(Breaker(), limits, limit - 1, at=7.0)
    assert (before.state, before.consecutive) == (State.CLOSED, limit - 1)
    opened = fail(before, limits, 1, at=9.0)
    assert (opened.state, opened.consecutive, opened.since) == (State.OPEN, limit, 9.0)


def test_a_limit_lowered_under_the_count_opens_at_the_next_failure():
    assert fail(fail(Breaker(), Limits(failures=5), 4), Limits(failures=2), 1).state is State.OPEN


def test_a_success_between_starts_the_count_again():
    nearly = fail(Breaker(), LIMITS, 4)
    again = fail(succeeded(nearly, Pass(), 1.0), LIMITS, 4)
    assert again.state is State.CLOSED
    assert fail(again, LIMITS, 1).state is State.OPEN


def test_a_success_while_closed_keeps_the_history():
    assert len(succeeded(fail(Breaker(), LIMITS, 3), Pass(), 1.0).history) == 3


@pytest.mark.parametrize(
    ("breaker", "leave", "expected"),
    [
        pytest.param(Breaker(), Pass(), Breaker(), id="a-success-on-a-fresh-breaker-changes-nothing"),
        pytest.param(OPEN, Pass(), OPEN, id="a-call-from-before-it-opened-does-not-close-it"),
        pytest.param(OPEN, Pass(3), OPEN, id="a-failed-probe-that-reports-again-does-not-close-it"),
        pytest.param(HALF_OPEN, Pass(), HALF_OPEN, id="an-ordinary-call-does-not-close-a-half-open-one"),
        pytest.param(HALF_OPEN, Pass(3), HALF_OPEN, id="an-old-probe-does-not-close-before-the-new-one-started"),
        pytest.param(PROBING, Pass(), PROBING, id="an-ordinary-call-does-not-stand-in-for-the-probe"),
        pytest.param(PROBING, Pass(3), PROBING, id="an-older-probe-does-not-close-it"),
        pytest.param(
            PROBING, Pass(4), Breaker(since=200.0, probes=4), id="its-own-probe-closes-it-and-clears-the-history"
        ),
    ],
)
def test_success(breaker: Breaker, leave: Pass, expected: Breaker):
    assert succeeded(breaker, leave, 200.0) == expected


@pytest.mark.parametrize(
    ("breaker", "leave", "state", "since"),
    [
        pytest.param(OPEN, Pass(), State.OPEN, 100.0, id="a-late-failure-does-not-prolong-an-open-breaker"),
        pytest.param(HALF_OPEN, Pass(), State.HALF_OPEN, 130.0, id="an-ordinary-failure-does-not-open-a-half-open-one"),
        pytest.param(PROBING, Pass(), State.HALF_OPEN, 130.0, id="an-ordinary-failure-does-not-stand-in-for-the-probe"),
        pytest.param(PROBING, Pass(3), State.HALF_OPEN, 130.0, id="an-older-probe-does-not-open-it"),
        pytest.param(PROBING, Pass(4), State.OPEN, 200.0, id="its-own-probe-opens-it-again-for-the-full-time"),
    ],
)
def test_failure_when_not_closed(breaker: Breaker, leave: Pass, state: State, since: float):
    after = failed(breaker, LIMITS, leave, failure(200.0))
    assert (after.state, after.since) == (state, since)
    assert after.history == (*breaker.history, failure(200.0))
    assert after.consecutive == breaker.consecutive + (state is State.OPEN and breaker is PROBING)


@pytest.mark.parametrize("breaker", [CLOSED, OPEN, HALF_OPEN, PROBING], ids=["closed", "open", "half-open", "probing"])
@pytest.mark.parametrize("leave", [Pass(), Pass(3, 3), Pass(0, 3)], ids=["ordinary", "an-older-probe", "of-this-era"])
def test_what_ends_without_a_word_changes_nothing(breaker: Breaker, leave: Pass):
    assert abandoned(breaker, leave) is breaker


def test_a_probe_that_ends_without_a_word_makes_room_for_the_next():
    after = abandoned(PROBING, Pass(4, 4))
    assert (after.state, after.since, after.history) == (State.HALF_OPEN, PROBING.since, PROBING.history)
    assert admit(after, LIMITS, 131.0)[1] == Pass(5, 5)
    assert succeeded(after, Pass(4, 4), 132.0) is after


def test_the_first_probe_of_all_is_number_one():
    assert admit(fail(Breaker(), LIMITS, 5), LIMITS, 30.0)[1] == Pass(1, 1)
    assert Breaker().since == 0.0


def test_after_a_failed_probe_the_next_one_gets_a_number_of_its_own():
    opened = failed(PROBING, LIMITS, Pass(4), failure(200.0))
    assert opened.probe == 0
    assert admit(opened, LIMITS, 229.0)[1] == Refused(1.0)
    assert admit(opened, LIMITS, 230.0)[1] == Pass(5, 5)


def test_numbers_of_probes_are_not_used_again_after_it_closed():
    closed = succeeded(PROBING, Pass(4, 4), 200.0)
    assert admit(closed, LIMITS, 201.0) == (closed, Pass(0, 4))
    assert admit(fail(closed, LIMITS, 5, at=300.0), LIMITS, 330.0)[1] == Pass(5, 5)


@pytest.mark.parametrize("breaker", [CLOSED, HALF_OPEN, PROBING], ids=["closed", "half-open", "probe-under-way"])
def test_reset_changes_nothing_unless_open(breaker: Breaker):
    assert reset(breaker, 999.0) == breaker


@pytest.mark.parametrize("limits", [LIMITS, Limits(reset_after=0)], ids=["timed", "by-hand-only"])
def test_reset_of_an_open_one_lets_exactly_one_probe_through(limits: Limits):
    half = reset(OPEN, 101.0)
    assert (half.state, half.since) == (State.HALF_OPEN, 101.0)
    assert half.history == OPEN.history
    probing, first = admit(half, limits, 101.0)
    assert first == Pass(4, 4)
    assert admit(probing, limits, 101.0)[1] == Refused(None)


@given(count=st.integers(0, 60), limit=st.integers(1, 40))
@settings(deadline=None, max_examples=50)
def test_the_history_holds_the_last_failures_in_order(count: int, limit: int):
    breaker = Breaker()
    failures = [failure(float(n)) for n in range(count)]
    for one in failures:
        breaker = failed(breaker, Limits(history=limit), Pass(), one)
    assert breaker.history == tuple(failures[-limit:])


def test_the_history_of_many_failures_is_bounded_by_twenty_by_default():
    assert len(fail(Breaker(), LIMITS, 100).history) == 20


@pytest.mark.parametrize(
    "breaker",
    [
        pytest.param(OPEN, id="when-the-time-of-an-open-breaker-is-over"),
        pytest.param(HALF_OPEN, id="when-half-open-after-a-reset"),
        pytest.param(PROBING, id="when-the-probe-timed-out"),
    ],
)
def test_passing_as_a_probe_is_a_change_of_state(breaker: Breaker):
    # Whoever writes back first has the probe: a passing that left the state equal could be written by two.
    after, leave = admit(breaker, LIMITS, 1e6)
    assert isinstance(leave, Pass)
    assert after != breaker
    assert after.probe == leave.probe > 0


@pytest.mark.parametrize("ok", [True, False], ids=["its-success", "its-failure"])
def test_a_report_of_an_older_probe_does_not_change_the_count_of_a_closed_breaker(ok: bool):
    _, late = admit(HALF_OPEN, LIMITS, 130.0)
    retaken, second = admit(PROBING, LIMITS, 190.0)
    assert isinstance(late, Pass)
    assert isinstance(second, Pass)
    closed = fail(succeeded(retaken, second, 191.0), LIMITS, 2)
    assert closed.consecutive == 2
    after = succeeded(closed, late, 192.0) if ok else failed(closed, LIMITS, late, failure(192.0))
    assert after == closed


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(Pass(), id="of-a-call-from-before-it-ever-opened"),
        pytest.param(Pass(0, 2), id="of-a-call-from-before-it-last-opened"),
        pytest.param(Pass(3, 3), id="of-the-probe-that-closed-it"),
        pytest.param(Pass(2, 2), id="of-a-probe-before-that"),
        pytest.param(Pass(0, 4), id="of-a-call-of-an-era-that-never-was"),
    ],
)
def test_a_closed_breaker_takes_no_report(late: Pass):
    # One failure that counted would open it.
    limits = Limits(failures=CLOSED.consecutive + 1)
    assert succeeded(CLOSED, late, 200.0) == CLOSED
    assert failed(CLOSED, limits, late, failure(200.0)) == CLOSED


def test_a_closed_breaker_takes_the_reports_of_its_own_era():
    own = Pass(0, CLOSED.probes)
    assert succeeded(CLOSED, own, 200.0) == replace(CLOSED, consecutive=0)
    assert failed(CLOSED, LIMITS, own, failure(200.0)) == replace(CLOSED, consecutive=3, history=(failure(200.0),))
    opened = failed(CLOSED, Limits(failures=3), own, failure(200.0))
    assert (opened.state, opened.since) == (State.OPEN, 200.0)


@pytest.mark.parametrize("ok", [True, False], ids=["its-success", "its-failure"])
def test_a_call_from_before_it_opened_changes_nothing_once_it_closed_again(ok: bool):
    _, late = admit(Breaker(), LIMITS, 0.0)
    probing, probe = admit(fail(Breaker(), LIMITS, 5), LIMITS, 30.0)
    assert isinstance(late, Pass)
    assert isinstance(probe, Pass)
    closed = fail(succeeded(probing, probe, 31.0), LIMITS, 4)
    after = succeeded(closed, late, 32.0) if ok else failed(closed, LIMITS, late, failure(32.0))
    assert after == closed


@pytest.mark.parametrize(
    ("breaker", "leave"),
    [
        pytest.param(CLOSED, Pass(0, 3), id="closed"),
        pytest.param(OPEN, Pass(0, 3), id="open"),
        pytest.param(HALF_OPEN, Pass(0, 3), id="half-open"),
        pytest.param(PROBING, Pass(4, 4), id="probe-under-way"),
    ],
)
def test_a_history_of_none_keeps_none(breaker: Breaker, leave: Pass):
    assert failed(breaker, Limits(history=0), leave, failure(200.0)).history == ()


REPORTED = float("-inf")


class Callers(RuleBasedStateMachine):
    """Callers that share one stored breaker by compare-and-set, and report late, twice or never.

    The truth is kept beside it: who is under way, when it opened, how many failures came in a row.
    """

    @initialize(
        failures=st.integers(1, 3),
        reset_after=st.sampled_from([0.0, 5.0, 30.0]),
        probe_timeout=st.sampled_from([4.0, 60.0]),
        history=st.sampled_from([0, 3, 20]),
    )
    def begin(self, failures: int, reset_after: float, probe_timeout: float, history: int):
        self.limits = Limits(failures, reset_after, probe_timeout, history)
        self.stored = Breaker()
        self.now = 0.0
        self.era = 0
        self.calls: list[tuple[Pass, int]] = []
        self.probes: dict[int, float] = {}
        self.row = 0
        self.opened_at = 0.0
        self.by_hand = False
        self.granted = 0.0
        self.failures: list[Failure] = []

    def live(self) -> list[int]:
        return [number for number, since in self.probes.items() if self.now - since < self.limits.probe_timeout]

    def may_probe(self) -> bool:
        if self.stored.state is State.OPEN:
            return 0 < self.limits.reset_after <= self.now - self.opened_at
        return self.stored.state is State.HALF_OPEN and not self.live()

    @rule(seconds=st.sampled_from([1.0, 3.0, 4.0, 5.0, 29.0, 30.0, 60.0]))
    def time_passes(self, seconds: float):
        self.now += seconds

    @rule(callers=st.integers(1, 12))
    def many_ask_at_once(self, callers: int):
        seen, was, may = self.stored, self.stored.state, self.may_probe()
        passed: list[Pass] = []
        for _ in range(callers):
            # All have read the same state. Who finds another one when writing reads again and asks again.
            after, answer = admit(seen, self.limits, self.now)
            if self.stored != seen:
                after, answer = admit(self.stored, self.limits, self.now)
            self.stored = after
            if isinstance(answer, Pass):
                passed.append(answer)
            elif answer.retry_in is not None:
                assert was is State.OPEN
                assert answer.retry_in == self.opened_at + self.limits.reset_after - self.now > 0
        self.calls += [(leave, self.era) for leave in passed]
        if was is State.CLOSED:
            assert passed == [Pass(0, len(self.probes))] * callers
            assert self.stored == seen
            return
        assert len(passed) == (1 if may else 0)
        for leave in passed:
            assert leave == Pass(len(self.probes) + 1, len(self.probes) + 1)
            assert self.by_hand or 0 < self.limits.reset_after <= self.now - self.opened_at
            self.probes[leave.probe] = self.granted = self.now
            assert self.live() == [leave.probe]
            assert self.stored.state is State.HALF_OPEN

    @rule(more=st.sampled_from([-1.0, 0.0, 1.0]), probe=st.booleans())
    def the_time_comes_near(self, more: float, probe: bool):
        since, lasts = self.opened_at, self.limits.reset_after
        if probe and self.probes:
            since, lasts = self.granted, self.limits.probe_timeout
        self.now = max(self.now, since + lasts + more)
        self.many_ask_at_once(2)

    @rule(which=st.integers(0, 1000), ok=st.booleans(), again=st.booleans())
    def one_reports(self, which: int, ok: bool, again: bool):
        if self.calls:
            self.report(*self.calls[which % len(self.calls)], ok, again)

    @rule(ok=st.booleans(), again=st.booleans())
    def the_last_to_pass_reports(self, ok: bool, again: bool):
        if self.calls:
            self.report(*self.calls[-1], ok, again)

    @rule(more=st.integers(0, 2), late=st.integers(0, 2))
    def the_engine_fails_all_who_call(self, more: int, late: int):
        if self.stored.state is State.CLOSED:
            self.many_ask_at_once(self.limits.failures + more + late)
            for leave, era in self.calls[-self.limits.failures - more :]:
                self.report(leave, era, False, False)

    @rule(fails_first=st.integers(0, 2), ok=st.booleans())
    def it_closes_again_and_then_the_late_report(self, fails_first: int, ok: bool):
        if self.stored.state is not State.CLOSED:
            self.now += self.limits.probe_timeout
            self.someone_resets()
            self.many_ask_at_once(2)
            # The probe that closes it will report once more.
            self.report(*self.calls[-1], True, True)
            assert self.stored.state is State.CLOSED
        for _ in range(min(fails_first, self.limits.failures - 1 - self.row)):
            self.many_ask_at_once(1)
            self.report(*self.calls[-1], False, False)
        before = self.stored
        for leave, era in [call for call in self.calls if call[0].probe or call[1] != self.era]:
            self.report(leave, era, ok, False)
        assert self.stored == before

    def report(self, leave: Pass, era: int, ok: bool, again: bool):
        if not again:
            self.calls.remove((leave, era))
        before = self.stored
        own = bool(leave.probe) and leave.probe == max(self.probes) and self.probes[leave.probe] != REPORTED
        if ok:
            self.stored = succeeded(before, leave, self.now)
        else:
            self.stored = failed(before, self.limits, leave, failure(self.now))
        if before.state is State.CLOSED:
            self.closed_reported(before, leave, era, ok)
        elif before.state is State.HALF_OPEN and own:
            self.probe_reported(ok)
        else:
            # It is written down, and that is all.
            assert replace(self.stored, history=()) == replace(before, history=())
            if not ok:
                self.failures.append(failure(self.now))
        if leave.probe:
            self.probes[leave.probe] = REPORTED

    def closed_reported(self, before: Breaker, leave: Pass, era: int, ok: bool):
        if leave.probe or era != self.era:
            # From before it last closed.
            assert self.stored == before
            return
        if ok:
            self.row = 0
        else:
            self.row += 1
            self.failures.append(failure(self.now))
        assert self.stored.state is (State.OPEN if self.row >= self.limits.failures else State.CLOSED)
        if self.stored.state is State.OPEN:
            self.opened_at, self.by_hand = self.now, False

    def probe_reported(self, ok: bool):
        if ok:
            assert self.stored.state is State.CLOSED
            self.row, self.failures, self.era = 0, [], self.era + 1
        else:
            assert self.stored.state is State.OPEN
            self.failures.append(failure(self.now))
            self.opened_at, self.by_hand = self.now, False

    @rule()
    def someone_resets(self):
        before = self.stored
        self.stored = reset(before, self.now)
        if before.state is State.OPEN:
            assert self.stored.state is State.HALF_OPEN
            self.by_hand = True
        else:
            assert self.stored == before

    @invariant()
    def at_most_one_probe_is_live(self):
        assert len(self.live()) <= 1

    @invariant()
    def the_history_is_the_last_failures(self):
        kept = min(len(self.failures), self.limits.history)
        assert self.stored.history == tuple(self.failures[len(self.failures) - kept :])

    @invariant()
    def a_closed_one_has_its_count_below_the_limit(self):
        if self.stored.state is State.CLOSED:
            assert self.stored.consecutive == self.row < self.limits.failures
            assert self.stored.probe == 0

    def teardown(self):
        # Whatever happened: once the engine is well, a person and one probe are enough to close it.
        if not hasattr(self, "stored"):
            return
        self.now += 1000.0
        state, leave = admit(reset(self.stored, self.now), self.limits, self.now)
        assert isinstance(leave, Pass)
        assert succeeded(state, leave, self.now).state is State.CLOSED


Callers.TestCase.settings = settings(
    deadline=None, max_examples=120, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
TestCallers = Callers.TestCase
