"""What the guardian tells a run of tests at its end, on a fake engine and virtual time."""

import asyncio

import pytest
from tests.unit.environments.guard_rig import Rig, db, guarded

from argus.core.errors import Code
from argus.environments.blueprint import HealthWish
from argus.host.seam import Failure, ProbeFailed

WISH = HealthWish("/health", 80, interval=10.0, timeout=5.0, retries=3, start_period=0.0)


def test_one_that_failed_and_is_not_to_be_restarted_is_a_problem():
    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart=False)
        await rig.guardian.settled("run1")
        assert rig.guardian.problems("run1") == []
        rig.one().end(7)
        await rig.guardian.settled("run1")
        (problem,) = rig.guardian.problems("run1")
        assert problem.code is Code.CONTAINER_CRASH
        assert problem.details["service"] == "db"

    guarded(test)


@pytest.mark.parametrize("code", [0, 7])
def test_one_that_is_being_restarted_is_a_problem_until_it_is_well(code: int):
    """One that ended with 0 is left alone, and none."""

    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=20.0)
        began = rig.loop.time()
        rig.one().end(code)
        await asyncio.sleep(1.0)
        assert len(rig.guardian.problems("run1")) == (1 if code else 0)
        await rig.guardian.settled("run1")
        assert rig.loop.time() - began > (20.0 if code else 0.0)
        assert rig.guardian.problems("run1") == []

    guarded(test)


def test_a_death_that_is_not_judged_yet_is_waited_for():
    """Its last case may end in the moment between the two."""

    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=0.0, restarts=0)
        rig.one().end(7)
        seen = []
        for _ in range(100):
            await asyncio.sleep(0)
            seen += [one.code for one in rig.guardian.problems("run1")]
        assert Code.CONTAINER_NOT_RUNNING in seen
        await rig.guardian.settled("run1")
        assert rig.guardian.problems("run1")[0].code is Code.CONTAINER_RESTART_EXHAUSTED

    guarded(test)


def test_one_that_never_becomes_ready_is_waited_for_until_it_is_given_up():
    async def test(rig: Rig) -> None:
        await rig.guard(db(health=WISH), restart_delay=1.0, restarts=2)
        rig.answers = lambda: ProbeFailed(Failure.REFUSED, "refused")
        await asyncio.sleep(35.0)
        assert rig.guardian.problems("run1")[0].code is Code.HEALTH_CHECK_TIMEOUT
        await rig.guardian.settled("run1")
        assert rig.guardian.problems("run1")[0].code is Code.CONTAINER_RESTART_EXHAUSTED
        assert [one.outcome for one in rig.guardian.restarts("run1")] == ["not_ready"] * 2

    guarded(test)


def test_what_cannot_be_settled_is_not_waited_for_for_ever():
    """No restart is begun that cannot be put on record."""

    async def test(rig: Rig) -> None:
        await rig.guard(db(), restart_delay=1.0)
        rig.store.is_full = True
        rig.one().end(7)
        began = rig.loop.time()
        await rig.guardian.settled("run1")
        assert 60.0 < rig.loop.time() - began < 3600.0
        assert len(rig.guardian.problems("run1")) == 1

    guarded(test)
