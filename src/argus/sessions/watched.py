"""What is known of one session in memory: what was heard, how it stands, how fast it fills. Not on record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from argus.core.clock import Stamp, age
from argus.sessions import fusing, turns
from argus.sessions.bands import MANDATORY
from argus.sessions.fusing import Patience
from argus.sessions.growth import Growth
from argus.sessions.model import Activity, Source, Standing
from argus.sessions.session import Session
from argus.sessions.signals import Sign
from argus.sessions.tools import Seen
from argus.store.records import Act
from argus.typist import Dialog, Line

_SIGNS = 120
_FRESH = 8.0
"""Seconds for which a look counts as taken just now."""
_REPORTS = frozenset({Source.HOOK, Source.STATUS_LINE})
_LATELY = 3600.0
_TOLD = 86_400.0


@dataclass(slots=True)
class Watched:
    session: Session
    signs: list[Sign] = field(default_factory=list)
    pid: int = 0
    """Of the agent in its pane."""
    own: str = ""
    """The conversation that this very process told of. Others may go on in the same folder."""
    standing: Standing = field(default_factory=lambda: Standing(Activity.UNKNOWN, "nothing was heard of it"))
    growth: Growth = field(default_factory=Growth)
    due: float = 0.0
    """By the boot clock."""
    checked: float | None = None
    looked: Stamp | None = None
    readings: int = 0
    """Taken just now, one after the other or from several sources."""
    text: str | None = None
    """What its pane showed at the last look."""
    line: Line | None = None
    """What stands at its prompt; None: nobody could see it."""
    dialog: Dialog | None = None
    """In which it asks for leave, as it stood there at the last look."""
    left: list[Act] = field(default_factory=list)
    """Lines that an Argus was typing when it was killed."""
    asked: Stamp | None = None
    """When it was last seen to wait for a person's leave."""
    is_busy: bool = False
    told: Stamp | None = None
    """When its transcript could last be read, or its hooks spoke."""
    there: Stamp | None = None
    """Since when its agent was seen there."""
    answers: Counter[str] = field(default_factory=Counter)
    """How often a question of these words was answered through us: asked again, it is another one."""
    excused: Stamp | None = None
    """When something that it needs was last down."""
    _worked: bool = field(init=False)
    """When the record was read."""

    def __post_init__(self) -> None:
        self._worked = self.session.state is Activity.WORKING

    @property
    def is_at_work(self) -> bool:
        """As it was last seen; until this Argus can tell, as the one before has put it on record."""
        state = self.standing.state
        return state is Activity.WORKING or (state is Activity.UNKNOWN and self._worked)

    def turn_began(self, now: Stamp) -> Stamp | None:
        """Of the turn that it is in; None: nobody knows."""
        if self.standing.state is not Activity.WORKING or self.standing.subagents:
            return None
        return turns.began(self.signs, now, self.standing.session)

    def name_of(self, dialog: str) -> str:
        """Of a question with these words, as it is asked now."""
        before = self.answers[dialog]
        return f"{dialog}-{before}" if before else dialog

    def hear(self, signs: Iterable[Sign]) -> None:
        heard = list(signs)
        self.signs = fusing.shortened([*self.signs, *heard], _SIGNS)
        self._owned(heard)

    def _owned(self, signs: list[Sign]) -> None:
        for sign in signs:
            if sign.pid and sign.pid == self.pid and sign.session and not sign.ends:
                self.own = sign.session

    def see(self, seen: Seen, now: Stamp, patience: Patience) -> None:
        if seen.pid != self.pid:
            self.pid, self.own = seen.pid, ""
            self._owned(self.signs)
        self.hear(seen.signs)
        before = self.standing.state
        session = self.own or ("" if self._reports(now) else seen.conversation)
        self.standing = fusing.fuse(
            self.signs, now, alive=seen.alive, session=session, patience=patience, window=self._window(now)
        )
        if self.standing.state is Activity.WAITING_FOR_PERMISSION:
            self.asked = now
        self._worked &= self.standing.state is Activity.UNKNOWN
        follows = self.looked is not None and age(self.looked, now) <= _FRESH and before == self.standing.state
        self.readings = seen.sources + (1 if follows and seen.sources else 0)
        self.looked, self.text, self.line, self.dialog = now, seen.text, seen.line, seen.dialog
        self.there = (self.there or now) if seen.alive else None
        if seen.conversation or self._reports(now):
            self.told = now
        context = self.standing.context
        if context is not None:
            self.growth = self.growth.seen(context.at.boot, context.used)

    def untold(self, now: Stamp) -> float:
        moments = [one for one in (self.there, self.told) if one is not None]
        return min((age(one, now) for one in moments), default=0.0)

    def _window(self, now: Stamp) -> int:
        """As it was told, for a while: somebody may have taken another model."""
        told = self.session.window_told
        return self.session.window if told is not None and age(told, now) < _TOLD else 0

    def _reports(self, now: Stamp) -> bool:
        """Whether its hooks speak: then they say which conversation it is, sooner than a file does."""
        return any(sign.source in _REPORTS and age(sign.at, now) < _LATELY for sign in reversed(self.signs))

    def until_full(self, now: Stamp) -> float | None:
        context = self.session.context
        return self.growth.until(MANDATORY * context.total, now.boot) if context else None
