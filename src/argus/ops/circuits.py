"""The circuit breaker of an environment in the shape that its callers know: times are milliseconds of the epoch."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.core.breaker import Breaker, State, retry_in
from argus.core.circuit import Circuit
from argus.core.clock import milliseconds
from argus.core.errors import ArgusError, Category, Code, Severity
from argus.ops.house import House
from argus.ops.operation import Answer


class CircuitFailure(Answer):
    error: str
    timestamp: int = Field(description="Milliseconds since 1970")
    code: str


class CircuitView(Answer):
    name: str
    state: State = Field(description="closed: calls pass; open: none does; half-open: one does, to see")
    failure_count: int = Field(description="Consecutive failures")
    last_failure_time: int | None = Field(description="Milliseconds since 1970")
    last_state_transition: int = Field(description="Milliseconds since 1970; of one that never changed, when it began")
    seconds_in_state: float = Field(description="Since its last transition")
    retry_in_seconds: float | None = Field(description="Until one call is let through, while it is open by time")
    failure_history: list[CircuitFailure] = Field(description="The last failures, the oldest first")


class CircuitReset(Answer):
    previous_state: State
    current_state: State
    failure_history: list[CircuitFailure]
    message: str


class ProblemView(Answer):
    """A structured error that did not keep the rest from being answered."""

    code: Code
    category: Category
    severity: Severity
    message: str
    details: dict[str, Any]
    suggested_actions: list[str]
    timestamp: int = Field(description="Milliseconds since 1970")


def circuit_view(house: House, circuit: Circuit) -> CircuitView:
    breaker, now = circuit.breaker, house.clock.monotonic()
    left = retry_in(breaker, circuit.limits, now)
    since = breaker.since or circuit.began
    failures = _history(house, breaker)
    return CircuitView(
        name=circuit.name,
        state=breaker.state,
        failure_count=breaker.consecutive,
        last_failure_time=failures[-1].timestamp if failures else None,
        last_state_transition=_moment(house, since),
        seconds_in_state=round(max(0.0, now - since), 1),
        retry_in_seconds=None if left is None else round(left, 1),
        failure_history=failures,
    )


async def reset(house: House, circuit: Circuit) -> CircuitReset:
    before, after = await house.breakers.reset(circuit.name, house.by)
    was_open = before.state is State.OPEN
    said = "the next call is let through, and decides" if was_open else f"it is {before.state.value}: nothing to reset"
    return CircuitReset(
        previous_state=before.state,
        current_state=after.state,
        failure_history=_history(house, before),
        message=said,
    )


def problem_view(house: House, error: ArgusError) -> ProblemView:
    return ProblemView.model_validate(_cleaned(house, error.structured(milliseconds(house.clock.wall()))))


def _cleaned(house: House, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cleaned(house, one) for key, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(house, one) for one in value]
    return house.clean(value) if isinstance(value, str) else value


def _history(house: House, breaker: Breaker) -> list[CircuitFailure]:
    return [
        CircuitFailure(error=house.clean(one.message), timestamp=_moment(house, one.at), code=one.code)
        for one in breaker.history
    ]


def _moment(house: House, monotonic: float) -> int:
    return milliseconds(house.clock.wall() - house.clock.monotonic() + monotonic)
