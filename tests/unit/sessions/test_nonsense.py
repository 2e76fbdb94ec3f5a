"""Whatever comes in: the parsers never raise, and what they make of it is bounded."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.sessions.recorded import NOW, rows

from argus.sessions import claude, codex, screen
from argus.sessions.resets import reset_time
from argus.sessions.signals import Sign

_RECORDED = [
    row
    for name in (
        "claude_hooks", "claude_status_lines", "claude_transcript_compacted", "claude_transcript_interrupted",
        "claude_transcript_limited", "codex_hooks", "codex_notified", "codex_rollout",
    )
    for row in rows(name)
]  # fmt: skip
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_JSON = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for one in value.values() for key in _keys(one)}
    return {key for one in value for key in _keys(one)} if isinstance(value, list) else set()


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """Something recorded, with nonsense in one place of it."""

    def spoil(value: Any, deeper: int) -> Any:
        if not deeper or not isinstance(value, dict | list) or not value:
            return draw(_JSON)
        if isinstance(value, list):
            return [spoil(value[0], deeper - 1), *value[1:]]
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: spoil(value[key], deeper - 1)}

    return spoil(draw(st.sampled_from(_RECORDED)), draw(st.integers(1, 4)))


def _check(sign: Sign | None) -> None:
    if sign is None:
        return
    assert len(sign.question) <= 700
    assert sign.question.isprintable()
    assert max(map(len, (sign.session, sign.tool, sign.call, sign.subagent))) <= 200
    if sign.context is not None:
        assert sign.context.used >= 0
        assert sign.context.total > 0
    assert sign.at.boot <= NOW.boot


@given(spoilt() | _JSON)
def test_json_of_any_shape_is_harmless(value: Any) -> None:
    if isinstance(value, dict):
        for sign in (claude.hook(value, NOW), codex.hook(value, NOW), claude.status_line(value, NOW)):
            _check(sign)
    for sign in [*claude.transcript([value], NOW), *codex.transcript([value], NOW)]:
        _check(sign)
    claude.speaks(value)
    codex.speaks(value)


@given(
    st.text(max_size=300)
    | st.text(alphabet="❯›>1234567890.%()/,:;? \n─●✻…\x1beEsScCtToOkKnNxX", max_size=400)
    | st.binary(max_size=300).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
)
def test_a_screen_of_any_kind_is_harmless(text: str) -> None:
    _check(screen.read(text, NOW))


@given(st.from_regex(r"(resets|try again) (in |at )?[A-Za-z0-9:, ()|/]{0,40}"), st.floats(0, 4e9))
def test_any_sentence_about_a_limit_is_harmless(text: str, now: float) -> None:
    found = reset_time(text, now)
    assert found is None or found < now + 61 * 86400
