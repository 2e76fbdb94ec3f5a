"""A record that cannot be written: said on record afterwards, and told past the record when it lasts."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from argus.core.errors import ArgusError, Code
from argus.core.events import Draft, Event
from argus.record_watch import RecordWatch
from argus.store.notes import Notes
from argus.store.records import Append, Undecided, Write
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, SimulatedLoop, run_simulated


class Faulty(SqliteStore):
    """A real store that can be made to fail as one that is away, full or locked does."""

    fault = ""
    is_lost_after = False
    """The answer to the next commit is lost, and it was carried out."""

    async def commit(self, *writes: Write) -> list[Event]:
        if self.fault:
            self.problem = self.fault
            raise ArgusError(Code.STORE_UNAVAILABLE, self.fault)
        events = await super().commit(*writes)
        if self.is_lost_after:
            self.is_lost_after = False
            raise Undecided("lost", "after")
        self.problem = None
        return events

    async def was_committed(self, transaction: str) -> bool:
        return transaction == "after"


class Watched:
    def __init__(self, loop: SimulatedLoop) -> None:
        self.clock = FakeClock(loop)
        self.store = Faulty(None, clock=self.clock, inline=True)
        self.notes = Notes(self.store, self.clock)
        self.pressed: list[str] = []
        self.ended = 0

    async def press(self, problem: str, seconds: float) -> None:
        """A person is told; it takes until a channel takes it."""
        self.pressed.append(f"{problem} for {seconds:.0f} s")
        try:
            await asyncio.Event().wait()
        finally:
            self.ended += 1

    async def note(self, name: str) -> None:
        await self.notes.note(Append(Draft("services", name)))

    async def told(self) -> list[dict[str, Any]]:
        return [dict(one.data) for one in await self.store.events(0) if one.type == "record_away_ended"]


def watched(test: Callable[[Watched], Awaitable[None]]) -> None:
    async def main(loop: SimulatedLoop) -> None:
        one = Watched(loop)
        watch = RecordWatch(one.store, one.notes, one.clock, one.press)
        tasks = [asyncio.ensure_future(one.notes.run()), asyncio.ensure_future(watch.run())]
        try:
            async with asyncio.timeout(100_000):
                await test(one)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await one.store.close()

    run_simulated(main)


def test_a_record_that_was_away_says_so_once_after_what_was_kept_for_it() -> None:
    async def test(one: Watched) -> None:
        await asyncio.sleep(5.0)
        one.store.fault = "the disk is full"
        begun = one.clock.wall()
        await one.note("a")
        await asyncio.sleep(10.0)
        await one.note("b")
        await asyncio.sleep(6.0)
        one.store.fault = ""
        await asyncio.sleep(60.0)
        (said,) = await one.told()
        assert (said["kept"], said["why"], said["told"]) == (2, "the disk is full", False)
        assert begun <= said["since"] / 1000 <= begun + 2.0
        assert begun + 16.0 <= said["until"] / 1000 <= begun + 20.0
        assert said["seconds"] == (said["until"] - said["since"]) / 1000
        assert [event.type for event in await one.store.events(0)] == ["a", "b", "record_away_ended"]
        assert one.pressed == []

    watched(test)


def test_where_nothing_is_wrong_nothing_is_said() -> None:
    async def test(one: Watched) -> None:
        for _ in range(10):
            await one.note("a")
            await asyncio.sleep(60.0)
        assert (await one.told(), one.pressed) == ([], [])

    watched(test)


def test_a_store_that_failed_and_is_well_is_found_out_without_anybody_who_writes() -> None:
    """One that failed once for somebody who does not come again was called broken until the next write."""

    async def test(one: Watched) -> None:
        one.store.fault, one.store.problem = "locked", "locked"
        await asyncio.sleep(10.0)
        one.store.fault = ""
        await asyncio.sleep(300.0)
        (said,) = await one.told()
        assert (said["kept"], 8.0 < said["seconds"] < 13.0) == (0, True)
        assert (one.store.problem, one.pressed) == (None, [])

    watched(test)


def test_one_that_was_away_between_two_looks_is_on_record_too() -> None:
    async def test(one: Watched) -> None:
        await asyncio.sleep(4.1)
        one.store.fault = "locked"
        await one.note("a")
        one.store.fault = ""
        await asyncio.sleep(30.0)
        (said,) = await one.told()
        assert said["kept"] == 1

    watched(test)


def test_a_person_is_told_once_after_a_minute_and_it_ends_with_the_outage() -> None:
    async def test(one: Watched) -> None:
        one.store.fault = "the server is gone"
        await one.note("a")
        await asyncio.sleep(59.0)
        assert one.pressed == []
        await asyncio.sleep(600.0)
        assert one.pressed == ["the server is gone for 60 s"]
        assert one.ended == 0
        one.store.fault = ""
        await asyncio.sleep(10.0)
        (said,) = await one.told()
        assert (said["told"], one.ended) == (True, 1)

    watched(test)


def test_each_time_that_it_is_away_for_long_is_told() -> None:
    async def test(one: Watched) -> None:
        for _ in range(2):
            one.store.fault = "the server is gone"
            await one.note("a")
            await asyncio.sleep(100.0)
            one.store.fault = ""
            await asyncio.sleep(100.0)
        assert (len(one.pressed), len(await one.told())) == (2, 2)

    watched(test)


def test_an_end_whose_answer_was_lost_is_written_once() -> None:
    async def test(one: Watched) -> None:
        one.store.fault, one.store.problem = "gone", "gone"
        await asyncio.sleep(10.0)
        one.store.fault, one.store.is_lost_after = "", True
        await asyncio.sleep(60.0)
        assert len(await one.told()) == 1

    watched(test)
