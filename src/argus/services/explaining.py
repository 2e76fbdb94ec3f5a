"""What explains an outage: the incident at its root, which may become another one while it lasts. Both stories have
that on record, so that neither is told anew."""

from __future__ import annotations

from dataclasses import replace

from argus.services import policy, reports
from argus.services.correlation import Correlator
from argus.services.healths import Healths
from argus.services.model import Gate, Health, Outage
from argus.store.records import Append, Write


class Explaining:
    def __init__(self, healths: Healths, correlator: Correlator) -> None:
        self._healths = healths
        self._correlator = correlator

    def of(self, name: str, judged: Health, outage: Outage, failed_dependency: str | None) -> str:
        return self._now(name, judged, failed_dependency) or self._before(name, outage)

    def _now(self, name: str, judged: Health, failed_dependency: str | None) -> str:
        """The incident at its root, once that is confirmed: of what it depends on, or of the event that this is part
        of; for itself as well."""
        root = self._healths.get(failed_dependency or "")
        event = self._correlator.event
        if event is not None and self._correlator.explains(failed_dependency or name, root or judged):
            return event.incident
        return root.outage.incident if root is not None and root.outage is not None else ""

    def _before(self, name: str, outage: Outage) -> str:
        """What explained it stays with it when that is back: the story of a root is not told anew once it is over. But
        what is still down, and which it does not depend on any more, explains it no longer: two services whose
        dependency was turned round would explain each other, and none would be the root."""
        known = outage.explained_by
        is_open = known in self._healths.outages
        return "" if is_open and not self._stands_under(name, known) else known

    def change(self, name: str, outage: Outage, explained: str) -> tuple[Outage, tuple[Write, ...]]:
        """The outage with this explanation, and what is on record about that in the story of the one before."""
        before, changed = outage.in_story_of or outage.explained_by, replace(outage, explained_by=explained)
        if not before or before == explained:
            return replace(changed, in_story_of=explained), ()
        if self._may_be_back(explained):
            return replace(changed, in_story_of=before), ()
        is_another = bool(explained) and not self._are_one(before, explained)
        earlier = before if is_another else outage.explained_before
        root = self._healths.outages.get(explained, "")
        report = reports.explained_otherwise(name, outage.incident, before, explained, root)
        return replace(changed, in_story_of=explained, explained_before=earlier), (Append(report),)

    def _may_be_back(self, incident: str) -> bool:
        """What explained this one itself is over: its own next reading says whether it is a root, or back as well."""
        outage = self._healths[self._healths.outages[incident]].outage if incident in self._healths.outages else None
        return outage is not None and outage.gate is Gate.DEPENDENCY

    def _are_one(self, before: str, explained: str) -> bool:
        """Whether one of them stands under the other: the same trouble, known better by now."""
        return self._is_under(before, explained) or self._is_under(explained, before)

    def _is_under(self, incident: str, other: str) -> bool:
        name = self._healths.outages.get(incident)
        if name is None:
            return False
        health, event = self._healths[name], self._correlator.event
        if event is not None and event.incident == other and self._correlator.explains(name, health):
            return True
        return (health.outage is not None and health.outage.explained_by == other) or self._stands_under(name, other)

    def _stands_under(self, name: str, incident: str) -> bool:
        return policy.stands_under(name, incident, self._correlator.depends_on, self._healths)
