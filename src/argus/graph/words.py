"""What an agent hears: what is down, since when, what is done about it, and when to go on. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from argus.core.depending import Broke
from argus.core.units import spoken

_WHY = 120


def lost(roots: Broke, now: float) -> str:
    """One line: it is typed into terminals."""
    one_each = "; ".join(_one(root.thing, now - root.since, root.why, root.doing) for root in roots)
    them = "it" if len(roots) == 1 else "them"
    return (
        f"[argus] {one_each}. Do not work around {them} and do not restart {them} yourself: go on with what does not "
        f"need {them}, or wait. You will be told when {'it is' if len(roots) == 1 else 'they are'} back."
    )


def _one(thing: object, since: float, why: str, doing: str) -> str:
    # What a check or a program said is no word of ours: quoted, in one line, and bounded.
    quoted = _line(why).replace('"', "'")[:_WHY]
    because = f' ("{quoted}")' if quoted else ""
    return f"{thing} is down since {spoken(max(0.0, since))}{because}; Argus: {doing or 'looks on'}"


def back(things: Iterable[str]) -> str:
    names = [*things]
    return f"[argus] {' and '.join(names)} {'is' if len(names) == 1 else 'are'} back. Go on with your work."


def waits(roots: Broke) -> str:
    return "waits for " + " and ".join(str(root.thing) for root in roots)


def _line(text: str) -> str:
    return " ".join(text.split())
