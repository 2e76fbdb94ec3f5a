"""Typing into a terminal in which an agent works, as carefully as a person would: looked at first, once, confirmed.

    typist = Typist(panes)
    outcome = await typist.type("argus", "shop-ps", Message("Read the handoff and go on"), Wanted(CLAUDE, agent))

See docs/typing.md.
"""

from argus.typist.act import Pace
from argus.typist.cleaning import clean, inert, quoted
from argus.typist.dialogs import Dialog, Leave
from argus.typist.kinds import CLAUDE, CODEX, PLAIN, Kind, Line, plain
from argus.typist.model import By, Deferred, Message, Outcome, Reason, Refused, Typed, Unconfirmed, Wanted
from argus.typist.policy import may_type, stands
from argus.typist.typist import Typist

__all__ = [
    "CLAUDE",
    "CODEX",
    "PLAIN",
    "By",
    "Deferred",
    "Dialog",
    "Kind",
    "Leave",
    "Line",
    "Message",
    "Outcome",
    "Pace",
    "Reason",
    "Refused",
    "Typed",
    "Typist",
    "Unconfirmed",
    "Wanted",
    "clean",
    "inert",
    "may_type",
    "plain",
    "quoted",
    "stands",
]
