"""When a limit ends, out of the sentence that says it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from argus.sessions.resets import reset_time

NOW = datetime(2026, 11, 15, 22, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        pytest.param("You've hit your limit · resets 12:01am (UTC)", "2026-11-16T00:01", id="after midnight"),
        pytest.param("You've hit your session limit · resets 11pm (UTC)", "2026-11-15T23:00", id="the same evening"),
        pytest.param("resets 12pm (UTC)", "2026-11-16T12:00", id="noon"),
        pytest.param("resets 1am (Europe/Berlin)", "2026-11-16T00:00", id="in another zone"),
        pytest.param("resets 3am (Nowhere/Atall)", "2026-11-16T03:00", id="a zone that nobody knows is ours"),
        pytest.param("resets Nov 20, 5pm (UTC)", "2026-11-20T17:00", id="on a day"),
        pytest.param("resets Jan 2 at 5:30pm (UTC)", "2027-01-02T17:30", id="next year"),
        pytest.param("try again at Nov 16th, 2026 12:05 AM.", "2026-11-16T00:05", id="as Codex says it"),
        pytest.param("try again in 3 hours 5 minutes.", "2026-11-16T01:06", id="in so many hours"),
        pytest.param("Try again in 2 days 1 hour", "2026-11-17T23:01", id="in so many days"),
        pytest.param("Claude AI usage limit reached|1794790860", "2026-11-16T01:01", id="as older versions say it"),
        pytest.param("Your limit will reset at 3am", "2026-11-16T03:00", id="in a sentence"),
    ],
)
def test_the_end_of_a_limit_is_read(text: str, ends: str) -> None:
    found = reset_time(text, NOW, UTC)
    assert found is not None
    assert datetime.fromtimestamp(found, UTC).isoformat(timespec="minutes").removesuffix("+00:00") == ends


@pytest.mark.parametrize(
    "text",
    ["", "limit", "resets 5", "resets 77pm", "resets 25:99", "resets Foo 3, 5pm", "try again in",
     "resets Feb 31 at 5pm", "Claude AI usage limit reached|9999999999", "resets 13pm"],
)  # fmt: skip
def test_where_no_end_is_said_none_is_read(text: str) -> None:
    assert reset_time(text, NOW, UTC) is None
