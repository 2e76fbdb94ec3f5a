"""Operations on circuit breakers: what Argus does not ask just now, and why."""

from __future__ import annotations

from pydantic import Field

from argus.core.breaker import Breaker, State, retry_in
from argus.core.circuit import Circuit
from argus.core.clock import rfc3339
from argus.core.errors import Code
from argus.ops.house import House
from argus.ops.operation import Answer, Ask, operation
from argus.schema import Name


class FailureView(Answer):
    at: str
    code: str
    message: str


class BreakerView(Answer):
    name: str
    state: State = Field(description="closed: calls pass; open: none does; half-open: one does, to see")
    failures: int = Field(description="Consecutive failures")
    since: str | None = Field(description="When it came into this state; null when it has always been closed")
    retry_in_seconds: float | None = Field(description="Until one call is let through, while it is open by time")
    history: list[FailureView] = Field(description="The last failures, the oldest first")


class BreakerList(Answer):
    breakers: list[BreakerView]


class BreakerReset(Answer):
    previous_state: State
    current_state: State
    failure_history: list[FailureView]
    message: str


class Nothing(Ask):
    pass


class Named(Ask):
    name: Name = Field(description="The breaker's name")


def breaker_view(house: House, circuit: Circuit) -> BreakerView:
    breaker, now = circuit.breaker, house.clock.monotonic()
    left = retry_in(breaker, circuit.limits, now)
    return BreakerView(
        name=circuit.name,
        state=breaker.state,
        failures=breaker.consecutive,
        since=_wall(house, breaker.since) if breaker.since else None,
        retry_in_seconds=None if left is None else round(left, 1),
        history=_history(house, breaker),
    )


def _history(house: House, breaker: Breaker) -> list[FailureView]:
    return [
        FailureView(at=_wall(house, one.at), code=one.code, message=house.clean(one.message)) for one in breaker.history
    ]


def _wall(house: House, monotonic: float) -> str:
    return rfc3339(house.clock.wall() - house.clock.monotonic() + monotonic)


@operation("breakers.list", "GET /api/breakers", verb="breakers list", tool="argus_breakers", read_only=True)
async def list_breakers(house: House, ask: Nothing) -> BreakerList:
    """Lists the circuit breakers: what failed so often that Argus does not ask it just now, and when it will.

    Changes nothing. They are named `docker:PROJECT` and `mcp:SERVER`. Behind an open breaker every call fails at once
    with CIRCUIT_OPEN; do not loop against it: wait for `retryInSeconds`, or mend what is behind it.
    """
    return BreakerList(breakers=[breaker_view(house, one) for one in house.breakers.circuits.values()])


@operation("breakers.reset", "POST /api/breakers/{name}/reset", verb="breakers reset", errors=(Code.NOT_FOUND,))
async def reset_breaker(house: House, ask: Named) -> BreakerReset:
    """Lets one call through an open breaker now; it closes when that succeeds. Another is left as it is."""
    return await reset(house, ask.name)


async def reset(house: House, name: str) -> BreakerReset:
    before, after = await house.breakers.reset(name, house.by)
    said = "the next call is let through, and decides"
    if before.state is not State.OPEN:
        open = sorted(one.name for one in house.breakers.circuits.values() if one.breaker.state is State.OPEN)
        said = f"it is {before.state.value}: nothing to reset" + (f"; open: {', '.join(open)}" if open else "")
    return BreakerReset(
        previous_state=before.state,
        current_state=after.state,
        failure_history=_history(house, before),
        message=said,
    )


OPERATIONS = (list_breakers, reset_breaker)
