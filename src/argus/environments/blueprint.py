"""What is to be brought up, once the file is read and its variables are resolved. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from argus.environments.mocking.definition import Served
from argus.host.engine.resources import Building, Mount


@dataclass(frozen=True, slots=True)
class PortWish:
    container_port: int
    host_port: int
    host: str = ""
    protocol: str = "tcp"


@dataclass(frozen=True, slots=True)
class HealthWish:
    """Asked over HTTP from outside: nothing is assumed of what an image has inside."""

    path: str
    port: int
    interval: float = 10.0
    timeout: float = 5.0
    retries: int = 10
    start_period: float = 30.0

    @property
    def patience(self) -> float:
        """Seconds after which it counts as not coming up: what Docker itself would wait with these numbers."""
        return self.start_period + max(1, self.retries) * (self.interval + self.timeout)


@dataclass(frozen=True, slots=True)
class Part:
    """A service, or a mock that is a container."""

    name: str
    container: str
    image: str
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[PortWish, ...] = ()
    mounts: tuple[Mount, ...] = ()
    depends_on: tuple[str, ...] = ()
    starts_after: tuple[str, ...] = ()
    """Others that are better there first: mocks that it may call while it starts. Waited for only while all of it is
    set up; one that does not come back later holds up nobody who does not depend on it."""
    health: HealthWish | None = None
    command: tuple[str, ...] | None = None
    is_mock: bool = False
    alias: str = ""
    """What it is reached by on the network, beside its container's name."""
    serves: Served | None = None
    """Of a mock that Argus answers itself: its container passes on what comes, and its ports are not the engine's."""


@dataclass(frozen=True, slots=True)
class Build:
    service: str
    image: str
    building: Building | None
    """None where no Dockerfile was found."""
    looked_at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Blueprint:
    project: str
    folder: str
    network: str
    parts: tuple[Part, ...] = ()
    builds: tuple[Build, ...] = ()
    """In the order of the file."""
    warnings: tuple[str, ...] = ()
    """What of the file is left out."""
    disk_threshold: int = 2 << 30
    preflight: bool = True
    clean_orphans: bool = True
    reassign: bool = True
    verify: bool = True
    """Whether every service is to be seen reaching all others."""
    port_range: tuple[int, int] | None = None
    breaker: bool = True
    breaker_failures: int = 5
    breaker_reset: float = 30.0
    restart: bool = True
    restarts: int = 3
    restart_delay: float = 2.0
    restart_growth: Literal["exponential", "linear"] = "exponential"
    is_recorded: bool = False
    """Made of what is on record, because the file cannot be read: of all else it knows nothing."""
