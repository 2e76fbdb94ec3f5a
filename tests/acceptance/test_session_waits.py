"""What a session waits for, on the real Claude Code: a person's leave, and the end of a limit."""

from __future__ import annotations

import time

import pytest

from argus.core.clock import rfc3339
from tests.acceptance.harness import eventually
from tests.acceptance.model_service import Refusal
from tests.acceptance.test_agent_programs import bench
from tests.acceptance.test_sessions import Desk, desk

__all__ = ["bench", "desk"]
DIALOG = "Do you want to proceed?"
GO_ON = "The usage limit is over. Continue with what you were doing."


@pytest.mark.parametrize("by", ["hooks", "screen"])
def test_a_session_that_asks_for_leave_needs_you_until_it_has_its_answer(desk: Desk, by: str) -> None:
    desk.up()
    if by == "hooks":
        assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.model.command = "curl --version > asked.txt"
    desk.say("begin the work")
    desk.shows(DIALOG)
    assert "curl" in desk.becomes(state="waiting_for_permission")["question"]
    assert desk.argus.get("/api/sessions")["needs_you"] == ["shop"]

    def refused() -> bool:
        if DIALOG in desk.screen():  # it takes no keys in its first moments
            desk.tmux("send-keys", "-t", "=shop-ps:", "Escape")
        return DIALOG not in desk.screen()

    eventually(refused, "the dialog is closed")
    desk.becomes(state="idle")
    assert desk.argus.get("/api/sessions")["needs_you"] == []


@pytest.mark.parametrize("by", ["hooks", "transcripts"])
def test_a_session_at_its_limit_goes_on_once_when_that_is_over(desk: Desk, by: str) -> None:
    desk.up()
    if by == "hooks":
        assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    ends = int(time.time()) + 8
    error = {"type": "rate_limit_error", "message": f"usage limit reached|{ends}"}
    desk.model.limit = Refusal(429, {"type": "error", "error": error}, (("x-should-retry", "false"),))
    desk.enter("begin the work")
    assert desk.becomes(state="rate_limited")["resets_at"] == rfc3339(ends)
    assert desk.model.typed() == []
    desk.model.limit = None
    eventually(lambda: GO_ON in desk.model.typed(), "it is told to go on")
    assert time.time() >= ends
    desk.becomes(state="idle")
    assert desk.model.typed() == ["begin the work", GO_ON]
