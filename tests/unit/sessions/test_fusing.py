"""Many signs, one state: what wins, and why."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.sessions.recorded import NOW, hook, rows

from argus.core.clock import Stamp
from argus.sessions import claude, codex
from argus.sessions.fusing import Patience, fuse, shortened
from argus.sessions.model import Activity, ContextReading, Limit, Source
from argus.sessions.signals import Sign

W, IDLE, P = Activity.WORKING, Activity.IDLE, Activity.WAITING_FOR_PERMISSION


def ago(seconds: float) -> Stamp:
    return Stamp(NOW.boot_id, NOW.boot - seconds, NOW.wall - seconds)


def said(seconds: float, activity: Activity | None, source: Source = Source.HOOK, **more: Any) -> Sign:
    return Sign(activity, source, ago(seconds), session="" if source is Source.PANE else "s", **more)


def hooked(seconds: float, event: str, **where: Any) -> Sign:
    """A recorded hook, as if it had come so long ago."""
    sign = claude.hook(hook(event, **where), ago(seconds))
    assert sign is not None
    return replace(sign, session="s")


def reading(seconds: float, used: int, source: Source, total: int = 200_000, session: str = "s") -> Sign:
    return said(seconds, None, source, context=ContextReading(used, total, source, ago(seconds), session))


BASH = {"tool_name": "Bash"}
REMINDER = hooked(84, "Notification", notification_type="permission_prompt")


@pytest.mark.parametrize(
    ("signs", "state", "source"),
    [
        pytest.param([], Activity.UNKNOWN, None, id="nothing was heard: nobody knows"),
        pytest.param([hooked(9, "UserPromptSubmit")], W, Source.HOOK, id="a prompt was given: it works"),
        pytest.param([hooked(9, "UserPromptSubmit"), hooked(5, "Stop")], IDLE, Source.HOOK, id="the turn ended: idle"),
        pytest.param(
            [hooked(3000, "UserPromptSubmit"), hooked(2990, "PreToolUse", **BASH)],
            W, Source.HOOK, id="a tool that runs for 50 minutes is no stall",
        ),
        pytest.param(
            [hooked(3000, "UserPromptSubmit"), hooked(2990, "PreToolUse", **BASH), hooked(1000, "PostToolUse", **BASH)],
            Activity.STALLED, Source.HOOK, id="silence after the tool ended is a stall",
        ),
        pytest.param([hooked(1000, "UserPromptSubmit")], Activity.STALLED, Source.HOOK, id="a silent turn is a stall"),
        pytest.param(
            [hooked(9000, "UserPromptSubmit"), hooked(8000, "PreToolUse", **BASH)],
            Activity.STALLED, Source.HOOK, id="for longer than an hour no tool is believed to run",
        ),
        pytest.param(
            [hooked(1000, "UserPromptSubmit"), said(10, W, Source.PANE)],
            Activity.STALLED, Source.HOOK, id="a spinner that turns is no progress where hooks are silent",
        ),
        pytest.param([said(10, W, Source.PANE)], W, Source.PANE, id="where only the screen speaks it is believed"),
        pytest.param(
            [hooked(9000, "PreToolUse", **BASH), hooked(8999, "PermissionRequest", **BASH)],
            P, Source.HOOK, id="who waits for leave for hours is not stalled",
        ),
        pytest.param(
            [hooked(90, "PermissionRequest", **BASH), REMINDER],
            P, Source.HOOK, id="a reminder changes nothing",
        ),
        pytest.param(
            [hooked(90, "PermissionRequest", **BASH), hooked(80, "PostToolUse", **BASH)],
            W, Source.HOOK, id="the tool ran: leave was given",
        ),
        pytest.param(
            [hooked(90, "PermissionRequest", **BASH), said(80, W, tool="Read", call="r", ended=True)],
            P, Source.HOOK, id="another tool that ends does not answer",
        ),
        pytest.param(
            [hooked(90, "PermissionRequest", **BASH), said(60, W, Source.PANE)],
            W, Source.PANE, id="leave was given, the tool runs: only the screen shows it",
        ),
        pytest.param(
            [hooked(90, "PermissionRequest", **BASH), said(88, W, Source.PANE)],
            P, Source.HOOK, id="a screen of the same moment does not count against a hook",
        ),
        pytest.param(
            [hooked(90, "PermissionRequest", **BASH), said(89.8, IDLE, Source.TRANSCRIPT, interrupts=True)],
            IDLE, Source.TRANSCRIPT, id="refused: only the transcript says it, however soon",
        ),
        pytest.param(
            [hooked(9, "UserPromptSubmit"), said(3, P, Source.PANE, question="Do you trust it?")],
            P, Source.PANE, id="a dialog that no hook told of",
        ),
        pytest.param(
            [hooked(20, "Stop"), said(10, W, Source.TRANSCRIPT, event="prompt")],
            W, Source.TRANSCRIPT, id="a transcript that is newer wins",
        ),
        pytest.param(
            [hooked(20, "Stop"), said(19.5, W, Source.TRANSCRIPT, event="tool result")],
            IDLE, Source.HOOK, id="a transcript of the same second does not",
        ),
        pytest.param(
            [hooked(10, "UserPromptSubmit"), hooked(9, "SessionStart", source="startup")],
            W, Source.HOOK, id="the word that it started may come late",
        ),
        pytest.param([hooked(9, "SessionEnd", reason="other")], Activity.UNKNOWN, None, id="it ended: nobody knows"),
        pytest.param(
            [hooked(10, "Stop"), hooked(9, "SessionEnd", reason="other")],
            Activity.UNKNOWN, None, id="what ended is not idle",
        ),
        pytest.param(
            [hooked(30, "SubagentStart"), hooked(20, "Stop")], IDLE, Source.HOOK, id="at the end of a turn none runs on"
        ),
        pytest.param(
            [replace(hooked(20, "Stop"), subagents=("a",))], W, Source.HOOK, id="its subagents work on after the turn"
        ),
        pytest.param(
            [replace(hooked(20, "Stop"), subagents=("a",)), said(9, IDLE, subagent="a", ends=True)],
            IDLE, Source.HOOK, id="the last subagent is done",
        ),
        pytest.param(
            [hooked(60, "Stop"), said(50, W, subagent="a"), said(40, P, subagent="a", tool="Bash", question="rm")],
            P, Source.HOOK, id="a subagent that waits for leave holds up the session",
        ),
        pytest.param(
            [hooked(50, "PermissionRequest", **BASH), said(40, W, subagent="a", tool="Bash", call="b")],
            P, Source.HOOK, id="a subagent's work does not answer the agent's question",
        ),
        pytest.param([reading(5, 100, Source.STATUS_LINE)], Activity.UNKNOWN, None, id="a context is no activity"),
    ],
)  # fmt: skip
def test_the_state_follows_from_what_was_heard(signs: list[Sign], state: Activity, source: Source | None) -> None:
    found = fuse(signs, NOW)
    assert (found.state, found.source) == (state, source), found.because
    assert found.because
    assert (found.age is None) == (source is None)


def test_a_process_that_is_gone_is_dead_whatever_was_said() -> None:
    found = fuse([hooked(1, "UserPromptSubmit")], NOW, alive=False)
    assert (found.state, found.source) == (Activity.DEAD, Source.PROCESS)
    assert fuse([], NOW, alive=True).state is Activity.UNKNOWN


def test_what_is_asked_and_which_tool_runs_come_with_the_state() -> None:
    asks = fuse([hooked(9, "PreToolUse", **BASH), hooked(8, "PermissionRequest", **BASH)], NOW)
    assert (asks.question, asks.tool, asks.age) == ("Bash: touch made-it", "Bash", pytest.approx(8))
    runs = fuse([hooked(99, "PreToolUse", **BASH)], NOW)
    assert (runs.tool, runs.question) == ("Bash", "")


@pytest.mark.parametrize(
    ("activity", "event", "because"),
    [
        pytest.param(W, "screen", "its screen showed that it is working", id="working"),
        pytest.param(Activity.WAITING_FOR_INPUT, "dialog", "its screen showed a dialog", id="a-dialog"),
        pytest.param(Activity.RATE_LIMITED, "limit", "its screen showed a limit", id="a-limit"),
    ],
)
def test_what_a_screen_showed_is_said_as_a_person_would(activity: Activity, event: str, because: str) -> None:
    assert fuse([said(9, activity, Source.PANE, event=event)], NOW).because == because


def test_how_long_nothing_was_heard_is_said_as_everywhere() -> None:
    found = fuse([said(960, W, event="UserPromptSubmit")], NOW)
    assert (found.state, "nothing was heard of it for 16m" in found.because) == (Activity.STALLED, True)


def test_the_answer_says_which_source_was_not_believed() -> None:
    found = fuse([hooked(9, "PermissionRequest", **BASH), said(8, W, Source.PANE)], NOW)
    assert "screen said working" in found.because


def test_a_limit_comes_with_its_end_also_from_the_status_line() -> None:
    told = fuse([said(9, Activity.RATE_LIMITED, resets_at=5.0)], NOW)
    assert (told.state, told.resets_at) == (Activity.RATE_LIMITED, 5.0)
    limits = (Limit("five_hour", 100.0, 7.0), Limit("seven_day", 50.0, 9.0))
    known = fuse([said(9, Activity.RATE_LIMITED), said(20, None, Source.STATUS_LINE, limits=limits)], NOW)
    assert (known.resets_at, known.limits) == (7.0, limits)


def test_the_recorded_conversations_end_as_they_did() -> None:
    limited = fuse(claude.transcript(rows("claude_transcript_limited"), NOW), NOW)
    assert (limited.state, limited.resets_at) == (Activity.RATE_LIMITED, 1_794_787_310.0)
    compacted = fuse(claude.transcript(rows("claude_transcript_compacted"), NOW), NOW)
    assert compacted.state is IDLE
    rollout = fuse(codex.transcript(rows("codex_rollout"), NOW), NOW)
    assert rollout.context is not None
    assert (rollout.state, rollout.context.used, rollout.context.total) == (IDLE, 30_005, 258_400)


# --- the context ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signs", "used", "source"),
    [
        pytest.param([reading(60, 1, Source.STATUS_LINE), reading(9, 2, Source.STATUS_LINE)], 2, Source.STATUS_LINE,
                     id="the newest of one source"),
        pytest.param([reading(9, 1, Source.STATUS_LINE), reading(7, 2, Source.TRANSCRIPT)], 1, Source.STATUS_LINE,
                     id="of the same moment the better source"),
        pytest.param([reading(60, 1, Source.STATUS_LINE), reading(7, 2, Source.TRANSCRIPT)], 2, Source.TRANSCRIPT,
                     id="a newer one of a lesser source"),
        pytest.param([reading(9999, 1, Source.PANE), reading(1, 2, Source.ESTIMATE)], 1, Source.PANE,
                     id="an estimate never stands against a reading"),
        pytest.param([reading(1, 2, Source.ESTIMATE)], 2, Source.ESTIMATE, id="an estimate, where nothing else is"),
        pytest.param([reading(60, 9, Source.PANE), said(50, IDLE, starts=True, clears=True)], None, None,
                     id="after a clear nothing is known"),
        pytest.param([reading(60, 9, Source.STATUS_LINE), said(50, IDLE, compacts=True)], None, None,
                     id="after a compaction nothing of before counts"),
        pytest.param([reading(60, 9, Source.STATUS_LINE), replace(reading(51, 3, Source.TRANSCRIPT), compacts=True),
                      said(50, IDLE, compacts=True)], 3, Source.TRANSCRIPT, id="but what the compaction left"),
        pytest.param([replace(reading(500, 3, Source.TRANSCRIPT), compacts=True), said(50, IDLE, compacts=True)],
                     None, None, id="not what an earlier one left"),
        pytest.param([reading(60, 9, Source.STATUS_LINE, session="s"), said(50, IDLE, starts=True)],
                     9, Source.STATUS_LINE, id="a resumed conversation keeps its own"),
    ],
)  # fmt: skip
def test_the_context_is_the_newest_of_the_better_source(
    signs: list[Sign], used: int | None, source: Source | None
) -> None:
    found = fuse(signs, NOW)
    assert (found.context and found.context.used, found.context and found.context.source) == (used, source)
    assert (found.context_age is None) == (used is None)


def test_the_size_of_the_window_is_the_one_that_the_status_line_knows() -> None:
    found = fuse([reading(90, 5, Source.STATUS_LINE, total=1_000_000), reading(9, 8, Source.TRANSCRIPT)], NOW)
    assert found.context is not None
    assert (found.context.used, found.context.total) == (8, 1_000_000)


def test_another_conversation_in_the_folder_is_another_matter() -> None:
    other = Sign(P, Source.HOOK, ago(100), session="other")
    assert fuse([other, hooked(50, "Stop")], NOW).state is IDLE
    assert fuse([other, hooked(50, "Stop")], NOW, session="other").state is P
    titled = Sign(IDLE, Source.HOOK, ago(3), session="title", event="agent-turn-complete")
    assert fuse([hooked(50, "UserPromptSubmit"), titled], NOW).state is W


# --- properties -----------------------------------------------------------------------------------------------------

_SIGNS = st.builds(
    Sign,
    activity=st.none() | st.sampled_from(Activity),
    source=st.sampled_from(Source),
    at=st.sampled_from([0.0, 0.5, 2, 7, 900, 4000, -5]).map(ago) | st.just(Stamp("another", 5.0, NOW.wall - 50)),
    session=st.sampled_from(["", "s", "t"]),
    event=st.sampled_from(["", "Stop", "Notification", "SubagentStart", "agent-turn-complete"]),
    tool=st.sampled_from(["", "Bash", "Read"]),
    call=st.sampled_from(["", "1", "2"]),
    ended=st.booleans(),
    question=st.sampled_from(["", "Why?"]),
    resets_at=st.none() | st.floats(0, 1e10),
    context=st.none() | st.builds(
        ContextReading, st.integers(0, 9), st.integers(1, 9), st.sampled_from(Source), st.just(ago(3)), st.just("s")
    ),
    starts=st.booleans(), ends=st.booleans(), clears=st.booleans(), compacts=st.booleans(), interrupts=st.booleans(),
    subagent=st.sampled_from(["", "", "a", "b"]),
    subagents=st.none() | st.just(("a",)),
)  # fmt: skip


@given(st.lists(_SIGNS, max_size=12), st.sampled_from([None, True, False]), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(signs: list[Sign], alive: bool | None, chance: random.Random) -> None:
    found = fuse(signs, NOW, alive=alive)
    chance.shuffle(signs)
    assert fuse(signs, NOW, alive=alive) == found
    assert (found.state is Activity.DEAD) <= (alive is False)


def test_of_two_questions_at_the_same_moment_the_same_one_is_told_in_any_order() -> None:
    one, other = (said(9, P, event="PermissionRequest", tool="Bash", question=what) for what in ("Bash: a", "Bash: b"))
    assert fuse([one, other], NOW) == fuse([other, one], NOW)


@given(st.lists(_SIGNS, max_size=12))
def test_stalled_needs_silence_and_no_open_tool(signs: list[Sign]) -> None:
    found = fuse(signs, NOW, patience=Patience(stalled_after=600))
    if found.state is Activity.STALLED:
        assert found.age is not None
        assert not found.tool
        assert found.subagents == 0


def test_a_list_that_is_cut_short_still_tells_the_same() -> None:
    noise = [said(1000 - n, W, tool="Read", call=f"r{n // 2}", ended=bool(n % 2), subagent="a") for n in range(800)]
    signs = [reading(2000, 7, Source.STATUS_LINE), hooked(1500, "PreToolUse", **BASH), *noise]
    kept = shortened(signs, 100)
    assert len(kept) <= 100
    whole, cut = fuse(signs, NOW), fuse(kept, NOW)
    assert (cut.state, cut.tool, cut.context) == (whole.state, whole.tool, whole.context)
    assert (cut.state, cut.tool) == (W, "Bash")


def test_that_somebody_spoke_outlasts_whatever_came_after() -> None:
    noise = [said(1000 - n, W, tool="Read", call=f"r{n // 2}", ended=bool(n % 2)) for n in range(800)]
    prompt = hooked(1500, "UserPromptSubmit")
    assert prompt in shortened([prompt, *noise], 100)
