"""What stands on an agent's screen, as a last look: its context, a dialog, a limit, whether something turns.

Anything can stand on a screen, so this claims little: a dialog only where a choice is on offer at the bottom, idle only
where an empty prompt of a program that we know stands there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from argus.core.clock import Stamp
from argus.sessions.model import Activity, ContextReading, Source
from argus.sessions.resets import reset_time
from argus.sessions.signals import TOKENS, Sign, words

_LONGEST = 200_000
_ROW = 500
_BOTTOM = 40
"""Rows from the bottom in which a dialog, a limit or a spinner can be."""
_GROUPED = r"(\d{1,3}(?:[,. '_\u00a0\u202f]\d{3})+|\d+)"
_CONTEXT = re.compile(
    rf"Context:\s*\d+(?:[.,]\d+)?\s*%\s*\(\s*{_GROUPED}\s*/\s*{_GROUPED}\s*tokens?\s*\)"
    rf"|Token usage:\s*{_GROUPED}\s*/\s*{_GROUPED}\b",
    re.I,
)
_CHOICE = re.compile(r"^\s*[│|]?\s*(?:[❯›>]\s*)?(\d)[.)]\s+\S")
_CHOSEN = re.compile(r"^\s*[│|]?\s*[❯›]\s*\d[.)]\s+\S")
_FOOT = re.compile(
    r"\besc\b.{0,20}\b(?:cancel|skip|reject|exit|interrupt)|\benter\b.{0,20}\b(?:confirm|select|submit)", re.I
)
_RULE = re.compile(r"^[\s─━═╌┄┈\-_╭╮╰╯│|]*$")
_DOTTED = re.compile(r"^[╌┄┈]{8,}$")
_LIMIT = re.compile(
    r"(?:hit|reached) your (?:[\w-]+ ){0,3}limit|usage limit reached|limit reached \|?.{0,20}resets?|"
    r"limit will reset at",
    re.I,
)
_SPINNER = re.compile(r"^\s*[·✢✳✶✻✽*∗●◐◓◑◒⠁-⣿]\s+(?:\S+\s+){0,6}?\S+…|\besc to interrupt\b", re.I)
_PROMPT = re.compile(r"^\s*[│|]?\s*[❯›>]\s*(?:Ask Codex to do anything.*|Try \".*|[│|])?\s*$")
_PERMITS = re.compile(
    r"\bproceed\b|\bpermission\b|\ballow\b|\bapprove\b|would you like to run|do you want to (?!know)|don't ask again",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Dialog:
    question: str
    is_permission: bool


def read(text: str, at: Stamp, session: str = "") -> Sign | None:
    """What a pane shows. None where it says nothing that is understood."""
    rows = [row[:_ROW].rstrip() for row in text[-_LONGEST:].splitlines()]
    context = _context(text[-_LONGEST:], at, session)
    bottom = [row for row in rows if row.strip()][-_BOTTOM:]
    dialog = _dialog(bottom)
    if dialog is not None:
        kind = Activity.WAITING_FOR_PERMISSION if dialog.is_permission else Activity.WAITING_FOR_INPUT
        return Sign(kind, Source.PANE, at, session, event="dialog", question=dialog.question, context=context)
    if limit := _limit(bottom, at):
        said, resets_at = limit
        return Sign(
            Activity.RATE_LIMITED,
            Source.PANE,
            at,
            session,
            "limit",
            question=said,
            resets_at=resets_at,
            context=context,
        )
    activity = _turning(bottom)
    if activity is None and context is None:
        return None
    return Sign(activity, Source.PANE, at, session, event="screen", context=context)


def context(text: str, at: Stamp, session: str = "") -> ContextReading | None:
    """The last figure of the context that stands there."""
    return _context(text[-_LONGEST:], at, session)


def _context(text: str, at: Stamp, session: str) -> ContextReading | None:
    for found in reversed(list(_CONTEXT.finditer(text))):
        used, total = (int(re.sub(r"\D", "", part)) for part in found.groups() if part is not None)
        if 0 <= used <= TOKENS and 0 < total <= TOKENS:
            return ContextReading(used, total, Source.PANE, at, session)
    return None


def _dialog(rows: list[str]) -> _Dialog | None:
    """Numbered choices, one of them marked, and under them how to answer."""
    chosen = next((n for n in range(len(rows) - 1, -1, -1) if _CHOSEN.match(rows[n])), None)
    if chosen is None or not any(_FOOT.search(row) for row in rows[chosen + 1 :][-4:]):
        return None
    first = chosen
    while first > 0 and (number := _CHOICE.match(rows[first])) and number[1] != "1":
        # Up to the first choice, over the lines that explain the ones between.
        first -= 1
        while first > 0 and not _CHOICE.match(rows[first]):
            first -= 1
    above = [row.strip(" │|") for row in rows[max(0, first - 12) : first]]
    lines = [row for row in above if row and not _RULE.match(row)]
    asked = next((row for row in reversed(lines) if row.endswith("?")), lines[-1] if lines else "")
    after = lines[lines.index(asked) + 1 :] if asked in lines else []
    choices = " ".join(rows[first:])
    is_permission = bool(_PERMITS.search(asked) or _PERMITS.search(choices))
    nearest = (
        next((row for row in [*after[::-1], *reversed(lines[: lines.index(asked)])]), "") if asked in lines else ""
    )
    about = _framed(above) or nearest
    question = f"{asked} ({about})" if is_permission and about else asked
    return _Dialog(words(question), is_permission)


def _framed(rows: list[str]) -> str:
    """What stands between the last two dotted rules: the command, or the change, that leave is asked for."""
    rules = [n for n, row in enumerate(rows) if _DOTTED.match(row)][-2:]
    return " ".join(rows[rules[0] + 1 : rules[1]]).strip() if len(rules) == 2 else ""


def _limit(rows: list[str], at: Stamp) -> tuple[str, float | None] | None:
    """A limit that still stands: what was said after it, below, ends it."""
    for n in range(len(rows) - 1, -1, -1):
        if _PROMPT.match(rows[n]) or not _LIMIT.search(rows[n]):
            continue
        if any(re.match(r"\s*[❯›>]\s*\S", row) and not _PROMPT.match(row) for row in rows[n + 1 :]):
            return None
        said = words(" ".join(rows[n : n + 2]))
        return said, reset_time(said, at.wall)
    return None


def _turning(rows: list[str]) -> Activity | None:
    # The prompt's own rows and those under it; what turns stands above it.
    last = rows[-12:]
    if any(_SPINNER.search(row) for row in last):
        return Activity.WORKING
    return Activity.IDLE if any(_PROMPT.match(row) for row in last) else None
