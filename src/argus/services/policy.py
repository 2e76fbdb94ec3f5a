"""Judging and deciding: values in, values out. No clock, no store, no machine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from argus.core.autonomy import Level
from argus.services.model import Gate, Health, Observation, Outage, Status


@dataclass(frozen=True, slots=True)
class Limits:
    """How many readings mean something."""

    failures: int = 3
    """In a row: down."""
    successes: int = 1
    """In a row: recovered."""
    flips: int = 4
    """More, within so many seconds: flapping."""
    flips_within: float = 600.0


def judge(health: Health, observation: Observation, limits: Limits) -> Health:
    """What one more reading means. Down is confirmed by consecutive failures, recovery by consecutive successes."""
    status = observation.seen.status
    if is_as_before(health, status):
        return health._replace(last=observation)  # nearly every reading is this one
    unknowns = health.unknowns + 1 if status is Status.UNKNOWN else 0
    health = _flipped(health._replace(last=observation, unknowns=unknowns), observation, limits)
    if status is Status.DOWN:
        failures = health.failures + 1
        began = observation.at if health.failing_since is None else health.failing_since
        health = health._replace(failures=failures, failing_since=began, successes=0)
        confirmed = failures >= limits.failures or health.outage is not None
        return _moved(health, Status.DOWN, observation.wall) if confirmed else health
    if status.alive:
        successes = health.successes + 1
        if health.outage is not None and successes < limits.successes:
            return health._replace(successes=successes)
        return _moved(health._replace(failures=0, failing_since=None, successes=0), status, observation.wall)
    # Pending and unknown are honest: they neither confirm an outage nor end one.
    return health if health.outage else _moved(health, status, observation.wall)


_SLACK = 1.0
"""Seconds by which two ways to the same moment may differ."""


def failing_before(health: Health, outage: Outage | None, now: float, wall: float) -> float | None:
    """Since when, by the wall clock, it fails, where its failures were counted anew since then: by another Argus, for
    another configuration, or after a jump of the clock. None: the count has them all."""
    if outage is None:
        return None
    began = outage.opened if outage.failing_since is None else outage.failing_since
    counted = wall if health.failing_since is None else wall - (now - health.failing_since)
    return began if began < counted - _SLACK else None


def was_tried(health: Health) -> bool:
    """Whether it was restarted since it began to fail, while nobody knew yet that this is an outage."""
    return health.failing_since is not None and health.failing_since < health.tried


def is_as_before(health: Health, status: Status) -> bool:
    """A reading that says once more what is known, of a service about which nothing is open."""
    return (
        status is health.status and status.alive and health.answers is True
        and not health.failures and not health.flips and health.outage is None
    )  # fmt: skip


def _flipped(health: Health, observation: Observation, limits: Limits) -> Health:
    """A flip is a plain result that differs from the one before; what is pending or unknown is no result."""
    status = observation.seen.status
    if status is not Status.DOWN and not status.alive:
        return health
    recent = [at for at in health.flips if observation.at - at <= limits.flips_within]
    if health.answers is not None and health.answers is not status.alive:
        recent.append(observation.at)
    # As many as could be explained, and one more than the limit: a service that flips with every check fills no memory.
    return health._replace(answers=status.alive, flips=tuple(recent[-3 * limits.flips - 1 :]))


def is_flapping(health: Health, limits: Limits, now: float, explained: int = 0) -> bool:
    """It begins with one flip too many that nothing explains. It ends when a whole window has passed and few flips are
    left in it, so that it does not come and go itself."""
    if health.flapping is None:
        return len(health.flips) - explained > limits.flips
    lately = sum(1 for at in health.flips if now - at <= limits.flips_within)
    return now - health.flapping.since < limits.flips_within or lately > limits.flips // 2


def explained_flips(
    name: str, depends_on: Mapping[str, Iterable[str]], healths: Mapping[str, Health], since: float
) -> int:
    """How many flips may come from what it depends on: each time that it fell, this one fell and came back with it. Its
    own coming back may be no flip, where it was restarted."""
    most, waiting, seen = 0, list(depends_on.get(name, ())), {name}
    while waiting:
        other = waiting.pop()
        if other in seen or other not in healths:
            continue
        seen.add(other)
        most = max(most, sum(1 for at in healths[other].flips if at >= since))
        waiting.extend(depends_on.get(other, ()))
    return 2 * most


def _moved(health: Health, status: Status, wall: float) -> Health:
    return health if status is health.status else health._replace(status=status, since=wall)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a decision about one service that is down rests on."""

    paused: bool = False
    is_self: bool = False
    infrastructure_event: bool = False
    failed_dependency: str | None = None
    flapping: bool = False
    autonomy: Level = Level.OBSERVE
    restartable: bool = True
    restarts: int = 0
    budget_left: int = 0
    recordable: bool = True
    approved: bool = False
    """A person asks for this one."""
    in_use: str = ""
    """Who works with it, in words; empty: nobody, or it was waited for long enough."""
    wait_left: float = 0.0
    """Seconds for which that is waited for still."""
    outwaited: str = ""
    """Who still works with it, though it was waited for long enough."""


