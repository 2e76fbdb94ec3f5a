"""What is at the root of what is broken, and who has to hear of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from argus.core.depending import Broke, Broken, Thing, thing
from argus.graph.model import Standing, Told

Look = Callable[[Thing], Standing | None]
"""None: nobody knows of it, and so nobody says that it is down."""


def broken(depends_on: Iterable[Thing], look: Look) -> Broke:
    """The roots of all that is broken among these, each once, the longest broken first."""
    bad, roots = set[Thing](), list[Broken]()
    for one, standing in _in_the_way(depends_on, look):
        if any(other in bad for other in standing.depends_on):
            bad.add(one)
        elif standing.is_down:
            bad.add(one)
            roots.append(Broken(one, standing.since, standing.why, standing.doing, standing.incident))
    return tuple(sorted(roots, key=lambda root: (root.since, root.thing)))


def _in_the_way(depends_on: Iterable[Thing], look: Look) -> Iterator[tuple[Thing, Standing]]:
    """What is down, and what falls with something that may be, each once, after what it depends on: asked along every
    way, a wide and deep net would take for ever."""
    seen, entered = set[Thing](), dict[Thing, Standing]()
    waiting = [(one, False) for one in depends_on]
    while waiting:
        one, is_left = waiting.pop()
        if is_left:
            yield one, entered[one]
        elif one not in seen:
            seen.add(one)
            standing = look(one)
            if standing is not None and (standing.is_down or standing.is_borne):
                entered[one] = standing
                waiting.append((one, True))
                waiting += [(other, False) for other in standing.depends_on]


def reaches(
    depends_on: Iterable[Thing], wanted: Thing, look: Look, has_failed: Callable[[Thing], bool] = lambda one: False
) -> bool:
    """Whether it is among these, or among what these depend on. Through what has failed nobody gets to anything."""
    waiting, seen = list(depends_on), set[Thing]()
    while waiting:
        one = waiting.pop()
        if one in seen or has_failed(one):
            seen.add(one)
        elif one == wanted:
            return True
        else:
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
    """These are over, of what it was told."""

    things: tuple[str, ...]


def news(needs: Iterable[Thing], told: Told | None, look: Look) -> Lost | Back | None:
    """What broke is told first: the next look has the rest."""
    known: Mapping[str, object] = told.things if told else {}
    roots = broken(needs, look)
    if fresh := tuple(root for root in settled(roots, told, look) if root.thing.written not in known):
        return Lost(fresh)
    over = [name for name in known if _is_over(name, needs, roots, look)]
    # What it explained is looked at in a moment, and may be back as well: that is one line.
    waiting = [root.thing for root in roots if _is_open(root.thing, look)]
    ready = tuple(name for name in over if not any(reaches([one], thing(name), look) for one in waiting))
    return Back(ready) if ready else None


def settled(roots: Broke, told: Told | None, look: Look) -> Broke:
    """Those that somebody may be told of: they were told of already, or it is known that they are the roots."""
    known: Mapping[str, object] = told.things if told else {}
    return tuple(root for root in roots if root.thing.written in known or not _is_open(root.thing, look))


def _is_open(one: Thing, look: Look) -> bool:
    standing = look(one)
    return standing is not None and standing.is_open


def _is_over(name: str, needs: Iterable[Thing], roots: Broke, look: Look) -> bool:
    """It is back, and stays; or nobody needs it any more, as it is there no longer, or stands in no `dependsOn`."""
    one = thing(name)
    if look(one) is None or not reaches(needs, one, look):
        return True
    if any(root.thing == one for root in roots) or goes_up_and_down(name, look) or _is_in_doubt(one, needs, look):
        return False
    # One that is down and no root any more is explained by another by now: that is no news of it.
    return not roots or is_well(name, look)


def _is_in_doubt(one: Thing, needs: Iterable[Thing], look: Look) -> bool:
    """Whether it is down, and what lies between answers, but only for as long as not both were looked at since: it may
    be back with what came back, or that may fall with it."""
    standing = look(one)
    return (
        standing is not None
        and standing.is_down
        and any(
            standing.looked <= other.changed or other.looked <= standing.changed
            for other in _that_answer(needs, one, look)
        )
    )


def _that_answer(needs: Iterable[Thing], wanted: Thing, look: Look) -> Iterator[Standing]:
    """What answers, and reaches that."""
    waiting, seen = list(needs), {wanted}
    while waiting:
        one = waiting.pop()
        standing = None if one in seen else look(one)
        seen.add(one)
        if standing is not None:
            waiting += standing.depends_on
            if not standing.is_down and reaches(standing.depends_on, wanted, look):
                yield standing


def is_down_again(name: str, needs: Iterable[Thing], look: Look) -> bool:
    """Whether nobody can be told any more that it is back, nor yet that it is needed no longer."""
    one, needed = thing(name), tuple(needs)
    if any(other == one and standing.is_down for other, standing in _in_the_way(needed, look)):
        return True
    return reaches(needed, one, look) and _is_in_doubt(one, needed, look)


def unsettled(names: Iterable[str], roots: Broke, look: Look) -> list[str]:
    """Those of them that may be down again in a moment; of what is down, that is said."""
    down = [root.thing.written for root in roots]
    return [name for name in names if name not in down and goes_up_and_down(name, look)]


def goes_up_and_down(name: str, look: Look) -> bool:
    """Each line is a turn of a model: who was told that it is down does not hear of every up and down."""
    standing = look(thing(name))
    return standing is not None and standing.is_unsettled


def is_well(name: str, look: Look) -> bool:
    """Whether something that somebody was told of really is back, and not only no longer needed."""
    standing = look(thing(name))
    return standing is not None and not standing.is_down
