"""Events of environments on their way to the journal."""

from __future__ import annotations

import asyncio

from argus.core.events import Event
from argus.environments.announcing import Announcer
from argus.store.notes import Notes
from argus.store.records import Write
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock


class Counting(SqliteStore):
    commits = 0

    async def commit(self, *writes: Write) -> list[Event]:
        self.commits += 1
        return await super().commit(*writes)


async def test_what_is_told_together_is_written_together_in_order_and_with_the_time_it_was_told():
    clock = FakeClock(wall=1000.0)
    store = Counting(None, clock=clock, inline=True)
    announcer = Announcer(Notes(store, clock), clock)
    for n in range(150):
        announcer.tell("resilience", f"event{n}", "shop", {})
        clock.advance(0.001)
    clock.advance(60.0)
    running = asyncio.ensure_future(announcer.run())
    async with asyncio.timeout(10):
        await announcer.written()
    running.cancel()
    found = [(event.type, event.timestamp) for event in await store.events(0)]
    assert found == [(f"event{n}", 1_000_000 + n) for n in range(150)]
    assert store.commits == 2, "as many as a transaction may have"
    await store.close()
