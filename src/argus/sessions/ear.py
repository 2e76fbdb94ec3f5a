"""What was heard of agents lately: the last signs of each conversation, in memory, within bounds.

Every sign comes once, through `heard`. Nothing is recorded here: signs are many and say little each.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from argus.core.clock import Clock, Stamp, age, stamp
from argus.sessions.fusing import shortened
from argus.sessions.signals import Sign

CONVERSATIONS = 500
SIGNS = 256
"""Of one conversation."""
_KINDS = 50


@dataclass(slots=True)
class Conversation:
    kind: str
    folder: str
    """Where the agent worked when it was heard last. It may have gone into another folder since it began."""
    session: str
    signs: list[Sign] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Heard:
    """How much was heard of one kind of agent since Argus started."""

    kind: str
    signs: int
    ignored: int
    conversations: int
    last_event: str
    age: float | None


@dataclass(slots=True)
class _Count:
    signs: int = 0
    ignored: int = 0
    last: str = ""
    at: Stamp | None = None


class Ear:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._conversations: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        self._counts: dict[str, _Count] = {}

    def heard(self, kind: str, folder: str, sign: Sign) -> None:
        """Takes one sign of an agent that works in that folder."""
        key = (kind, sign.session or folder)
        found = self._conversations.setdefault(key, Conversation(kind, folder, sign.session))
        self._conversations.move_to_end(key)
        found.folder = folder or found.folder
        found.signs.append(sign)
        if len(found.signs) > SIGNS:
            found.signs = shortened(found.signs, SIGNS // 2)
        while len(self._conversations) > CONVERSATIONS:
            self._conversations.popitem(last=False)
        count = self._count(kind)
        count.signs, count.last, count.at = count.signs + 1, sign.event, sign.at

    def ignored(self, kind: str) -> None:
        """Counts what came and told nothing."""
        self._count(kind).ignored += 1

    def signs(self, kind: str, session: str) -> tuple[Sign, ...]:
        found = self._conversations.get((kind, session))
        return tuple(found.signs) if found else ()

    def in_folder(self, kind: str, folder: str) -> tuple[Sign, ...]:
        """Of every conversation there: which of them counts, fusing decides."""
        found = [one for one in self._conversations.values() if (one.kind, one.folder) == (kind, folder)]
        return tuple(sign for one in found for sign in one.signs)

    def lately(self) -> list[Heard]:
        now = stamp(self._clock)
        conversations = [one.kind for one in self._conversations.values()]
        return [
            Heard(
                kind, one.signs, one.ignored, conversations.count(kind), one.last, age(one.at, now) if one.at else None
            )
            for kind, one in sorted(self._counts.items())
        ]

    def _count(self, kind: str) -> _Count:
        if kind not in self._counts and len(self._counts) >= _KINDS:
            kind = "others"  # whoever has a token may make kinds up
        return self._counts.setdefault(kind, _Count())
