"""What the reconciler is told and asked. One queue, one reader: the sole writer of the services' state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from argus.core.clock import Jump
from argus.host.seam import Ran
from argus.services.checks.base import Service
from argus.services.model import Health, Observation
from argus.services.registry import Change
from argus.services.settings import Health as Settings
from argus.services.waiting import Asking
from argus.store.records import Act, Write


@dataclass(frozen=True, slots=True)
class Observed:
    name: str
    observation: Observation
    reply: asyncio.Future[Health]


@dataclass(frozen=True, slots=True)
class Asked:
    name: str
    asking: Asking
    reply: asyncio.Future[str]


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Whoever asked for a restart waits for it no more."""

    name: str
    asking: Asking
    why: str = ""
    """What ended the wait; empty: whoever asked has gone."""


@dataclass(frozen=True, slots=True)
class Paused:
    name: str
    seconds: float | None
    by: str
    reply: asyncio.Future[float | None]


@dataclass(frozen=True, slots=True)
class Jumped:
    jump: Jump


@dataclass(frozen=True, slots=True)
class Repaired:
    """A restart was carried out and looked at; `ran` is None when an earlier Argus was killed in the middle of it."""

    act: Act
    ran: Ran | None
    observation: Observation


@dataclass(frozen=True, slots=True)
class Reconfigured:
    """Another configuration. `writes` are recorded with it, and `take_over` runs once they are: all or nothing."""

    settings: Settings
    services: dict[str, Service]
    writes: tuple[Write, ...]
    take_over: Callable[[], None]
    reply: asyncio.Future[Change]


@dataclass(frozen=True, slots=True)
class Looked:
    """The others have been looked at, or waited for long enough; for whose sake. Empty: for an event's."""

    name: str


Message = Observed | Looked | Asked | Withdrawn | Paused | Jumped | Repaired | Reconfigured
