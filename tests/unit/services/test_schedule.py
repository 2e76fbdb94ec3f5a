"""When services are due, by values alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.services.schedule import Schedule

NOW = 1000.0


def times(schedule: Schedule, until: float) -> list[tuple[float, str]]:
    """Every moment at which something is due, with what is due, to a moment."""
    found = []
    while (at := schedule.next()) is not None and at <= until:
        found += [(at, name) for name in schedule.due(at)]
    return found


def test_nothing_watched_is_never_due():
    schedule = Schedule({}, NOW)
    assert schedule.next() is None
    assert schedule.due(NOW + 1e9) == []


@pytest.mark.req("INFRA-01.2")
def test_a_few_services_come_up_within_the_first_second_and_not_at_once():
    schedule = Schedule(dict.fromkeys("abcd", 60.0), NOW)
    assert times(schedule, NOW + 59) == [(NOW, "a"), (NOW + 0.25, "b"), (NOW + 0.5, "c"), (NOW + 0.75, "d")]


def test_many_services_come_up_at_a_bounded_rate():
    schedule = Schedule({f"s{place}": 60.0 for place in range(1000)}, NOW)
    first = [at for at, _ in times(schedule, NOW + 59.9)]
    assert len(first) == 1000
    assert max(first) <= NOW + 20
    assert max(sum(1 for at in first if begin <= at < begin + 1) for begin in range(1000, 1020)) <= 51


def test_the_first_check_comes_within_the_interval_even_when_many_are_waiting():
    intervals = {f"s{place}": 60.0 for place in range(1000)} | {"quick": 2.0}
    schedule = Schedule(intervals, NOW)
    assert min(at for at, name in times(schedule, NOW + 60) if name == "quick") <= NOW + 2.0


@pytest.mark.req("INFRA-01.2")
def test_each_is_due_by_its_own_interval():
    schedule = Schedule({"quick": 10.0, "slow": 60.0}, NOW)
    due = [name for _, name in times(schedule, NOW + 121)]
    assert due.count("quick") == 13
    assert due.count("slow") == 3


def test_a_late_look_does_not_move_the_times_after_it():
    schedule = Schedule({"a": 10.0}, NOW)
    for late in range(100):
        at = schedule.next()
        assert at == NOW + 10.0 * late
        assert schedule.due(at + 3.0) == ["a"]


@pytest.mark.parametrize(
    ("looked_at", "following"),
    [
        pytest.param(NOW + 9.9, NOW + 10, id="nothing-was-missed"),
        pytest.param(NOW + 25, NOW + 30, id="two-were-missed-and-are-not-made-up-for"),
        pytest.param(NOW + 100_003, NOW + 100_010, id="a-night-was-missed-and-is-not-made-up-for"),
    ],
)
def test_missed_times_are_not_made_up_for(looked_at: float, following: float):
    schedule = Schedule({"a": 10.0}, NOW)
    assert schedule.due(looked_at) == ["a"]
    assert schedule.next() == following
    assert schedule.due(looked_at) == []


def test_soon_brings_up_everything_named_at_once_and_only_once():
    schedule = Schedule(dict.fromkeys("abc", 3600.0), NOW)
    times(schedule, NOW + 10)
    schedule.soon("abc", NOW + 100)
    assert sorted(name for _, name in times(schedule, NOW + 102)) == ["a", "b", "c"]
    assert schedule.due(NOW + 3599) == []


def test_soon_replaces_the_time_that_was_set_and_does_not_add_one():
    schedule = Schedule({"a": 10.0}, NOW)
    schedule.due(NOW)
    schedule.soon(["a"], NOW + 9)
    assert schedule.due(NOW + 9.5) == ["a"]
    assert schedule.due(NOW + 10.5) == []
    assert schedule.next() == NOW + 19


def test_soon_moves_only_what_it_names():
    schedule = Schedule({"a": 100.0, "b": 100.0}, NOW)
    times(schedule, NOW + 1)
    schedule.soon(["a"], NOW + 50)
    assert schedule.due(NOW + 51) == ["a"]


def test_soon_twice_at_one_moment_is_soon_once():
    schedule = Schedule({"a": 10.0}, NOW)
    schedule.soon(["a"], NOW + 5)
    schedule.soon(["a"], NOW + 5)
    assert schedule.due(NOW + 6) == ["a"]
    assert schedule.due(NOW + 6) == []


# Quarters of a second have no rounding: what is asserted here is the logic.
quarters = st.integers(1, 400).map(lambda count: count / 4)
steps = st.lists(st.tuples(st.integers(0, 2000).map(lambda count: count / 4), st.booleans()), max_size=30)


@given(st.dictionaries(st.sampled_from("abcdef"), quarters, max_size=6), steps)
def test_nothing_is_ever_due_twice_at_once_and_nothing_is_forgotten(
    intervals: dict[str, float], moves: list[tuple[float, bool]]
):
    schedule, now = Schedule(intervals, 0.0), 0.0
    for passed, jumped in moves:
        now += passed
        if jumped:
            schedule.soon(intervals, now)
        due = schedule.due(now)
        assert len(due) == len(set(due))
        assert schedule.due(now) == []
        following = schedule.next()
        assert (following is None) == (not intervals)
        if following is not None:
            assert now < following <= now + max(intervals.values())
    last = schedule.due(now + 100.0)
    assert sorted(last) == sorted(intervals)


def test_a_look_exactly_at_a_due_time_finds_it_once_however_floats_round():
    schedule, now = Schedule({"a": 5.0}, 1000.1), 1000.1
    for _ in range(20):
        now += 5.0
    assert schedule.due(now) == ["a"]
