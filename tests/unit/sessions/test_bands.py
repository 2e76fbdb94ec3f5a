"""What may be begun in a context that is so full, and when it will have to be handed on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.sessions.bands import Band, admission, band
from argus.sessions.growth import WINDOW, Growth

ALL, SMALLER, TINY, NONE = {"tiny", "small", "large"}, {"tiny", "small"}, {"tiny"}, set()


@pytest.mark.req("PS-06")
@pytest.mark.parametrize(
    ("share", "expected", "accepted"),
    [
        pytest.param(0.0, Band.FREE, ALL, id="empty-takes-any-task"),
        pytest.param(0.30, Band.FREE, ALL, id="a-boundary-belongs-to-the-lower-band"),
        pytest.param(0.3001, Band.CONSIDER, ALL, id="above-30-any-task-still"),
        pytest.param(0.50, Band.CONSIDER, ALL, id="at-50-any-task-still"),
        pytest.param(0.51, Band.SMALL, SMALLER, id="above-50-no-large-one"),
        pytest.param(0.70, Band.SMALL, SMALLER, id="at-70-small-ones-still"),
        pytest.param(0.71, Band.TINY, TINY, id="above-70-only-tiny-ones"),
        pytest.param(0.85, Band.TINY, TINY, id="at-85-nothing-is-mandatory-yet"),
        pytest.param(0.8501, Band.FULL, NONE, id="above-85-no-new-work"),
        pytest.param(1.2, Band.FULL, NONE, id="more-than-full-is-full"),
        pytest.param(None, Band.UNKNOWN, ALL, id="what-is-not-known-refuses-nothing"),
    ],
)
def test_bands(share: float | None, expected: Band, accepted: set[str]):
    assert band(share) is expected
    found = {size for size in ("tiny", "small", "large") if admission(size, share).accept}
    assert found == accepted


def test_nothing_is_begun_while_it_is_handed_on():
    assert not admission("tiny", 0.1, is_handing_off=True).accept


def grown(*readings: tuple[float, int]) -> Growth:
    growth = Growth()
    for boot, used in readings:
        growth = growth.seen(boot, used)
    return growth


def test_growth_foretells_when_the_limit_comes():
    growth = grown((0, 10_000), (60, 16_000), (120, 22_000))
    assert growth.rate == 100
    assert growth.until(172_000, now=120) == 1500
    assert growth.until(172_000, now=220) == 1400, "time goes by also without a reading"
    assert growth.until(20_000, now=120) == 0


@pytest.mark.parametrize(
    "readings",
    [
        pytest.param([], id="nothing-was-read"),
        pytest.param([(0, 10)], id="one-reading-is-no-growth"),
        pytest.param([(0, 10), (5, 5_000)], id="a-few-seconds-say-nothing"),
        pytest.param([(0, 10), (100, 10)], id="it-stands-still"),
        pytest.param([(0, 100_000), (100, 150_000), (200, 5_000)], id="it-was-cleared"),
    ],
)
def test_nothing_is_foretold_when(readings: list[tuple[float, int]]):
    assert grown(*readings).until(172_000, now=200) is None


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 200_000)), max_size=400))
def test_growth_is_bounded_and_never_negative(readings: list[tuple[float, int]]):
    growth = grown(*readings)
    assert len(growth.samples) <= 240
    assert all(growth.samples[-1].boot - one.boot <= WINDOW for one in growth.samples)
    left = growth.until(170_000, now=2e6)
    assert left is None or left >= 0
