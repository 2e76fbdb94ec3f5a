"""What is told of an environment's circuit breaker between two looks at it."""

import pytest

from argus.core.breaker import Breaker, Failure, State
from argus.environments.circuits import events

OPEN = Breaker(State.OPEN, 5, 1.0, history=(Failure(1.0, "DOCKER_UNAVAILABLE", "it is away"),))
AGAIN = Breaker(State.OPEN, 6, 9.0, probes=1, history=OPEN.history)
HALF, CLOSED = Breaker(State.HALF_OPEN, 5, 2.0), Breaker(since=3.0)


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        pytest.param(CLOSED, OPEN, ["open"], id="opened"),
        pytest.param(OPEN, HALF, ["half_open"], id="lets-one-through"),
        pytest.param(HALF, CLOSED, ["closed"], id="closed"),
        pytest.param(HALF, AGAIN, ["open"], id="opened-again"),
        pytest.param(OPEN, CLOSED, ["half_open", "closed"], id="closed-while-nobody-looked"),
        pytest.param(OPEN, AGAIN, ["half_open", "open"], id="tried-while-nobody-looked"),
        pytest.param(CLOSED, HALF, ["open", "half_open"], id="opened-and-reset-while-nobody-looked"),
        pytest.param(CLOSED, Breaker(consecutive=1), [], id="one-failure-is-no-change"),
        pytest.param(OPEN, OPEN, [], id="nothing"),
    ],
)
def test_every_state_that_it_passed_is_told(before: Breaker, now: Breaker, told: list[str]):
    drafts = events("docker:shop", before, now)
    assert [one.type for one in drafts] == [f"circuit_{one}" for one in told]
    assert {one.channel for one in drafts} <= {"resilience"}


def test_an_opening_says_how_often_it_failed_and_how():
    (draft,) = events("docker:shop", CLOSED, OPEN)
    assert (draft.subject, draft.data["failureCount"], draft.data["lastError"]) == ("shop", 5, "it is away")
