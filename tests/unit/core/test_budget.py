"""The sliding window: tables, and a machine over boots and steps of the wall clock."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from argus.core.budget import Budget
from argus.core.clock import Stamp


def at(seconds: float, *, boot_id: str = "a", wall: float | None = None) -> Stamp:
    return Stamp(boot_id, seconds, 1_000_000.0 + seconds if wall is None else wall)


NOW = at(10_000.0)


def ago(*seconds: float) -> list[Stamp]:
    return [at(NOW.boot - one) for one in seconds]


def test_the_window_is_an_hour():
    assert Budget(2).window == 3600.0


@pytest.mark.parametrize(
    ("most", "acts", "spent", "left"),
    [
        pytest.param(2, ago(), 0, 2, id="nothing-done-leaves-all"),
        pytest.param(2, ago(10), 1, 1, id="one-act-leaves-one"),
        pytest.param(2, ago(10, 20), 2, 0, id="two-acts-spend-it"),
        pytest.param(2, ago(10, 20, 30), 3, 0, id="left-is-never-negative"),
        pytest.param(2, ago(0, 0), 2, 0, id="acts-of-this-moment-count"),
        pytest.param(2, ago(10, 3600), 2, 0, id="an-act-exactly-one-window-old-counts"),
        pytest.param(2, ago(10, 3600.5), 1, 1, id="an-act-older-than-the-window-does-not"),
        pytest.param(2, ago(20, 5000, 10), 2, 0, id="the-order-of-the-record-does-not-matter"),
        pytest.param(0, ago(), 0, 0, id="a-budget-of-none-allows-none"),
        pytest.param(
            1, [at(9990.0, wall=0.0)], 1, 0, id="within-one-boot-a-step-of-the-wall-clock-forward-refills-nothing"
        ),
        pytest.param(1, [at(NOW.boot + 5)], 1, 0, id="an-act-in-the-boot-clocks-future-is-recent"),
    ],
)
def test_what_is_left(most: int, acts: list[Stamp], spent: int, left: int):
    assert Budget(most).spent(iter(acts), NOW) == spent
    assert Budget(most).left(iter(acts), NOW) == left


@pytest.mark.parametrize(
    ("lasted", "wall_ago", "boot_id", "spent"),
    [
        pytest.param(30.0, 60.0, "a", 1, id="counts-by-the-wall-clock"),
        pytest.param(30.0, 3600.0, "a", 1, id="counts-when-exactly-one-window-old"),
        pytest.param(30.0, 3601.0, "a", 0, id="does-not-count-when-older-than-the-window"),
        pytest.param(30.0, -9000.0, "a", 1, id="in-the-wall-clocks-future-is-recent"),
        pytest.param(3600.0, -9000.0, "a", 1, id="counts-while-this-boot-has-not-outlasted-the-window"),
        pytest.param(3601.0, -9000.0, "a", 0, id="does-not-count-once-this-boot-has-outlasted-the-window"),
        pytest.param(3601.0, -9000.0, "process-1-2", 1, id="counts-by-the-wall-clock-alone-where-boots-have-no-id"),
    ],
)
def test_an_act_of_an_earlier_boot(lasted: float, wall_ago: float, boot_id: str, spent: int):
    now = at(lasted, boot_id=boot_id)
    act = at(9999.0, boot_id="z", wall=now.wall - wall_ago)
    assert Budget(1).spent([act], now) == spent
    assert Budget(1).left([act], now) == 1 - spent


@pytest.mark.parametrize(
    ("most", "acts", "room"),
    [
        pytest.param(2, ago(), 0.0, id="room-now-when-nothing-was-done"),
        pytest.param(2, ago(10), 0.0, id="room-now-when-one-is-left"),
        pytest.param(2, ago(10, 600), 3000.001, id="when-the-oldest-that-counts-leaves-the-window"),
        pytest.param(1, ago(10, 600), 3590.001, id="a-lowered-budget-waits-for-as-many-as-are-too-many"),
        pytest.param(2, ago(10, 600, 4000), 3000.001, id="what-is-past-the-window-plays-no-part"),
        pytest.param(1, ago(3600), 0.001, id="a-hair-when-an-act-is-exactly-one-window-old"),
        pytest.param(2, ago(4000, 5000), 0.0, id="room-now-when-all-is-past"),
        pytest.param(0, ago(), None, id="never-with-a-budget-of-none"),
        pytest.param(0, ago(10), None, id="never-with-a-budget-of-none-and-acts"),
    ],
)
def test_when_there_is_room(most: int, acts: list[Stamp], room: float | None):
    got = Budget(most).room_in(iter(acts), NOW)
    assert got == (None if room is None else pytest.approx(room, abs=1e-6))


@given(
    most=st.integers(1, 4),
    ages=st.lists(st.integers(0, 7200), max_size=8),
    window=st.sampled_from([60.0, 600.0, 3600.0]),
)
@settings(deadline=None, max_examples=200)
def test_room_comes_when_it_was_said(most: int, ages: list[int], window: float):
    budget, acts = Budget(most, window), ago(*ages)
    room = budget.room_in(acts, NOW)
    assert room is not None
    assert (room == 0.0) == (budget.left(acts, NOW) > 0)
    assert budget.left(acts, at(NOW.boot + room)) > 0
    if room:
        assert budget.left(acts, at(NOW.boot + room - 0.002)) == 0


class Machine(RuleBasedStateMachine):
    """A machine that acts whenever `left` allows it, is rebooted, and whose wall clock is set by hand.

    Over boots only the wall clock is left, so there it is taken at its word: it may be set back at any time, and
    forward while no act of an earlier boot can count. Within a boot it may go anywhere. What is older than this boot
    is at least as old as this boot.
    """

    @initialize(most=st.integers(0, 3), window=st.sampled_from([60, 3600]))
    def begin(self, most: int, window: int):
        self.budget = Budget(most, float(window))
        self.time = 1_000_000
        self.booted = self.time - 5
        self.boots = 1
        self.error = 0
        self.acts: list[tuple[int, int, int, Stamp]] = []

    def now(self) -> Stamp:
        return Stamp(f"boot-{self.boots}", float(self.time - self.booted), float(self.time + self.error))

    def counting(self) -> list[tuple[int, int, int, Stamp]]:
        return [act for act in self.acts if self.time - act[0] <= self.budget.window]

    def stamps(self) -> list[Stamp]:
        return [act[-1] for act in self.acts]

    @rule(seconds=st.one_of(st.integers(0, 90), st.sampled_from([59, 60, 61, 3599, 3600, 3601])))
    def time_passes(self, seconds: int):
        self.time += seconds

    @rule(wanted=st.sampled_from([1, 2, 5]))
    def acts_as_often_as_allowed(self, wanted: int):
        for _ in range(wanted):
            if self.budget.left(self.stamps(), self.now()) > 0:
                self.acts.append((self.time, self.boots, self.error, self.now()))

    @precondition(lambda self: all(act[1] == self.boots for act in self.counting()))
    @rule(by=st.sampled_from([-(10**9), -7200, -1, 1, 61, 7200, 10**9]))
    def wall_clock_is_set(self, by: int):
        self.error += by

    @rule(by=st.sampled_from([1, 60, 7200, 10**9]))
    def wall_clock_is_set_back(self, by: int):
        self.error -= by

    @rule(down=st.integers(0, 120))
    def reboot(self, down: int):
        self.error = min([self.error, *(act[2] for act in self.counting())])
        self.time += down
        self.boots += 1
        self.booted = self.time

    @invariant()
    def every_sliding_window_holds_at_most_the_budget(self):
        # A window that holds too many can be moved to end at its last act without losing one.
        for moment, *_ in self.acts:
            inside = [act for act in self.acts if moment - self.budget.window <= act[0] <= moment]
            assert len(inside) <= self.budget.most

    @invariant()
    def what_is_spent_is_never_counted_too_low(self):
        assert self.budget.spent(self.stamps(), self.now()) >= len(self.counting())

    @invariant()
    def within_one_boot_the_count_is_exact(self):
        mine = [act for act in self.acts if act[1] == self.boots]
        exact = [act for act in mine if self.time - act[0] <= self.budget.window]
        assert self.budget.spent([act[-1] for act in mine], self.now()) == len(exact)

    @invariant()
    def once_this_boot_has_outlasted_the_window_no_wall_clock_plays_a_part(self):
        if self.time - self.booted > self.budget.window:
            assert self.budget.spent(self.stamps(), self.now()) == len(self.counting())


Machine.TestCase.settings = settings(
    deadline=None, max_examples=120, stateful_step_count=40, suppress_health_check=list(HealthCheck)
)
TestMachine = Machine.TestCase
