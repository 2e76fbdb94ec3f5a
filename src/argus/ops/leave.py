"""The operation by which a person answers what an agent asks leave for."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from argus.core.errors import Code
from argus.core.patterns import QUESTION
from argus.ops.house import House
from argus.ops.operation import operation
from argus.ops.sessions import KNOWN, ProjectNamed, SessionView, view
from argus.ops.snake import SnakeAnswer
from argus.typist import Leave


class AnswerAsk(ProjectNamed):
    answer: Leave = Field(description="allow: this once, and nothing more; deny")
    prompt: str = Field(pattern=QUESTION, description="The id of the question that was seen")


class AnswerView(SnakeAnswer):
    answered: bool
    certain: bool = Field(description="false: the key was pressed and the question may stand yet; look at it")
    reason: str
    session: SessionView


@operation(
    "sessions.answer", "POST /api/sessions/{project}/answer", verb="sessions answer", places=("answer",),
    errors=(*KNOWN, Code.CONFLICT, Code.PANE_NOT_READY, Code.PANE_NOT_FOUND, Code.INVALID_STATE),
)  # fmt: skip
async def answer(house: House, ask: AnswerAsk) -> AnswerView:
    """Answers the question for leave that stands open in a session's terminal: allow it this once, or deny it.

    Name the question that you saw by its id (`prompt` of the session). It must be that one that still stands there:
    one that is gone or has changed is a CONFLICT, and no key is pressed. The key is taken from the words beside it,
    pressed once, and the question seen to be gone. INVALID_STATE: no choice means exactly that, or not all of the
    question is on the screen; answer it in its terminal. A person's own: no agent may, and there is no tool for it.
    """
    done = await house.sessions.answer(ask.project, ask.prompt, ask.answer, house.by)
    session = view(house, house.sessions.find(ask.project))
    return AnswerView(answered=done.typed, certain=done.certain, reason=done.reason, session=session)


OPERATIONS: tuple[Any, ...] = (answer,)
