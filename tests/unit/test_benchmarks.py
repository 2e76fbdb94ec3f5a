"""The method of `make bench`: whose turn it is, and when a goal is met."""

from __future__ import annotations

import pytest
from benchmarks.arrivals import pace
from benchmarks.measure import interleave
from benchmarks.rows import Goal, Row, table


def test_contenders_take_turns_and_another_one_begins_every_round():
    turns: list[str] = []
    found = interleave({name: lambda name=name: turns.append(name) or len(turns) for name in "abc"}, 3, warm=False)
    assert "".join(turns) == "abc" + "bca" + "cab"
    assert found == {"a": [1, 6, 8], "b": [2, 4, 9], "c": [3, 5, 7]}


def test_the_first_round_warms_up_and_does_not_count():
    turns: list[str] = []
    found = interleave({name: lambda name=name: turns.append(name) or len(turns) for name in "ab"}, 1)
    assert "".join(turns) == "abab"
    assert found == {"a": [3], "b": [4]}


@pytest.mark.parametrize(
    ("argus", "goal", "verdict"),
    [
        pytest.param([20, 20, 20], Goal(2.0, of="floor"), "met", id="at-most-twice-is-met-by-twice"),
        pytest.param([21, 21, 21], Goal(2.0, of="floor"), "MISSED", id="and-missed-by-more"),
        pytest.param([5, 5, 5], Goal(0.5, of="floor", at_least=True), "met", id="at-least-half-is-met-by-half"),
        pytest.param([4, 4, 4], Goal(0.5, of="floor", at_least=True), "MISSED", id="and-missed-by-less"),
        pytest.param([10, 10, 900], Goal(2.0, of="floor"), "met", id="one-bad-round-does-not-count"),
        pytest.param([30, 30, 30], Goal(3.0, of="peer"), "MISSED", id="a-peer-is-compared-with-by-its-name"),
        pytest.param([80, 80, 80], Goal(80.0), "met", id="a-limit-by-itself"),
        pytest.param([81, 81, 81], Goal(80.0), "MISSED", id="and-more-than-it"),
        pytest.param([81, 81, 81], Goal(1.0, of="missing peer"), "not compared", id="a-peer-that-is-not-there"),
        pytest.param([81, 81, 81], None, "-", id="no-goal"),
    ],
)
def test_verdict(argus: list[float], goal: Goal | None, verdict: str):
    row = Row("work", "ms", argus, floor=("floor", [10, 10, 10]), peers={"peer": [5, 5, 5]}, goal=goal)
    assert row.verdict() == verdict


def test_a_ratio_is_taken_within_each_round():
    # In the second round everything was ten times slower; that says nothing about the ratio.
    row = Row("work", "ms", [2, 20, 3], floor=("floor", [1, 10, 1]))
    assert row.ratios() == [2.0, 2.0, 3.0]


def test_the_table_has_a_line_for_every_row():
    row = Row(
        "work", "ms", [2.0, 4.0], floor=("bare", [1.0, 1.0]), peers={"other": [1234.5]}, goal=Goal(2.0, of="bare")
    )
    header, _, line = ([cell.strip() for cell in one.split("|")[1:-1]] for one in table([row]).splitlines())
    assert header == ["work", "floor", "peers", "Argus", "ratio", "goal", "verdict"]
    assert line == ["work, ms", "bare 1", "other 1,234", "3", "3.00 (2.00-4.00)", "<= 2 x bare", "MISSED"]


@pytest.mark.parametrize(
    ("times", "until", "right", "skipped"),
    [
        pytest.param([0, 30, 60, 90], 100, 100.0, 0, id="kept"),
        pytest.param([0, 32, 60, 90], 100, 100 / 3, 0, id="a-late-one-makes-two-distances-wrong"),
        pytest.param([0, 32, 64, 96], 100, 0.0, 0, id="a-drift-makes-all-wrong"),
        pytest.param([0, 30, 90], 100, 50.0, 1, id="one-in-the-middle-was-skipped"),
        pytest.param([0, 30], 100, 100.0, 1, id="one-at-the-end-was-skipped"),
        pytest.param([0, 30, 60], 100, 100.0, 0, id="one-at-the-end-that-is-late-may-still-come"),
        pytest.param([0, 30], 160, 100.0, 3, id="it-stopped"),
    ],
)
def test_a_schedule_as_the_one_that_is_checked_saw_it(times: list[float], until: float, right: float, skipped: int):
    kept = pace({"/a": times}, ["/a"], 30.0, until)
    assert (kept.within(30.0, 1.0), kept.skipped, kept.silent) == (pytest.approx(right), skipped, 0)


def test_a_service_that_never_came_or_only_once_is_silent():
    kept = pace({"/a": [1.0], "/b": [0.0, 30.0]}, ["/a", "/b", "/c"], 30.0, 40.0)
    assert (kept.silent, kept.distances, kept.skipped) == (2, (30.0,), 0)
