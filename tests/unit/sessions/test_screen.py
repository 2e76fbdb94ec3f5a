"""What is read off an agent's screen."""

from __future__ import annotations

import pytest
from tests.unit.sessions import recorded
from tests.unit.sessions.recorded import NOW, at

from argus.sessions import screen
from argus.sessions.model import Activity, Source


@pytest.mark.parametrize(
    ("text", "used", "total"),
    [
        pytest.param("Context: 31.6% (63,153/200,000 tokens)", 63_153, 200_000, id="the source's own example"),
        pytest.param("Context: 31.6% (63153/200000 tokens)", 63_153, 200_000, id="without separators"),
        pytest.param("Context: 31,6% (63.153/200.000 tokens)", 63_153, 200_000, id="separators of other countries"),
        pytest.param("Token usage: 63153/200000; 136847 remaining", 63_153, 200_000, id="as tokens"),
        pytest.param("Token usage: 63,153/200,000; 136,847 remaining", 63_153, 200_000, id="as tokens, separated"),
        pytest.param("● Context: 0% (0/200,000 tokens)", 0, 200_000, id="an empty one"),
        pytest.param(
            "Context: 5% (10,000/200,000 tokens)\nContext: 90% (180,000/200,000 tokens)",
            180_000,
            200_000,
            id="the last",
        ),
    ],
)
@pytest.mark.req("PS-05")
def test_the_context_is_read_off_the_screen(text: str, used: int, total: int) -> None:
    found = screen.context(text, NOW)
    assert found is not None
    assert (found.used, found.total, found.source) == (used, total, Source.PANE)


@pytest.mark.parametrize(
    "text",
    ["", "Context: much", "Context: 5% (1/0 tokens)", "Token usage: 5", "Context: 5% (99999999999999/200000 tokens)"],
)
def test_where_no_context_stands_none_is_read(text: str) -> None:
    assert screen.context(text, NOW) is None


@pytest.mark.parametrize(
    ("name", "activity", "question"),
    [
        ("claude_permission", Activity.WAITING_FOR_PERMISSION, "Do you want to proceed? (touch made-it)"),
        ("claude_question", Activity.WAITING_FOR_INPUT, "Which colour?"),
        ("claude_working", Activity.WORKING, ""),
        ("claude_idle", Activity.IDLE, ""),
        ("claude_hook_errors", Activity.IDLE, ""),
        ("codex_permission", Activity.WAITING_FOR_PERMISSION, "Reason: Do you want to touch it? ($ touch esc)"),
        ("codex_idle", Activity.IDLE, ""),
    ],
)
def test_a_recorded_screen_tells_what_the_agent_does(name: str, activity: Activity, question: str) -> None:
    sign = screen.read(recorded.screen(name), NOW)
    assert sign is not None
    assert (sign.activity, sign.question, sign.source) == (activity, question, Source.PANE)


def test_a_limit_on_the_screen_comes_with_its_end() -> None:
    codex = screen.read(recorded.screen("codex_limited"), at(1_794_780_345.0))
    claude = screen.read(recorded.screen("claude_limited").replace("12:01am", "12:01am (UTC)"), at(1_794_780_118.0))
    assert codex is not None
    assert claude is not None
    assert (codex.activity, claude.activity) == (Activity.RATE_LIMITED, Activity.RATE_LIMITED)
    assert claude.resets_at == 1_794_787_260.0
    assert codex.resets_at is not None


def test_a_limit_that_was_followed_by_work_is_over() -> None:
    text = "● You've hit your limit · resets 3pm\n❯ go on\n● ok\n────\n❯ \n────\n"
    sign = screen.read(text, NOW)
    assert sign is not None
    assert sign.activity is Activity.IDLE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("dev@host:~$ ls\nfile\ndev@host:~$ ", id="a shell"),
        pytest.param("1. first\n2. second\nPress enter to confirm the order", id="a list that nobody chooses from"),
        pytest.param("", id="nothing"),
        pytest.param("❯ 1. Yes\n  2. No\n" + "and more was said\n" * 30, id="a dialog that has scrolled away"),
    ],
)
def test_a_screen_that_is_not_understood_claims_nothing(text: str) -> None:
    sign = screen.read(text, NOW)
    assert sign is None or sign.activity is None
