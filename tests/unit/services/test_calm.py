"""Flapping, maintenance by the calendar, a budget of one's own, certificates: the reconciler on simulated time."""

from __future__ import annotations

from datetime import datetime

from tests.unit.services.test_reconciler import MINUTE, Rig, simulated

from argus.services.model import Gate
from argus.services.settings import Health as Settings
from argus.testing import Answers


async def flaps(rig: Rig, name: str, times: int) -> None:
    """Two failures and a success, again and again: never confirmed, never quiet."""
    for _ in range(times):
        rig.dies(name)
        await rig.passes(2 * MINUTE)
        rig.heals(name)
        await rig.passes(MINUTE)


@simulated
async def test_a_service_that_goes_up_and_down_is_announced_once_and_not_restarted(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    await flaps(rig, "api", 20)
    assert rig.restarted == []
    assert await rig.said("service_flapping", "service_settled", "service_down") == ["service_flapping"]
    assert rig.watch.healths["api"].flapping is not None
    (incident,) = await rig.store.incidents(open_only=True)
    assert (incident.kind, incident.subject) == ("service_flapping", "api")
    await rig.passes(25 * MINUTE)
    assert await rig.said("service_flapping", "service_settled") == ["service_flapping", "service_settled"]
    assert await rig.store.incidents(open_only=True) == []


@simulated
async def test_one_that_goes_down_for_good_while_it_flaps_is_restarted_when_it_has_settled(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    await flaps(rig, "api", 5)
    rig.dies("api")
    await rig.passes(6 * MINUTE)
    health = rig.watch.healths["api"]
    assert health.outage is not None
    assert (health.outage.gate, health.outage.told) == (Gate.FLAPPING, False)
    await rig.passes(20 * MINUTE)
    assert rig.restarted == ["api"]


@simulated
async def test_flapping_outlives_a_restart_of_argus_and_is_not_announced_again(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    await flaps(rig, "api", 5)
    await rig.kill()
    await rig.start()
    await flaps(rig, "api", 5)
    assert await rig.said("service_flapping", "service_settled") == ["service_flapping"]
    await rig.passes(25 * MINUTE)
    assert await rig.said("service_flapping", "service_settled") == ["service_flapping", "service_settled"]


def with_more(rig: Rig, **more: object) -> None:
    """The registry of the rig, with more said about each service."""
    services = [
        {**one.model_dump(by_alias=True, mode="json", exclude_unset=True), **more} for one in rig.settings.services
    ]
    for one in services:
        one["restart"] = {"command": ["restart", one["name"]], "timeout": "20s"}
    rest = rig.settings.model_dump(by_alias=True, mode="json", exclude_unset=True, exclude={"services"})
    rig.settings = Settings.model_validate({**rest, "services": services})


def opens_in(rig: Rig, minutes: int) -> str:
    """A cron expression that comes up in so many minutes."""
    moment = datetime.fromtimestamp(rig.clock.wall() + minutes * 60)  # noqa: DTZ006 - local time is meant
    return f"{moment.minute} {moment.hour} * * *"


@simulated
async def test_in_its_window_a_service_is_neither_told_of_nor_restarted_and_afterwards_it_is(rig: Rig):
    rig.registry("api")
    with_more(rig, maintenance=[{"cron": opens_in(rig, 2), "duration": "1h"}])
    await rig.start()
    await rig.passes(5 * MINUTE)
    assert rig.watch.paused_until("api") is not None
    rig.dies("api")
    await rig.passes(30 * MINUTE)
    assert rig.restarted == []
    down = await rig.last("service_down")
    assert (down["gate"], down["told"]) == ("maintenance", False)
    await rig.passes(40 * MINUTE)
    assert rig.restarted == ["api"]
    assert rig.watch.paused_until("api") is None


@simulated
async def test_what_is_in_maintenance_makes_no_infrastructure_event(rig: Rig):
    rig.registry("a", "b", "c", "d")
    with_more(rig, maintenance=[{"cron": opens_in(rig, 1), "duration": "1h"}])
    await rig.start()
    await rig.passes(3 * MINUTE)
    rig.dies("a", "b", "c")
    await rig.passes(10 * MINUTE)
    assert await rig.said("infrastructure_event") == []


@simulated
async def test_a_budget_of_its_own_binds_a_service_within_that_of_all(rig: Rig):
    rig.registry("api", "web", restartBudget={"maxPerHour": 5})
    with_more(rig, restartBudget={"maxPerHour": 1})
    await rig.start()
    await rig.passes(90)
    for _ in range(2):
        rig.dies("api")
        await rig.passes(10 * MINUTE)
    rig.dies("web")
    await rig.passes(10 * MINUTE)
    assert rig.restarted == ["api", "web"]
    health = rig.watch.healths["api"]
    assert health.outage is not None
    assert health.outage.gate is Gate.BUDGET
    assert rig.watch.budget() == (3, 5)


@simulated
async def test_three_successes_end_an_outage_where_that_is_asked_for(rig: Rig):
    rig.registry("api", successesBeforeRecovery=3)
    rig.level = rig.level.OBSERVE
    await rig.start()
    await rig.passes(90)
    rig.dies("api")
    await rig.passes(5 * MINUTE)
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    assert await rig.said("service_recovered") == []
    await rig.passes(2 * MINUTE)
    assert await rig.said("service_recovered") == ["service_recovered"]


@simulated
async def test_a_restart_that_helped_is_not_escalated_while_more_successes_are_waited_for(rig: Rig):
    rig.registry("api", successesBeforeRecovery=3)
    await rig.start()
    rig.dies("api")
    while not await rig.said("restart_finished"):
        await rig.passes(1)
    await rig.kill()
    await rig.start()
    await rig.passes(10 * MINUTE)
    assert await rig.said("service_escalated", "service_recovered") == ["service_recovered"]
    assert (await rig.last("service_recovered"))["restartHelped"] is True


@simulated
async def test_a_restart_that_helped_for_one_check_alone_is_escalated(rig: Rig):
    rig.registry("api", successesBeforeRecovery=3)
    await rig.start()
    rig.dies("api")
    while not await rig.said("restart_finished"):
        await rig.passes(1)
    rig.dies("api")
    await rig.passes(10 * MINUTE)
    assert await rig.said("service_escalated") == ["service_escalated"]
    assert (await rig.last("service_escalated"))["why"] == "still_down"
    rig.heals("api")
    await rig.passes(10 * MINUTE)
    assert (await rig.last("service_recovered"))["restartHelped"] is False


@simulated
async def test_a_certificate_that_ends_soon_is_told_once_and_another_one_anew(rig: Rig):
    rig.registry("api")
    day = 24 * 60 * MINUTE
    ends = rig.clock.wall() + 14 * day + 30 * MINUTE
    rig.host.ports[rig.ports["api"]] = Answers(tls_expires=ends)
    await rig.start()
    await rig.passes(20 * MINUTE)
    assert await rig.said("certificate_ends_soon") == []
    await rig.passes(20 * MINUTE)
    await rig.kill()
    await rig.start()
    await rig.passes(20 * MINUTE)
    assert await rig.said("certificate_ends_soon") == ["certificate_ends_soon"]
    rig.host.ports[rig.ports["api"]] = Answers(tls_expires=ends + day / 24)
    await rig.passes(5 * MINUTE)
    assert len(await rig.said("certificate_ends_soon")) == 1
    await rig.passes(60 * MINUTE)
    assert len(await rig.said("certificate_ends_soon")) == 2


@simulated
async def test_a_crash_loop_runs_into_the_budget_and_is_not_called_flapping(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    for _ in range(3):
        rig.dies("api")
        await rig.passes(4 * MINUTE)
    assert rig.restarted == ["api", "api"]
    assert await rig.said("service_flapping") == []
    assert (await rig.last("service_down"))["gate"] == "budget"
