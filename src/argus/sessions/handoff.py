"""The handoff of one session, step by step: asked for, written, cleared, taken up. Pure.

Without the complete document that was asked for, the context is never cleared. Any step that fails ends it, and nothing
is destroyed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argus.core.clock import Stamp, age
from argus.core.errors import Code
from argus.sessions.model import Activity

_QUIET = frozenset({Activity.IDLE, Activity.WAITING_FOR_INPUT})
_UNSURE = 5
"""How many times longer a document must have rested while its writer may still be at it."""
_BREATH = 20.0
"""Seconds that an agent has to end what it does by itself before it is interrupted."""
_READY = 60.0
"""Seconds in which it must be possible to clear, or to type the next step."""
_CONFIRM = 30.0
"""Seconds in which the agent must show that it took what was typed."""
_TRIES = 2
"""Of typing one step: a second one only when the first is known not to have arrived."""


class Step(StrEnum):
    ASKING = "asking"
    WRITING = "writing"
    CLEARING = "clearing"
    RESUMING = "resuming"
    DONE = "done"
    FAILED = "failed"
    CALLED_OFF = "called off"
    """It turned out not to be needed. Nothing was cleared."""


@dataclass(frozen=True, slots=True)
class Handoff:
    id: str
    path: str
    percent: int | None
    step: Step
    began: Stamp
    since: Stamp
    """When this step began, or was last typed."""
    tries: int = 0
    """How often this step was typed; on record before it was."""
    uncertain: bool = False
    """An Argus ended while it typed this step: it may be there, or not."""
    nudged: bool = False
    conversation: str = ""
    """The agent's own id of what is handed on."""
    reason: str = ""
    """Why the last try did not go, or why it failed."""
    wanted: bool = False
    """Somebody asked for it: no reading calls it off."""
    left: str = ""
    """A line of ours that may still stand at the prompt, and that nobody wants submitted any more."""

    @property
    def is_over(self) -> bool:
        return self.step in (Step.DONE, Step.FAILED, Step.CALLED_OFF)


@dataclass(frozen=True, slots=True)
class Paper:
    """The document as it lies there."""

    size: int
    rested: float
    """Seconds for which nobody has seen it change."""
    problem: str = ""
    """Why it is none: a link, a folder, outside of the project."""
    written: float = 0.0
    """Seconds since it changed last, which may have been a while before anybody saw it."""


@dataclass(frozen=True, slots=True)
class Facts:
    now: Stamp
    activity: Activity
    readings: int
    """How many were taken just now: a clear needs two."""
    paper: Paper | None = None
    cleared: bool = False
    """Told since this step began: another conversation, or the agent's own word."""
    taken: bool = False
    """Told since this step began: it works on what was typed."""
    tells: bool = True
    """Whether the agent says anything of itself: only then is it known that something never arrived."""
    left: bool = False
    """What this step types stands at the prompt: an Argus ended before it pressed Enter."""
    asked: Stamp | None = None
    """When a person was last seen to be asked for leave: such waiting is not the agent's."""
    spoken: bool = False
    """Somebody gave it something else to do since the document was written."""
    enough: str = ""
    """The context as it is read now, where that is far from full."""


@dataclass(frozen=True, slots=True)
class Limits:
    timeout: float = 240.0
    settle: float = 3.0
    needless: float = 0.0
    """The share of the context below which one that nobody asked for is called off."""


@dataclass(frozen=True, slots=True)
class Wait:
    pass


