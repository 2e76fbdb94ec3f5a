"""What an agent hears: what is down, since when, what is done about it, and when to go on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from argus.core.depending import Broke, Kind, thing
from argus.core.units import stretch

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
    because = f': "{quoted}"' if quoted else ""
    long = stretch(since)
    return f"{thing} is down (for {long}{because}); Argus {doing or 'looks on'}"


def back(
    things: Iterable[str], is_well: Callable[[str], bool], still: Iterable[str] = (), unsettled: Iterable[str] = ()
) -> str:
    """What is not well is needed no longer: `dependsOn` was changed, or it was taken down on purpose. `unsettled`: it
    was told of these, and they go up and down."""
    names, down = [*things], [_called(one) for one in still]
    here = [_called(one) for one in names if is_well(one)]
    gone = [_called(one) for one in names if not is_well(one)]
    said = [f"{_listed(here)} back."] if here else []
    said += [f"You need not wait for {' and '.join(gone)} any more."] if gone else []
    said += [f"{_listed(down)} still down."] if down else []
    restless = _not_settled(unsettled)
    said += [restless] if restless else [] if down else ["Go on with your work."]
    return f"[argus] {' '.join(said)}"


def restless(unsettled: Iterable[str]) -> str:
    """To one that asks, and was told of these before."""
    said = _not_settled(unsettled)
    return f"[argus] {said}" if said else ""


def _not_settled(names: Iterable[str]) -> str:
    known = [_called(one) for one in names]
    return f"{' and '.join(known)} {'has' if len(known) == 1 else 'have'} not settled yet." if known else ""


def _called(name: str) -> str:
    """Of what `dependsOn` names, as it is called in a sentence."""
    one = thing(name)
    return one.name if one.kind is Kind.SERVICE else str(one)


def _listed(names: list[str]) -> str:
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _line(text: str) -> str:
    return " ".join(text.split())
