"""An agent's own wish to end: it asks, a person answers, and its beats are answered with that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from argus.agents import reports
from argus.agents.ledger import Ledger, put
from argus.agents.model import STOPPED, Agent, Origin
from argus.agents.tools import Tools
from argus.core.errors import ArgusError, Code
from argus.store.records import Append, Document, PutDocument, Write

DOMAIN = "stop_requests"
_MOST = 10
"""Requests of one agent that may wait at once."""
InTurn = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class StopRequest:
    id: str
    agent: str
    created: float
    lineage: str = ""
    reason: str = ""
    context: str = ""
    work_completed: str = ""
    approved: bool | None = None
    response: str = ""
    answered: float | None = None

    @property
    def status(self) -> str:
        return "pending" if self.approved is None else "approved" if self.approved else "denied"


class Stops:
    def __init__(self, ledger: Ledger, tools: Tools, in_turn: InTurn, end: Callable[[str, str], None]) -> None:
        self._ledger = ledger
        self._end = end
        self._in_turn = in_turn
        self._tools = tools
        self.requests: dict[str, StopRequest] = {}

    async def restore(self) -> None:
        for live in (False, True):
            for document in await self._tools.store.documents(DOMAIN, live=live):
                self.requests[document.id] = _read(document.data)

    async def ask(self, agent: str, reason: str, context: str, work_completed: str) -> StopRequest:
        lineage = self._ledger.find(agent).lineage
        waiting = [one for one in self.requests.values() if one.agent == agent and one.approved is None]
        if len(waiting) >= _MOST:
            why = f"{len(waiting)} requests of {agent} wait for an answer already: argus events, POST .../respond"
            raise ArgusError(Code.CONFLICT, why, agent=agent)
        made = StopRequest(
            self._tools.new_id(), agent, self._tools.clock.wall(), lineage, reason, context, work_completed
        )
        await self._tools.store.commit(_put(made), Append(reports.stop_requested(agent, made.id, reason)))
        self.requests[made.id] = made
        return made

    async def answer(self, id: str, approved: bool, response: str, by: str) -> StopRequest:
        answered: StopRequest = await self._in_turn(lambda: self._answer(id, approved, response, by))
        return answered

    async def _answer(self, id: str, approved: bool, response: str, by: str) -> StopRequest:
        request = self.requests.get(id)
        if request is None:
            raise ArgusError(Code.NOT_FOUND, f"there is no stop request {id[:100]!r}", id=id[:100])
        if request.approved is not None:
            raise ArgusError(Code.CONFLICT, f"stop request {id} is answered already: {request.status}", id=id)
        answered = replace(request, approved=approved, response=response, answered=self._tools.clock.wall())
        agent = self._concerned(request)
        stopping = replace(agent, stop=STOPPED, ended_by=by) if agent and approved else None
        writes = [_put(answered), Append(reports.stop_answered(request.agent, id, answered.status, by))]

        async def then() -> None:
            self.requests[id] = answered
            if stopping is not None:
                self._ledger.book.put(stopping)
                if stopping.origin is Origin.DAEMON:
                    self._end(stopping.id, by)  # nobody beats for it but us, so nobody else would tell it

        await self._ledger.intents.commit(*writes, *([put(stopping)] if stopping else []), then=then)
        return answered

    def _concerned(self, request: StopRequest) -> Agent | None:
        """Who goes on with its task by now: it was the task that may end."""
        lineage = request.lineage or request.agent
        return next((one for one in self._ledger.book if one.lineage == lineage), None)


def _put(request: StopRequest) -> Write:
    return PutDocument(Document(DOMAIN, request.id, asdict(request), live=request.approved is None))


def _read(data: Mapping[str, Any]) -> StopRequest:
    return StopRequest(**{key: value for key, value in data.items() if key in StopRequest.__dataclass_fields__})
