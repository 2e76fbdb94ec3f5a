"""Deadlines that one clock keeps for all."""

from __future__ import annotations

import asyncio

import pytest

from argus.host.deadlines import Deadlines
from argus.testing import SimulatedLoop, run_simulated


def test_each_ends_at_its_own_time_and_nothing_ticks_afterwards():
    async def whole(loop: SimulatedLoop) -> None:
        deadlines, took = Deadlines(), {}

        async def ask(seconds: float) -> None:
            began = loop.time()
            with pytest.raises(TimeoutError), deadlines.within(seconds):
                await asyncio.Event().wait()
            took[seconds] = loop.time() - began

        await asyncio.gather(*(ask(seconds) for seconds in (0.2, 5.0, 1.0, 0.0)))
        assert all(seconds <= time <= seconds + 0.11 for seconds, time in took.items()), took
        await asyncio.sleep(1)
        assert deadlines._ticking is None

    run_simulated(whole)


def test_what_ends_in_time_is_left_alone_and_the_task_goes_on():
    async def whole(loop: SimulatedLoop) -> None:
        deadlines = Deadlines()
        for _ in range(3):
            with deadlines.within(1.0):
                await asyncio.sleep(0.9)
            with pytest.raises(TimeoutError), deadlines.within(1.0):
                await asyncio.sleep(2)
        await asyncio.sleep(5)

    run_simulated(whole)


def test_who_is_cancelled_from_outside_stays_cancelled():
    async def whole(loop: SimulatedLoop) -> None:
        deadlines = Deadlines()

        async def ask() -> None:
            with deadlines.within(1.0):
                await asyncio.Event().wait()

        task = asyncio.ensure_future(ask())
        await asyncio.sleep(0.5)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    run_simulated(whole)


def test_a_net_below_another_deadline_holds_when_that_one_does_not():
    async def whole(loop: SimulatedLoop) -> None:
        inner, net = Deadlines(), Deadlines(tick=1.0)
        for seconds, error in ((5.0, TimeoutError), (60.0, TimeoutError)):
            began = loop.time()
            with pytest.raises(error), net.within(7.0), inner.within(seconds):
                await asyncio.Event().wait()
            assert min(seconds, 7.0) <= loop.time() - began <= min(seconds + 0.11, 8.1)
        with net.within(7.0):
            await asyncio.sleep(6.5)  # and the task goes on

    run_simulated(whole)


def test_an_error_inside_is_its_own():
    async def whole(loop: SimulatedLoop) -> None:
        with pytest.raises(ValueError, match="own"), Deadlines().within(1.0):
            raise ValueError("own")

    run_simulated(whole)
