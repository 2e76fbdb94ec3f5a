import asyncio

import pytest

from argus.bridge.slots import Slots


async def _hold(slots: Slots, until: asyncio.Event, log: list[str], name: str) -> None:
    async with slots.one():
        log.append(name)
        await until.wait()


async def test_no_more_than_there_are_places_and_first_come_first_served() -> None:
    slots, log, over = Slots(2), [], [asyncio.Event() for _ in range(5)]
    tasks = [asyncio.ensure_future(_hold(slots, over[n], log, str(n))) for n in range(5)]
    await asyncio.sleep(0)
    assert (log, slots.taken, slots.waiting) == (["0", "1"], 2, 3)
    over[1].set()
    await tasks[1]
    await asyncio.sleep(0)
    assert (log, slots.taken) == (["0", "1", "2"], 2)
    for one in over:
        one.set()
    await asyncio.gather(*tasks)
    assert (log, slots.taken) == (["0", "1", "2", "3", "4"], 0)


async def test_who_gives_up_gives_its_place_back_in_whatever_moment() -> None:
    slots, log, over = Slots(1), [], asyncio.Event()
    turn = slots.one()
    await turn.__aenter__()
    second = asyncio.ensure_future(_hold(slots, over, log, "second"))
    await asyncio.sleep(0)
    over.set()
    await turn.__aexit__(None, None, None)
    second.cancel()  # called already, and not there yet
    third = asyncio.ensure_future(_hold(slots, over, log, "third"))
    with pytest.raises(asyncio.CancelledError):
        await second
    await third
    assert (log, slots.taken, slots.waiting) == (["third"], 0, 0)


async def test_more_places_are_there_at_once() -> None:
    slots, log, over = Slots(1), [], asyncio.Event()
    tasks = [asyncio.ensure_future(_hold(slots, over, log, str(n))) for n in range(3)]
    await asyncio.sleep(0)
    slots.configure(3)
    await asyncio.sleep(0)
    assert log == ["0", "1", "2"]
    over.set()
    await asyncio.gather(*tasks)
