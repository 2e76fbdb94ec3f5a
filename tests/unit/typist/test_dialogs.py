"""Questions for leave: what is read out of them, and which key is the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.recorded_screens import names, screen

from argus.host.panes import Key, Look
from argus.typist.dialogs import Dialog, Leave, claude_dialog

RECORDED = "claude-2.1.325"
WIDE = 80
EDGE = "─" * WIDE
FOOT = ("", " Esc to cancel · Tab to amend")
CHOICES = (" ❯ 1. Yes", "   2. Yes, and don't ask again for curl", "   3. No")


def shown(*rows: str, cursor: int | None = None) -> Look:
    chosen = next((n for n, row in enumerate(rows) if row.lstrip().startswith("❯")), 0)
    base = screen(RECORDED, "permission")
    return replace(base, columns=WIDE, lines=(*rows, *[""] * 5), cursor=(1, chosen if cursor is None else cursor))


def read(*rows: str, cursor: int | None = None) -> Dialog:
    found = claude_dialog(shown(*rows, cursor=cursor))
    assert found is not None
    return found


def asked(*frame: str, choices: tuple[str, ...] = CHOICES) -> tuple[str, ...]:
    return ("● something above", EDGE, " Bash command", *frame, " Do you want to proceed?", *choices, *FOOT)


def test_the_recorded_question_is_read_with_its_choices() -> None:
    found = claude_dialog(screen(RECORDED, "permission"))
    assert found is not None
    assert found.question == "Do you want to create part-1?"
    assert found.text == "Create file\npart-1\n1 part-1\nDo you want to create part-1?"
    assert found.whole
    assert (found.key(Leave.ALLOW), found.key(Leave.DENY)) == (Key.ONE, Key.THREE)


@pytest.mark.parametrize("name", [one for one in names(RECORDED) if one != "permission"])
def test_nothing_else_that_was_recorded_is_taken_for_a_question(name: str) -> None:
    assert claude_dialog(screen(RECORDED, name)) is None


@pytest.mark.parametrize(
    ("choices", "allow", "deny"),
    [
        (("❯ 1. Yes", "  2. No"), Key.ONE, Key.TWO),
        ((" ❯ 1. Yes", "   2. Yes, and always allow", "   3. Yes, and switch to auto mode", "   4. No"), "1", "4"),
        ((" ❯ 1. Yes", "   2. No, and tell Claude what to do differently (esc)"), "1", "2"),
        ((" ❯ 1. Yes, and auto-accept edits", "   2. Yes, manually", "   3. No, keep planning"), None, None),
        ((" ❯ 1. Yes,", "      and never ask again", "   2. No"), None, "2"),
        ((" ❯ 1. Yes", "   2. Yes", "   3. No"), None, "3"),
    ],
    ids=["two", "four", "no-with-words", "a-plan", "a-wrapped-yes", "two-that-say-yes"],
)
def test_the_key_is_the_number_beside_the_words(choices: tuple[str, ...], allow: str, deny: str) -> None:
    found = read(*asked(" curl x", choices=choices))
    assert (found.key(Leave.ALLOW), found.key(Leave.DENY)) == (allow, deny)


def test_the_id_is_of_the_words_and_not_of_what_is_chosen() -> None:
    moved = ("   1. Yes", " ❯ 2. Yes, and don't ask again for curl", "   3. No")
    one = read(*asked(" curl x"))
    assert read(*asked(" curl x", choices=moved)).id == one.id
    assert read(*asked(" curl y")).id != one.id
    assert read(*asked(" curl x", choices=(*CHOICES[:2], "   3. Yes"))).id != one.id


def test_what_begins_above_the_screen_can_be_refused_and_not_allowed() -> None:
    found = read(*(row for row in asked(*(f" │ line {n}" for n in range(30))) if row != EDGE))
    assert not found.whole
    assert (found.may(Leave.ALLOW), found.may(Leave.DENY)) == (False, True)


def test_a_rule_that_was_written_by_the_agent_is_not_the_upper_edge() -> None:
    found = read(" │ rm -rf /", f" {EDGE[2:]}", " │ ls", " Do you want to proceed?", *CHOICES, *FOOT)
    assert "rm -rf /" in found.text
    assert not found.whole


@pytest.mark.parametrize(
    "look",
    [
        shown(*asked(" curl x"), cursor=1),
        shown(*asked(" curl x"), cursor=6),
        shown(*asked(" curl x"), "", EDGE, "❯ ", EDGE),
        shown(*asked(" curl x", choices=(" ❯ 2. Yes", "   3. No"))),
        shown(*asked(" curl x")[:-5], " no question at all", *CHOICES, *FOOT),
    ],
    ids=[
        "the-cursor-is-elsewhere",
        "the-cursor-is-at-another-choice",
        "text-above-a-prompt",
        "without-its-first-choice",
        "no-question",
    ],
)
def test_what_only_looks_like_one_is_none(look: Look) -> None:
    assert claude_dialog(look) is None
