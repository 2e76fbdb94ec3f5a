"""How every service stands, and which of them fail: that is asked at every failing reading, and when thousands fail
together, going through all of them each time would take longer than the readings themselves."""

from __future__ import annotations

from collections.abc import Iterable

from argus.services.model import Gate, Health, Outage


class Healths(dict[str, Health]):
    def __init__(self, names: Iterable[str]) -> None:
        super().__init__((name, Health()) for name in names)
        self.failing: set[str] = set()
        """Whose last judged reading failed."""
        self.outages: dict[str, str] = {}
        """Whose outage an incident is, of those that are open."""
        self.unexplained: set[str] = set()
        """Who is held back by a dependency whose own outage was not open yet."""

    def __setitem__(self, name: str, health: Health) -> None:
        before = self.get(name)
        super().__setitem__(name, health)
        if health.failing_since is None:
            self.failing.discard(name)
        else:
            self.failing.add(name)
        outage = before.outage if before else None
        if outage is not health.outage:
            self._change(name, outage, health.outage)

    def __delitem__(self, name: str) -> None:
        self.failing.discard(name)
        self._change(name, self[name].outage, None)
        super().__delitem__(name)

    def _change(self, name: str, before: Outage | None, after: Outage | None) -> None:
        if before is not None:
            self.outages.pop(before.incident, None)
        self.unexplained.discard(name)
        if after is not None:
            self.outages[after.incident] = name
            if after.gate is Gate.DEPENDENCY and not after.explained_by:
                self.unexplained.add(name)
