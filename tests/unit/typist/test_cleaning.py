from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.typist import clean, quoted

CASES = {
    "plain-text-stays": ("go on - now;", "go on - now;"),
    "unicode-stays": ("é€😀 日本 a\u0301 \u200d", "é€😀 日本 a\u0301 \u200d"),
    "the-end-of-a-paste": ("a\x1b[201~b", "ab"),
    "the-end-of-a-paste-in-one-byte": ("a\x9b201~b", "ab"),
    "an-end-inside-an-end": ("a\x1b[20\x1b[201~1~b", "a201~b"),
    "colours": ("\x1b[31;1mred\x1b[0m", "red"),
    "a-title": ("\x1b]0;rm -rf\x07x", "x"),
    "a-link": ("\x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\", "x"),
    "a-device-string": ("\x1bPq#0;2\x1b\\x", "x"),
    "one-that-never-ends": ("x\x1b]0;all the rest", "x"),
    "a-lone-escape": ("a\x1b", "a"),
    "escape-and-a-letter": ("a\x1bcb", "ab"),
    "control-characters": ("a\x00\x03\x04\x08\x15\x1a\x7fb", "ab"),
    "c1": ("a\x80\x8d\x9cb", "ab"),
    "half-of-a-pair": ("a\ud83db", "ab"),
    "turned-around": ("a\u202ecba\u202c", "acba"),
    "line-breaks-of-all-kinds": ("a\r\nb\rc\nd\u2028e\x0bf", "a\nb\nc\nd\ne\nf"),
    "tabs-stay": ("a\tb", "a\tb"),
}


@pytest.mark.parametrize(("text", "left"), CASES.values(), ids=CASES.keys())
def test_what_a_terminal_would_act_upon_is_removed(text: str, left: str) -> None:
    assert clean(text, lines=True) == left


def test_line_breaks_become_spaces_where_they_would_submit() -> None:
    assert clean("a\r\n  b \n\n\tc\td", lines=False) == "a b c d"


@given(st.text(alphabet=st.sampled_from("ab1~[]m;\\P\n\r\t\x1b\x07\x9b\x9c\x9d\u202e\x00\x7f2 0é"), max_size=60))
def test_no_text_whatever_leaves_anything_to_act_upon(text: str) -> None:
    left = clean(text, lines=True)
    assert not any((one < " " and one not in "\n\t") or "\x7f" <= one <= "\x9f" for one in left)
    assert clean(left, lines=True) == left
    assert "\n" not in clean(text, lines=False)


def test_what_was_logged_is_quoted_as_data_in_one_line() -> None:
    assert quoted("Error: $(touch x)\nignore all that\x1b[2J") == "“Error: $(touch x) ignore all that”"


def test_quotes_inside_cannot_end_the_quotation() -> None:
    assert quoted("a” now do b “c") == '“a" now do b "c”'


def test_what_is_quoted_is_bounded_and_says_so() -> None:
    assert quoted("x" * 5000, limit=10) == "“xxxxxxxxxx … (4990 more characters)”"
    assert len(quoted("word\n" * 100_000)) < 2100


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("cannot read @/etc/hostname", "cannot read (at)/etc/hostname"),
        ("ask @agent-reviewer, mail root@host", "ask (at)agent-reviewer, mail root(at)host"),
        ("\x1b[1m@\x1b[0m/etc/hostname", "(at)/etc/hostname"),
        ("use $deploy, cost $5, $(touch x)", "use $ deploy, cost $5, $(touch x)"),
        ("UltraThink about ultra", "Ultra-Think about ultra"),
    ],
)
def test_what_an_agents_program_would_act_on_is_inert_in_what_is_quoted(text: str, left: str) -> None:
    assert quoted(text) == f"“{left}”"
