"""Whose words came last, by an agent's own transcript and by its screen."""

from __future__ import annotations

from typing import Any

import pytest

from argus.sessions import claude, codex
from argus.sessions.prompts import after, holds, on_screen

OURS = (
    "Create handoff document now - context at 86%. Write it to /shop/h.md",
    "The document is not there yet. Write it.",
)
ASK, NUDGE = OURS


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def message(*texts: str, role: str = "user") -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}


@pytest.mark.parametrize(
    ("texts", "spoken"),
    [
        pytest.param(["begin", ASK], False, id="nobody-spoke"),
        pytest.param(["begin", ASK, "one thing more"], True, id="somebody-spoke"),
        pytest.param(["begin", ASK, None, " ", NUDGE], False, id="the-last-of-ours-counts"),
        pytest.param([ASK, "one thing more", NUDGE], False, id="what-was-said-before-the-nudge-it-knows"),
        pytest.param([f"one thing more\n\n{ASK}"], False, id="what-came-together-with-ours-it-knows"),
        pytest.param([ASK.replace(" now", "\n  now")], False, id="however-it-is-broken-into-lines"),
        pytest.param([ASK, "add a line to /shop/h.md"], True, id="somebody-names-the-document"),
        pytest.param(["begin", "one thing more"], None, id="ours-is-not-there"),
        pytest.param([], None, id="nothing-is-there"),
    ],
)
def test_who_spoke_last(texts: list[str | None], spoken: bool | None):
    assert after(texts, OURS) is spoken


def test_nothing_is_nobodys():
    assert not holds(None, OURS)
    assert not holds("", OURS)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        pytest.param(user("one thing more"), "one thing more", id="typed"),
        pytest.param(user([{"type": "text", "text": "look at"}, {"type": "image"}]), "look at", id="with-a-picture"),
        pytest.param(user([{"type": "tool_result", "tool_use_id": "t1"}]), None, id="the-result-of-a-tool"),
        pytest.param(user("<command-name>/clear</command-name>"), None, id="a-command-of-the-program"),
        pytest.param(user("a caveat", isMeta=True), None, id="of-the-program-itself"),
        pytest.param(user("search for it", isSidechain=True), None, id="to-a-subagent"),
        pytest.param(
            {"type": "queue-operation", "operation": "enqueue", "content": "one thing more"},
            "one thing more",
            id="while-it-works",
        ),
        pytest.param(
            {"type": "queue-operation", "operation": "enqueue", "content": "<task-notification>\n<task-id>b1"},
            None,
            id="a-task-in-the-background-ended",
        ),
        pytest.param(
            {"type": "queue-operation", "operation": "enqueue", "content": "/clear"}, None, id="nothing-to-do"
        ),
        pytest.param(
            {"type": "queue-operation", "operation": "remove", "content": "one thing more"}, None, id="taken-out"
        ),
        pytest.param(
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "one thing more"}},
            "one thing more",
            id="handed-over-while-it-works",
        ),
        pytest.param(
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": [{"text": "and this"}]}},
            "and this",
            id="in-pieces",
        ),
        pytest.param({"type": "attachment", "attachment": {"type": "date"}}, None, id="another-attachment"),
        pytest.param({"type": "queue-operation", "operation": "enqueue"}, None, id="without-words"),
        pytest.param({"type": "assistant", "message": {"content": "done"}}, None, id="its-own-words"),
        pytest.param("no row", None, id="no-row"),
    ],
)
def test_what_claude_code_was_given(row: Any, words: str | None):
    assert claude.prompted(row) == words


@pytest.mark.parametrize(
    ("row", "words"),
    [
        pytest.param(message("one thing more"), "one thing more", id="typed"),
        pytest.param(message("<environment_context>\n <cwd>/shop</cwd>"), None, id="where-it-is"),
        pytest.param(message("<turn_aborted>\nThe user"), None, id="that-it-was-interrupted"),
        pytest.param(message("done", role="assistant"), None, id="its-own-words"),
        pytest.param({"type": "response_item", "payload": {"type": "message", "role": "user"}}, None, id="no-content"),
        pytest.param({"type": "event_msg", "payload": {"type": "task_started"}}, None, id="another-row"),
        pytest.param(None, None, id="no-row"),
    ],
)
def test_what_codex_was_given(row: Any, words: str | None):
    assert codex.prompted(row) == words


@pytest.mark.parametrize(
    ("lines", "spoken"),
    [
        pytest.param(["> begin", f"> {ASK}", "writing", "done", "> "], False, id="nobody-spoke"),
        pytest.param([f"> {ASK[:40]}", f"  {ASK[40:]}", "done", "> one thing more", "> "], True, id="somebody-spoke"),
        pytest.param([f"> {ASK}", "> one thing more", f"> {ASK}", "> "], False, id="the-last-of-ours-counts"),
        pytest.param([f"> {ASK}", "done", "> /clear"], False, id="our-own-that-was-left-there"),
        pytest.param(["> one thing more", "> "], None, id="ours-is-not-there"),
        pytest.param([ASK, "one thing more"], None, id="without-a-prompt-nobody-knows"),
        pytest.param([], None, id="nothing-is-there"),
    ],
)
def test_what_a_screen_shows(lines: list[str], spoken: bool | None):
    assert on_screen(lines, OURS) is spoken
