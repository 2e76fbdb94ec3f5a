"""What the daemon hands in: the seams, and what the services' part must know of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from argus.core.autonomy import Level
from argus.core.clock import Clock
from argus.host.seam import Host
from argus.services import policy
from argus.services.model import Use
from argus.store.interface import Store
from argus.store.notes import Notes


@dataclass(frozen=True, slots=True)
class Tools:
    host: Host
    store: Store
    notes: Notes
    """How what was seen and decided is written; the store itself is for reading, and for what people ask for."""
    clock: Clock
    autonomy: Callable[[], Level]
    time_is_sound: Callable[[], bool]
    new_id: Callable[[], str]
    log_path: Callable[[str], str]
    """Where the output of a service's restart goes."""
    show: Callable[[str, Mapping[str, Any]], None] = lambda type, data: None
    """Shows a single reading to who looks, without recording it."""
    in_use: Callable[[str, str], Iterable[Use]] = lambda name, agent: ()
    """Who is in the middle of working with a service, as far as that is known; without this agent, which asks."""
    witness: Callable[[], tuple[str, int] | None] = lambda: None
    """Argus's own listener, asked before an infrastructure event is declared."""
    decide: Callable[[policy.Facts], policy.Restart | policy.Hold] = policy.decide
