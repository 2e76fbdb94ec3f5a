"""Ages, jumps and written times, over values; and the machine's own clocks."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.clock import Jump, Reading, Stamp, SystemClock, age, jump, milliseconds, reading, rfc3339, stamp

seconds = st.integers(0, 10**9).map(float)
stamps = st.builds(Stamp, boot_id=st.sampled_from(["a", "b"]), boot=seconds, wall=seconds)


@dataclass(frozen=True)
class Fixed:
    boot_id: str = "b00t"

    def monotonic(self) -> float:
        return 1.0

    def boot(self) -> float:
        return 2.0

    def wall(self) -> float:
        return 3.0


def test_a_stamp_and_a_reading_take_each_clock_to_its_place():
    assert stamp(Fixed()) == Stamp(boot_id="b00t", boot=2.0, wall=3.0)
    assert reading(Fixed()) == Reading(monotonic=1.0, boot=2.0, wall=3.0)


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        pytest.param(Stamp("a", 10, 500), Stamp("a", 70, 560), 60, id="by-the-boot-clock"),
        pytest.param(Stamp("a", 10, 500), Stamp("a", 70, 9000), 60, id="a-step-forward-within-a-boot-ages-nothing"),
        pytest.param(Stamp("a", 10, 500), Stamp("a", 70, 0), 60, id="a-step-back-within-a-boot-rejuvenates-nothing"),
        pytest.param(Stamp("a", 70, 0), Stamp("a", 10, 900), 0, id="the-future-has-no-age"),
        pytest.param(Stamp("a", 900, 500), Stamp("b", 5, 560), 60, id="over-a-reboot-by-the-wall-clock"),
        pytest.param(
            Stamp("a", 5, 500), Stamp("b", 9, 400), 9, id="over-a-reboot-never-less-than-this-boot-has-lasted"
        ),
        pytest.param(Stamp("a", 5, 500), Stamp("b", 900, 560), 900, id="over-a-reboot-the-longer-of-the-two-counts"),
        pytest.param(
            Stamp("a", 5, 500), Stamp("b", 0, 400), 0, id="over-a-reboot-a-clock-set-back-gives-none-at-first"
        ),
        pytest.param(
            Stamp("a", 5, 500), Stamp("process-1-2", 900, 560), 60, id="without-a-boot-id-by-the-wall-clock-alone"
        ),
        pytest.param(
            Stamp("a", 5, 500), Stamp("process-1-2", 900, 400), 0, id="without-a-boot-id-a-clock-set-back-gives-none"
        ),
        pytest.param(
            Stamp("process-1-2", 10, 500), Stamp("process-1-2", 70, 0), 60, id="one-process-knows-its-own-boot-clock"
        ),
    ],
)
def test_age(then: Stamp, now: Stamp, expected: float):
    assert age(then, now) == expected


def test_a_stamp_without_a_boot_id_is_not_taken_to_be_of_an_earlier_boot():
    assert age(Stamp("process-1-2", 890, 500), Stamp("b", 900, 510)) == 10


@given(then=stamps, now=stamps, step=st.integers(-(10**9), 10**9))
@settings(deadline=None)
def test_an_age_is_never_negative_and_within_a_boot_knows_no_wall_clock(then: Stamp, now: Stamp, step: int):
    assert age(then, now) >= 0
    assert age(then, then) == 0
    if then.boot_id == now.boot_id:
        assert age(then, now) == age(then, Stamp(now.boot_id, now.boot, now.wall + step))
    else:
        assert age(then, now) >= now.boot
        assert age(then, now) in (now.boot, now.wall - then.wall)


def after(monotonic: float, *, slept: float = 0.0, stepped: float = 0.0) -> Reading:
    return Reading(100 + monotonic, 200 + monotonic + slept, 300 + monotonic + slept + stepped)


BEFORE = after(0)


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        pytest.param(after(10), None, id="time-passed-as-it-should"),
        pytest.param(after(3), None, id="an-early-tick-is-no-jump"),
        pytest.param(after(12), None, id="a-delay-of-the-tolerance-is-borne"),
        pytest.param(after(13), Jump("stall", 3), id="argus-itself-stood-still"),
        pytest.param(after(10, slept=2), None, id="sleep-of-the-tolerance-is-borne"),
        pytest.param(after(10, slept=60), Jump("sleep", 60), id="the-machine-slept"),
        pytest.param(after(10, stepped=2), None, id="a-step-of-the-tolerance-is-borne"),
        pytest.param(after(10, stepped=7200), Jump("step", 7200), id="the-wall-clock-was-set-forward"),
        pytest.param(after(10, stepped=-7200), Jump("step", -7200), id="the-wall-clock-was-set-back"),
        pytest.param(after(10, stepped=-2), None, id="a-step-back-of-the-tolerance-is-borne"),
        pytest.param(after(99, slept=60, stepped=60), Jump("sleep", 60), id="sleep-is-named-before-step-and-stall"),
        pytest.param(after(99, stepped=60), Jump("step", 60), id="a-step-is-named-before-a-stall"),
    ],
)
def test_jump(later: Reading, expected: Jump | None):
    assert jump(BEFORE, later, expected=10, tolerance=2) == expected


@given(
    monotonic=st.integers(0, 200),
    slept=st.integers(0, 200),
    stepped=st.integers(-200, 200),
    tolerance=st.integers(0, 100),
)
@settings(deadline=None, max_examples=200)
def test_no_departure_beyond_the_tolerance_goes_unnoticed(monotonic: int, slept: int, stepped: int, tolerance: int):
    wrong = slept > tolerance or abs(stepped) > tolerance or monotonic - 10 > tolerance
    found = jump(BEFORE, after(monotonic, slept=slept, stepped=stepped), expected=10, tolerance=tolerance)
    assert (found is not None) == wrong


@pytest.mark.parametrize(
    ("wall", "count", "text"),
    [
        pytest.param(0.0, 0, "1970-01-01T00:00:00.000Z", id="the-epoch"),
        pytest.param(
            1_700_000_000.0, 1_700_000_000_000, "2023-11-14T22:13:20.000Z", id="whole-seconds-show-milliseconds"
        ),
        pytest.param(1_700_000_000.25, 1_700_000_000_250, "2023-11-14T22:13:20.250Z", id="a-quarter"),
        pytest.param(1_700_000_000.9996, 1_700_000_000_999, "2023-11-14T22:13:20.999Z", id="a-part-is-cut-not-rounded"),
    ],
)
def test_written_times(wall: float, count: int, text: str):
    assert milliseconds(wall) == count
    assert rfc3339(wall) == text


@given(st.integers(0, 4_102_444_800_000 // 125))
@settings(deadline=None)
def test_a_written_time_is_utc_and_reads_back(eighths: int):
    wall = eighths / 8
    text = rfc3339(wall)
    assert text.endswith("Z")
    assert len(text) == 24
    assert datetime.fromisoformat(text) == datetime.fromtimestamp(wall, UTC)
    assert datetime.fromisoformat(text).timestamp() * 1000 == milliseconds(wall)


def test_the_clocks_of_this_machine_do_not_run_back():
    clock = SystemClock()
    first, second = reading(clock), reading(clock)
    assert second.monotonic >= first.monotonic
    assert second.boot >= first.boot
    assert jump(first, second, expected=0, tolerance=60) is None


def test_the_wall_clock_counts_from_the_epoch():
    clock = SystemClock()
    earlier = datetime.now(UTC).timestamp()
    assert earlier - 1 <= clock.wall() <= datetime.now(UTC).timestamp() + 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names its boots")
def test_two_clocks_of_one_boot_know_it():
    first, second = SystemClock(), SystemClock()
    assert first.boot_id == second.boot_id == first.boot_id.strip() != ""
    assert not first.boot_id.startswith("process-")
    assert age(stamp(first), stamp(second)) < 60
    # The boot clock counts through suspend, so it is never behind.
    earlier = first.monotonic()
    assert first.boot() >= earlier
