"""Reading a dialog in which an agent asks for leave: what it asks, and which key means what. Pure.

The number that says no differs from question to question (4 here, 3 there, and 3 elsewhere says yes to everything from
now on), so the key is taken from the words that stand beside it, and from nothing else.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from argus.host.panes import Key, Look
from argus.typist.screens import Screen

_CHOICE = re.compile(r"^ ?(?:[❯›]| ) ?([1-9])\. (\S.*)$")
_CHOSEN = re.compile(r"^ ?[❯›] ?[1-9]\. \S")
_MORE = re.compile(r"^ {3,}\S")
"""A row that goes on with the words of the choice above it."""
_FOOT = re.compile(r"\besc\b.*\bcancel\b", re.IGNORECASE)
_DOTTED = re.compile(r"^[╌┄┈]{8,}$")
_SURE = 12
"""Rows that must still stand there at the very moment of the press."""


class Leave(StrEnum):
    """What is answered. There is no word here for "and do not ask again": that is given in the terminal alone."""

    ALLOW = "allow"
    DENY = "deny"


_MEANS = {Leave.ALLOW: re.compile(r"Yes"), Leave.DENY: re.compile(r"No(?:, and tell .*)?")}


@dataclass(frozen=True, slots=True)
class Dialog:
    rows: tuple[str, ...]
    """All that it says, from its upper edge to its last choice, without the mark of what is chosen."""
    question: str
    choices: tuple[tuple[int, str], ...]
    whole: bool
    """False: its upper edge is not on the screen, and so not all of what leave is asked for."""

    @property
    def id(self) -> str:
        """The same for the same words. It is how somebody says which one they saw."""
        text = "\n".join((*self.rows, *(f"{number}. {label}" for number, label in self.choices)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def text(self) -> str:
        return "\n".join(row for row in self.rows if not _DOTTED.match(row))

    @property
    def sure(self) -> tuple[str, ...]:
        """The rows by which it is told from another one of the same size."""
        return tuple(row for row in self.rows if sum(one.isalnum() for one in row) > 1)[-_SURE:]

    def key(self, leave: Leave) -> Key | None:
        """None: no choice means exactly that, or more than one does."""
        found = [number for number, label in self.choices if _MEANS[leave].fullmatch(label)]
        return Key(str(found[0])) if len(found) == 1 else None

    def may(self, leave: Leave) -> bool:
        """What cannot be read whole can be refused, not allowed."""
        return self.key(leave) is not None and (self.whole or leave is Leave.DENY)


def claude_dialog(look: Look) -> Dialog | None:
    """None: none stands there that is understood. The cursor must be at its chosen line: text can look like one."""
    screen = Screen(look.lines)
    y = look.cursor[1]
    if not _CHOSEN.match(screen.text(y)):
        return None
    first = next((at for at in range(y, -1, -1) if _number(screen.text(at)) == 1), None)
    if first is None:
        return None
    choices, after = _choices(screen, first)
    is_it = any(choice[0] == _number(screen.text(y)) for choice in choices) and y < after
    last = screen.text(first - 1).strip()
    if not is_it or not last.endswith("?") or not _ends(screen, after):
        return None
    edge = "─" * look.columns
    top = next((at for at in range(first - 1, -1, -1) if screen.text(at) == edge), None)
    rows = [screen.text(at).strip() for at in range(0 if top is None else top + 1, first)]
    return Dialog(tuple(row for row in rows if row), last, choices, whole=top is not None)


def _choices(screen: Screen, first: int) -> tuple[tuple[tuple[int, str], ...], int]:
    """Numbered from 1 without a gap, and the row after them."""
    found: list[tuple[int, str]] = []
    at = first
    while at < len(screen):
        text = screen.text(at)
        choice = _CHOICE.match(text)
        if choice and int(choice[1]) == len(found) + 1:
            found.append((int(choice[1]), choice[2].strip()))
        elif found and not choice and _MORE.match(text):
            found[-1] = (found[-1][0], f"{found[-1][1]} {text.strip()}")
        else:
            break
        at += 1
    return tuple(found), at


def _ends(screen: Screen, after: int) -> bool:
    """Under the choices stands nothing but how to answer: whatever has more there is another kind of dialog."""
    rest = [text for text in screen.texts(after) if text.strip()]
    return all(_FOOT.search(text) for text in rest[:1]) and len(rest) <= 1


def _number(text: str) -> int | None:
    found = _CHOICE.match(text)
    return int(found[1]) if found else None
