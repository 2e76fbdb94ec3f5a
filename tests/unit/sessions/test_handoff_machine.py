"""The handoff as a state machine: whatever befalls the agent, its document and Argus, in any order.

The sessions run unchanged on simulated time; the rules are what happens to them. Each bug that is put in on purpose is
found.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.unit.sessions.terminal import Document, Kind, Terminal

from argus.core.errors import ArgusError
from argus.sessions import handoff as policy
from argus.sessions import session as sessions
from argus.sessions.handing import Handing
from argus.sessions.handoff import Decision, Facts, Fail, Handoff, Limits, Wait
from argus.sessions.model import Activity
from argus.testing import SimulatedLoop

BOUND = 2 * 240.0 + 2 * (60.0 + 3 * 30.0) + 30.0
"""Seconds: to be asked, to write, and for each of two steps to get ready and to be confirmed, with what may be typed
once more after a kill."""


class HandingOn(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=SimulatedLoop)

    @initialize(kind=st.sampled_from(["hooks", "hooks", "transcript", "plain"]), readable=st.booleans())
    def begin(self, kind: Kind, readable: bool) -> None:
        loop = self.runner.get_loop()
        assert isinstance(loop, SimulatedLoop)
        self.do(self._begin(loop, kind, readable=readable or kind != "hooks"))

    async def _begin(self, loop: SimulatedLoop, kind: Kind, *, readable: bool) -> None:
        self.world = Terminal(loop, kind, is_readable=readable)
        await self.world.up()
        await self.world.passes(1.0)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.do(self.world.end())
        self.runner.close()

    def do(self, what: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(what)

    def calls(self, what: Callable[[], None]) -> None:
        """In the loop, as everything that Argus hears."""

        async def call() -> None:
            what()

        self.do(call())

    def is_up(self) -> bool:
        return self.world.argus is not None

    def is_free(self) -> bool:
        """Nobody does anything in the half second in which a line is pasted and submitted."""
        return self.world.is_there and not self.world.is_typing

    def document(self) -> Document | None:
        truth = self.world.truth
        return self.world.documents.get(truth.paths[truth.current]) if truth.current else None

    # People.

    @precondition(lambda self: self.is_up() and self.is_free())
    @rule(seconds=st.sampled_from([0.0, 3.0]))
    def somebody_asks_for_a_handoff(self, seconds: float) -> None:
        assert self.world.argus is not None
        with contextlib.suppress(ArgusError):
            self.do(self.world.argus.hand_off("p", "me"))
        self.do(self.world.passes(seconds))

    @precondition(lambda self: self.is_free() and not self.world.prompt)
    @rule()
    def a_person_gives_it_something_to_do(self) -> None:
        self.calls(lambda: self.world.person_asks("and now the other thing"))

    @precondition(lambda self: self.is_up() and self.is_free())
    @rule()
    def a_person_gives_it_something_to_do_through_argus(self) -> None:
        self.do(self._tell())

    async def _tell(self) -> None:
        assert self.world.argus is not None
        with contextlib.suppress(ArgusError):
            await self.world.argus.tell("p", "and now the other thing")
            if self.world.kind == "hooks" and not self.world.is_deaf:
                self.world.heard_person = self.world.clock.wall()

    @precondition(lambda self: self.is_free() and not self.world.prompt)
    @rule()
    def a_person_begins_to_type_or_erases_it(self) -> None:
        self.world.half_typed = not self.world.half_typed

    # The agent.

    @precondition(lambda self: self.is_free() and self.world.state is Activity.WORKING)
    @rule(seconds=st.sampled_from([0.0, 10.0]))
    def it_comes_to_rest(self, seconds: float) -> None:
        self.calls(lambda: self.world.tell(Activity.IDLE, "Stop"))
        self.do(self.world.passes(seconds))

    @precondition(lambda self: self.is_free() and self.world.state is Activity.WORKING)
    @rule()
    def it_works_on(self) -> None:
        self.calls(lambda: self.world.tell(Activity.WORKING, "PostToolUse"))

    @precondition(lambda self: self.is_free() and self.world.kind == "hooks")
    @rule()
    def it_asks_for_leave_or_is_answered(self) -> None:
        asks = self.world.state is Activity.WORKING
        if asks or self.world.state is Activity.WAITING_FOR_PERMISSION:
            state = Activity.WAITING_FOR_PERMISSION if asks else Activity.WORKING
            self.calls(lambda: self.world.tell(state, "PermissionRequest" if asks else "PostToolUse"))

    @precondition(is_free)
    @rule(used=st.sampled_from([30_000, 180_000]))
    def its_context_is(self, used: int) -> None:
        self.world.used = used
        self.calls(lambda: self.world.tell(self.world.state, "status"))

    @rule(
        deaf=st.sampled_from([False, False, True]),
        unsure=st.booleans(),
        seen=st.sampled_from([True, True, False]),
        stubborn=st.booleans(),
    )
    def from_now_on_it_is_so(self, deaf: bool, unsure: bool, seen: bool, stubborn: bool) -> None:
        """Whether what is submitted is taken, and whether that shows; whether its prompt can be read; and whether it
        can be interrupted."""
        self.world.is_deaf, self.world.is_unsure = deaf, unsure
        self.world.is_seen, self.world.is_stubborn = seen, stubborn

    @precondition(lambda self: not self.world.is_typing)
    @rule(seconds=st.sampled_from([5.0, 70.0]))
    def the_agent_goes_and_another_one_comes(self, seconds: float) -> None:
        self.world.goes()
        self.do(self.world.passes(seconds))
        self.calls(self.world.another_comes)

    # The document.

    @precondition(lambda self: bool(self.world.truth.current))
    @rule(seconds=st.sampled_from([0.0, 5.0, 30.0]), size=st.sampled_from([0, 400]))
    def the_document_appears_and_rests(self, seconds: float, size: int) -> None:
        truth = self.world.truth
        self.world.documents[truth.paths[truth.current]] = Document(size, self.world.clock.wall())
        self.do(self.world.passes(seconds))

    @precondition(lambda self: self.document() is not None)
    @rule(writing=st.booleans(), seconds=st.sampled_from([0.0, 5.0, 30.0]))
    def the_document_is_being_written_or_complete(self, writing: bool, seconds: float) -> None:
        document = self.document()
        assert document is not None
        document.is_being_written, document.modified = writing, self.world.clock.wall()
        self.do(self.world.passes(seconds))

    @precondition(lambda self: self.document() is not None)
    @rule(how=st.sampled_from(["gone", "a link", "empty"]))
    def the_document_is_spoilt(self, how: str) -> None:
        document, truth = self.document(), self.world.truth
        assert document is not None
        if how == "gone":
            del self.world.documents[truth.paths[truth.current]]
        elif how == "empty":
            document.size, document.is_being_written, document.modified = 0, False, self.world.clock.wall()
        else:
            document.problem = how

    @rule()
    def an_old_document_lies_there(self) -> None:
        truth, documents = self.world.truth, self.world.documents
        if not truth.is_under_way:
            documents[f"/work/p/.bmad/handoffs/handoff-{len(documents) + 1}.md"] = Document(900, 1.0)

    # Time, and Argus.

    @rule(seconds=st.sampled_from([0.1, 1.0, 4.0, 20.0, 35.0, 70.0, 125.0, 250.0]))
    def time_passes(self, seconds: float) -> None:
        self.do(self.world.passes(seconds))

    @precondition(is_up)
    @rule(down=st.sampled_from([0.1, 5.0, 100.0]))
    def argus_is_killed_and_comes_back(self, down: float) -> None:
        self.do(self._again(down))

    @precondition(is_up)
    @rule(
        place=st.sampled_from(["recorded", "pasted", "submitted"]),
        down=st.sampled_from([0.1, 20.0]),
        then=st.sampled_from([0.0, 20.0, 50.0]),
    )
    def argus_is_killed_while_it_types(self, place: str, down: float, then: float) -> None:
        self.do(self._cut(place, down, then))

    async def _cut(self, place: str, down: float, then: float) -> None:
        world = self.world
        world.cut_at, world.is_reached = place, False
        if not world.truth.is_under_way and world.argus is not None:
            with contextlib.suppress(ArgusError):
                await world.argus.hand_off("p", "me")
        for _ in range(300):
            if world.is_reached:
                break
            await world.passes(0.5)
        await self._again(down)
        await world.passes(then)

    async def _again(self, down: float) -> None:
        await self.world.kill()
        await self.world.passes(down)
        await self.world.up()
        assert self.world.argus is not None
        is_handing_off = self.world.argus.find("p").session.is_handing_off
        assert is_handing_off == self.world.truth.is_under_way, "what is on record is not enough to go on"
        await self.world.passes(0.0)

    @precondition(is_free)
    @rule(
        how=st.sampled_from(["complete", "complete", "in pieces", "empty"]),
        speaks=st.sampled_from(["", "", "before", "after"]),
        rests=st.booleans(),
        seconds=st.sampled_from([0.0, 6.0, 20.0]),
    )
    def a_handoff_gets_as_far_as_its_document(self, how: str, speaks: str, rests: bool, seconds: float) -> None:
        """As most do: without it, few would ever get as far as a clear. Meanwhile a person may ask for more."""
        self.do(self._written(how, speaks, rests=rests))
        self.do(self.world.passes(seconds))

    async def _written(self, how: str, speaks: str, *, rests: bool) -> None:
        world, truth = self.world, self.world.truth
        world.is_deaf = world.half_typed = False
        world.is_seen = True
        if world.state is not Activity.IDLE:
            world.tell(Activity.IDLE, "Stop")
        if not truth.is_under_way and world.argus is not None:
            with contextlib.suppress(ArgusError):
                await world.argus.hand_off("p", "me")
        await world.passes(4.0)
        if not truth.is_under_way or world.state is not Activity.WORKING or world.is_typing:
            return
        if speaks == "before":
            world.person_asks("and now the other thing")
        size, writing = 0 if how == "empty" else 400, how == "in pieces"
        world.documents[truth.paths[truth.current]] = Document(size, world.clock.wall(), writing)
        await world.passes(0.5)
        if speaks == "after":
            world.person_asks("and now the other thing")
        if rests:
            world.tell(Activity.IDLE, "Stop")

    @rule()
    def left_to_itself_nothing_of_it_stays_behind(self) -> None:
        world = self.world
        world.half_typed = world.is_deaf = world.is_unsure = world.is_stubborn = False
        world.is_seen = True
        for document in world.documents.values():
            document.is_being_written = False
        self.do(self._settle())
        assert all(len(one) == 1 for id, one in world.truth.outcomes.items() if world.truth.lasted[id] > BOUND)
        if not world.truth.is_under_way and world.is_there:
            assert world.prompt == "", "a line of ours is in everybody's way"

    async def _settle(self) -> None:
        world = self.world
        if world.is_there and not world.is_typing and world.state is not Activity.IDLE:
            world.tell(Activity.IDLE, "Stop")
        for _ in range(10):
            await world.passes(BOUND / 10)
            if world.is_there and not world.is_typing and world.state is Activity.WORKING:
                world.tell(Activity.IDLE, "Stop")

    # What always holds.

    @invariant()
    def nothing_is_cleared_without_the_complete_document_that_was_asked_for(self) -> None:
        assert all(one.is_complete for one in self.world.truth.submitted if one.destroys)

    @invariant()
    def nothing_is_cleared_that_a_person_asked_for_since(self) -> None:
        assert not any(one.is_spoken for one in self.world.truth.submitted if one.destroys)

    @invariant()
    def nobody_is_cleared_in_the_middle_of_work(self) -> None:
        assert all(one.is_at_rest for one in self.world.truth.submitted if one.destroys)

    @invariant()
    def each_line_is_taken_at_most_once(self) -> None:
        taken = Counter(
            (one.handoff, one.line)
            for one in self.world.truth.submitted
            if one.taken and (one.destroys or one.line != "clear")
        )
        assert max(taken.values(), default=0) <= 1, taken

    @invariant()
    def a_line_that_came_to_nothing_is_submitted_once_more_at_most_and_what_asks_never(self) -> None:
        lines = Counter((one.handoff, one.line) for one in self.world.truth.submitted)
        for (_, line), times in lines.items():
            assert times <= (1 if line in ("ask", "nudge") else 2), lines

    @invariant()
    def what_is_over_types_nothing(self) -> None:
        assert not any(one.was_over for one in self.world.truth.submitted)

    @invariant()
    def each_has_one_outcome_and_is_told_once(self) -> None:
        assert all(len(one) <= 1 for one in self.world.truth.outcomes.values())

    @invariant()
    def each_is_over_in_time_however_often_argus_was_killed(self) -> None:
        truth = self.world.truth
        assert all(truth.outcomes[id] for id, seconds in truth.lasted.items() if seconds > BOUND), truth.lasted


_FEW = settings(
    derandomize=True,
    deadline=None,
    max_examples=80,
    stateful_step_count=25,
    database=None,
    suppress_health_check=list(HealthCheck),
)
HandingOn.TestCase.settings = _FEW
TestHandingOn = HandingOn.TestCase


# Bugs, put in on purpose.


_decide = policy.decide
_read = sessions.read


def deciding(change: Callable[[Handoff, Facts, Limits], tuple[Handoff, Facts, Limits]]) -> AbstractContextManager[Any]:
    def decide(one: Handoff, facts: Facts, limits: Limits, clear: str) -> Decision:
        return _decide(*change(one, facts, limits), clear)

    return patch.object(policy, "decide", decide)


def _never_fails(one: Handoff, facts: Facts, limits: Limits, clear: str) -> Decision:
    decision = _decide(one, facts, limits, clear)
    return Wait() if isinstance(decision, Fail) else decision


def _forgetful(data: Mapping[str, Any]) -> sessions.Session:
    return replace(_read(data), handoff=None)


async def _hears_nobody(self: Handing, *about: Any) -> bool:
    return False


@contextlib.contextmanager
def any_document_will_do() -> Any:
    with (
        patch.object(policy, "_is_there", lambda paper: True),
        patch.object(policy, "_is_complete", lambda facts, limits: True),
    ):
        yield


BUGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "clears-without-a-document": any_document_will_do,
    "does-not-wait-until-it-rests": lambda: deciding(
        lambda one, facts, limits: (one, facts, replace(limits, settle=0))
    ),
    "does-not-hear-what-a-person-asked-for": lambda: patch.object(Handing, "_spoken", _hears_nobody),
    "clears-who-is-at-work": lambda: deciding(
        lambda one, facts, limits: (one, replace(facts, activity=Activity.IDLE), limits)
    ),
    "types-everything-again-after-a-kill": lambda: deciding(
        lambda one, facts, limits: (
            replace(one, uncertain=False, tries=0 if one.uncertain else one.tries),
            facts,
            limits,
        )
    ),
    "nudges-again-and-again": lambda: deciding(lambda one, facts, limits: (replace(one, nudged=False), facts, limits)),
    "never-gives-up": lambda: patch.object(policy, "decide", _never_fails),
    "forgets-the-step-when-it-is-killed": lambda: patch.object(sessions, "read", _forgetful),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_put_in_on_purpose_is_found(bug: str) -> None:
    quick = settings(_FEW, max_examples=400, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)
    with BUGS[bug](), pytest.raises(AssertionError):
        run_state_machine_as_test(HandingOn, settings=quick)
