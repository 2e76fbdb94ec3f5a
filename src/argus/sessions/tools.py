"""What the sessions are given by the daemon: one seam for each outside world."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from argus.core.autonomy import Level
from argus.core.clock import Clock
from argus.core.depending import Broke, Thing
from argus.core.events import Channel
from argus.sessions.outputs import Reach
from argus.sessions.overhearing import Overhearing
from argus.sessions.session import Place
from argus.sessions.signals import Sign
from argus.sessions.spawns import Output
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.typist import Dialog, Leave, Line

Before = Callable[[], Awaitable[None]]
Told = Callable[[], bool]
"""Whether the agent itself has told by now that it took what was typed."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at a session from outside."""

    alive: bool | None = None
    """Whether its process is there; None: nobody can tell."""
    signs: Sequence[Sign] = ()
    conversation: str = ""
    pid: int = 0
    """Of the agent in the pane; 0: nobody can tell."""
    text: str | None = None
    """What its pane shows, without any space; None: nobody could see it."""
    sources: int = 0
    """How many ways there were to look, just now."""
    line: Line | None = None
    """What stands at its prompt; None: nobody can tell."""
    dialog: Dialog | None = None
    """In which it asks for leave; None: there is none that is understood."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of something that was typed."""

    typed: bool
    certain: bool = True
    """Else it may be there, or not."""
    again: bool = False
    """Nothing is there, and it can be tried again later."""
    reason: str = ""


class Eyes(Protocol):
    async def look(self, place: Place, conversation: str) -> Seen:
        """`conversation`: the one that is known to be in this terminal, where that is known."""
        ...

    async def spoken(self, place: Place, conversation: str, ours: Sequence[str]) -> bool | None:
        """Whether somebody gave it something to do after the last of these lines of ours; None: nobody can tell."""
        ...


class Hands(Protocol):
    async def type(
        self, place: Place, text: str, *, command: bool, before: Before, told: Told | None, left: bool = False
    ) -> Answer:
        """`left`: it stands there already, and is only submitted."""
        ...

    async def interrupt(self, place: Place, before: Before) -> Answer: ...

    async def erase(self, place: Place, text: str) -> bool:
        """Takes a line of ours back, if it and nothing else stands at the prompt; whether it is gone."""
        ...

    async def answer(self, place: Place, id: str, leave: Leave, before: Before) -> Answer:
        """Answers the dialog of this id, if that one still stands there."""
        ...


@dataclass(frozen=True, slots=True)
class Leaf:
    """A document as it lies there."""

    inode: int
    size: int
    modified: float
    problem: str = ""


class Files(Protocol):
    async def choose(self, place: Place, wall: float) -> str:
        """A path for a handoff that does not exist yet, in a folder that does."""
        ...

    async def leaf(self, place: Place, path: str) -> Leaf | None: ...

    async def output(self, path: str, reach: Reach) -> Output:
        """A spawn's output file and its last lines."""
        ...

    async def settle(self, path: str, reach: Reach) -> str:
        """Where a spawn's output will be looked for; refuses one that may not be read."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    store: Store
    notes: Notes
    clock: Clock
    autonomy: Callable[[], Level]
    time_is_sound: Callable[[], bool]
    new_id: Callable[[], str]
    eyes: Eyes
    hands: Hands
    files: Files
    show: Callable[[Channel, str, dict[str, object]], None] = field(default=lambda channel, type, data: None)
    broken: Callable[[tuple[Thing, ...]], Broke] = field(default=lambda needs: ())
    """What of these is down, by its roots."""
    overhearing: Overhearing | None = None
    turned: Callable[[str, str], None] = field(default=lambda kind, conversation: None)
    """Somebody in that conversation said something: its turn may have begun, or be over."""
