"""What the next step of a handoff is, in every situation that can come up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.core.clock import Stamp
from argus.core.errors import Code
from argus.sessions.handoff import (
    CallOff,
    Decision,
    Facts,
    Fail,
    Handoff,
    Interrupt,
    Limits,
    Move,
    Paper,
    Step,
    Type,
    Wait,
    asks,
    decide,
    nudges,
    resumes,
)
from argus.sessions.model import Activity

PATH = "/work/shop/.bmad/handoffs/handoff-2026-11-15-22-00.md"
IDLE, WORKING, UNKNOWN = Activity.IDLE, Activity.WORKING, Activity.UNKNOWN
WHOLE, GROWING, EMPTY = Paper(500, 30.0), Paper(500, 1.0), Paper(0, 30.0)
LIMITS = Limits()


def at(seconds: float) -> Stamp:
    return Stamp("boot", 1000.0 + seconds, 5000.0 + seconds)


def handoff(step: Step, **more: object) -> Handoff:
    return replace(Handoff("h1", PATH, 86, step, at(0), at(0)), **more)  # type: ignore[arg-type]


def facts(seconds: float = 1.0, activity: Activity = IDLE, paper: Paper | None = None, **more: object) -> Facts:
    return replace(Facts(at(seconds), activity, 2, paper), **more)  # type: ignore[arg-type]


def said(one: Handoff, seen: Facts) -> Decision:
    return decide(one, seen, LIMITS, "/clear")


ASKING, WRITING = handoff(Step.ASKING), handoff(Step.WRITING)
CLEARING, RESUMING = handoff(Step.CLEARING), handoff(Step.RESUMING)
CLEARED, TOLD = replace(CLEARING, tries=1), replace(RESUMING, tries=1)


@pytest.mark.parametrize(
    ("one", "seen", "expected"),
    [
        pytest.param(ASKING, facts(), Type(asks(ASKING)), id="it-is-asked"),
        pytest.param(ASKING, facts(200), Type(asks(ASKING)), id="what-could-not-be-typed-is-tried-again"),
        pytest.param(
            replace(ASKING, uncertain=True),
            facts(),
            Move(Step.WRITING),
            id="what-may-be-asked-is-not-asked-twice",
        ),
        pytest.param(WRITING, facts(), Wait(), id="it-waits-for-the-document"),
        pytest.param(WRITING, facts(paper=EMPTY), Wait(), id="an-empty-document-is-none"),
        pytest.param(WRITING, facts(paper=GROWING), Wait(), id="one-that-just-grew-is-waited-for"),
        pytest.param(WRITING, facts(paper=WHOLE), Move(Step.CLEARING), id="one-that-rests-is-complete"),
        pytest.param(
            WRITING, facts(activity=WORKING, paper=Paper(500, 4)), Wait(), id="while-it-works-it-must-rest-longer"
        ),
        pytest.param(
            WRITING, facts(activity=UNKNOWN, paper=Paper(500, 4)), Wait(), id="while-nobody-knows-it-must-rest-longer"
        ),
        pytest.param(
            WRITING, facts(activity=WORKING, paper=WHOLE), Move(Step.CLEARING), id="then-it-is-complete-all-the-same"
        ),
        pytest.param(WRITING, facts(121), Type(nudges(WRITING), nudge=True), id="half-way-it-is-nudged"),
        pytest.param(replace(WRITING, nudged=True), facts(121), Wait(), id="and-only-once"),
        pytest.param(WRITING, facts(121, paper=GROWING), Wait(), id="who-writes-is-not-nudged"),
        pytest.param(
            WRITING,
            facts(9999, paper=WHOLE),
            Move(Step.CLEARING),
            id="a-document-that-came-meanwhile-counts",
        ),
        pytest.param(CLEARING, facts(paper=WHOLE), Type("/clear", command=True), id="it-is-cleared"),
        pytest.param(CLEARING, facts(10, WORKING, WHOLE), Wait(), id="who-works-may-come-to-an-end"),
        pytest.param(CLEARING, facts(21, WORKING, WHOLE), Interrupt(), id="and-is-interrupted-then"),
        pytest.param(CLEARING, facts(paper=WHOLE, readings=1), Wait(), id="one-reading-is-not-enough-to-clear"),
        pytest.param(CLEARING, facts(activity=UNKNOWN, paper=WHOLE), Wait(), id="what-is-not-known-is-not-cleared"),
        pytest.param(
            CLEARING, facts(activity=Activity.WAITING_FOR_PERMISSION, paper=WHOLE), Wait(), id="an-open-question-is-not"
        ),
        pytest.param(CLEARING, facts(paper=GROWING), Wait(), id="what-is-being-written-again-is-waited-for"),
        pytest.param(CLEARED, facts(paper=WHOLE), Wait(), id="it-waits-for-the-clear-to-show"),
        pytest.param(CLEARED, facts(paper=WHOLE, cleared=True), Move(Step.RESUMING), id="it-was-cleared"),
        pytest.param(
            replace(CLEARED, uncertain=True),
            facts(16, paper=WHOLE),
            Type("/clear", command=True),
            id="a-clear-that-never-arrived-is-typed-again",
        ),
        pytest.param(
            replace(CLEARED, uncertain=True),
            facts(16, paper=WHOLE, tells=False),
            Wait(),
            id="one-that-tells-nothing-may-have-got-it",
        ),
        pytest.param(RESUMING, facts(), Type(resumes(RESUMING)), id="the-work-is-taken-up"),
        pytest.param(TOLD, facts(), Wait(), id="it-waits-until-that-shows"),
        pytest.param(TOLD, facts(taken=True), Move(Step.DONE), id="it-was-taken-up"),
        pytest.param(handoff(Step.DONE), facts(), Wait(), id="what-is-over-is-over"),
    ],
)
def test_next(one: Handoff, seen: Facts, expected: Decision):
    assert said(one, seen) == expected


@pytest.mark.parametrize(
    ("one", "seen", "code"),
    [
        pytest.param(ASKING, facts(241), Code.PANE_NOT_READY, id="it-could-never-be-asked"),
        pytest.param(WRITING, facts(241), Code.HANDOFF_TIMEOUT, id="the-document-never-came"),
        pytest.param(WRITING, facts(241, paper=GROWING), Code.HANDOFF_TIMEOUT, id="it-never-stopped-growing"),
        pytest.param(WRITING, facts(paper=Paper(5, 9, "a link")), Code.INVALID_STATE, id="it-is-a-link"),
        pytest.param(CLEARING, facts(), Code.INVALID_STATE, id="the-document-is-gone-again"),
        pytest.param(CLEARING, facts(61, UNKNOWN, WHOLE), Code.PANE_NOT_READY, id="it-could-not-be-cleared"),
        pytest.param(CLEARED, facts(31, paper=WHOLE), Code.HANDOFF_TIMEOUT, id="the-clear-never-showed"),
        pytest.param(RESUMING, facts(61), Code.PANE_NOT_READY, id="nobody-could-type-the-last-line"),
        pytest.param(TOLD, facts(31), Code.HANDOFF_TIMEOUT, id="nobody-took-it-up"),
    ],
)
def test_it_fails_when(one: Handoff, seen: Facts, code: Code):
    decision = said(one, seen)
    assert isinstance(decision, Fail)
    assert decision.code is code


papers = st.none() | st.builds(Paper, st.integers(0, 10), st.floats(0, 100), st.sampled_from(["", "", "a link"]))
any_facts = st.builds(
    Facts,
    st.floats(0, 1000).map(at),
    st.sampled_from(Activity),
    st.integers(0, 3),
    papers,
    st.booleans(),
    st.booleans(),
)
handoffs = st.builds(
    Handoff,
    st.just("h"),
    st.just(PATH),
    st.integers(0, 100),
    st.sampled_from(Step),
    st.just(at(0)),
    st.just(at(0)),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=500)
@given(handoffs, any_facts)
def test_nothing_is_cleared_without_the_whole_document_two_readings_and_a_quiet_agent(one: Handoff, seen: Facts):
    decision = said(one, seen)
    if isinstance(decision, Type) and decision.command:
        assert one.step is Step.CLEARING
        assert seen.paper is not None
        assert seen.paper.size > 0
        assert not seen.paper.problem
        assert seen.paper.rested >= LIMITS.settle
        assert seen.readings >= 2
        assert seen.activity in (IDLE, Activity.WAITING_FOR_INPUT)
        assert one.tries == 0 or (one.uncertain and one.tries < 2)


SMALL = "its context is read as 6 % by now"
UNSURE = {"tries": 1, "uncertain": True}


@pytest.mark.parametrize(
    ("one", "seen", "expected"),
    [
        (ASKING, facts(enough=SMALL), CallOff(SMALL)),
        (CLEARING, facts(paper=WHOLE, enough=SMALL), CallOff(SMALL)),
        (replace(CLEARING, wanted=True), facts(paper=WHOLE, enough=SMALL), Type("/clear", command=True)),
        (CLEARED, facts(paper=WHOLE, enough=SMALL, cleared=True), Move(Step.RESUMING)),
        (WRITING, facts(enough=SMALL), Wait()),
        (RESUMING, facts(enough=SMALL), Type(resumes(RESUMING))),
    ],
)
def test_one_that_nobody_asked_for_is_called_off_before_anything_is_destroyed(
    one: Handoff, seen: Facts, expected: Decision
):
    assert said(one, seen) == expected


@pytest.mark.parametrize(
    ("one", "seen", "expected"),
    [
        (replace(ASKING, **UNSURE), facts(left=True), Type(asks(ASKING), left=True)),
        (replace(CLEARING, **UNSURE), facts(left=True, paper=WHOLE), Type("/clear", command=True, left=True)),
        (replace(CLEARING, **UNSURE), facts(left=True, paper=WHOLE, activity=WORKING), Wait()),
        (replace(CLEARING, **UNSURE), facts(paper=WHOLE), Wait()),
        (replace(RESUMING, **UNSURE), facts(left=True), Type(resumes(RESUMING), left=True)),
        (replace(RESUMING, tries=3, uncertain=True), facts(left=True), Wait()),
        (replace(RESUMING, tries=1), facts(left=True), Wait()),
    ],
)
def test_what_stands_at_the_prompt_since_an_argus_died_is_only_submitted(one: Handoff, seen: Facts, expected: Decision):
    assert said(one, seen) == expected


@pytest.mark.parametrize("wanted", [False, True])
def test_what_a_person_asked_for_after_the_document_is_never_cleared_away(wanted: bool):
    one = replace(CLEARING, wanted=wanted)
    assert isinstance(said(one, facts(paper=WHOLE, spoken=True)), CallOff)
    assert said(replace(one, tries=1), facts(paper=WHOLE, spoken=True, cleared=True)) == Move(Step.RESUMING)


def test_while_a_person_is_asked_for_leave_the_time_for_the_document_does_not_run_out():
    late = LIMITS.timeout + 1
    assert isinstance(said(WRITING, facts(late)), Fail)
    assert said(WRITING, facts(late, Activity.WAITING_FOR_PERMISSION, asked=at(late))) == Wait()
    assert isinstance(said(WRITING, facts(2 * late, asked=at(late - 1))), Fail)
