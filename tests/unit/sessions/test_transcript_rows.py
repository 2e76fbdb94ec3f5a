"""Rows of the real programs' transcripts, and what is read out of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.sessions.recorded import NOW, rows

from argus.sessions import claude, codex
from argus.sessions.model import Activity, Source


def assistant(used: int, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": used - 13}
    message = {
        "role": "assistant",
        "stop_reason": "end_turn",
        "usage": usage,
        "content": [{"type": "text", "text": "ok"}],
    }
    return {"type": "assistant", "sessionId": "s", "message": message, "timestamp": "2026-11-15T22:00:37Z", **more}


def test_the_context_is_what_went_into_the_last_answer() -> None:
    signs = claude.transcript(rows("claude_transcript_interrupted"), NOW, window=150_000)
    last = [sign.context for sign in signs if sign.context][-1]
    assert (last.used, last.total, last.source) == (40_000, 150_000, Source.TRANSCRIPT)
    assert last.at.wall == pytest.approx(1_794_780_046.123)
    assert NOW.boot - last.at.boot == pytest.approx(NOW.wall - last.at.wall)


def test_what_subagents_write_does_not_count() -> None:
    assert claude.transcript(rows("claude_transcript_subagent"), NOW) == []
    assert claude.read(assistant(9_000, isSidechain=True), NOW) is None
    assert not claude.speaks(assistant(9_000, isSidechain=True))
    assert claude.speaks(assistant(9_000))


def test_a_turn_that_was_broken_off_is_told_by_the_transcript_alone() -> None:
    signs = claude.transcript(rows("claude_transcript_interrupted"), NOW)
    (broken,) = [sign for sign in signs if sign.interrupts]
    assert broken.activity is Activity.IDLE
    (row,) = [one for one in rows("claude_transcript_interrupted") if "session_id" in one and "[Request" in str(one)]
    assert broken.session == row["sessionId"] != row["session_id"], "not the one before the clear"


def test_a_compaction_tells_what_is_left() -> None:
    signs = claude.transcript(rows("claude_transcript_compacted"), NOW)
    (compacted,) = [sign for sign in signs if sign.compacts]
    assert compacted.context is not None
    assert compacted.context.used == 2_786
    following = [sign.event for sign in signs[signs.index(compacted) + 1 :]]
    assert following == ["prompt", "assistant"], "its summary is not a prompt"


def test_a_limit_is_told_with_its_end() -> None:
    limited = claude.transcript(rows("claude_transcript_limited"), NOW)[-1]
    assert (limited.activity, limited.resets_at) == (Activity.RATE_LIMITED, 1_794_787_310.0)
    assert limited.context is None, "the row was made by the program: it has a usage of nothing"


def test_a_tool_runs_from_its_call_to_its_result() -> None:
    signs = claude.transcript(rows("claude_transcript_interrupted"), NOW)
    begun, ended = [sign for sign in signs if sign.call][:2]
    assert (begun.tool, begun.ended, ended.ended) == ("Bash", False, True)
    assert begun.call == ended.call


def test_the_status_line_tells_context_cost_and_limits() -> None:
    first, limited = rows("claude_status_lines")[-2:]
    sign = claude.status_line(limited, NOW)
    assert sign is not None
    assert sign.context is not None
    assert (sign.context.used, sign.context.total) == (20_000, 1_000_000)
    assert (sign.activity, sign.cost) == (None, pytest.approx(0.0068557))
    assert [(one.name, one.used, one.resets_at) for one in sign.limits] == [
        ("five_hour", 42.0, 1_794_787_310.0),
        ("seven_day", 10.0, 1_794_866_510.0),
    ]
    before = claude.status_line(first, NOW)
    assert before is None or before.context is None, "before the first answer nothing is known"


def test_a_rollout_tells_turns_context_and_limits() -> None:
    signs = codex.transcript(rows("codex_rollout"), NOW)
    contexts = [sign.context.used for sign in signs if sign.context]
    assert contexts == [24005, 26005, 28005, 28005, 30005, 7248, 7248, 28005, 30005], "compacted in the middle"
    assert {sign.context.total for sign in signs if sign.context} == {258_400}
    assert {sign.session for sign in signs} == {rows("codex_rollout")[0]["payload"]["id"]}
    assert [sign.activity for sign in signs if sign.activity][:2] == [Activity.WORKING, Activity.IDLE]
    (limited,) = [sign for sign in signs if sign.activity is Activity.RATE_LIMITED]
    assert limited.resets_at == pytest.approx(1_794_787_500.0)
    assert signs[1].limits[0].used == 42.0


def test_a_rollout_tells_which_tool_runs() -> None:
    signs = codex.transcript(rows("codex_rollout"), NOW)
    begun, ended = [sign for sign in signs if sign.call][:2]
    assert (begun.tool, begun.call, ended.ended) == ("exec_command", ended.call, True)


def test_a_row_from_the_future_is_taken_for_now() -> None:
    sign = claude.read(assistant(50, timestamp="2031-01-01T00:00:00Z"), NOW)
    assert sign is not None
    assert sign.at == NOW


@pytest.mark.parametrize(
    "usage", [None, {}, [], {"input_tokens": "many"}, {"input_tokens": -5}, {"input_tokens": 1e300}]
)
def test_a_usage_that_makes_no_sense_is_no_reading(usage: Any) -> None:
    row = assistant(0)
    row["message"]["usage"] = usage
    sign = claude.read(row, NOW)
    assert sign is not None
    assert sign.context is None
