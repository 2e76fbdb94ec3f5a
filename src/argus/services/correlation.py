"""Many services failing together are one event: announced once, latched, and nothing is restarted while it lasts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from argus.host.seam import ProbeFailed
from argus.services import policy, reports
from argus.services.checks.base import Service
from argus.services.model import Health
from argus.services.settings import Health as Settings
from argus.services.tools import Tools
from argus.store.records import Append, Incident, PutIncident, Write

_WITNESS_TIMEOUT = 2.0


@dataclass(frozen=True, slots=True)
class Event:
    incident: str
    opened: float
    services: tuple[str, ...]
    window: float
    cause: str = ""
    quiet_since: float | None = None
    """Since when fewer than the threshold are failing."""


class Correlator:
    KIND = "infrastructure_event"

    def __init__(self, settings: Settings, services: Mapping[str, Service], tools: Tools) -> None:
        self._tools = tools
        self.event: Event | None = None
        self.configure(settings, services)

    def configure(self, settings: Settings, services: Mapping[str, Service]) -> None:
        limits = policy.Correlation(settings.correlated_failure_threshold, settings.correlated_failure_share)
        self._needed = limits.needed(len(services))
        self._intervals = {name: service.interval for name, service in services.items()}
        self.depends_on = {name: service.depends_on for name, service in services.items()}
        if not services:
            self.event = None

    def ending(self) -> tuple[Write, ...]:
        """What is recorded when nothing is watched any more: no reading could ever end the event."""
        return self._ended(self.event, []) if self.event else ()

    def restore(self, incident: Incident) -> None:
        names = tuple(name for name in incident.data.get("services", ()) if name in self._intervals)
        self.event = Event(incident.id, incident.opened, names, self._window(names), incident.cause)

    async def look(self, healths: Mapping[str, Health], now: float) -> None:
        """After a reading that could begin or end an event."""
        if self.event is None:
            together = policy.failing_together(healths, self.depends_on, self._intervals, now)
            if len(together) >= self._needed:
                await self._declare(together)
            return
        failing = [name for name, health in healths.items() if health.failing_since is not None]
        if len(failing) >= self._needed:
            self.event = replace(self.event, quiet_since=None)
        elif self.event.quiet_since is None:
            self.event = replace(self.event, quiet_since=now)
        elif now - self.event.quiet_since >= self.event.window:
            await self._end(self.event, failing)

    async def _declare(self, names: list[str]) -> None:
        fault = await self._own_fault()
        id = self._tools.new_id()
        draft = (
            reports.infrastructure_event(id, names, "reachable")
            if fault is None
            else reports.own_fault(id, names, fault)
        )
        event = Event(id, self._tools.clock.wall(), tuple(names), self._window(names), draft.type)
        incident = Incident(id, self.KIND, "", event.opened, None, event.cause, {"services": names})
        await self._tools.notes.note(PutIncident(incident), Append(draft))
        self.event = event

    async def _end(self, event: Event, still_failing: list[str]) -> None:
        await self._tools.notes.note(*self._ended(event, still_failing))
        self.event = None

    def _ended(self, event: Event, still_failing: list[str]) -> tuple[Write, ...]:
        names = list(event.services)
        data = {"services": names, "stillFailing": still_failing}
        incident = Incident(event.incident, self.KIND, "", event.opened, self._tools.clock.wall(), event.cause, data)
        report = reports.infrastructure_event_ended(event.incident, names, still_failing)
        return PutIncident(incident), Append(report)

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
        return min(120.0, max((self._intervals[name] for name in names), default=0.0))
