"""When a message may go out: tables."""

from datetime import datetime

import pytest
from pydantic import ValidationError

from argus.notify.pace import due, limited_until, quiet_until
from argus.notify.settings import Channel, Notify, QuietHours, RateLimit


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def hours(begin: str, end: str) -> QuietHours:
    return QuietHours.model_validate({"from": begin, "to": end})


@pytest.mark.parametrize(
    ("begin", "end", "now", "until"),
    [
        pytest.param("22:00", "07:00", "2026-11-15T21:59:59", None, id="before"),
        pytest.param("22:00", "07:00", "2026-11-15T22:00:00", "2026-11-16T07:00:00", id="in-the-evening"),
        pytest.param("22:00", "07:00", "2026-11-16T06:59:59", "2026-11-16T07:00:00", id="in-the-morning"),
        pytest.param("22:00", "07:00", "2026-11-16T07:00:00", None, id="at-the-end"),
        pytest.param("12:00", "13:30", "2026-11-16T12:15:00", "2026-11-16T13:30:00", id="at-noon"),
        pytest.param("12:00", "13:30", "2026-11-16T13:30:00", None, id="after-noon"),
        pytest.param("00:00", "06:00", "2026-11-16T00:00:00", "2026-11-16T06:00:00", id="from-midnight"),
        pytest.param("20:00", "00:00", "2026-11-16T23:59:00", "2026-11-17T00:00:00", id="to-midnight"),
    ],
)
def test_quiet_hours(begin: str, end: str, now: str, until: str | None):
    assert quiet_until(hours(begin, end), at(now)) == at(until or now)


@pytest.mark.parametrize(
    ("sent", "until"),
    [
        pytest.param([], 1000.0, id="none-yet"),
        pytest.param([950.0, 960.0], 1000.0, id="fewer-than-the-limit"),
        pytest.param([930.0, 950.0, 960.0], 1000.0, id="the-first-of-them-was-long-ago"),
        pytest.param([945.0, 950.0, 960.0], 1005.0, id="as-many-as-the-limit"),
        pytest.param([2000.0, 2001.0, 2002.0], 1000.0, id="a-clock-that-was-set-back-holds-nothing-up"),
    ],
)
def test_the_rate_limit(sent: list[float], until: float):
    assert limited_until(RateLimit(messages=3, per="1m"), sent, 1000.0) == until


CHANNEL = Channel.model_validate(
    {"url": "json://x", "quietHours": {"from": "22:00", "to": "07:00"}, "digestEvery": "1h"}
)
NOON, NIGHT = at("2026-11-15T12:00:00"), at("2026-11-15T23:30:00")


@pytest.mark.parametrize(
    ("tier", "happened", "now", "expected"),
    [
        pytest.param(1, NIGHT, NIGHT, NIGHT, id="urgent-goes-at-night"),
        pytest.param(2, NIGHT, NIGHT, at("2026-11-16T07:00:00"), id="important-waits-for-the-morning"),
        pytest.param(2, NOON, NOON, NOON, id="important-goes-by-day"),
        pytest.param(3, NOON, NOON, NOON + 3600, id="informative-is-collected"),
        pytest.param(3, NOON, NOON + 600, NOON + 3600, id="from-when-it-happened"),
        pytest.param(3, NOON + 86400, NOON, NOON + 3600, id="or-from-now-when-the-clock-was-set-back"),
        pytest.param(
            3, at("2026-11-15T21:30:00"), at("2026-11-15T21:30:00"), at("2026-11-16T07:00:00"), id="into-the-night"
        ),
    ],
)
def test_when_a_message_may_go(tier: int, happened: float, now: float, expected: float):
    assert due(CHANNEL, tier, happened, now, []) == expected


def test_quiet_hours_of_the_section_hold_for_channels_without_their_own():
    both = Notify.model_validate(
        {
            "quietHours": {"from": "22:00", "to": "07:00"},
            "channels": [{"url": "json://a"}, {"url": "json://b", "quietHours": {"from": "12:00", "to": "13:00"}}],
        }
    )
    assert [one.quiet_hours.begin for one in both.resolved() if one.quiet_hours] == ["22:00", "12:00"]


@pytest.mark.parametrize(
    "said",
    [{"from": "24:00", "to": "07:00"}, {"from": "22", "to": "07:00"}, {"from": "22:00", "to": "22:00"}, {}],
    ids=["no-such-hour", "no-minutes", "no-time-at-all", "nothing"],
)
def test_what_are_no_quiet_hours(said: dict[str, str]):
    with pytest.raises(ValidationError):
        QuietHours.model_validate(said)
