"""Answering an agent's question for leave, for a person who saw it: on record before the key is pressed, and after."""

from __future__ import annotations

from argus.core.clock import stamp
from argus.core.errors import ArgusError, Code
from argus.sessions import reports
from argus.sessions.prompting import untyped
from argus.sessions.session import Place
from argus.sessions.tools import Answer, Tools
from argus.store.records import Act, Append, CloseAct, OpenAct, Write
from argus.typist import Leave, Reason

ANSWERED = "session_answered"
_GONE = frozenset({Reason.NO_DIALOG.value, Reason.OTHER_DIALOG.value})
_BY_HAND = frozenset({Reason.NO_SUCH_CHOICE.value, Reason.NOT_WHOLE.value})


def unanswered(answer: Answer, place: Place) -> ArgusError:
    """Why no key was pressed."""
    if answer.reason not in _GONE | _BY_HAND:
        return untyped(answer, place.project)
    code = Code.CONFLICT if answer.reason in _GONE else Code.INVALID_STATE
    message = f"nothing was answered: {answer.reason}"
    error = ArgusError(code, message, project=place.project, reason=answer.reason)
    if code is Code.INVALID_STATE:
        error = error.adding(hint=f"Answer it in its own terminal: tmux attach -t {place.session}")
    error.actions = ("list_sessions", "look_at_agent")
    return error


class Answering:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def answer(self, place: Place, id: str, leave: Leave, question: str, by: str) -> Answer:
        tools, now = self._tools, stamp(self._tools.clock)
        intent = {"prompt": id, "answer": leave.value, "question": question, "by": by}
        act = Act(tools.new_id(), ANSWERED, place.project, now, None, intent)
        opened = False

        async def before() -> None:
            nonlocal opened
            await tools.notes.commit(OpenAct(act))
            opened = True

        answer = await tools.hands.answer(place, id, leave, before)
        outcome = "answered" if answer.typed and answer.certain else "unconfirmed" if answer.typed else "not answered"
        await tools.notes.note(*self._writes(act, outcome, answer.reason, opened=opened))
        return answer

    async def close(self, act: Act) -> None:
        """Of an Argus that was killed meanwhile: whether the key was pressed, nobody can say, and it is not again."""
        await self._tools.store.commit(*self._writes(act, "interrupted", "Argus was ended meanwhile", opened=True))

    def _writes(self, act: Act, outcome: str, reason: str, *, opened: bool) -> list[Write]:
        wall, said = self._tools.clock.wall(), act.intent
        status = "ok" if outcome == "answered" else "warning"
        action = f"{outcome}: {said['answer']} to {said['question']}"
        writes: list[Write] = [
            reports.row(act.subject, "context", status, wall, action, reason=reason, by=said["by"]),
        ]
        if opened:
            writes.append(CloseAct(act.id, outcome, wall, {"reason": reason}))
            writes.append(Append(reports.answered(act.subject, dict(said), outcome, reason)))
        return writes
