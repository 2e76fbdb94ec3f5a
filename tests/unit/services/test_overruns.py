"""The net below the checks: one that forgets its deadline is ended, and nothing else is."""

from __future__ import annotations

import asyncio

import pytest

from argus.services.overruns import Overran, Overruns
from argus.testing import FakeClock, SimulatedLoop, run_simulated


def test_a_check_that_goes_on_for_ever_is_ended_and_its_task_goes_on():
    async def whole(loop: SimulatedLoop) -> None:
        overruns = Overruns(FakeClock(loop))
        net = asyncio.ensure_future(overruns.run())
        began = loop.time()
        with pytest.raises(Overran), overruns.below(5.0):
            await asyncio.Event().wait()
        assert 7.0 <= loop.time() - began <= 8.1
        with overruns.below(5.0):
            await asyncio.sleep(4.0)  # the same task may check again
        net.cancel()

    run_simulated(whole)


def test_who_is_cancelled_for_another_reason_stays_so():
    async def whole(loop: SimulatedLoop) -> None:
        overruns = Overruns(FakeClock(loop))
        net = asyncio.ensure_future(overruns.run())

        async def check() -> None:
            with overruns.below(5.0):
                await asyncio.Event().wait()

        for after in (1.0, 7.0, 8.0):
            task = asyncio.ensure_future(check())
            await asyncio.sleep(after)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() or isinstance(task.exception(), Overran)
        assert not overruns._under_way
        net.cancel()

    run_simulated(whole)
