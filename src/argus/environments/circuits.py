"""What becomes of an environment's circuit breaker, as its events tell it. Pure."""

from __future__ import annotations

from typing import Any

from argus.core.breaker import Breaker, State
from argus.core.events import Draft


def events(name: str, before: Breaker, now: Breaker) -> list[Draft]:
    """Of all that happened between two looks: it may have passed through a state that nobody saw."""
    return [_event(name, state, now) for state in _passed(before, now)]


def _passed(before: Breaker, now: Breaker) -> list[State]:
    was, is_ = before.state, now.state
    if was is State.OPEN and is_ is State.OPEN:
        return [State.HALF_OPEN, State.OPEN] if now.since != before.since else []
    if was is State.OPEN and is_ is State.CLOSED:
        return [State.HALF_OPEN, State.CLOSED]
    if was is State.CLOSED and is_ is State.HALF_OPEN:
        return [State.OPEN, State.HALF_OPEN]
    return [is_] if was is not is_ else []


def _event(name: str, state: State, now: Breaker) -> Draft:
    data: dict[str, Any] = {"breaker": name}
    if state is State.OPEN:
        data |= {"failureCount": now.consecutive, "lastError": now.history[-1].message if now.history else ""}
    elif state is State.CLOSED:
        data |= {"probeSucceeded": True}
    return Draft("resilience", f"circuit_{state.value.replace('-', '_')}", name.partition(":")[2] or name, data)
