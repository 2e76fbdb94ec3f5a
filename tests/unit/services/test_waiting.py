"""Restarts that wait for who works with a service."""

import asyncio

import pytest
from tests.unit.services.test_reconciler import MINUTE, Rig, simulated

from argus.core.autonomy import Level
from argus.core.errors import ArgusError, Code
from argus.services.waiting import ASKED
from argus.services.watch import describe


@simulated
async def test_an_asked_restart_that_waits_says_so_once_and_for_whom(rig: Rig):
    rig.registry("api", waitForWork="20s")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    asked = rig.loop.create_task(rig.watch.restart("api", "cli"))
    await rig.passes(5)
    shown = describe(rig.watch, "api", 0.0)
    assert (shown["gate"], shown["waitsFor"]) == ("in use", "session shop is in a turn")
    waits = await rig.last("restart_waits")
    assert (waits["by"], waits["waitsFor"]) == ("cli", "session shop is in a turn")
    assert 19.0 <= waits["atMostSeconds"] <= 20.0
    with pytest.raises(ArgusError) as caught:
        await asyncio.wait_for(rig.watch.restart("api", "page"), 1.0)
    assert (caught.value.code, caught.value.details["hint"]) == (Code.INVALID_STATE, "session shop is in a turn")
    rig.busy = []
    await asyncio.wait_for(asked, 2.0)
    assert (await rig.said("restart_waits", "restart_withdrawn"), describe(rig.watch, "api", 0.0)["gate"]) == (
        ["restart_waits"],
        None,
    )


@simulated
async def test_one_that_is_taken_back_while_it_waits_restarts_nothing_and_the_next_waits_anew(rig: Rig):
    rig.registry("api", waitForWork="20s")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    for _ in range(2):
        asked = rig.loop.create_task(rig.watch.restart("api", "cli"))
        await rig.passes(15)
        asked.cancel()
        await asyncio.wait([asked])
    await rig.passes(MINUTE)
    assert rig.restarted == []
    said = await rig.said("restart_waits", "restart_withdrawn", "restart_started")
    assert said == ["restart_waits", "restart_withdrawn"] * 2
    assert describe(rig.watch, "api", 0.0)["gate"] is None


@simulated
async def test_who_asks_does_not_wait_for_itself_and_waits_for_others(rig: Rig):
    rig.registry("api", waitForWork="20s")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["one"]
    await asyncio.wait_for(rig.watch.restart("api", "agent:one", agent="one"), 1.0)
    await rig.passes(2 * MINUTE)
    rig.busy = ["one", "two"]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(rig.watch.restart("api", "agent:one", agent="one"), 5.0)
    assert rig.restarted == ["api"]


@simulated
async def test_a_restart_of_its_own_that_was_waited_for_long_enough_says_who_was_still_at_work(rig: Rig):
    rig.registry("api", waitForWork="20s")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    rig.dies("api")
    await rig.passes(3 * MINUTE)
    assert rig.restarted == ["api"]
    for type in ("decision_changed", "restart_started"):
        assert (await rig.last(type))["outwaited"] == "session shop is in a turn"


@simulated
async def test_an_argus_that_was_killed_does_not_begin_its_wait_anew(rig: Rig):
    rig.registry("api", waitForWork="5m")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    rig.dies("api")
    while not await rig.said("service_down"):
        await rig.passes(1)
    await rig.passes(60)
    await rig.kill()
    await rig.passes(3 * MINUTE)
    await rig.start()
    # It needs its three failing checks; of the five minutes four are over.
    await rig.passes(2 * MINUTE + 30)
    assert rig.restarted == ["api"]


@simulated
async def test_who_waited_gets_the_restart_that_argus_began_meanwhile(rig: Rig):
    rig.registry("api", waitForWork="20s")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    rig.dies("api")
    while not await rig.said("service_down"):
        await rig.passes(1)
    act = await rig.watch.restart("api", "cli")
    assert (await rig.last("restart_started"))["act"] == act