@dataclass(frozen=True, slots=True)
class Type:
    text: str
    command: bool = False
    nudge: bool = False
    left: bool = False
    """Only Enter is missing."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    pass


@dataclass(frozen=True, slots=True)
class Move:
    step: Step


@dataclass(frozen=True, slots=True)
class Fail:
    why: str
    code: Code = Code.HANDOFF_TIMEOUT


@dataclass(frozen=True, slots=True)
class CallOff:
    why: str


Decision = Wait | Type | Interrupt | Move | Fail | CallOff


def asks(handoff: Handoff) -> str:
    full = "" if handoff.percent is None else f" - context at {handoff.percent}%"
    return f"Create handoff document now{full}. Write it to {handoff.path}"


def nudges(handoff: Handoff) -> str:
    return f"The handoff document is not there yet. Create handoff document now. Write it to {handoff.path}"


def resumes(handoff: Handoff) -> str:
    return f"Read handoff from {handoff.path} and resume work"


def typed_at(handoff: Handoff, clear: str) -> str:
    """What this step types."""
    match handoff.step:
        case Step.ASKING:
            return asks(handoff)
        case Step.WRITING:
            return nudges(handoff)
        case Step.CLEARING:
            return clear
        case _:
            return resumes(handoff)


def decide(handoff: Handoff, facts: Facts, limits: Limits, clear: str) -> Decision:
    match handoff.step:
        case Step.ASKING:
            return _asking(handoff, facts, limits)
        case Step.WRITING:
            return _writing(handoff, facts, limits)
        case Step.CLEARING:
            return _clearing(handoff, facts, limits, clear)
        case Step.RESUMING:
            return _resuming(handoff, facts)
        case _:
            return Wait()


def _asking(handoff: Handoff, facts: Facts, limits: Limits) -> Decision:
    if _may_finish(handoff, facts):
        return Type(asks(handoff), left=True)
    if handoff.uncertain or facts.paper is not None:
        return Move(Step.WRITING)  # it may have been asked; if it was not, the nudge asks
    if facts.enough and not handoff.wanted:
        return CallOff(facts.enough)
    if age(handoff.began, facts.now) > limits.timeout:
        return Fail(f"it could not be asked: {handoff.reason or 'nobody could type'}", Code.PANE_NOT_READY)
    return Type(asks(handoff))


def _writing(handoff: Handoff, facts: Facts, limits: Limits) -> Decision:
    paper, waited = facts.paper, _waited(handoff, facts)
    if _may_finish(handoff, facts):
        return Type(nudges(handoff), nudge=True, left=True)
    if paper is not None and paper.problem:
        return Fail(f"the document is not one: {paper.problem}", Code.INVALID_STATE)
    if _is_complete(facts, limits):
        return Move(Step.CLEARING)
    if waited > limits.timeout:
        missing = "is not there" if paper is None else "is empty" if paper.size == 0 else "is still being written"
        return Fail(f"the handoff document {missing} after {limits.timeout:g} s")
    if paper is None and not handoff.nudged and waited > limits.timeout / 2:
        return Type(nudges(handoff), nudge=True)
    return Wait()


def _clearing(handoff: Handoff, facts: Facts, limits: Limits, clear: str) -> Decision:
    if facts.cleared:
        return Move(Step.RESUMING)
    waited, finishes = _waited(handoff, facts), _may_finish(handoff, facts)
    if not finishes and not _may_type(handoff, facts, waited):
        return Wait() if waited <= _CONFIRM else Fail("nothing shows that the context was cleared")
    if facts.spoken:
        return CallOff("somebody gave it something to do that the document does not know of")
    if facts.enough and not handoff.wanted:
        return CallOff(facts.enough)
    if not _is_there(facts.paper):
        return Fail("the handoff document is gone, and nothing was cleared", Code.INVALID_STATE)
    if waited > _READY:
        return Fail(f"it could not be cleared: {handoff.reason or facts.activity.value}", Code.PANE_NOT_READY)
    if facts.activity is Activity.WORKING:
        return Wait() if waited <= _BREATH else Interrupt()
    # Where our own line stands at its prompt, one that tells nothing of itself rests.
    quiet = facts.activity in _QUIET or (finishes and facts.activity is Activity.UNKNOWN)
    if facts.readings < 2 or not quiet or not _is_complete(facts, limits):
        return Wait()  # what is not known, asks somebody something, or is being written again is not cleared
    return Type(clear, command=True, left=finishes)


def _resuming(handoff: Handoff, facts: Facts) -> Decision:
    if facts.taken:
        return Move(Step.DONE)
    waited = _waited(handoff, facts)
    if _may_finish(handoff, facts):
        return Type(resumes(handoff), left=True)
    if _may_type(handoff, facts, waited):
        if waited > _READY:
            return Fail(f"the work could not be taken up: {handoff.reason or 'nobody could type'}", Code.PANE_NOT_READY)
        return Type(resumes(handoff))
    return Wait() if waited <= _CONFIRM else Fail("nothing shows that the work was taken up")


def _may_type(handoff: Handoff, facts: Facts, waited: float) -> bool:
    """The first time; and once more where an Argus that died may or may not have, and nothing came of it."""
    again = handoff.uncertain and facts.tells and handoff.tries < _TRIES and waited > _CONFIRM / 2
    return handoff.tries == 0 or again


def _may_finish(handoff: Handoff, facts: Facts) -> bool:
    return handoff.uncertain and facts.left and handoff.tries <= _TRIES


def _waited(handoff: Handoff, facts: Facts) -> float:
    """Anew from when a person was last asked for leave: an agent that may not write does nothing until it may."""
    waited = age(handoff.since, facts.now)
    return waited if facts.asked is None else min(waited, age(facts.asked, facts.now))


def _is_there(paper: Paper | None) -> bool:
    return paper is not None and not paper.problem and paper.size > 0


def _is_complete(facts: Facts, limits: Limits) -> bool:
    paper = facts.paper
    if paper is None or not _is_there(paper):
        return False
    needed = limits.settle if facts.activity in _QUIET else limits.settle * _UNSURE
    return paper.rested >= needed
