"""Whether what explains an outage is known for sure by now. Pure.

Of several that fall together, any may be confirmed first. Who is told of a root is told once that is known: a moment
later it may be another, or nothing any more. Every wait here has its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from argus.services.checks.base import Service
from argus.services.model import Gate, Health, Status

_TICKS = 1.0
"""Checks start up to a few ticks after they are due."""


def is_open(
    name: str,
    services: Mapping[str, Service],
    healths: Mapping[str, Health],
    failures: Callable[[Service], int],
    now: float,
) -> bool:
    """Of one with an outage: whether it may show in a moment that something else explains it, or that it is over."""
    service, health = services[name], healths[name]
    if health.outage is None or health.repair is not None:
        return False  # before a restart, the others are looked at
    if is_failing(service.depends_on, services, healths, failures, now):
        return True
    below = [other for other in service.depends_on if other in services]
    if health.outage.gate is Gate.DEPENDENCY and not any(_fails(healths[other]) for other in below):
        # What explained it is back: its own next reading says whether it is as well.
        last = health.last
        return last is not None and last.seen.status is Status.DOWN and now < last.at + _once(service)
    began = health.failing_since
    return began is not None and any(
        _is_unseen(healths[other], began) and now < began + _once(services[other]) for other in below
    )


def is_failing(
    names: Iterable[str],
    services: Mapping[str, Service],
    healths: Mapping[str, Health],
    failures: Callable[[Service], int],
    now: float,
) -> bool:
    """Whether one of these, or of what explains these, fails and is not confirmed yet, for as long as that may take."""
    waiting, known = [*names], set[str]()
    while waiting:
        other = waiting.pop()
        if other in known or other not in services or not _fails(healths[other]):
            continue
        known.add(other)
        service, health = services[other], healths[other]
        began = health.failing_since
        if health.outage is None and began is not None and now < began + failures(service) * _once(service):
            return True
        waiting += service.depends_on
    return False


def _fails(health: Health) -> bool:
    return health.failures > 0 or health.outage is not None


def _is_unseen(health: Health, since: float) -> bool:
    return not _fails(health) and (health.last is None or health.last.at < since)


def _once(service: Service) -> float:
    """The longest that the next reading may take."""
    return service.interval + service.timeout + _TICKS