@simulated
async def test_an_asked_restart_that_waited_when_argus_was_killed_is_withdrawn_by_the_next_one(rig: Rig):
    rig.registry("api", waitForWork="20s")
    await rig.start()
    rig.dies("api")
    rig.level = Level.CAUTIOUS
    await rig.passes(5 * MINUTE)
    rig.busy = ["session shop"]
    asked = rig.loop.create_task(rig.watch.restart("api", "cli", is_person=True))
    await rig.passes(5)
    await rig.kill()
    asked.cancel()
    await asyncio.wait([asked])
    await rig.start()
    withdrawn, waits = await rig.last("restart_withdrawn"), await rig.last("restart_waits")
    assert (withdrawn["by"], withdrawn["incident"], withdrawn["argusEnded"]) == ("cli", waits["incident"], True)
    rig.busy = []
    await rig.passes(5)
    await rig.kill()
    await rig.start()
    await rig.passes(1)
    assert await rig.said("restart_waits", "restart_withdrawn") == ["restart_waits", "restart_withdrawn"]
    assert rig.restarted == []


@pytest.mark.parametrize("is_carried_out", [True, False], ids=["carried-out", "taken-back"])
@simulated
async def test_one_that_had_its_end_before_argus_was_killed_has_no_other(rig: Rig, is_carried_out: bool):
    rig.registry("api", waitForWork="20s")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    asked = rig.loop.create_task(rig.watch.restart("api", "cli"))
    await rig.passes(5)
    if is_carried_out:
        rig.busy = []
    else:
        asked.cancel()
    await rig.passes(2)
    before = await rig.said("restart_waits", "restart_withdrawn")
    await rig.kill()
    await rig.start()
    await rig.passes(1)
    assert await rig.said("restart_waits", "restart_withdrawn") == before


@pytest.mark.parametrize("is_gone", [False, True], ids=["who-asked-is-there", "who-asked-goes-with-it"])
@simulated
async def test_an_asked_restart_that_the_outages_own_overtakes_is_carried_out_with_it(rig: Rig, is_gone: bool):
    rig.registry("api", waitForWork="10m")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    asked = rig.loop.create_task(rig.watch.restart("api", "cli"))
    await rig.passes(5)
    rig.dies("api")
    await rig.passes(3 * MINUTE + 0.2)  # between two looks of who asked
    assert describe(rig.watch, "api", 0.0)["gate"] == "in use"
    rig.busy = []
    health = await rig.watch.check("api")
    assert health.repair, "the outage's own came first"
    if is_gone:
        asked.cancel()
        await asyncio.wait([asked])
    else:
        assert await asked == (await rig.last("restart_started"))["act"]
    await rig.passes(MINUTE)
    begun = await rig.last("restart_started")
    assert (begun["by"], begun.get("askedBy")) == ("argus", "cli")
    said = await rig.said("restart_waits", "restart_started", "restart_withdrawn")
    assert said == ["restart_waits", "restart_started"]
    assert await rig.store.setting(ASKED) is None


@pytest.mark.parametrize(
    ("end", "why"),
    [("paused", "api was not restarted: maintenance"), ("removed", "api is no longer watched")],
)
@simulated
async def test_one_that_ends_otherwise_is_not_said_to_be_taken_back(rig: Rig, end: str, why: str):
    rig.registry("api", "other", waitForWork="10m")
    await rig.start()
    await rig.passes(90)
    rig.busy = ["session shop"]
    asked = rig.loop.create_task(rig.watch.restart("api", "cli"))
    await rig.passes(5)
    if end == "paused":
        await rig.watch.pause("api", MINUTE, "somebody")
    else:
        rig.registry("other")
        await rig.watch.reconfigure(rig.settings, rig.settings.services, (), lambda: None)
    with pytest.raises(ArgusError):
        await asyncio.wait_for(asked, 5.0)
    await rig.passes(1)
    assert (await rig.last("restart_withdrawn"))["why"] == why
    assert await rig.store.setting(ASKED) is None
