"""Lines of ours that are typed into a session: each on record before it is, once, with what came of it."""

from __future__ import annotations

from argus.core.clock import stamp
from argus.sessions import reports
from argus.sessions.handing import TYPED
from argus.sessions.session import Place
from argus.sessions.tools import Answer, Tools
from argus.store.records import Act, Append, CloseAct, OpenAct, Write

_RECORDED = 500
"""Characters of a line that go into the record."""


class Prompting:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def type(self, place: Place, what: str, text: str) -> Answer:
        """`what` it is about: spawn, context, limit, message."""
        tools, said = self._tools, text[:_RECORDED]
        now = stamp(tools.clock)
        act = Act(tools.new_id(), TYPED, place.project, now, None, {"text": said, "what": what})
        opened = False

        async def before() -> None:
            nonlocal opened
            await tools.notes.commit(OpenAct(act))
            opened = True

        answer = await tools.hands.type(place, text, command=False, before=before, told=None)
        outcome = "typed" if answer.typed else "not typed"
        kind, status = "spawn" if what == "spawn" else "context", "ok" if answer.typed else "warning"
        action = f"{outcome}: {said}"
        writes: list[Write] = [reports.row(place.project, kind, status, now.wall, action, reason=answer.reason)]
        if opened:
            writes.append(CloseAct(act.id, outcome, tools.clock.wall(), {"reason": answer.reason}))
        if answer.typed:
            writes.append(Append(reports.prompted(place.project, what, said, outcome, answer.reason)))
        await tools.notes.note(*writes)
        return answer
