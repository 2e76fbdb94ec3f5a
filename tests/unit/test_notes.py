"""What was seen while the store was away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from argus.core.errors import ArgusError, Code
from argus.core.events import Draft, Event
from argus.store.notes import Notes
from argus.store.records import Append, CloseAct, Undecided, Write
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock


class Faulty(SqliteStore):
    """A real store that can be made to fail as PostgreSQL does: away, or lost at the very end of a commit."""

    fault = ""
    asked = 0

    async def commit(self, *writes: Write) -> list[Event]:
        self.asked += 1
        if self.fault == "away":
            raise ArgusError(Code.STORE_UNAVAILABLE, "away")
        if self.fault == "lost before":
            raise Undecided("lost", "before")
        events = await super().commit(*writes)
        if self.fault == "lost after":
            raise Undecided("lost", "after")
        return events

    async def was_committed(self, transaction: str) -> bool:
        if self.fault:
            raise ArgusError(Code.STORE_UNAVAILABLE, "away")
        return transaction == "after"


def seen(name: str) -> Append:
    return Append(Draft("services", name))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(wall=1000.0)


@pytest.fixture
def store(clock: FakeClock) -> Faulty:
    return Faulty(None, clock=clock, inline=True)


@pytest.fixture
async def notes(store: Faulty, clock: FakeClock) -> AsyncIterator[Notes]:
    one = Notes(store, clock)
    running = asyncio.ensure_future(one.run())
    yield one
    running.cancel()


async def on_record(store: Faulty) -> list[tuple[str, int]]:
    return [(event.type, event.timestamp) for event in await store.events(0)]


async def test_while_the_store_is_well_a_note_is_on_record_at_once(notes: Notes, store: Faulty) -> None:
    await notes.note(seen("a"))
    assert await on_record(store) == [("a", 1_000_000)]
    assert (notes.waiting, notes.is_away) == (0, False)


async def test_notes_are_kept_in_order_and_written_with_their_own_time(
    notes: Notes, store: Faulty, clock: FakeClock
) -> None:
    store.fault = "away"
    await notes.note(seen("a"))
    clock.advance(60)
    await notes.note(seen("b"), seen("c"))
    assert (notes.waiting, notes.is_away) == (3, True)
    store.fault = ""
    clock.advance(60)
    await notes.written()
    assert await on_record(store) == [("a", 1_000_000), ("b", 1_060_000), ("c", 1_060_000)]
    assert notes.is_away is False


async def test_nothing_that_is_to_be_done_is_kept(notes: Notes, store: Faulty) -> None:
    store.fault = "away"
    with pytest.raises(ArgusError):
        await notes.commit(seen("intent"))
    assert notes.is_away is True
    store.fault = ""
    await notes.commit(seen("later"))
    assert [type for type, _ in await on_record(store)] == ["later"]
    assert notes.is_away is False


async def test_what_is_to_be_done_does_not_overtake_what_was_seen_and_does_not_wait_for_a_store_that_is_away(
    notes: Notes, store: Faulty
) -> None:
    store.fault = "away"
    await notes.note(seen("a"))
    asked = store.asked
    with pytest.raises(ArgusError) as refused:
        await notes.commit(seen("intent"))
    assert (refused.value.code, store.asked) == (Code.STORE_UNAVAILABLE, asked)


async def test_what_is_kept_is_bounded_and_the_rest_is_refused(notes: Notes, store: Faulty) -> None:
    store.fault = "away"
    for _ in range(10_000):
        await notes.note(seen("a"))
    with pytest.raises(ArgusError) as refused:
        await notes.note(seen("too much"))
    assert refused.value.code is Code.STORE_UNAVAILABLE
    store.fault = ""
    await notes.written()
    assert (await store.span())[1] == 10_000


@pytest.mark.parametrize("fate", ["lost after", "lost before"])
async def test_a_commit_that_was_lost_at_its_end_is_on_record_once(notes: Notes, store: Faulty, fate: str) -> None:
    store.fault = fate
    await notes.note(seen("a"))
    await notes.note(seen("b"))
    store.fault = ""
    await notes.written()
    assert [type for type, _ in await on_record(store)] == ["a", "b"]


async def test_a_flush_that_is_lost_at_its_end_is_on_record_once(notes: Notes, store: Faulty) -> None:
    store.fault = "away"
    await notes.note(seen("a"))
    await notes.note(seen("b"))
    store.fault = "lost after"
    before = store.asked
    while store.asked == before:  # noqa: ASYNC110 - the store counts, it gives no sign
        await asyncio.sleep(0.01)
    await notes.note(seen("c"))
    store.fault = ""
    await notes.written()
    assert [type for type, _ in await on_record(store)] == ["a", "b", "c"]


async def test_a_note_that_cannot_be_written_holds_no_other_up(notes: Notes, store: Faulty) -> None:
    store.fault = "away"
    await notes.note(seen("a"))
    await notes.note(CloseAct("no such act", "recovered", 0.0))
    await notes.note(seen("b"))
    store.fault = ""
    await notes.written()
    assert [type for type, _ in await on_record(store)] == ["a", "b"]
