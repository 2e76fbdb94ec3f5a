"""Operations on an agent's own wish to end."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.agents.stops import StopRequest
from argus.core.clock import milliseconds, rfc3339
from argus.core.errors import Code
from argus.ops.caller import Scope
from argus.ops.house import House
from argus.ops.operation import operation
from argus.ops.services import Nothing
from argus.ops.snake import SnakeAnswer, SnakeAsk, speaks_for
from argus.schema import Name


class StopRequestAsk(SnakeAsk):
    agent_id: Name = Field(description="Who wants to end")
    reason: str = Field(default="", max_length=2000, description="Why")
    context: str = Field(default="", max_length=20_000, description="What whoever answers should know")
    work_completed: str = Field(default="", max_length=20_000, description="What is done")


class StopRequestView(SnakeAnswer):
    id: str
    agent_id: str
    reason: str
    context: str
    work_completed: str
    status: str = Field(description="pending, approved or denied")
    response: str
    created: str
    answered: str | None


class StopRequestList(SnakeAnswer):
    stop_requests: list[StopRequestView]
    count: int
    timestamp: int


class RespondAsk(SnakeAsk):
    id: Name = Field(description="The request's id")
    approved: bool = Field(strict=True, description="Whether it may end")
    response: str = Field(default="", max_length=20_000, description="What it is told")


def _request(house: House, one: StopRequest) -> StopRequestView:
    return StopRequestView(
        id=one.id,
        agent_id=one.agent,
        reason=house.clean(one.reason),
        context=house.clean(one.context),
        work_completed=house.clean(one.work_completed),
        status=one.status,
        response=house.clean(one.response),
        created=rfc3339(one.created),
        answered=rfc3339(one.answered) if one.answered else None,
    )


def pending(house: House) -> list[StopRequestView]:
    """Those without an answer, oldest first."""
    found = [one for one in house.crew.stops.requests.values() if one.status == "pending"]
    return [_request(house, one) for one in sorted(found, key=lambda one: one.created)]


@operation(
    "stop_requests.ask",
    "POST /api/stop-requests",
    tool="argus_request_stop",
    scope=Scope.REPORT,
    status=201,
    errors=(Code.AGENT_NOT_FOUND, Code.CONFLICT, Code.STORE_UNAVAILABLE),
)
async def request_stop(house: House, ask: StopRequestAsk) -> StopRequestView:
    """Asks a person whether an agent may end.

    Changes nothing but the record: the request waits, and somebody is told. Its beats are answered with stop once that
    is approved; until then go on. Say what is done and what is not. AGENT_NOT_FOUND: an agent that never beat cannot
    ask. CONFLICT: too many of its requests wait for an answer.
    """
    speaks_for(house, ask.agent_id)
    made = await house.crew.stops.ask(ask.agent_id, ask.reason, ask.context, ask.work_completed)
    return _request(house, made)


@operation("stop_requests.list", "GET /api/stop-requests", read_only=True)
async def list_stop_requests(house: House, ask: Nothing) -> StopRequestList:
    """Lists the requests of agents to end, oldest first, with their answers."""
    found = sorted(house.crew.stops.requests.values(), key=lambda one: one.created)
    views = [_request(house, one) for one in found]
    return StopRequestList(stop_requests=views, count=len(views), timestamp=milliseconds(house.clock.wall()))


@operation(
    "stop_requests.respond",
    "POST /api/stop-requests/{id}/respond",
    errors=(Code.NOT_FOUND, Code.CONFLICT, Code.STORE_UNAVAILABLE),
)
async def respond(house: House, ask: RespondAsk) -> StopRequestView:
    """Answers an agent's request to end. Approved, it is told with its next beat, and is not respawned."""
    return _request(house, await house.crew.stops.answer(ask.id, ask.approved, ask.response, house.by))


OPERATIONS: tuple[Any, ...] = (request_stop, list_stop_requests, respond)
