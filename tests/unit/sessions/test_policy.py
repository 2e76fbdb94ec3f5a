"""What is done for a session just now: handed on, told to go on after a limit, or asked for its context."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus.core.autonomy import Level
from argus.core.clock import Stamp
from argus.sessions.model import Activity, ContextReading, Source, Standing
from argus.sessions.policy import Action, AskContext, Circumstances, GoOn, HandOff, HeldBack, Why, decide
from argus.sessions.session import Place, Session

NOW = Stamp("boot", 100_000.0, 500_000.0)
IDLE, WORKING, LIMITED = Activity.IDLE, Activity.WORKING, Activity.RATE_LIMITED
AROUND = Circumstances(NOW, Level.MODERATE)
ASK = AskContext()


def ago(seconds: float) -> Stamp:
    return Stamp("boot", NOW.boot - seconds, NOW.wall - seconds)


def session(share: float | None = None, *, taken: float = 0.0, **more: object) -> Session:
    context = None
    if share is not None:
        context = ContextReading(int(share * 1000), 1000, Source.TRANSCRIPT, ago(taken), "one")
    made = Session(Place("shop", session="shop-ps"), ago(9000), ago(10), context=context)
    return replace(made, **more)  # type: ignore[arg-type]


def standing(state: Activity = IDLE, **more: object) -> Standing:
    return replace(Standing(state, ""), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "stands", "more", "expected"),
    [
        (session(0.86), standing(WORKING), {}, HandOff(Why.FULL)),
        (session(0.85), standing(WORKING), {}, None),
        (session(0.75), standing(), {"until_full": 600.0}, HandOff(Why.QUIET)),
        (session(0.75), standing(WORKING), {"until_full": 600.0}, None),
        (session(0.75), standing(), {"until_full": 6000.0}, None),
        (session(0.86), standing(), {"autonomy": Level.CAUTIOUS}, HeldBack("autonomy")),
        (session(0.86), standing(), {"enabled": False}, HeldBack("disabled")),
        (session(0.86), standing(), {"others_began": 5.0}, None),
        (session(0.86), standing(Activity.DEAD), {}, None),
        (session(0.86, taken=1300.0), standing(), {}, None),
    ],
)
def test_handing_on(one: Session, stands: Standing, more: dict[str, object], expected: Action) -> None:
    assert decide(one, stands, replace(AROUND, **more)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "stands", "more", "expected"),
    [
        (session(), standing(LIMITED, resets_at=NOW.wall - 1), {}, GoOn(NOW.wall - 1)),
        (session(), standing(LIMITED, resets_at=NOW.wall + 1), {}, None),
        (session(resumed=NOW.wall - 1), standing(LIMITED, resets_at=NOW.wall - 1), {}, None),
        (session(), standing(LIMITED, resets_at=NOW.wall - 1), {"others_went_on": 3.0}, None),
        (session(), standing(LIMITED, age=3599.0), {}, None),
        (session(), standing(LIMITED, age=3601.0), {}, GoOn(NOW.wall - 1)),
        (session(resumed=NOW.wall - 1), standing(LIMITED, age=3601.0), {}, None),
    ],
)
def test_going_on_after_a_limit_also_one_that_does_not_say_when_it_ends(
    one: Session, stands: Standing, more: dict[str, object], expected: Action
) -> None:
    assert decide(one, stands, replace(AROUND, **more)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "stands", "untold", "expected"),
    [
        (session(), standing(), 601.0, ASK),
        (session(), standing(), 599.0, None),
        (session(0.3, taken=601.0), standing(), 601.0, ASK),
        (session(0.3, taken=9000.0), standing(), 8.0, None),
        (session(0.3, taken=8.0), standing(), 601.0, None),
        (session(0.3, taken=601.0), standing(WORKING), 601.0, None),
        (session(asked=ago(100)), standing(), 900.0, None),
    ],
)
def test_a_question_is_typed_only_where_nothing_could_be_read_for_ten_minutes(
    one: Session, stands: Standing, untold: float, expected: Action
) -> None:
    assert decide(one, stands, replace(AROUND, untold=untold)) == expected
