"""What the hooks of the real programs posted, and what is read out of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.sessions.recorded import NOW, at, hook, rows

from argus.core.redact import Redactor
from argus.sessions import claude, codex
from argus.sessions.model import Activity, Source
from argus.sessions.signals import Sign, words


def told(event: str, **where: Any) -> Sign:
    sign = claude.hook(hook(event, **where), NOW)
    assert sign is not None
    assert (sign.source, sign.at, sign.event) == (Source.HOOK, NOW, event)
    return sign


@pytest.mark.parametrize(
    ("event", "where", "activity"),
    [
        pytest.param("SessionStart", {"source": "startup"}, Activity.IDLE, id="one that starts waits for a prompt"),
        pytest.param("UserPromptSubmit", {}, Activity.WORKING, id="a prompt begins a turn"),
        pytest.param("PreToolUse", {"tool_name": "Bash"}, Activity.WORKING, id="a tool is used"),
        pytest.param("PostToolUse", {"tool_name": "Bash"}, Activity.WORKING, id="a tool was used"),
        pytest.param("PostToolUseFailure", {}, Activity.WORKING, id="a tool that failed ends too"),
        pytest.param(
            "PermissionRequest", {"tool_name": "Bash"}, Activity.WAITING_FOR_PERMISSION, id="it asks for leave"
        ),
        pytest.param(
            "PermissionRequest", {"tool_name": "AskUserQuestion"}, Activity.WAITING_FOR_INPUT, id="it asks a question"
        ),
        pytest.param(
            "Notification", {"notification_type": "permission_prompt"}, Activity.WAITING_FOR_PERMISSION, id="it reminds"
        ),
        pytest.param("Notification", {"notification_type": "idle_prompt"}, Activity.IDLE, id="nothing is asked of it"),
        pytest.param("Stop", {}, Activity.IDLE, id="a turn is over"),
        pytest.param("StopFailure", {}, Activity.RATE_LIMITED, id="a limit ended the turn"),
        pytest.param("PreCompact", {"trigger": "manual"}, Activity.WORKING, id="it compacts"),
        pytest.param("PostCompact", {"trigger": "manual"}, Activity.IDLE, id="by hand, no turn goes on after it"),
        pytest.param("SessionStart", {"source": "compact"}, None, id="a compaction tells nothing of the turn"),
        pytest.param("SessionEnd", {"reason": "clear"}, None, id="the end of a conversation is no activity"),
    ],
)
def test_a_recorded_hook_tells_what_the_agent_does(
    event: str, where: dict[str, Any], activity: Activity | None
) -> None:
    assert told(event, **where).activity is activity


def test_every_recorded_hook_is_understood() -> None:
    assert all(claude.hook(body, NOW) for body in rows("claude_hooks"))
    assert all(codex.hook(body, NOW) for body in [*rows("codex_hooks"), *rows("codex_notified")])


def test_a_tool_is_told_by_its_name_and_its_use() -> None:
    begun, ended = told("PreToolUse", tool_name="Bash"), told("PostToolUse", tool_name="Bash")
    assert begun.tool == ended.tool == "Bash"
    assert begun.call == ended.call != ""
    assert (begun.ended, ended.ended) == (False, True)


def test_what_is_asked_comes_with_it() -> None:
    assert told("PermissionRequest", tool_name="Bash").question == "Bash: touch made-it"
    assert told("PermissionRequest", tool_name="AskUserQuestion").question == "Which colour?"


def test_a_limit_comes_with_its_end() -> None:
    body = hook("StopFailure", last_assistant_message="You've hit your limit · resets 12:01am (UTC)")
    sign = claude.hook(body, at(1_794_780_116.0))
    assert sign is not None
    assert sign.resets_at == 1_794_787_260.0


def test_what_a_subagent_does_is_told_apart() -> None:
    subagent = told("SubagentStart").subagent
    assert subagent
    assert told("PreToolUse", agent_id=subagent).subagent == subagent
    assert told("SubagentStop", agent_id=subagent).ends
    assert told("PreToolUse", tool_name="Agent").subagent == ""


def test_the_subagents_that_run_on_are_told_at_the_end_of_a_turn() -> None:
    tasks = [{"id": "a1", "type": "subagent", "status": "running"}, {"id": "b1", "type": "shell", "status": "running"}]
    sign = claude.hook({**hook("Stop"), "background_tasks": tasks}, NOW)
    assert sign is not None
    assert sign.subagents == ("a1",)
    assert told("Stop").subagents == ()


def test_a_cleared_conversation_starts_over() -> None:
    sign = told("SessionStart", source="clear")
    assert (sign.starts, sign.clears, sign.compacts) == (True, True, False)
    assert sign.session != told("SessionEnd", reason="clear").session


def test_a_turn_that_ends_with_a_question_keeps_it() -> None:
    asks = claude.hook({**hook("Stop"), "last_assistant_message": "I found two.\nWhich one do you mean?"}, NOW)
    assert asks is not None
    assert (asks.activity, asks.question) == (Activity.IDLE, "Which one do you mean?")
    assert told("Stop").question == ""


def test_codex_says_by_its_program_that_a_turn_is_over() -> None:
    body = rows("codex_notified")[0]
    sign = codex.hook(body, NOW)
    assert sign is not None
    assert (sign.activity, sign.session) == (Activity.IDLE, body["thread-id"])
    assert codex.folder(body) == "/srv/green"


def test_escape_sequences_and_control_characters_do_not_come_in() -> None:
    nasty = "\x1b[31mrm\x1b[0m\n\x00 -rf\x1b]0;title\x07 \u202ex\ud800" + "y" * 9000
    sign = claude.hook({**hook("PermissionRequest"), "tool_input": {"command": nasty}}, NOW)
    assert sign is not None
    assert sign.question.startswith("Bash: rm -rf x y")
    assert sign.question.isprintable()
    assert len(sign.question) < 500


@pytest.mark.parametrize("body", [{}, {"hook_event_name": 7}, {"hook_event_name": "Unheard"}, {"hook_event_name": []}])
def test_an_event_that_is_not_known_tells_nothing(body: dict[str, Any]) -> None:
    assert claude.hook(body, NOW) is None
    assert codex.hook(body, NOW) is None


def test_a_question_that_is_cut_keeps_no_half_of_a_secret():
    secret = "HuntEr2SecretPw99xyz"
    for before in range(330, 400):
        command = f"{'x' * before} postgres://app:{secret}@db/shop and more of it"
        body = {**hook("PermissionRequest", tool_name="Bash"), "tool_input": {"command": command}}
        sign = claude.hook(body, NOW)
        assert sign is not None
        assert "x" * before in sign.question
        shown = Redactor().text(sign.question)  # as all of them are
        assert not any(secret[at : at + 4] in shown for at in range(len(secret) - 3)), shown


def test_a_question_with_controls_that_is_cut_keeps_no_half_of_a_secret_either():
    said = f"\x1b[31m{'x' * 360}\n\npostgres://app:HuntEr2SecretPw99xyz@db/shop"
    assert "HuntEr" not in Redactor().text(words(said))
    assert words(said).startswith("x" * 360)
