"""Typing into a session, by the typist; what came of it in the sessions' own words."""

from __future__ import annotations

from collections.abc import Callable

from argus.sessions.kinds import kind_of
from argus.sessions.session import Place
from argus.sessions.tools import Answer, Before, Told
from argus.typist import Deferred, Leave, Message, Outcome, Refused, Typed, Typist, Wanted


class TypistHands:
    def __init__(self, typist: Typist, socket: Callable[[], str]) -> None:
        self._typist = typist
        self._socket = socket

    async def type(
        self, place: Place, text: str, *, command: bool, before: Before, told: Told | None, left: bool = False
    ) -> Answer:
        message, wanted = Message(text, command=command), Wanted(kind_of(place))
        return _answer(
            await self._typist.type(self._socket(), place.session, message, wanted, before=before, told=told, left=left)
        )

    async def erase(self, place: Place, text: str) -> bool:
        return await self._typist.erase(self._socket(), place.session, text, Wanted(kind_of(place)))

    async def interrupt(self, place: Place, before: Before) -> Answer:
        await before()
        return _answer(await self._typist.interrupt(self._socket(), place.session, Wanted(kind_of(place))))

    async def answer(self, place: Place, id: str, leave: Leave, before: Before) -> Answer:
        return _answer(
            await self._typist.answer(self._socket(), place.session, Wanted(kind_of(place)), id, leave, before=before)
        )


def _answer(outcome: Outcome) -> Answer:
    match outcome:
        case Typed():
            return Answer(True)
        case Deferred(reason):
            return Answer(False, again=True, reason=reason.value)
        case Refused(reason):
            return Answer(False, reason=reason.value)
        case _:
            return Answer(True, certain=False, reason=outcome.reason.value)
