"""Lines of ours that are typed into a session: each on record before it is, once, with what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from argus.core.clock import stamp
from argus.core.cutting import beginning
from argus.core.errors import ArgusError, Code
from argus.sessions import reports
from argus.sessions.handing import TYPED
from argus.sessions.session import Place
from argus.sessions.tools import Answer, Tools
from argus.store.records import Act, Append, CloseAct, OpenAct, Write
from argus.typist import Line, Reason, stands

_RECORDED = 500
"""Characters of a line that go into the record."""

_OF_THE_TEXT = {
    Reason.COMMAND.value: "It begins with / or !, which that program takes for a command: begin it with a word.",
    Reason.TOO_LONG.value: "Put it into a file, and name that.",
    Reason.EMPTY.value: "",
}
"""What is wrong with what was to be typed, and not with where; with what to do then."""
_INTERRUPTED = Answer(False, reason="interrupted")


def untyped(answer: Answer, project: str) -> ArgusError:
    """Why nothing was typed, for whoever asked for it."""
    is_the_text = answer.reason in _OF_THE_TEXT
    code = Code.PANE_NOT_READY if answer.again else Code.INVALID_REQUEST if is_the_text else Code.PANE_NOT_FOUND
    error = ArgusError(code, f"nothing was typed: {answer.reason}", project=project, reason=answer.reason)
    if not is_the_text:
        return error
    error = error.adding(hint=_OF_THE_TEXT[answer.reason])
    error.actions = ("fix_request",)
    return error


class Prompting:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def type(
        self, place: Place, what: str, text: str, also: Callable[[], Iterable[Write]] = lambda: (), incident: str = ""
    ) -> Answer:
        """`what` it is about: spawn, context, limit, message, dependency. `also` is written with the intent; the line
        stands in the story of `incident`."""
        tools, said = self._tools, beginning(text, _RECORDED)
        now = stamp(tools.clock)
        act = Act(tools.new_id(), TYPED, place.project, now, incident or None, {"text": said, "what": what})
        opened = False

        async def before() -> None:
            nonlocal opened
            await tools.notes.commit(OpenAct(act), *also())
            opened = True

        answer = await tools.hands.type(place, text, command=False, before=before, told=None)
        return await self._recorded(place, what, said, answer, act if opened else None, incident)

    async def finish(self, place: Place, act: Act, line: Line) -> None:
        """A line of an Argus that was killed while it typed it: if it stands at the prompt, only Enter is missing."""
        answer = await self._submit(place, act) if stands(line, str(act.intent["text"])) else _INTERRUPTED
        await self._close(place, act, answer)

    async def finish_unseen(self, place: Place | None, act: Act) -> bool:
        """The same in a terminal that nobody looks at otherwise; None: it is gone. False: not now."""
        answer = await self._submit(place, act) if place is not None else _INTERRUPTED
        if answer.again:
            return False
        await self._close(place or Place(act.subject), act, answer if answer.typed else _INTERRUPTED)
        return True

    async def _submit(self, place: Place, act: Act) -> Answer:
        async def before() -> None:
            pass  # on record since it was pasted

        text = str(act.intent["text"])
        return await self._tools.hands.type(place, text, command=False, before=before, told=None, left=True)

    async def _close(self, place: Place, act: Act, answer: Answer) -> None:
        text, what = str(act.intent["text"]), str(act.intent["what"])
        await self._recorded(place, what, text, answer, act, act.incident or "")

    async def _recorded(
        self, place: Place, what: str, said: str, answer: Answer, act: Act | None, incident: str
    ) -> Answer:
        tools = self._tools
        now = stamp(tools.clock)
        outcome = "typed" if answer.typed else "not typed"
        kind, status = "spawn" if what == "spawn" else "context", "ok" if answer.typed else "warning"
        action = f"{outcome}: {said}"
        writes: list[Write] = [reports.row(place.project, kind, status, now.wall, action, reason=answer.reason)]
        if act is not None:
            writes.append(CloseAct(act.id, outcome, tools.clock.wall(), {"reason": answer.reason}))
        if answer.typed:
            writes.append(Append(reports.prompted(place.project, what, said, outcome, answer.reason, incident)))
        await tools.notes.note(*writes)
        return answer
