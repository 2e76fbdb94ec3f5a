"""What is typed, for whom, and how it went. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argus.host.identity import Identity
from argus.typist.kinds import Kind


class Reason(StrEnum):
    """Why nothing, or not all, was done."""

    NO_SESSION = "no session of exactly that name"
    SEVERAL_PANES = "several panes could be meant"
    GONE = "the pane is gone"
    DEAD = "the pane's program has ended"
    SHELL = "a shell has the pane: it would run what is typed"
    NOT_THE_AGENT = "the pane is not the agent's"
    STOPPED = "the agent is stopped and reads nothing"
    INPUT_OFF = "the pane takes no input"
    SYNCHRONIZED = "what is typed there is typed into other panes too"
    COPY_MODE = "the pane is in copy mode"
    DIALOG = "a dialog is open"
    NO_PROMPT = "there is no prompt to type at"
    HALF_TYPED = "somebody has begun to type"
    CHANGED = "the pane changed meanwhile"
    EMPTY = "there is nothing to type"
    TOO_LONG = "the text is too long"
    COMMAND = "the text would be read as a command"
    NOT_BUSY = "there is nothing to interrupt"
    OTHER_COMMAND = "another command would have been run"
    NOT_SEEN = "it was pasted and does not show"
    NOT_TAKEN = "Enter was pressed and nothing tells that it was taken"
    NO_DIALOG = "no question for leave is open that can be read"
    OTHER_DIALOG = "another question is open"
    NO_SUCH_CHOICE = "no choice means exactly that, for this once"
    NOT_WHOLE = "not all of the question is on the screen"
    UNANSWERED = "tmux did not answer"


LATER = frozenset(
    {
        Reason.STOPPED,
        Reason.INPUT_OFF,
        Reason.SYNCHRONIZED,
        Reason.COPY_MODE,
        Reason.DIALOG,
        Reason.NO_PROMPT,
        Reason.HALF_TYPED,
        Reason.CHANGED,
        Reason.NOT_BUSY,
        Reason.UNANSWERED,
    }
)
"""What passes by itself, or by what a person is just doing. The others need something else to change first."""


class By(StrEnum):
    SIGNAL = "signal"
    PANE = "pane"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whose pane it must be. Without the process, any of that kind will do."""

    kind: Kind
    agent: Identity | None = None


@dataclass(frozen=True, slots=True)
class Message:
    text: str
    command: bool = False
    """Meant as one, such as `/clear`. What is not, and would be read as one, is refused."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Pasted and submitted, once."""

    by: By


@dataclass(frozen=True, slots=True)
class Deferred:
    """Nothing of it is there. It can be tried again later."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing of it is there, and trying again as things stand is no use."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """It may stand in the pane, or have been submitted. A person should look; typing it again could double it."""

    reason: Reason


Outcome = Typed | Deferred | Refused | Unconfirmed


def held(reason: Reason) -> Deferred | Refused:
    return Deferred(reason) if reason in LATER else Refused(reason)
