"""A restart that is asked for while a service fails and is not confirmed down yet: how the look after it is judged."""

from typing import Any

import pytest
from tests.unit.services.test_reconciler import MINUTE, REFUSES, Rig, simulated

from argus.core.autonomy import Level
from argus.host.seam import Ran
from argus.services.model import OPENED_BY_A_PERSON, Gate
from argus.services.watch import describe


async def fails(rig: Rig, times: int) -> None:
    """Was up, and fails so often; nobody is told of that yet."""
    await rig.start()
    await rig.passes(5)
    rig.dies("api")
    for _ in range(times):
        await rig.watch.check("api")
    assert rig.watch.healths["api"].failures == times


async def is_asked(rig: Rig, *, is_person: bool = True) -> None:
    """Until the look after the restart is judged."""
    await rig.watch.restart("api", "cli", is_person=is_person)
    before = len(await rig.said("restart_finished"))
    while len(await rig.said("restart_finished")) == before:
        await rig.passes(0.5)
    await rig.passes(0.5)


@pytest.mark.parametrize("is_person", [True, False], ids=["by-a-person", "by-an-agent"])
@pytest.mark.parametrize("program", ["missing", "fails", "in vain"])
@simulated
async def test_what_the_look_after_an_asked_restart_confirms_is_an_outage_with_that_restart(
    rig: Rig, program: str, is_person: bool
):
    async def run(argv: list[str]) -> Ran:
        return Ran(3 if program == "fails" else 0, "", 0.1)

    rig.registry("api")
    rig.host.programs = {} if program == "missing" else {"restart": run}
    await fails(rig, 2)
    await is_asked(rig, is_person=is_person)
    down = await rig.last("service_down")
    assert (down["failures"], down["told"], down["action"]) == (3, True, "none")
    assert down["gate"] == "already restarted in this outage"
    assert "argus services restart api" in down["hint"]
    states = [one["state"] for one in down["readings"]]
    assert states == ["up", "down", "down", "down"], "also the one that confirmed it"
    shown = describe(rig.watch, "api", rig.clock.wall())
    assert (shown["state"], shown["incident"], shown["restarts"]) == ("down", down["incident"], 1)
    assert Gate(str(shown["gate"])) in OPENED_BY_A_PERSON, "it needs you"
    await rig.passes(30 * MINUTE)
    said = await rig.said()
    assert said == ["state_changed", "restart_started", "restart_finished", "service_down"], "told once"
    assert rig.restarted == ["api"]
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    recovered = await rig.last("service_recovered")
    was_carried_out = program == "in vain"
    assert (recovered["restarted"], recovered["restartHelped"], recovered["told"]) == (was_carried_out, False, True)


@simulated
async def test_a_restart_that_was_asked_for_earlier_in_the_same_run_of_failures_counts_as_well(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await fails(rig, 1)
    await is_asked(rig)
    assert rig.watch.healths["api"].failures == 2
    await rig.passes(30 * MINUTE)
    assert rig.restarted == ["api"]
    down = await rig.last("service_down")
    assert (down["failures"], down["gate"]) == (3, "already restarted in this outage")
    assert await rig.said("service_down", "service_escalated") == ["service_down"]
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    assert (await rig.last("service_recovered"))["restarted"] is True


@simulated
async def test_a_restart_from_before_it_failed_is_none_of_the_outage(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(5)
    await is_asked(rig)
    rig.curable = False
    rig.dies("api")
    await rig.passes(30 * MINUTE)
    assert rig.restarted == ["api", "api"]
    assert (await rig.last("service_escalated"))["restarts"] == 1


@simulated
async def test_a_well_service_that_does_not_come_back_from_an_asked_restart_is_an_outage_at_once(rig: Rig):
    async def breaks(argv: list[str]) -> Ran:
        rig.dies(argv[1])
        return Ran(0, "", 0.1)

    rig.registry("api", failuresBeforeAction=1)
    rig.host.programs["restart"] = breaks
    await rig.start()
    await rig.passes(5)
    await is_asked(rig)
    down = await rig.last("service_down")
    assert (down["failures"], down["action"]) == (1, "restart"), "it was well before: nothing was tried in this outage"
    await rig.passes(30 * MINUTE)
    assert rig.restarted == ["api", "api"]
    assert await rig.said("service_down", "service_escalated") == ["service_down", "service_escalated"]


@simulated
async def test_at_full_there_is_one_more_after_the_one_that_was_asked_for(rig: Rig):
    rig.registry("api", restartBudget={"maxPerHour": 10})
    rig.level, rig.curable = Level.FULL, False
    await fails(rig, 2)
    await is_asked(rig)
    assert (await rig.last("service_down"))["action"] == "restart"
    await rig.passes(30 * MINUTE)
    assert rig.restarted == ["api", "api"]
    assert (await rig.last("service_escalated"))["restarts"] == 2


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        pytest.param({"paused": True}, "maintenance", id="in-maintenance"),
        pytest.param({"level": Level.CAUTIOUS}, "autonomy", id="below-moderate"),
        pytest.param({"busy": ["session shop"]}, "already restarted in this outage", id="in-use"),
    ],
)
@simulated
async def test_what_the_look_after_it_confirms_passes_the_same_gates(rig: Rig, change: dict[str, Any], gate: str):
    rig.registry("api")
    rig.curable = False
    await fails(rig, 2)
    await rig.watch.restart("api", "cli", is_person=True)
    rig.level, rig.busy = change.get("level", rig.level), change.get("busy", rig.busy)
    if change.get("paused"):
        await rig.watch.pause("api", 10 * MINUTE, "cli")
    await rig.passes(MINUTE)
    down = await rig.last("service_down")
    assert (down["action"], down["gate"]) == ("none", gate)
    assert down["told"] is (gate != "maintenance")
    await rig.passes(20 * MINUTE)
    after = ["service_escalated"] if gate == "maintenance" else []
    assert await rig.said("service_down", "service_escalated", "decision_changed") == ["service_down", *after]
    assert rig.restarted == ["api"]


@simulated
async def test_a_person_restarts_again_what_was_asked_for_in_vain(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await fails(rig, 2)
    await is_asked(rig)
    rig.curable = True
    await is_asked(rig)
    assert rig.restarted == ["api", "api"]
    assert (await rig.last("service_recovered"))["restartHelped"] is True


@simulated
async def test_many_that_fail_with_it_are_an_event_also_when_the_look_after_a_restart_confirms_it(rig: Rig):
    rig.registry("api", "db", "web", failuresBeforeAction=1)

    async def takes_all_down(argv: list[str]) -> Ran:
        rig.dies("api", "db", "web")
        return Ran(0, "", 0.1)

    rig.host.programs["restart"] = takes_all_down
    await rig.start()
    await rig.passes(90)
    for one in ("db", "web"):
        rig.host.ports[rig.ports[one]] = REFUSES
    await is_asked(rig)
    await rig.passes(MINUTE)
    assert await rig.said("infrastructure_event") == ["infrastructure_event"]
    assert rig.restarted.count("api") == 1


@simulated
async def test_without_a_record_what_it_confirms_is_on_record_later_and_once(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await fails(rig, 2)
    await rig.watch.restart("api", "cli", is_person=True)
    await rig.passes(5)
    rig.store.full = True
    await rig.passes(5 * MINUTE)
    rig.store.full = False
    await rig.passes(10 * MINUTE)
    assert await rig.said("restart_finished", "service_down") == ["restart_finished", "service_down"]
    assert rig.restarted == ["api"]
