"""What others may ask of the panes of a terminal multiplexer, and what a look at one of them shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from argus.host.identity import Identity

_BOURNE = {"sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "ksh93", "mksh", "oksh"}
SHELLS = frozenset({*_BOURNE, "fish", "csh", "tcsh", "nu", "xonsh", "elvish", "pwsh", "login", "su"})
"""What has a terminal when nobody else has: it would run what is typed."""


MOST = 20
"""Panes of one session that are looked at."""


class PanesFailed(Exception):
    """There was no answer, so nothing is known and nothing was done."""


class PanesUncertain(PanesFailed):
    """There was no answer, and what was asked for may have been done."""


class Key(StrEnum):
    """Keys that are pressed by name. Text never is."""

    ENTER = "Enter"
    ESCAPE = "Escape"
    INTERRUPT = "C-c"
    ERASE_LINE = "C-u"
    ONE = "1"
    TWO = "2"
    THREE = "3"
    FOUR = "4"
    FIVE = "5"
    SIX = "6"
    SEVEN = "7"
    EIGHT = "8"
    NINE = "9"


@dataclass(frozen=True, slots=True)
class Place:
    """A pane: the id lasts as long as its server, the PID of its first process tells one server's from the next's."""

    socket: str
    session: str
    pane: str
    pid: int


@dataclass(frozen=True, slots=True)
class Who:
    """Whom a pane should belong to: this very process; or one of these names; or, with neither, anyone but a shell."""

    agent: Identity | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Process:
    who: Identity
    name: str
    stopped: bool = False
    """By a signal: it reads nothing until it goes on."""


@dataclass(frozen=True, slots=True)
class Look:
    place: Place
    mark: str
    """Of everything but the text: as long as it is the same, nobody has typed and the pane is in the same state."""
    columns: int
    rows: int
    cursor: tuple[int, int]
    """Column and row, from the upper left corner, from 0."""
    lines: tuple[str, ...]
    """What it shows, row by row, with its colours as escape sequences; what ends in spaces may lack them."""
    leader: Process | None
    """Of the process group that has the terminal."""
    agent: Process | None
    """Whoever was asked for, if the terminal is theirs."""
    dead: bool = False
    in_mode: bool = False
    """Copy mode, a menu, a clock: keys would go there."""
    input_off: bool = False
    synchronized: bool = False
    """What is typed here is typed into other panes too."""


class Panes(Protocol):
    """Every call raises PanesFailed at its deadline, or when nobody can say."""

    async def find(self, socket: str, session: str, who: Who, *, timeout: float) -> list[Look]:
        """Looks at the panes of the session of exactly that name, the one that is in use first; none: no such session.

        More than MOST of them are not looked at, and PanesFailed is raised: nobody could say which one is meant.
        """
        ...

    async def look(self, place: Place, who: Who, *, timeout: float) -> Look | None:
        """None if the pane is gone, or another one by now."""
        ...

    async def paste(self, seen: Look, text: str, *, timeout: float) -> bool:
        """Pastes literally, in brackets where the program wants them, if the pane is still as it was seen.

        False: it is not, and nothing was done. Raises PanesUncertain.
        """
        ...

    async def press(self, seen: Look, key: Key, *, timeout: float, shows: Sequence[str] = ()) -> bool:
        """Presses one key, if the pane is still as it was seen. As `paste`.

        `shows`: rows of what was seen that must stand there at that very moment, told by their letters and digits: a
        mark knows nothing of the text.
        """
        ...
