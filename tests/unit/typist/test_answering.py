"""Answering on a fake pane and virtual time: what happens in between, and that no key is pressed twice."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.typist.test_typing import AGENT, OTHER, in_between

from argus.host.panes import Key, Who
from argus.testing import FakePane, FakePanes, run_simulated
from argus.typist import CLAUDE, By, Deferred, Leave, Outcome, Reason, Refused, Typed, Typist, Unconfirmed, Wanted
from argus.typist.dialogs import claude_dialog


def asks(command: str) -> tuple[str, ...]:
    return ("─" * 80, " Bash command", f" {command}", " Proceed?", " ❯ 1. Yes", "   2. Yes, and always", "   3. No")


def a_pane(**more: Any) -> FakePane:
    return FakePane("work", **{"agent": AGENT, "boxed": True, "asks": asks("curl x"), **more})


def id_of(command: str) -> str:
    look = a_pane(asks=asks(command)).look("socket", Who())
    found = claude_dialog(look)
    assert found is not None
    return found.id


def answers(panes: FakePanes, leave: Leave = Leave.ALLOW, command: str = "curl x", noted: Any = None) -> Outcome:
    async def before() -> None:
        if noted is not None:
            noted()

    async def main(_: object) -> Outcome:
        return await Typist(panes).answer("socket", "work", Wanted(CLAUDE), id_of(command), leave, before=before)

    outcome: Outcome = run_simulated(main)
    return outcome


@pytest.mark.parametrize(("leave", "key"), [(Leave.ALLOW, Key.ONE), (Leave.DENY, Key.THREE)])
def test_the_question_that_was_seen_is_answered_by_one_key(leave: Leave, key: Key) -> None:
    pane = a_pane()
    notes: list[list[Key]] = []
    assert answers(FakePanes(pane), leave, noted=lambda: notes.append(list(pane.pressed))) == Typed(By.PANE)
    assert pane.pressed == pane.answered == [key]
    assert notes == [[]], "it is noted once, before the key"


def test_another_question_is_not_answered() -> None:
    pane = a_pane(asks=asks("rm -rf /"))
    assert answers(FakePanes(pane)) == Refused(Reason.OTHER_DIALOG)
    assert pane.pressed == []


def test_where_no_question_stands_nothing_is_pressed() -> None:
    pane = a_pane(asks=())
    assert answers(FakePanes(pane)) == Refused(Reason.NO_DIALOG)
    assert (pane.pressed, pane.typed) == ([], "")


@pytest.mark.parametrize("asked", ["look", "press"])
@pytest.mark.parametrize("time", [1, 2])
def test_a_question_that_changes_meanwhile_is_not_answered(asked: str, time: int) -> None:
    pane = a_pane()
    panes = FakePanes(pane)

    def changes() -> None:
        pane.asks = asks("rm -rf /")  # of the same size, and with the same choice: no mark would tell

    in_between(panes, asked, time, changes)
    outcome = answers(panes)
    if (asked, time) == ("press", 2):
        assert outcome == Typed(By.PANE), "there is no second press"
    else:
        assert outcome == Refused(Reason.OTHER_DIALOG)
        assert pane.pressed == []


def test_a_question_that_a_person_answers_meanwhile_is_left_alone() -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    in_between(panes, "press", 1, lambda: setattr(pane, "asks", ()))
    assert answers(panes) == Refused(Reason.NO_DIALOG)
    assert (pane.pressed, pane.typed) == ([], "")


def test_a_key_that_is_not_heeded_is_not_pressed_again() -> None:
    pane = a_pane(deaf=9)
    assert answers(FakePanes(pane)) == Unconfirmed(Reason.NOT_TAKEN)
    assert pane.pressed == [Key.ONE]


def test_when_the_agent_is_another_one_by_now_nothing_is_pressed() -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    in_between(panes, "look", 2, lambda: setattr(pane, "agent", OTHER))
    assert answers(panes) == Refused(Reason.NOT_THE_AGENT)
    assert pane.pressed == []


def test_an_agent_that_dies_by_the_answer_is_not_said_to_have_taken_it() -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    in_between(panes, "look", 3, lambda: setattr(pane, "dead", True))
    assert answers(panes) == Unconfirmed(Reason.NOT_TAKEN)
    assert pane.pressed == [Key.ONE]


def test_a_question_with_no_plain_yes_is_not_allowed() -> None:
    rows = (*asks("curl x")[:-3], " ❯ 1. Yes, and always", "   2. No")
    pane = a_pane(asks=rows)
    found = claude_dialog(pane.look("socket", Who()))
    assert found is not None

    async def before() -> None:
        raise AssertionError("nothing is about to be done")

    async def main(_: object) -> Outcome:
        typist = Typist(FakePanes(pane))
        return await typist.answer("socket", "work", Wanted(CLAUDE), found.id, Leave.ALLOW, before=before)

    assert run_simulated(main) == Refused(Reason.NO_SUCH_CHOICE)


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ({"in_mode": True}, Deferred(Reason.COPY_MODE)),
        ({"agent": None}, Refused(Reason.SHELL)),
        ({"gone": True}, Refused(Reason.NO_SESSION)),
    ],
    ids=["copy-mode", "a-shell", "no-session"],
)
def test_where_no_text_would_be_typed_no_answer_is_either(state: dict[str, Any], outcome: Outcome) -> None:
    pane = a_pane(**state)
    assert answers(FakePanes(pane)) == outcome
    assert pane.pressed == []


def test_a_lost_reply_is_not_tried_again() -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    panes.loses_replies = True
    assert answers(panes) == Unconfirmed(Reason.UNANSWERED)
    assert pane.pressed == [Key.ONE]
