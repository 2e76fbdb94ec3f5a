"""What is at the root of what is broken, and who has to hear of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from argus.core.depending import Broke, Broken, Thing
from argus.graph.model import Standing, Told

Look = Callable[[Thing], Standing | None]
"""None: nobody knows of it, and so nobody says that it is down."""


def broken(depends_on: Iterable[Thing], look: Look) -> Broke:
    """The roots of all that is broken among these, each once, the longest broken first."""
    found: dict[Thing, Broken] = {}
    for one in depends_on:
        for root in _roots(one, look, frozenset()):
            found.setdefault(root.thing, root)
    return tuple(sorted(found.values(), key=lambda root: (root.since, root.thing)))


def _roots(one: Thing, look: Look, above: frozenset[Thing]) -> list[Broken]:
    standing = look(one)
    if standing is None or one in above:
        return []
    if not standing.is_down and not standing.is_borne:
        return []
    below = [root for other in standing.depends_on for root in _roots(other, look, above | {one})]
    if below or not standing.is_down:
        return below
    return [Broken(one, standing.since, standing.why, standing.doing, standing.incident)]


def reaches(depends_on: Iterable[Thing], wanted: Thing, look: Look) -> bool:
    """Whether it is among these, or among what these depend on."""
    waiting, seen = list(depends_on), set[Thing]()
    while waiting:
        one = waiting.pop()
        if one == wanted:
            return True
        if one not in seen:
            seen.add(one)
            standing = look(one)
            waiting += standing.depends_on if standing else ()
    return False


@dataclass(frozen=True, slots=True)
class Lost:
    """These broke, and it has not been told of them."""

    roots: Broke


@dataclass(frozen=True, slots=True)
class Back:
    """All that it was told of is back."""

    things: tuple[str, ...]


def news(roots: Broke, told: Told | None) -> Lost | Back | None:
    known: Mapping[str, object] = told.things if told and not told.is_back else {}
    fresh = tuple(root for root in roots if root.thing.written not in known)
    if fresh:
        return Lost(fresh)
    if told is not None and not roots and not told.is_back:
        return Back(tuple(told.things))
    return None