@dataclass(frozen=True, slots=True)
class Restart:
    pass


@dataclass(frozen=True, slots=True)
class Hold:
    gate: Gate


def decide(facts: Facts) -> Restart | Hold:
    """The gates in their order; the first that holds back is the answer."""
    if facts.paused:
        return Hold(Gate.MAINTENANCE)
    if facts.is_self:
        return Hold(Gate.SELF)
    if facts.infrastructure_event:
        return Hold(Gate.INFRASTRUCTURE)
    if facts.failed_dependency is not None:
        return Hold(Gate.DEPENDENCY)
    if facts.flapping:
        return Hold(Gate.FLAPPING)
    if not facts.autonomy.allows(Level.CAUTIOUS if facts.approved else Level.MODERATE):
        return Hold(Gate.AUTONOMY)
    if not facts.restartable:
        return Hold(Gate.NO_RESTART)
    if not facts.approved and facts.restarts >= (2 if facts.autonomy.allows(Level.FULL) else 1):
        return Hold(Gate.ALREADY)  # it is handed to a person then, who may try again once the cause is mended
    if facts.budget_left <= 0:
        return Hold(Gate.BUDGET)
    if facts.in_use:
        return Hold(Gate.IN_USE)
    if not facts.recordable:
        return Hold(Gate.RECORD)
    return Restart()


TICKS = 1.0
"""Checks start up to a few ticks after they are due; a window as long as the interval would miss the last of them."""

SILENT = frozenset({Gate.MAINTENANCE, Gate.INFRASTRUCTURE, Gate.DEPENDENCY, Gate.FLAPPING})
"""Gates whose reason is told as one message elsewhere, or is not to be told: the single service stays quiet."""


def decided(outage: Outage, decision: Restart | Hold) -> Outage:
    """The outage with a decision taken; `told` says whether a person has heard of it."""
    gate = decision.gate if isinstance(decision, Hold) else None
    restarts = outage.restarts + (1 if isinstance(decision, Restart) else 0)
    return replace(outage, gate=gate, restarts=restarts, told=outage.told or gate not in SILENT)


def failed_dependency(name: str, depends_on: Mapping[str, Iterable[str]], healths: Mapping[str, Health]) -> str | None:
    """The failing service farthest down one chain: the root, which explains the rest, as nothing that it depends on
    fails."""
    root, seen = name, {name}
    while True:
        failing = (one for one in depends_on.get(root, ()) if one not in seen and _fails(one, healths))
        below = next(failing, None)
        if below is None:
            return root if root != name else None
        seen.add(below)
        root = below


def _fails(name: str, healths: Mapping[str, Health]) -> bool:
    """One whose outage is open fails too: its failures are counted anew when its configuration changes."""
    return name in healths and (healths[name].failures > 0 or healths[name].outage is not None)


def stands_under(
    name: str, incident: str, depends_on: Mapping[str, Iterable[str]], healths: Mapping[str, Health]
) -> bool:
    """Whether this is the open outage of something that it depends on, as the configuration is now."""
    waiting, seen = list(depends_on.get(name, ())), {name}
    while waiting:
        other = waiting.pop()
        if other in seen or other not in healths:
            continue
        seen.add(other)
        outage = healths[other].outage
        if outage is not None and outage.incident == incident:
            return True
        waiting.extend(depends_on.get(other, ()))
    return False


@dataclass(frozen=True, slots=True)
class Correlation:
    threshold: int = 3
    share: float = 0.02

    def needed(self, services: int) -> int:
        return max(self.threshold, math.ceil(self.share * services))


def failing(
    names: Iterable[str], healths: Mapping[str, Health], depends_on: Mapping[str, Iterable[str]]
) -> dict[str, float]:
    """Those of them that fail by themselves, and since when: what a failed dependency explains is no failure of its
    own, neither for the beginning of an event nor for its end."""
    since = {name: healths[name].failing_since for name in names}
    return {
        name: at
        for name, at in since.items()
        if at is not None and failed_dependency(name, depends_on, healths) is None
    }


def failing_together(failing: Mapping[str, float], intervals: Mapping[str, float], now: float) -> list[str]:
    """Those of them whose failing began within one window.

    The window is the longest interval among those failing, at most two minutes: a slow check notices the same event
    later than a quick one.
    """
    if not failing:
        return []
    within = window(failing, intervals) + TICKS
    return sorted(name for name, at in failing.items() if now - at <= within)


LONGEST = 120.0


def window(names: Iterable[str], intervals: Mapping[str, float]) -> float:
    return min(LONGEST, max((intervals[name] for name in names), default=0.0))
