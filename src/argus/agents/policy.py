"""The four questions about an agent that is silent or has ended. Values in, value out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from argus.agents.model import FINISHED
from argus.core.autonomy import Level
from argus.core.backoff import Backoff
from argus.core.vital import Vital


class Gate(StrEnum):
    """What can hold a respawn back, in the order in which they are asked."""

    DISABLED = "respawn disabled"
    CONFIG = "config not known"
    PATH = "project path is gone"
    AUTONOMY = "autonomy"
    DEPENDENCY = "dependency down"
    CAP = "too many respawns"
    BACKOFF = "backoff"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a decision about one silent or ended agent rests on."""

    stop_approved: bool = False
    finished: bool = False
    vital: Vital | None = None
    """None: it does not run here, or never said who it is."""
    all_are_late: bool = False
    """The machine slept, the clock jumped or Argus stalled: every silence may be ours."""
    respawn_enabled: bool = True
    config_known: bool = True
    path_exists: bool = True
    autonomy: Level = Level.OBSERVE
    respawns: int = 0
    """Of its lineage, in the last hour."""
    most: int = 5
    wait: float = 0.0
    """Seconds of backoff that are left."""
    recordable: bool = True
    dependency_down: bool = False
    """What it needs is broken: it would only die again, and its silence may come from that."""


@dataclass(frozen=True, slots=True)
class Remove:
    reason: str


@dataclass(frozen=True, slots=True)
class Keep:
    """Not dead: the timer starts over, and somebody is told once."""

    hung: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing is judged for one full threshold."""


@dataclass(frozen=True, slots=True)
class Report:
    """Silent, and nobody here can look: told, never respawned."""


@dataclass(frozen=True, slots=True)
class Hold:
    gate: Gate


@dataclass(frozen=True, slots=True)
class Respawn:
    pass


Decision = Remove | Keep | Wait | Report | Hold | Respawn


def decide(facts: Facts) -> Decision:
    if facts.stop_approved:
        return Remove("stopped")
    if facts.finished:
        return Remove(FINISHED)
    if facts.vital in (Vital.ALIVE, Vital.STOPPED):
        return Keep(hung=facts.vital is Vital.STOPPED)
    if facts.all_are_late:
        return Wait()
    if facts.vital is None:
        return Report()
    return _gated(facts)


def _gated(facts: Facts) -> Hold | Respawn:
    if not facts.respawn_enabled:
        return Hold(Gate.DISABLED)
    if not facts.config_known:
        return Hold(Gate.CONFIG)
    if not facts.path_exists:
        return Hold(Gate.PATH)
    if not facts.autonomy.allows(Level.MODERATE):
        return Hold(Gate.AUTONOMY)
    if facts.dependency_down:
        return Hold(Gate.DEPENDENCY)
    if facts.respawns >= facts.most:
        return Hold(Gate.CAP)
    if facts.wait > 0:
        return Hold(Gate.BACKOFF)
    if not facts.recordable:
        return Hold(Gate.RECORD)
    return Respawn()


ESCALATED = frozenset({Gate.PATH, Gate.CAP, Gate.CONFIG})
"""Gates that do not open by themselves: a person has to look."""


def delay(backoff: Backoff, tries: int, previous: float, chance: float) -> float:
    """Seconds between a death and the next start, after `tries` starts since the lineage was last healthy, of which
    the last one waited `previous` seconds."""
    return backoff.delay(tries + 1, previous=previous, chance=chance)


LONGEST = 100
"""Characters of an id."""
_DIGITS = 9
_NUMBERED = re.compile(r"^(?P<stem>.*?)(?P<number>[0-9]{0,9})$", re.DOTALL)


def next_id(id: str, highest: int, config: str = "") -> str:
    """The id after this one; `highest` is the highest number that was ever used with this stem."""
    stem, digits = split(id, config)
    number = max(int(digits or 1), highest) + 1
    return _fitting(stem, f"{number:0{max(3, len(digits))}d}")


def first_id(config: str) -> str:
    return _fitting(_stem(config), "001")


def _stem(config: str) -> str:
    return _fitting(f"team-{config.lower()}", "")


def _fitting(stem: str, number: str) -> str:
    """Every id can be named in a request, also the one after it: a long stem gives way to the number."""
    return stem[: LONGEST - _DIGITS] + number


def split(id: str, config: str = "") -> tuple[str, str]:
    """The stem and the trailing number of an id; of a number too long to count, its last nine digits.

    Of an id that was made of its config's name, the number begins after that: `worker2` has digits of its own.
    """
    if is_of(id, config):
        stem = _stem(config)
        return stem, id[len(stem) :]
    found = _NUMBERED.match(id)
    assert found is not None
    return found["stem"], found["number"]


def is_of(id: str, config: str) -> bool:
    """Whether it is the id of an agent of this config, as Argus names them."""
    stem = _stem(config)
    return bool(config) and id.startswith(stem) and re.fullmatch(r"[0-9]{3,9}", id[len(stem) :]) is not None
