"""Between the cases of a run and the restarts of its containers."""

import asyncio

import pytest

from argus.environments.guarding.turnstile import Turnstile
from argus.testing import SimulatedLoop, run_simulated


async def _case(turnstile: Turnstile, seconds: float, name: str = "case") -> None:
    async with turnstile.case(name):
        await asyncio.sleep(seconds)


def test_without_a_case_nobody_waits():
    async def main(loop: SimulatedLoop) -> None:
        assert await Turnstile().between(30.0)
        assert loop.time() == 0.0

    run_simulated(main)


def test_a_restart_waits_for_the_case_that_runs():
    async def main(loop: SimulatedLoop) -> None:
        turnstile = Turnstile()
        running = asyncio.ensure_future(_case(turnstile, 7.0))
        await asyncio.sleep(1.0)
        assert [(one.name, one.age) for one in turnstile.inside] == [("case", 1.0)]
        assert await turnstile.between(30.0)
        assert (loop.time(), running.done()) == (7.0, True)

    run_simulated(main)


def test_a_case_that_hangs_stops_a_restart_for_so_long_only():
    async def main(loop: SimulatedLoop) -> None:
        turnstile = Turnstile()
        hangs = asyncio.ensure_future(_case(turnstile, 1e6))
        await asyncio.sleep(1.0)
        assert not await turnstile.between(30.0)
        assert loop.time() == 31.0
        hangs.cancel()

    run_simulated(main)


def test_several_cases_at_once_that_follow_each_other_leave_a_moment():
    """With new ones let in there would be none without a case."""

    async def main(loop: SimulatedLoop) -> None:
        turnstile = Turnstile()

        async def one_after_the_other(first: float) -> None:
            await asyncio.sleep(first)
            for _ in range(20):
                await _case(turnstile, 2.0)

        async with asyncio.TaskGroup() as group:
            group.create_task(one_after_the_other(0.0))
            group.create_task(one_after_the_other(1.0))
            await asyncio.sleep(4.5)
            assert await turnstile.between(30.0)
            assert loop.time() <= 7.0

    run_simulated(main)


def test_the_next_case_waits_while_a_restart_is_under_way():
    async def main(loop: SimulatedLoop) -> None:
        turnstile, began = Turnstile(), []

        async def case() -> None:
            async with turnstile.case("next"):
                began.append(loop.time())

        async with asyncio.TaskGroup() as group, turnstile.closed(), turnstile.closed():
            group.create_task(case())
            await asyncio.sleep(5.0)
            assert began == []
        assert began == [5.0]

    run_simulated(main)


def test_a_container_that_does_not_come_back_stops_the_cases_for_so_long_only():
    async def main(loop: SimulatedLoop) -> None:
        turnstile = Turnstile(patience=20.0)
        async with turnstile.closed():
            await _case(turnstile, 1.0)
            assert loop.time() == 21.0
            await _case(turnstile, 1.0)  # not each of a hundred for so long
            assert loop.time() == 22.0

    run_simulated(main)


@pytest.mark.parametrize(("closes_at", "disturbed"), [(0.5, True), (1.3, True), (None, False), (9.0, False)])
def test_a_case_knows_whether_it_was_disturbed_also_a_moment_later(closes_at: float | None, disturbed: bool):
    async def main(loop: SimulatedLoop) -> None:
        turnstile = Turnstile()
        if closes_at is not None:
            loop.call_later(closes_at, turnstile.close)
        async with turnstile.case("one") as turn:
            await asyncio.sleep(1.0)
        assert await turn.was_disturbed() is disturbed

    run_simulated(main)


def test_a_case_that_fails_is_outside_again():
    async def main(loop: SimulatedLoop) -> None:
        turnstile = Turnstile()
        for error in (ValueError, asyncio.CancelledError):
            try:
                async with turnstile.case("fails"):
                    raise error
            except error:
                pass
        assert turnstile.inside == ()
        assert await turnstile.between(0.0)

    run_simulated(main)
