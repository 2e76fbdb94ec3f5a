"""Maintenance windows: cron and duration, in local time."""

import time
from datetime import datetime

import pytest
from pydantic import ValidationError

from argus.services import windows
from argus.services.windows import Window


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("cron", "duration", "now", "until"),
    [
        pytest.param("0 3 * * *", "1h", "2026-11-15T02:59:59", None, id="before-it-opens"),
        pytest.param("0 3 * * *", "1h", "2026-11-15T03:00:00", "2026-11-15T04:00:00", id="when-it-opens"),
        pytest.param("0 3 * * *", "1h", "2026-11-15T03:59:59", "2026-11-15T04:00:00", id="until-just-before-its-end"),
        pytest.param("0 3 * * *", "1h", "2026-11-15T04:00:00", None, id="not-at-its-end"),
        pytest.param("0 23 * * *", "3h", "2026-11-16T01:30:00", "2026-11-16T02:00:00", id="over-midnight"),
        pytest.param("0 3 * * SUN", "1h", "2026-11-15T03:30:00", "2026-11-15T04:00:00", id="on-its-weekday"),
        pytest.param("0 3 * * SUN", "1h", "2026-11-16T03:30:00", None, id="not-on-another"),
        pytest.param("*/10 * * * *", "15m", "2026-11-15T03:19:00", "2026-11-15T03:25:00", id="windows-that-overlap"),
    ],
)
def test_until(cron: str, duration: str, now: str, until: str | None):
    found = windows.until([Window(cron=cron, duration=duration)], at(now))
    assert found == (at(until) if until else None)


def test_of_two_windows_the_later_end_counts():
    both = [Window(cron="0 3 * * *", duration="1h"), Window(cron="30 3 * * *", duration="2h")]
    assert windows.until(both, at("2026-11-15T03:45:00")) == at("2026-11-15T05:30:00")


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_the_length_is_real_time_also_when_the_clocks_change(zone: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        night = [Window(cron="0 1 * * *", duration="4h")]
        for change in ("2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01"):
            opened = at(f"{change}T01:00:00")
            assert windows.until(night, opened + 60) == opened + 4 * 3600
            assert windows.until(night, opened + 4 * 3600 + 1) is None
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("cron", ["", "x", "* * * *", "61 * * * *", "@daily", "0 0 30 2 *"])
def test_what_is_no_cron_expression_is_said_so(cron: str):
    with pytest.raises(ValidationError, match="not a cron expression"):
        Window(cron=cron, duration="1h")
