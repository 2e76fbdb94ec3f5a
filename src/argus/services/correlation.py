"""Many services failing together are one event: announced once, latched, and nothing is restarted while it lasts.

It begins as a suspicion, which holds every restart back at once. Then the others are looked at, so that one message can
name all that fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from argus.host.seam import ProbeFailed
from argus.services import policy, reports
from argus.services.checks.base import Service
from argus.services.model import Health
from argus.services.settings import Health as Settings
from argus.services.tools import Tools
from argus.store.records import Append, Incident, PutIncident, Write

_WITNESS_TIMEOUT = 2.0
_PER_SERVICE = 1e-4
"""Seconds between two looks at all that fail in an event, for each service that there is. Every reading comes by here,
and when thousands fail, comparing all of them each time would leave no time for the readings."""


@dataclass(frozen=True, slots=True)
class Event:
    incident: str
    opened: float
    services: frozenset[str]
    window: float
    own_fault: bool = False
    """Argus could not even reach itself."""
    quiet_since: float | None = None
    """Since when fewer than the threshold are failing."""


class Correlator:
    KIND = "infrastructure_event"

    def __init__(self, settings: Settings, services: Mapping[str, Service], tools: Tools) -> None:
        self._tools = tools
        self.event: Event | None = None
        self.suspected_since: float | None = None
        """Since when those fail of whom enough fail together; who else does is being looked at."""
        self._again = 0.0
        """When all that fail are looked at again, in an event, by the monotonic clock."""
        self._joining: set[str] = set()
        """Who came to the event since the last look: a member already, and on record with the next."""
        self.configure(settings, services)

    @property
    def holds(self) -> bool:
        """Whether every restart is held back."""
        return self.suspected_since is not None or self.event is not None

    @property
    def needs_a_person(self) -> bool:
        """Nothing is restarted, so that it may only end if somebody mends what they share. Once few enough fail it
        ends by itself."""
        return self.event is not None and self.event.quiet_since is None

    def configure(self, settings: Settings, services: Mapping[str, Service]) -> None:
        limits = policy.Correlation(settings.correlated_failure_threshold, settings.correlated_failure_share)
        self._needed = limits.needed(len(services))
        self._intervals = {name: service.interval for name, service in services.items()}
        self.depends_on = {name: service.depends_on for name, service in services.items()}
        if not services:
            self.event, self.suspected_since = None, None
            self._joining.clear()

    def ending(self) -> tuple[Write, ...]:
        """What is recorded when nothing is watched any more: no reading could ever end the event."""
        return self._ended(self.event, []) if self.event else ()

    def restore(self, incident: Incident) -> None:
        names = frozenset(name for name in incident.data.get("services", ()) if name in self._intervals)
        own_fault = bool(incident.data.get("ownFault"))
        self.event = Event(incident.id, incident.opened, names, self._window(names), own_fault)

    def explains(self, name: str, health: Health) -> bool:
        """Whether the event is why this service fails: it is one of those that fail together."""
        # After a restart of Argus or a change of its configuration its failures are counted anew; its outage goes on.
        is_failing = health.failing_since is not None or health.outage is not None
        is_member = self.event is not None and (name in self.event.services or name in self._joining)
        return is_member and is_failing

    def is_due(self, since: float | None, at: float) -> bool:
        """Whether a reading makes it worth while to look at all that fail. `since`: since when this one counts; None:
        not at all. What has failed for long begins no event, of what is suspected already nothing is found out in that
        way, and an event goes on for a while."""
        if self.event is not None:
            return self._tools.clock.monotonic() >= self._again
        return self.suspected_since is None and since is not None and at - since <= policy.LONGEST + policy.TICKS

    def join(self, name: str, health: Health) -> None:
        """One that fails by itself, between two looks."""
        if self.event is not None and not self._was_down_before(self.event, health):
            self._joining.add(name)

    async def look(self, failing: Mapping[str, float], healths: Mapping[str, Health], now: float) -> None:
        """After a reading that could begin, widen or end an event. `failing`: who counts, and since when."""
        if self.event is None:
            together = policy.failing_together(failing, self._intervals, now)
            if len(together) >= self._needed:
                self.suspected_since = min(failing[name] for name in together)
            return
        members = [name for name in failing if not self._was_down_before(self.event, healths[name])]
        await self._widen(self.event, self._joining.union(members))
        self._again = self._tools.clock.monotonic() + _PER_SERVICE * len(self._intervals)
        if len(members) >= self._needed:
            self.event = replace(self.event, quiet_since=None)
        elif self.event.quiet_since is None:
            self.event = replace(self.event, quiet_since=now)
        elif now - self.event.quiet_since >= self.event.window:
            # Also who does not count any more, because it is paused: it does not answer again.
            still = [
                name for name in sorted(self.event.services) if name in healths and self.explains(name, healths[name])
            ]
            await self._end(self.event, still)

    async def declare(self, failing: Mapping[str, float], now: float) -> None:
        """The others have been looked at: it is an event, or it was none."""
        names = policy.failing_together(failing, self._intervals, now)
        if self.event is None and len(names) >= self._needed:
            fault = await self._own_fault()
            id = self._tools.new_id()
            draft = (
                reports.infrastructure_event(id, names, "reachable")
                if fault is None
                else reports.own_fault(id, names, fault)
            )
            event = Event(id, self._tools.clock.wall(), frozenset(names), self._window(names), fault is not None)
            await self._tools.notes.note(_incident(event), Append(draft))
            self.event = event
        self.suspected_since = None

    @staticmethod
    def _was_down_before(event: Event, health: Health) -> bool:
        """An outage from long before is a trouble of its own: one that nobody mends would keep every event open."""
        return health.outage is not None and health.outage.opened < event.opened - event.window - policy.TICKS

    async def _widen(self, event: Event, members: Set[str]) -> None:
        """Who fails later belongs to it as well. That is on record; nobody is told a second time."""
        if not members <= event.services:
            wider = replace(event, services=event.services | members)
            await self._tools.notes.note(_incident(wider))
            self.event = wider
        self._joining.clear()

    async def _end(self, event: Event, still_failing: list[str]) -> None:
        await self._tools.notes.note(*self._ended(event, still_failing))
        self.event = None

    def _ended(self, event: Event, still_failing: list[str]) -> tuple[Write, ...]:
        report = reports.own_fault_ended if event.own_fault else reports.infrastructure_event_ended
        closed = _incident(event, closed=self._tools.clock.wall(), stillFailing=still_failing)
        return closed, Append(report(event.incident, sorted(event.services), still_failing))

    async def _own_fault(self) -> str | None:
        """Why Argus cannot even reach itself; None when it can, and the fault is out there."""
        witness = self._tools.witness()
        if witness is None:
            return None
        try:
            await self._tools.host.tcp(*witness, timeout=_WITNESS_TIMEOUT)
        except ProbeFailed as failure:
            return failure.detail
        return None

    def _window(self, names: Iterable[str]) -> float:
        return policy.window(names, self._intervals)


def _incident(event: Event, closed: float | None = None, **more: object) -> Write:
    count = len(event.services)
    cause = "Argus cannot reach itself" if event.own_fault else f"{count} services fail together"
    data = {"services": sorted(event.services), "ownFault": event.own_fault, **more}
    return PutIncident(Incident(event.incident, Correlator.KIND, "", event.opened, closed, cause, data))
