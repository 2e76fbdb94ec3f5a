"""The act on a fake pane and virtual time: what happens in between, and that nothing is typed twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from argus.host.identity import Identity
from argus.host.panes import Key, Process
from argus.testing import FakePane, FakePanes, run_simulated
from argus.typist import (
    CLAUDE,
    PLAIN,
    By,
    Deferred,
    Message,
    Outcome,
    Reason,
    Refused,
    Typed,
    Typist,
    Unconfirmed,
    Wanted,
    plain,
)

AGENT = Process(Identity(1000, "agent"), "claude")
OTHER = Process(Identity(1001, "other"), "claude")


def a_pane(**more: Any) -> FakePane:
    return FakePane("work", **{"agent": AGENT, "boxed": True, **more})


def types(panes: FakePanes, text: str = "go on", wanted: Wanted | None = None, **more: Any) -> Outcome:
    command = more.pop("command", False)

    async def main(_: object) -> Outcome:
        typist = Typist(panes)
        return await typist.type("socket", "work", Message(text, command=command), wanted or Wanted(CLAUDE), **more)

    outcome: Outcome = run_simulated(main)
    return outcome


def in_between(panes: FakePanes, asked: str, time: int, happens: Callable[[], None]) -> None:
    """Just before the question of that name is asked for the so-many-th time."""
    count = 0

    def meanwhile(name: str) -> None:
        nonlocal count
        count += name == asked
        if name == asked and count == time:
            happens()

    panes.meanwhile = meanwhile


def test_it_is_typed_once_and_the_pane_tells() -> None:
    pane = a_pane()
    assert types(FakePanes(pane)) == Typed(By.PANE)
    assert (pane.submitted, pane.pressed) == (["go on"], [Key.ENTER])


def test_the_agents_own_word_is_enough() -> None:
    pane = a_pane()
    assert types(FakePanes(pane), told=lambda: bool(pane.submitted)) == Typed(By.SIGNAL)


def test_between_the_paste_and_enter_is_a_pause() -> None:
    times: dict[str, float] = {}

    async def main(loop: Any) -> None:
        panes = FakePanes(a_pane())
        panes.meanwhile = lambda asked: times.setdefault(asked, loop.time()) and None
        await Typist(panes).type("socket", "work", Message("go on"), Wanted(CLAUDE))

    run_simulated(main)
    assert times["press"] - times["paste"] >= 0.15


NOT_TYPED = {
    "no-such-session": ({"session": "work2"}, Refused(Reason.NO_SESSION)),
    "a-shell": ({"agent": None}, Refused(Reason.SHELL)),
    "a-dialog": ({"dialog": True}, Deferred(Reason.DIALOG)),
    "half-typed": ({"typed": "what a person"}, Deferred(Reason.HALF_TYPED)),
    "copy-mode": ({"in_mode": True}, Deferred(Reason.COPY_MODE)),
    "dead": ({"dead": True}, Refused(Reason.DEAD)),
    "another-program": ({"agent": replace(AGENT, name="vim")}, Refused(Reason.NOT_THE_AGENT)),
}


@pytest.mark.parametrize(("state", "outcome"), NOT_TYPED.values(), ids=NOT_TYPED.keys())
def test_what_may_not_be_typed_leaves_the_pane_as_it_was(state: dict[str, Any], outcome: Outcome) -> None:
    pane = FakePane(**{"session": "work", "agent": AGENT, "boxed": True, **state})
    before = (pane.typed, list(pane.submitted))
    recorded: list[str] = []

    async def record() -> None:
        recorded.append("about to paste")

    assert types(FakePanes(pane), before=record) == outcome
    assert (pane.typed, pane.submitted, pane.executed, pane.pressed) == (*before, [], [])
    assert recorded == [], "nothing was about to be pasted"


TEXTS = {
    "nothing": (Message(" \n\x1b[201~"), Refused(Reason.EMPTY)),
    "a-command-that-is-not-meant-as-one": (Message("/clear"), Refused(Reason.COMMAND)),
    "a-command-behind-spaces": (Message("  /clear"), Refused(Reason.COMMAND)),
    "a-command-behind-a-sequence": (Message("\x1b[0m!touch x"), Refused(Reason.COMMAND)),
    "a-command-that-is-none": (Message("clear", command=True), Refused(Reason.COMMAND)),
    "a-command-with-a-second-line": (Message("/clear\n!ls", command=True), Refused(Reason.COMMAND)),
    "too-long": (Message("x" * 300_000), Refused(Reason.TOO_LONG)),
}


@pytest.mark.parametrize(("message", "outcome"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_that_would_do_something_else_is_refused(message: Message, outcome: Outcome) -> None:
    pane = a_pane()
    assert types(FakePanes(pane), message.text, command=message.command) == outcome
    assert (pane.typed, pane.pressed) == ("", [])


def test_a_command_that_is_meant_as_one_is_typed() -> None:
    pane = a_pane()
    assert types(FakePanes(pane), "/clear", command=True) == Typed(By.PANE)
    assert pane.submitted == ["/clear"]


def test_what_is_about_to_be_typed_is_recorded_before() -> None:
    pane = a_pane()
    recorded: list[str] = []

    async def record() -> None:
        recorded.append(pane.typed)

    assert types(FakePanes(pane), before=record) == Typed(By.PANE)
    assert recorded == [""]


def test_what_cannot_be_recorded_is_not_typed() -> None:
    pane = a_pane()

    async def record() -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        types(FakePanes(pane), before=record)
    assert (pane.typed, pane.pressed) == ("", [])


def test_somebody_who_begins_to_type_while_it_is_recorded_is_left_alone() -> None:
    pane = a_pane()

    async def record() -> None:
        pane.typed = "what a person"

    assert types(FakePanes(pane), before=record) == Deferred(Reason.HALF_TYPED)
    assert (pane.typed, pane.pressed) == ("what a person", [])


def test_somebody_who_begins_to_type_just_before_the_paste_is_left_alone() -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    in_between(panes, "paste", 1, lambda: setattr(pane, "typed", "what a person"))
    assert types(panes) == Deferred(Reason.HALF_TYPED)
    assert (pane.typed, pane.pressed) == ("what a person", [])


GONE = {
    "the-agent-died": (lambda pane: setattr(pane, "agent", None), Reason.SHELL),
    "another-agent-came": (lambda pane: vars(pane).update(agent=OTHER, typed=""), Reason.NOT_THE_AGENT),
    "copy-mode": (lambda pane: setattr(pane, "in_mode", True), Reason.COPY_MODE),
    "a-dialog-came-up": (lambda pane: setattr(pane, "dialog", True), Reason.DIALOG),
    "somebody-typed": (lambda pane: pane.receive(" and a person"), Reason.CHANGED),
    "the-pane-is-gone": (lambda pane: setattr(pane, "gone", True), Reason.GONE),
}


@pytest.mark.parametrize("moment", [("look", 1), ("press", 1)], ids=["after-the-paste", "just-before-enter"])
@pytest.mark.parametrize(("happens", "reason"), GONE.values(), ids=GONE.keys())
def test_what_happens_between_the_paste_and_enter_stops_it(
    happens: Callable[[FakePane], None], reason: Reason, moment: tuple[str, int]
) -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    in_between(panes, *moment, lambda: happens(pane))
    assert types(panes) == Unconfirmed(reason)
    assert (pane.submitted, pane.executed, pane.pressed) == ([], [], [])


def test_an_enter_that_was_lost_is_pressed_once_more() -> None:
    pane = a_pane(deaf=1)
    assert types(FakePanes(pane)) == Typed(By.PANE)
    assert (pane.submitted, pane.pressed) == (["go on"], [Key.ENTER, Key.ENTER])


def test_enter_is_pressed_twice_at_most_and_the_text_never_pasted_again() -> None:
    pane = a_pane(deaf=100)
    assert types(FakePanes(pane)) == Unconfirmed(Reason.NOT_TAKEN)
    assert (pane.typed, pane.pressed) == ("go on", [Key.ENTER, Key.ENTER])


def test_what_does_not_show_is_not_submitted() -> None:
    pane = a_pane(shows=False)
    assert types(FakePanes(pane)) == Unconfirmed(Reason.NOT_SEEN)
    assert (pane.typed, pane.pressed) == ("go on", [])


def test_a_plain_agent_may_show_nothing_of_it() -> None:
    pane = a_pane(boxed=False, shows=False)
    assert types(FakePanes(pane), wanted=Wanted(PLAIN)) == Typed(By.PANE)
    assert (pane.submitted, pane.pressed) == (["go on"], [Key.ENTER])


def test_line_breaks_reach_only_those_who_take_them_in_a_paste() -> None:
    one, other, third = a_pane(boxed=False), a_pane(boxed=False), a_pane()
    types(FakePanes(one), "a\nb", wanted=Wanted(PLAIN))
    types(FakePanes(other), "a\nb", wanted=Wanted(plain(lines=True)))
    types(FakePanes(third), "a\nb")
    assert (one.submitted, other.submitted, third.submitted) == (["a b"], ["a\nb"], ["a\nb"])


def test_no_answer_before_the_paste_is_a_reason_to_wait() -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    panes.hangs = True
    assert types(panes) == Deferred(Reason.UNANSWERED)
    assert pane.typed == ""


@pytest.mark.parametrize("asked", ["paste", "press"])
def test_a_lost_answer_to_an_act_is_never_a_reason_to_do_it_again(asked: str) -> None:
    pane = a_pane()
    panes = FakePanes(pane)
    in_between(panes, asked, 1, lambda: setattr(panes, "loses_replies", True))
    assert types(panes) == Unconfirmed(Reason.UNANSWERED)
    assert [*pane.submitted, pane.typed] == ({"paste": ["go on"], "press": ["go on", ""]}[asked])


def test_two_messages_to_one_pane_come_one_after_the_other() -> None:
    pane = a_pane()

    async def main(_: object) -> list[Outcome]:
        typist = Typist(FakePanes(pane))
        return await asyncio.gather(
            *(typist.type("socket", "work", Message(text), Wanted(CLAUDE)) for text in ("one", "two", "three"))
        )

    assert run_simulated(main) == [Typed(By.PANE)] * 3
    assert pane.submitted == ["one", "two", "three"]


def interrupts(panes: FakePanes, **more: Any) -> Outcome:
    async def main(_: object) -> Outcome:
        return await Typist(panes).interrupt("socket", "work", Wanted(CLAUDE), **more)

    outcome: Outcome = run_simulated(main)
    return outcome


def test_a_busy_agent_is_interrupted_by_its_own_key() -> None:
    pane = a_pane(busy=True)
    assert interrupts(FakePanes(pane)) == Typed(By.PANE)
    assert pane.pressed == [Key.ESCAPE]


def test_an_agent_that_is_not_busy_is_not_interrupted() -> None:
    pane = a_pane()
    assert interrupts(FakePanes(pane)) == Deferred(Reason.NOT_BUSY)
    assert pane.pressed == []


def test_an_agent_that_goes_on_is_pressed_a_few_times_and_no_more() -> None:
    pane = a_pane()

    async def busy() -> bool:
        return True

    assert interrupts(FakePanes(pane), busy=busy) == Unconfirmed(Reason.NOT_TAKEN)
    assert pane.pressed == [Key.ESCAPE] * 3


@pytest.mark.parametrize(
    ("state", "reason"),
    [({"dialog": True}, Reason.DIALOG), ({"typed": "half"}, Reason.HALF_TYPED), ({"in_mode": True}, Reason.COPY_MODE)],
    ids=["a-dialog-it-would-answer", "a-line-it-could-erase", "copy-mode"],
)
def test_what_the_key_would_do_something_else_to_is_not_interrupted(state: dict[str, Any], reason: Reason) -> None:
    pane = a_pane(busy=True, **state)
    assert interrupts(FakePanes(pane)) == Deferred(reason)
    assert pane.pressed == []


@pytest.mark.parametrize(("back", "left"), [("go on", ""), ("a person's", "a person's")], ids=["ours", "a-persons"])
def test_what_the_agent_puts_back_is_erased_only_if_it_is_ours(back: str, left: str) -> None:
    pane = a_pane(busy=True)
    panes = FakePanes(pane)
    in_between(panes, "find", 2, lambda: setattr(pane, "typed", back))
    assert interrupts(panes, ours="go on") == Typed(By.PANE)
    assert pane.typed == left
