"""Since when an agent is in its turn: never later than it began, and unknown rather than guessed."""

from __future__ import annotations

import pytest
from tests.unit.sessions.recorded import NOW

from argus.core.clock import Stamp
from argus.sessions.model import Activity, Source
from argus.sessions.signals import Sign
from argus.sessions.turns import age_of, began

W, IDLE, P = Activity.WORKING, Activity.IDLE, Activity.WAITING_FOR_PERMISSION


def sign(seconds: float, activity: Activity, event: str = "", source: Source = Source.HOOK, **more: object) -> Sign:
    at = Stamp(NOW.boot_id, NOW.boot - seconds, NOW.wall - seconds)
    return Sign(activity, source, at, event=event, **more)  # type: ignore[arg-type]


PROMPT = "UserPromptSubmit"


@pytest.mark.parametrize(
    ("signs", "seconds"),
    [
        pytest.param([sign(60, IDLE), sign(20, W, PROMPT), sign(5, W)], 20.0, id="a-prompt-after-a-rest"),
        pytest.param([sign(60, IDLE), sign(20, W), sign(5, W)], 60.0, id="no-prompt-so-since-it-rested-at-most"),
        pytest.param([sign(20, W, PROMPT)], None, id="nobody-saw-it-rest"),
        pytest.param(
            [sign(60, IDLE), sign(40, W, PROMPT), sign(20, W, PROMPT)], 40.0, id="a-second-prompt-begins-no-turn"
        ),
        pytest.param([sign(60, IDLE), sign(40, W, PROMPT), sign(20, P), sign(5, W)], 40.0, id="a-question-ends-none"),
        pytest.param(
            [sign(40, W, PROMPT), sign(9, IDLE, starts=True), sign(5, W, PROMPT)], None, id="a-start-is-no-rest"
        ),
        pytest.param(
            [sign(60, IDLE), sign(40, W, PROMPT), sign(9, IDLE, source=Source.PANE), sign(5, W)],
            40.0,
            id="a-screen-that-looks-idle-ends-none-where-more-is-told",
        ),
        pytest.param(
            [sign(9, IDLE, source=Source.PANE), sign(7, W, source=Source.PANE)], 9.0, id="of-a-screen-the-last-rest"
        ),
    ],
)
def test_when_it_began(signs: list[Sign], seconds: float | None) -> None:
    assert age_of(began(signs, NOW), NOW) == seconds
