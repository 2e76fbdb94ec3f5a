"""Kinds of agents: how each shows its prompt, and which keys it takes. Pure: a look in, a value out.

A prompt is recognised, not a dialog: whatever does not look like the prompt is not typed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from argus.host.panes import Key, Look
from argus.typist.dialogs import Dialog, claude_dialog
from argus.typist.screens import Row, Screen

PROMPT = r"^\s*[>❯›$#%]?\s*"


class Closed(Enum):
    """Why there is no line to type at."""

    DIALOG = 1
    NO_PROMPT = 2


@dataclass(frozen=True, slots=True)
class Line:
    """What stands at the prompt, without the prompt and without greyed suggestions."""

    text: str
    whole: bool = True
    """False: there may be more of it above."""
    choice: str = ""
    """What is chosen in a menu of completions: Enter would take that."""


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    read: Callable[[Look], Line | Closed]
    processes: frozenset[str] = frozenset()
    """Their names; none: anyone but a shell."""
    lines: bool = False
    """Whether it takes a paste in brackets as one: then line breaks in it do not submit."""
    commands: tuple[str, ...] = ()
    """How a text begins that is not taken as a prompt."""
    silent: bool = False
    """Whether it may take what is typed without showing it."""
    interrupt: Key = Key.ESCAPE
    is_busy: Callable[[Look], bool] | None = None
    """As far as the screen tells."""
    dialog: Callable[[Look], Dialog | None] | None = None
    """The one in which it asks for leave; without it none is ever answered."""


_CHOICE = re.compile(r"\s*[│|]?\s*[❯›]\s*\S")
_QUESTION = re.compile(r"\b(Esc|Enter|Tab)\b to \w+|\(y/n\)|\[y/N\]|\[Y/n\]", re.IGNORECASE)
_CHOSEN = re.compile(r"\s{2,4}❯ (\S+)")
_RULE = re.compile(r"[╭╰]?─{3,}.*─[╮╯]?")
_SPINNER = re.compile(r"[·✢✳✶✻✽∗*] \S.*…")
_MENU = 20
"""Rows above the box in which a menu, or the sign of work, is looked for."""


def _claude(look: Look) -> Line | Closed:
    """The input stands between two rules, and the cursor in it; a dialog takes the place of this box."""
    screen = Screen(look.lines)
    x, y = look.cursor
    box = _box(screen, y)
    if box is None:
        return _closed(screen, y)
    top, bottom = box
    first, *more = [_inside(screen.row(at)).typed(x if at == y else None) for at in range(top + 1, bottom)]
    if first[:1] == "!":
        return Line(f"! {first[1:].strip()}".strip())  # the shell mode, in which Enter runs what stands there
    if first[:1] not in ("❯", ">"):
        return _closed(screen, y)
    text = "\n".join(part.strip() for part in (first[1:], *more)).strip()
    # A long text is scrolled: only its end is in the box.
    return Line(text, whole=not more, choice=_chosen(screen, top))


def _inside(row: Row) -> Row:
    """Without the border that older versions draw at the sides."""
    return row.within(2, len(re.sub(r"\s*│\s*$", "", row.text))) if row.text.startswith("│") else row


def _box(screen: Screen, y: int) -> tuple[int, int] | None:
    if _RULE.fullmatch(screen.text(y)):
        return None
    top = next((at for at in range(y - 1, -1, -1) if _RULE.fullmatch(screen.text(at))), None)
    bottom = next((at for at in range(y + 1, len(screen)) if _RULE.fullmatch(screen.text(at))), None)
    if top is None or bottom is None:
        return None
    first, *more = (text.removeprefix("│ ") for text in screen.texts(top + 1, bottom))
    return None if not first[:1].strip() or any(text[:2].strip() for text in more) else (top, bottom)


def _closed(screen: Screen, y: int) -> Closed:
    if _CHOICE.match(screen.text(y)) or any(_QUESTION.search(text) for text in screen.texts()):
        return Closed.DIALOG
    return Closed.NO_PROMPT


def _chosen(screen: Screen, top: int) -> str:
    for at in range(top - 1, max(-1, top - _MENU), -1):
        text = screen.text(at)
        if found := _CHOSEN.match(text):
            return found[1]
        if not text.startswith("  "):
            return ""
    return ""


def _claude_works(look: Look) -> bool:
    screen = Screen(look.lines)
    box = _box(screen, look.cursor[1])
    if box is None:
        return False
    above = screen.texts(box[0] - _MENU, box[0])
    return any(map(_SPINNER.match, above)) or any("esc to interrupt" in text for text in screen.texts(box[1] + 1))


def _codex(look: Look) -> Line | Closed:
    """The input begins with its sign and goes on in rows that are set in; there is no box."""
    screen = Screen(look.lines)
    x, y = look.cursor
    begin = y
    while begin > 0 and screen.text(begin).startswith("  "):
        begin -= 1
    if not screen.text(begin).startswith("›"):
        return _closed(screen, y)
    first, *more = [screen.row(at).typed(x if at == y else None) for at in range(begin, y + 1)]
    text = "\n".join(part.strip() for part in (first[1:], *more)).strip()
    return Closed.DIALOG if re.match(r"\d\. ", text) else Line(text, whole=begin == y)


def _codex_works(look: Look) -> bool:
    return any("esc to interrupt" in text for text in Screen(look.lines).texts())


_SPACES = 2


def plain(prompt: str = PROMPT, *, lines: bool = False) -> Kind:
    """Any program: a line is half-typed if the cursor's row is not empty after the prompt, a pattern, is removed."""
    pattern = re.compile(prompt)

    def read(look: Look) -> Line | Closed:
        screen = Screen(look.lines)
        y = look.cursor[1]
        text = pattern.sub("", screen.text(y), count=1).strip()
        # What fills the row above may have begun there. tmux does not tell the spaces at its end.
        return Line(text, whole=len(screen.text(y - 1)) < look.columns - _SPACES)

    return Kind("plain", read, lines=lines, silent=True, interrupt=Key.INTERRUPT)


CLAUDE = Kind(
    "claude",
    _claude,
    processes=frozenset({"claude"}),
    lines=True,
    commands=("/", "!"),
    is_busy=_claude_works,
    dialog=claude_dialog,
)
CODEX = Kind("codex", _codex, processes=frozenset({"codex"}), lines=True, commands=("/", "!"), is_busy=_codex_works)
PLAIN = plain()
