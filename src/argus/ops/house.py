"""What an operation can reach: the parts, handed in by the daemon, and who is asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from argus.autonomy import Autonomy
from argus.core.clock import Clock
from argus.services.watch import Watch
from argus.store.interface import Store


@dataclass(frozen=True, slots=True)
class Facts:
    """What does not change while this daemon runs."""

    version: str
    pid: int
    url: str
    home: str
    config: str | None
    started: float
    discovered: bool
    """No configuration was found: the services are what was listening at the start."""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class House:
    store: Store
    clock: Clock
    watch: Watch
    autonomy: Autonomy
    facts: Facts
    login_link: Callable[[], str]
    by: str = "argus"

    def asked_by(self, who: str) -> House:
        return replace(self, by=who)
