"""What is quoted as the cause of what is down."""

from __future__ import annotations

import pytest

from argus.graph_room import why
from argus.services.model import Health, Observation, Outage, Seen, Status


@pytest.mark.parametrize(
    ("status", "detail", "said"),
    [
        (Status.DOWN, "HTTP 503", "HTTP 503"),
        (Status.UNKNOWN, "no such program", "no such program"),
        (Status.UP, "HTTP 200", "connection refused"),
        (Status.DEGRADED, "HTTP 200 in 9 s", "connection refused"),
    ],
)
def test_a_good_reading_within_an_outage_is_no_cause(status: Status, detail: str, said: str):
    last = Observation(Seen(status, detail=detail), 1.0, 1.0)
    assert why(Health(last=last), Outage("i1", 0.0, cause="connection refused")) == said


def test_before_anything_was_read_the_outage_says_it():
    assert why(Health(), Outage("i1", 0.0, cause="connection refused")) == "connection refused"
