"""Places where Argus can be made to die as if it were killed, so that tests can show what is left then.

Off unless ARGUS_FAILPOINT names one: `PLACE`, or `PLACE:3` for the third time it is reached. `FIRST>PLACE` counts PLACE
only once FIRST was reached: many commits pass through the store, and one of them is the intent's.
"""

from __future__ import annotations

import os
import signal
from enum import StrEnum


class Place(StrEnum):
    """Every step of a restart, in its order, and of the message about it. The tests go through all of them."""

    INTENT_PLANNED = "intent-planned"
    ACT_OPENED = "act-opened"
    """In the store's transaction."""
    COMMITTING = "committing"
    COMMITTED = "committed"
    """On disk, and nobody knows yet."""
    INTENT_RECORDED = "intent-recorded"
    COMMAND_DUE = "command-due"
    COMMAND_FORKED = "command-forked"
    """Nobody has waited yet for what the child says."""
    COMMAND_RUNS = "command-runs"
    COMMAND_ENDED = "command-ended"
    VERIFYING = "verifying"
    VERIFIED = "verified"
    OUTCOME_PLANNED = "outcome-planned"
    ACT_CLOSED = "act-closed"
    OUTCOME_RECORDED = "outcome-recorded"
    MESSAGE_MARKED = "message-marked"
    MESSAGE_SENT = "message-sent"


class SetupPlace(StrEnum):
    """Every step of bringing an environment up, in its order."""

    RECORDED = "setup-recorded"
    CLEARED = "setup-cleared"
    NETWORK_MADE = "setup-network-made"
    CONTAINER_MADE = "setup-container-made"
    CONTAINER_STARTED = "setup-container-started"
    PART_READY = "setup-part-ready"
    PROBING = "setup-probing"
    """All are ready, and one of them looks at the others."""
    ALL_READY = "setup-all-ready"
    DONE = "setup-done"


class TypingPlace(StrEnum):
    PASTED = "typing-pasted"
    """A line stands in a pane, and Enter was not pressed."""
    ANSWERED = "typing-answered"
    """The key that answers a question was pressed, and nothing is on record of that."""


class GuardPlace(StrEnum):
    """Every step of starting a container of an environment again, in its order."""

    PLANNED = "guard-planned"
    INTENDED = "guard-intended"
    STARTED = "guard-started"
    READY = "guard-ready"


AnyPlace = Place | SetupPlace | TypingPlace | GuardPlace


class Trap:
    """Counts down to the end."""

    def __init__(self, told: str) -> None:
        *before, last = told.split(">")
        place, _, nth = last.partition(":")
        self._path = [*before, *[place] * int(nth or 1)]

    def springs(self, place: AnyPlace) -> bool:
        if self._path and self._path[0] == place:
            self._path.pop(0)
            return not self._path
        return False


def _set(told: str) -> Trap | None:
    return Trap(told) if told else None


_trap = _set(os.environ.get("ARGUS_FAILPOINT", ""))


def reach(place: AnyPlace) -> None:
    if _trap is not None and _trap.springs(place):
        os.kill(os.getpid(), signal.SIGKILL)
        signal.pause()  # the signal is on its way; nothing more is done
