"""Durations and sizes as people write them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.units import (
    DURATION_PATTERN,
    POSITIVE_DURATION_PATTERN,
    SIZE_PATTERN,
    duration,
    size,
    spoken,
    written,
)

UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
TEN_YEARS = 3650 * 86400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("500ms", 0.5, id="milliseconds"),
        pytest.param("30s", 30, id="seconds"),
        pytest.param("5m", 300, id="minutes"),
        pytest.param("2h", 7200, id="hours"),
        pytest.param("3d", 259200, id="days"),
        pytest.param("1h30m", 5400, id="two-parts"),
        pytest.param("1d2h3m4s5ms", 93784.005, id="all-parts"),
        pytest.param("1m1ms", 60.001, id="minutes-then-milliseconds"),
        pytest.param("1.5h", 5400, id="a-fraction"),
        pytest.param("0s", 0, id="none"),
        pytest.param("  30s\n", 30, id="blanks-around-it-are-borne"),
        pytest.param("90m", 5400, id="more-than-the-next-unit-holds"),
        pytest.param("3650d", TEN_YEARS, id="ten-years"),
    ],
)
def test_is_a_duration(text: str, seconds: float):
    assert duration(text) == pytest.approx(seconds, abs=1e-9)
    assert re.search(DURATION_PATTERN, text.strip())
    assert bool(re.search(POSITIVE_DURATION_PATTERN, text.strip())) == (seconds > 0)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("   ", id="blanks"),
        pytest.param("30", id="a-number-without-a-unit"),
        pytest.param("s", id="a-unit-without-a-number"),
        pytest.param("30x", id="an-unknown-unit"),
        pytest.param("30S", id="a-capital-unit"),
        pytest.param("30 s", id="a-blank-inside"),
        pytest.param("1h 30m", id="a-blank-between"),
        pytest.param("-5s", id="a-negative-one"),
        pytest.param("+5s", id="a-sign"),
        pytest.param("30m1h", id="small-before-large"),
        pytest.param("1h1h", id="a-unit-twice"),
        pytest.param("1ms1s", id="milliseconds-before-seconds"),
        pytest.param(".5s", id="no-digit-before-the-point"),
        pytest.param("5.s", id="no-digit-after-the-point"),
        pytest.param("1e3s", id="an-exponent"),
        pytest.param("1,5h", id="a-comma"),
        pytest.param("infs", id="infinity"),
        pytest.param("30s;", id="something-behind-it"),
        pytest.param("1_0s", id="an-underscore"),
        pytest.param("٣s", id="a-digit-of-another-script"),
        pytest.param("3651d", id="more-than-ten-years"),
        pytest.param("3650d1ms", id="a-little-more-than-ten-years"),
        pytest.param("9" * 400 + "s", id="more-than-a-float-holds"),
    ],
)
def test_is_no_duration(text: str):
    with pytest.raises(ValueError):
        duration(text)


@given(
    st.dictionaries(st.sampled_from(list(UNITS)), st.integers(0, 300), min_size=1), st.randoms(use_true_random=False)
)
@settings(deadline=None)
def test_parts_add_up_from_large_to_small_and_in_no_other_order(parts: dict[str, int], chance):
    ordered = [unit for unit in UNITS if unit in parts]
    text = "".join(f"{parts[unit]}{unit}" for unit in ordered)
    assert duration(text) == pytest.approx(sum(parts[unit] * UNITS[unit] for unit in ordered))
    assert re.search(DURATION_PATTERN, text)
    assert bool(re.search(POSITIVE_DURATION_PATTERN, text)) == any(parts.values())
    shuffled = list(ordered)
    chance.shuffle(shuffled)
    if shuffled != ordered:
        disordered = "".join(f"{parts[unit]}{unit}" for unit in shuffled)
        assert not re.search(DURATION_PATTERN, disordered)
        with pytest.raises(ValueError):
            duration(disordered)


@given(st.text("0123456789.smhd -+e", max_size=12) | st.from_regex(DURATION_PATTERN))
@settings(deadline=None, max_examples=200)
def test_what_is_read_as_a_duration_is_bounded_and_fits_the_schema(text: str):
    try:
        seconds = duration(text)
    except ValueError:
        return
    assert 0 <= seconds <= TEN_YEARS
    assert re.search(DURATION_PATTERN, text.strip())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("0", 0, id="none"),
        pytest.param("512", 512, id="bytes-without-a-unit"),
        pytest.param("512B", 512, id="bytes"),
        pytest.param("1k", 1024, id="kilo"),
        pytest.param("1KB", 1024, id="capitals"),
        pytest.param("1KiB", 1024, id="the-binary-spelling-means-the-same"),
        pytest.param("512MB", 512 * 1024**2, id="mega"),
        pytest.param("2GB", 2 * 1024**3, id="giga"),
        pytest.param("2gb", 2 * 1024**3, id="small-letters"),
        pytest.param("1T", 1024**4, id="tera"),
        pytest.param("1.5k", 1536, id="a-fraction"),
        pytest.param("0.3k", 307, id="a-part-of-a-byte-is-cut"),
        pytest.param("2 GB", 2 * 1024**3, id="a-blank-before-the-unit"),
        pytest.param(" 2GB\n", 2 * 1024**3, id="blanks-around-it-are-borne"),
    ],
)
def test_is_a_size(text: str, count: int):
    assert size(text) == count
    assert re.search(SIZE_PATTERN, text.strip())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("GB", id="a-unit-without-a-number"),
        pytest.param("2XB", id="an-unknown-unit"),
        pytest.param("2PB", id="a-unit-beyond-tera"),
        pytest.param("-2GB", id="a-negative-one"),
        pytest.param("2GBs", id="something-behind-it"),
        pytest.param("1G1M", id="two-parts"),
        pytest.param("2,5GB", id="a-comma"),
        pytest.param("1e3", id="an-exponent"),
        pytest.param(".5G", id="no-digit-before-the-point"),
        pytest.param("inf", id="infinity"),
        pytest.param("٣GB", id="a-digit-of-another-script"),
        pytest.param(
            "9" * 400,
            id="more-than-a-float-holds",
        ),
    ],
)
def test_is_no_size(text: str):
    with pytest.raises(ValueError):
        size(text)


@given(st.integers(0, 2**40), st.sampled_from(["", "k", "m", "g", "t"]), st.sampled_from(["", "b", "B", "ib", "iB"]))
@settings(deadline=None)
def test_each_unit_is_1024_of_the_one_before(count: int, unit: str, tail: str):
    text = f"{count}{unit}{tail}"
    assert size(text) == size(text.upper()) == count * 1024 ** ["", "k", "m", "g", "t"].index(unit)
    assert re.search(SIZE_PATTERN, text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(-5, "0s", id="never-negative"),
        pytest.param(0, "0s", id="none"),
        pytest.param(0.9, "0s", id="less-than-a-second"),
        pytest.param(59.9, "59s", id="nearly-a-minute"),
        pytest.param(60, "1m", id="a-minute"),
        pytest.param(3599, "59m", id="nearly-an-hour"),
        pytest.param(3600, "1h", id="an-hour"),
        pytest.param(3900, "1h5m", id="hours-and-minutes"),
        pytest.param(48 * 3600 - 1, "47h59m", id="nearly-two-days"),
        pytest.param(48 * 3600, "2d", id="two-days"),
        pytest.param(3.9 * 86400, "3d", id="days-alone"),
    ],
)
def test_spoken(seconds: float, text: str):
    assert spoken(seconds) == text


@given(st.floats(0, TEN_YEARS))
@settings(deadline=None)
def test_what_is_spoken_is_short_and_never_says_too_much(seconds: float):
    text = spoken(seconds)
    assert len(text) <= 6
    assert duration(text) <= seconds
    assert seconds - duration(text) < (1 if seconds < 60 else 60 if seconds < 48 * 3600 else 86400)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(0, "0s", id="none"),
        pytest.param(0.0004, "0s", id="less-than-can-be-written"),
        pytest.param(0.5, "500ms", id="milliseconds"),
        pytest.param(5400, "1h30m", id="parts-of-none-are-left-out"),
        pytest.param(86400, "1d", id="a-day"),
        pytest.param(93784.005, "1d2h3m4s5ms", id="all-parts"),
    ],
)
def test_written(seconds: float, text: str):
    assert written(seconds) == text


@given(st.integers(0, TEN_YEARS * 1000))
@settings(deadline=None)
def test_what_is_written_reads_back_to_the_millisecond(milliseconds: int):
    assert round(duration(written(milliseconds / 1000)) * 1000) == milliseconds
