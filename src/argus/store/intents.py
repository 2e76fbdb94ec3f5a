"""Commits on which something follows that must happen once: also when the answer to the commit is lost on its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from argus.core.errors import ArgusError, Code
from argus.store.interface import Store
from argus.store.notes import Notes
from argus.store.records import Undecided, Write

Then = Callable[[], Awaitable[None]]


class Intents:
    def __init__(self, store: Store, notes: Notes) -> None:
        self._store = store
        self._notes = notes
        self._undecided: list[tuple[str, Then]] = []

    @property
    def are_open(self) -> bool:
        """Whether something may follow from a commit of which nobody knows yet."""
        return bool(self._undecided)

    async def commit(self, *writes: Write, then: Then) -> None:
        """What must be on record before anything is done, and `then` what follows from it.

        Raises while it is open what became of an earlier one: what is to be written now was made up without knowing
        that, and may claim the same again, such as the next name.
        """
        if self._undecided:
            raise ArgusError(Code.STORE_UNAVAILABLE, "it is not known yet whether an earlier record was written")
        try:
            await self._notes.commit(*writes)
        except Undecided as undecided:
            self._undecided.append((undecided.transaction, then))
            raise
        await then()

    async def settle(self) -> None:
        """Before anything else is judged: what became of commits whose answer was lost. Raises while nobody knows."""
        while self._undecided:
            transaction, then = self._undecided[0]
            happened = await self._store.was_committed(transaction)
            self._undecided.pop(0)
            if happened:
                await then()
