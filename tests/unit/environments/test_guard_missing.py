"""An engine that is gone or hangs: on record at once, and told to a person when it does not come back by itself."""

import asyncio
from dataclasses import replace

from tests.unit.environments.guard_rig import Rig, db, guarded

from argus.core.circuit import Circuit
from argus.environments.blueprint import Part
from argus.environments.guarding.model import State as Guarded
from argus.environments.runs import State
from argus.host.engine.guard import judge


async def counted(rig: Rig, *types: str) -> list[int]:
    return [len(await rig.told(one)) for one in types]


async def guard_another(rig: Rig) -> None:
    rig.run = replace(rig.run, project="other", folder="/other", id="run2")
    rig.show(rig.run)
    rig.circuit = Circuit("docker:other", rig.clock.monotonic, judge)
    await rig.guard(Part("cache", "cache", "any:1"))


def test_an_engine_that_hangs_is_lost_and_is_back_when_it_answers():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.is_frozen = True
        await asyncio.sleep(50.0)
        (lost,) = await rig.told("engine_lost")
        assert (lost["runId"], "did not answer" in lost["reason"]) == ("run1", True)
        assert await counted(rig, "engine_back") == [0]
        rig.engine.is_frozen = False
        await asyncio.sleep(40.0)
        (back,) = await rig.told("engine_back")
        assert (back["runId"], back["fallen"]) == ("run1", [])
        assert 15.0 < back["awaySeconds"] < 90.0
        assert (await counted(rig, "engine_lost"), rig.one().starts) == ([1], 1)

    guarded(test)


def test_an_engine_that_once_answers_late_is_not_lost():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        await asyncio.sleep(20.0)
        rig.engine.is_frozen = True
        while rig.seen().state is not Guarded.UNWATCHED:  # noqa: ASYNC110 - virtual time costs nothing
            await asyncio.sleep(0.1)
        rig.engine.is_frozen = False
        await asyncio.sleep(120.0)
        assert await counted(rig, "engine_lost", "engine_back") == [0, 0]

    guarded(test)


def test_an_engine_that_hangs_and_is_then_killed_is_lost_once():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.is_frozen = True
        await asyncio.sleep(50.0)
        rig.engine.is_frozen, rig.engine.away = False, "gone"
        await asyncio.sleep(30.0)
        rig.engine.away = ""
        await asyncio.sleep(10.0)
        assert await counted(rig, "engine_lost", "engine_back") == [1, 1]
        (back,) = await rig.told("engine_back")
        assert back["awaySeconds"] > 45.0  # to whoever works it was away all the time

    guarded(test)


def test_an_engine_that_is_restarted_is_missed_by_nobody():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        for _ in range(3):
            rig.engine.away = "gone"
            await asyncio.sleep(40.0)
            rig.engine.away = ""
            await asyncio.sleep(40.0)
        assert await counted(rig, "engine_lost", "engine_back") == [3, 3]
        assert await counted(rig, "engine_missed", "engine_found") == [0, 0]

    guarded(test)


def test_an_engine_that_stays_away_is_told_once_for_all_environments_on_it_and_once_when_it_is_back():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        await guard_another(rig)
        rig.engine.away = "gone"
        await asyncio.sleep(500.0)
        (missed,) = await rig.told("engine_missed")
        assert missed["environments"] == ["other", "shop"]
        assert 60.0 <= missed["awaySeconds"] <= 70.0
        assert await counted(rig, "engine_found") == [0]
        rig.engine.away = ""
        await asyncio.sleep(60.0)
        (found,) = await rig.told("engine_found")
        assert found["environments"] == ["other", "shop"]
        assert 490.0 < found["awaySeconds"] < 520.0
        assert await counted(rig, "engine_missed", "engine_found") == [1, 1]

    guarded(test)


def test_an_engine_that_hangs_for_long_is_told_like_one_that_is_gone():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.is_frozen = True
        await asyncio.sleep(110.0)
        assert await counted(rig, "engine_missed", "engine_found") == [1, 0]
        rig.engine.is_frozen = False
        await asyncio.sleep(40.0)
        assert await counted(rig, "engine_missed", "engine_found") == [1, 1]

    guarded(test)


def test_a_new_argus_does_not_tell_again_that_the_engine_is_away_and_tells_that_it_is_back():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "gone"
        await asyncio.sleep(100.0)
        await rig.kill()
        await rig.start()
        await asyncio.sleep(100.0)
        assert await counted(rig, "engine_missed", "engine_found") == [1, 0]
        await rig.kill()
        rig.engine.away = ""
        await rig.start()
        await asyncio.sleep(30.0)
        assert await counted(rig, "engine_missed", "engine_found") == [1, 1]
        (found,) = await rig.told("engine_found")
        assert found["awaySeconds"] > 190.0

    guarded(test)


def test_what_is_told_of_an_engine_waits_for_a_record_that_is_away():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.store.is_full = True
        rig.engine.away = "gone"
        await asyncio.sleep(100.0)
        rig.engine.away = ""
        await asyncio.sleep(60.0)
        rig.store.is_full = False
        await asyncio.sleep(5.0)
        assert await counted(rig, "engine_missed", "engine_found") == [1, 1]

    guarded(test)


def test_an_engine_that_no_environment_needs_any_more_is_missed_no_longer():
    async def test(rig: Rig) -> None:
        await rig.guard(db())
        rig.engine.away = "gone"
        await asyncio.sleep(100.0)
        rig.show(replace(rig.run, state=State.CLEANING))
        await rig.guardian.sync()
        rig.engine.away = ""
        await rig.kill()
        rig.run = replace(rig.run, id="run2", state=State.UP)
        await rig.start()
        await rig.guard(Part("cache", "cache", "any:1"))
        await asyncio.sleep(60.0)
        assert await counted(rig, "engine_missed", "engine_found") == [1, 0]

    guarded(test)
