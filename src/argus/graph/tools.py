"""What the daemon hands in: the other parts, as the graph sees them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from dataclasses import dataclass

from argus.core.clock import Clock
from argus.graph.model import Dependant, Gone, Role
from argus.graph.policy import Look
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.store.records import Write

Say = Callable[[Dependant, str, str, Callable[[], tuple[Write, ...]]], Awaitable[None]]
"""Types a line to one of them, in the story of an incident. What the last argument gives is on record before that; it
is not asked for where nothing can be typed just now."""


@dataclass(frozen=True, slots=True)
class Tools:
    store: Store
    notes: Notes
    clock: Clock
    look: Look
    """How something that others depend on stands."""
    dependants: Callable[[Collection[str]], Iterable[Dependant]]
    """Everybody who works now and depends on something, or is one of these: who was told to wait is told to go on, also
    when it depends on nothing any more."""
    gone: Callable[[Role, str], Gone]
    """What became of one that is not among them any more."""
    say: Say
    wake: Callable[[], None]
    """Something is back: whoever waited for it is looked at."""
    finish: Callable[[], Coroutine[None, None, None]]
    """Submits what an Argus that was killed left at prompts, until nothing is left there."""
