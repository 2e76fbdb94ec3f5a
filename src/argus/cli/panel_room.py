"""Which lines of a screen each part of the live view gets: what is not well before what is, and that before events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from argus.cli.panel_parts import Part


@dataclass(frozen=True, slots=True)
class Plan:
    parts: Sequence[Part]
    """Those for which there is room."""
    lines: Sequence[int]
    """Of each of them, below its title."""
    gap: int
    """Blank lines before each."""
    events: int = 0
    tight: bool = False
    """There is no room for two lines of every part: what is left out is counted in one line for all."""


def planned(made: Sequence[Part], room: int, events: int) -> Plan:
    """`events`: lines for what happened last, at most; a blank one comes before them."""
    least = sum(1 + one.least for one in made)
    if least > room:
        return _tight(made, room - 1)
    gap = 1 if least + len(made) <= room else 0
    room -= (1 + gap) * len(made)
    told = max(0, min(events, room - sum(one.due for one in made) - 1)) if gap else 0
    levels = [[one.least for one in made], [one.due for one in made], [len(one.rows) for one in made]]
    return Plan(made, shares(room - told - bool(told), *levels), gap, told)


def _tight(made: Sequence[Part], room: int) -> Plan:
    """A row of all that have something that is not well; then the rest of that; then what is well, where a part of it
    can be seen at all."""
    sick = [one for one in made if one.sick]
    sick = sick[: max(0, room // 2)]
    kept, left = [*sick], room - sum(1 + one.sick for one in sick)
    for one in made:
        if not one.sick and 1 + one.least <= left:
            kept.append(one)
            left -= 1 + one.least
    kept = [one for one in made if one in kept]
    first = [1 if one.sick else one.least for one in kept]
    due = [one.sick or one.least for one in kept]
    lines = shares(room - len(kept), first, due, [len(one.rows) for one in kept])
    return Plan(kept, lines, gap=0, tight=True)


def shares(room: int, *levels: Sequence[int]) -> list[int]:
    """The lines that each part gets, level by level: at each all have the same right, and what one does not need goes
    to the others."""
    given = [0] * len(levels[0])
    for wanted in levels:
        left = max(0, room - sum(given))
        open_ = sorted(range(len(wanted)), key=lambda n: wanted[n] - given[n])
        while open_:
            smallest = open_.pop(0)
            more = min(wanted[smallest] - given[smallest], left // (len(open_) + 1))
            given[smallest] += more
            left -= more
    return given
