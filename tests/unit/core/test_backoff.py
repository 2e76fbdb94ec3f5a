"""Delays: the rows of the specification, and what holds for every outage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.backoff import HEALTHY_AGAIN, Backoff

CONTAINERS = Backoff(base=2.0, cap=60.0)
LINEAR = Backoff(base=2.0, cap=60.0, growth="linear")
AGENTS = Backoff(base=10.0, cap=300.0, jitter=0.25)

backoffs = st.builds(
    Backoff,
    base=st.floats(0, 1e6),
    cap=st.floats(0, 1e6),
    growth=st.sampled_from(["exponential", "linear"]),
    jitter=st.floats(0, 2),
)
chances = st.floats(0, 1, exclude_max=True)


def test_an_outage_is_over_after_ten_healthy_minutes():
    assert HEALTHY_AGAIN == 600.0


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        pytest.param(CONTAINERS, [2, 4, 8, 16, 32, 60, 60], id="exponential-doubles-up-to-its-cap"),
        pytest.param(LINEAR, [2, 4, 6, 8, 10], id="linear-adds-the-base-each-time"),
        pytest.param(Backoff(25.0, 60.0, "linear"), [25, 50, 60, 60], id="linear-stops-at-its-cap"),
        pytest.param(AGENTS, [10, 20, 40, 80, 160, 300, 300], id="agents-double-up-to-five-minutes"),
        pytest.param(Backoff(90.0, 60.0), [60, 60], id="a-base-above-the-cap-is-the-cap"),
        pytest.param(Backoff(0.0, 60.0), [0, 0, 0], id="a-base-of-zero-never-waits"),
    ],
)
def test_delays(backoff: Backoff, delays: list[float]):
    assert [backoff.delay(attempt) for attempt in range(1, len(delays) + 1)] == delays


def test_linear_and_exponential_are_the_only_growths_and_exponential_is_the_default():
    assert Backoff(1.0, 9.0) == Backoff(1.0, 9.0, "exponential", 0.0)


@pytest.mark.parametrize("attempt", [0, -1, -1000])
def test_an_attempt_before_the_first_waits_like_the_first(attempt: int):
    assert [CONTAINERS.delay(attempt), LINEAR.delay(attempt)] == [2.0, 2.0]


@pytest.mark.parametrize("attempt", [65, 66, 1024, 1025, 10**6])
@pytest.mark.parametrize("backoff", [CONTAINERS, LINEAR], ids=["exponential", "linear"])
def test_an_outage_without_end_stays_at_the_cap(backoff: Backoff, attempt: int):
    assert backoff.delay(attempt) == 60.0


@given(attempt=st.integers(1, 200), chance=chances)
@settings(deadline=None)
def test_without_jitter_chance_plays_no_part(attempt: int, chance: float):
    assert CONTAINERS.delay(attempt, chance=chance) == CONTAINERS.delay(attempt)


@pytest.mark.parametrize(
    ("attempt", "chance", "delay"),
    [
        pytest.param(1, 0.0, 10.0, id="the-smallest-draw-adds-nothing"),
        pytest.param(1, 0.5, 11.25, id="half-a-draw-adds-half-the-jitter"),
        pytest.param(9, 0.8, 360.0, id="jitter-comes-on-top-of-the-cap"),
    ],
)
def test_jitter(attempt: int, chance: float, delay: float):
    assert AGENTS.delay(attempt, chance=chance) == pytest.approx(delay)


@given(attempt=st.integers(1, 200), chance=chances)
@settings(deadline=None)
def test_jitter_never_shortens_and_adds_at_most_a_quarter(attempt: int, chance: float):
    plain = AGENTS.delay(attempt)
    assert plain <= AGENTS.delay(attempt, chance=chance) <= plain * 1.25


@given(backoff=backoffs, draws=st.lists(chances, min_size=1, max_size=80))
@settings(deadline=None, max_examples=150)
def test_inside_one_outage_a_delay_never_shrinks_and_never_passes_its_cap(backoff: Backoff, draws: list[float]):
    previous = 0.0
    for attempt, chance in enumerate(draws, start=1):
        delay = backoff.delay(attempt, previous=previous, chance=chance)
        assert delay >= previous
        assert delay <= backoff.cap * (1 + backoff.jitter)
        previous = delay


def test_the_delay_before_is_a_floor():
    large = AGENTS.delay(6, chance=0.99)
    assert AGENTS.delay(7, previous=large, chance=0.0) == large
    assert AGENTS.delay(2, previous=11.0, chance=0.0) == 20.0


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"base": -1.0, "cap": 60.0}, id="a-negative-base"),
        pytest.param({"base": 1.0, "cap": -1.0}, id="a-negative-cap"),
        pytest.param({"base": 1.0, "cap": 60.0, "jitter": -0.1}, id="a-negative-jitter"),
    ],
)
def test_is_refused(wrong: dict[str, float]):
    with pytest.raises(ValueError):
        Backoff(**wrong)
