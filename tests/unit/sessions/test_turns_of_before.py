"""Turns that an earlier Argus saw: what it put on record counts until something is heard."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from argus.core.clock import stamp
from argus.sessions import told
from argus.sessions.keeper import Sessions
from argus.sessions.settings import Sessions as Settings
from argus.sessions.turns import Turn
from argus.testing import FakeClock


def made() -> tuple[FakeClock, Sessions]:
    clock = FakeClock()
    tools = SimpleNamespace(clock=clock, overhearing=None, turned=lambda kind, conversation: None)
    return clock, Sessions(Settings(), cast(Any, tools))


def turn(said: list[dict[str, Any]], *, was_in_turn: bool) -> Turn | None:
    clock, sessions = made()
    for body in said:
        clock.advance(1.0)
        sign = told.read("claude", {"session_id": "s", **body}, stamp(clock)).sign
        assert sign is not None
        sessions.heard("claude", "/srv/green", sign)
    return sessions.turn_of("claude", "s", was_in_turn=was_in_turn)


@pytest.mark.parametrize(
    ("said", "is_in_turn"),
    [
        pytest.param([], True, id="nothing"),
        pytest.param([{"hook_event_name": "SubagentStop", "agent_id": "a"}], True, id="a-subagent-ended"),
        pytest.param([{"hook_event_name": "PostToolUse", "tool_name": "Bash"}], True, id="a-tool"),
        pytest.param([{"hook_event_name": "Stop"}], False, id="its-end"),
        pytest.param([{"hook_event_name": "SessionEnd"}], False, id="the-end-of-its-conversation"),
    ],
)
def test_the_record_is_believed_until_it_tells_something_itself(said: list[dict[str, Any]], is_in_turn: bool) -> None:
    assert (turn(said, was_in_turn=True) is not None) == is_in_turn


def test_nobody_knows_when_it_began() -> None:
    assert turn([], was_in_turn=True) == Turn(None)


def test_one_that_was_at_rest_is_in_no_turn() -> None:
    assert turn([], was_in_turn=False) is None


def test_one_that_is_silent_for_too_long_is_not_waited_for_any_more() -> None:
    clock, sessions = made()
    clock.advance(sessions.settings.spawns.stalled_after - 1)
    assert sessions.turn_of("claude", "s", was_in_turn=True)
    clock.advance(1)
    assert sessions.turn_of("claude", "s", was_in_turn=True) is None
