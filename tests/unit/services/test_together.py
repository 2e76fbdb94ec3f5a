"""Several at once, looked at as a hostile user would: nothing is restarted in an event, and nobody waits for others."""

import asyncio

import pytest
from tests.unit.services.test_reconciler import HOUR, MINUTE, Rig, simulated

from argus.core.autonomy import Level
from argus.host.seam import Failure
from argus.services.model import Gate
from argus.store.records import Incident
from argus.testing import Answers

AT_ONCE = {"failuresBeforeAction": 1}


@pytest.mark.req("INFRA-02.3")
@pytest.mark.parametrize("threshold", [1, 2, 3])
@pytest.mark.parametrize("count", [3, 5, 20])
@simulated
async def test_nothing_is_restarted_when_all_die_together_whatever_confirms_one(rig: Rig, threshold: int, count: int):
    names = [f"s{place}" for place in range(count)]
    rig.registry(*names, failuresBeforeAction=threshold)
    await rig.start()
    await rig.passes(90)
    rig.dies(*names)
    await rig.passes(30 * MINUTE)
    assert rig.restarted == []
    assert await rig.said("infrastructure_event", "restart_started") == ["infrastructure_event"]
    assert (await rig.last("infrastructure_event"))["services"] == sorted(names)


@simulated
async def test_nothing_is_restarted_when_all_are_down_already_at_the_start(rig: Rig):
    rig.registry("a", "b", "c", **AT_ONCE)
    rig.dies("a", "b", "c")
    await rig.start()
    await rig.passes(30 * MINUTE)
    assert rig.restarted == []


@simulated
async def test_who_fails_later_joins_the_event_on_record_and_nobody_is_told_again(rig: Rig):
    rig.registry("a", "b", "c", "d")
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    await rig.passes(5 * MINUTE)
    rig.dies("d")
    await rig.passes(5 * MINUTE)
    assert await rig.said("infrastructure_event") == ["infrastructure_event"]
    (incident,) = [one for one in await rig.store.incidents(open_only=True) if one.kind == "infrastructure_event"]
    assert incident.data["services"] == ["a", "b", "c", "d"]
    assert incident.cause == "4 services fail together"
    assert rig.restarted == []


@simulated
async def test_a_slow_check_of_another_does_not_hold_a_restart_up(rig: Rig):
    rig.registry("a", "slow", **AT_ONCE)
    rig.host.ports[rig.ports["slow"]] = Answers(latency=4.5)
    await rig.start()
    await rig.passes(90)
    began = rig.clock.monotonic()
    rig.dies("a")
    while not rig.restarted:
        await rig.passes(0.1)
    failed = rig.watch.healths["a"].failing_since
    assert failed is not None
    assert rig.clock.monotonic() - max(began, failed) < 1.5


@simulated
async def test_nobody_is_alarmed_in_a_pause_by_a_restart_that_began_before_it(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    await rig.passes(90)
    rig.dies("api")
    while not rig.restarted:
        await rig.passes(0.5)
    await rig.watch.pause("api", HOUR, "somebody")
    await rig.passes(HOUR / 2)
    assert await rig.said("service_escalated") == []
    assert rig.watch.healths["api"].outage.gate is Gate.MAINTENANCE  # type: ignore[union-attr]
    await rig.passes(HOUR)
    assert await rig.said("service_escalated") == ["service_escalated"]
    assert rig.restarted == ["api"]


@simulated
async def test_looks_at_the_same_time_are_one_look(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.dies("api")
    healths = await asyncio.gather(*(rig.watch.check("api") for _ in range(200)))
    assert {health.failures for health in healths} == {1}
    assert rig.restarted == []


@simulated
async def test_what_cannot_be_looked_at_is_told_once(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.host.ports[rig.ports["api"]] = Answers(failure=Failure.OURS)
    await rig.passes(HOUR)
    assert await rig.said("service_unknown") == ["service_unknown"]
    said = await rig.last("service_unknown")
    assert (said["service"], said["checks"]) == ("api", 3)
    await rig.kill()
    await rig.start()
    await rig.passes(HOUR)
    assert await rig.said("service_unknown") == ["service_unknown"]
    rig.heals("api")
    await rig.passes(2 * MINUTE)
    rig.host.ports[rig.ports["api"]] = Answers(failure=Failure.OURS)
    await rig.passes(HOUR)
    assert await rig.said("service_unknown") == ["service_unknown"] * 2
    assert rig.restarted == []


@simulated
async def test_in_maintenance_nobody_hears_that_a_service_cannot_be_looked_at_or_comes_and_goes(rig: Rig):
    rig.registry("dark", "restless")
    await rig.start()
    await rig.passes(90)
    for name in ("dark", "restless"):
        await rig.watch.pause(name, HOUR, "somebody")
    rig.host.ports[rig.ports["dark"]] = Answers(failure=Failure.OURS)
    for _ in range(10):
        rig.dies("restless")
        await rig.watch.check("restless")
        rig.heals("restless")
        await rig.watch.check("restless")
    await rig.passes(HOUR / 2)
    assert await rig.said("service_unknown", "service_flapping") == []
    await rig.passes(HOUR)
    assert await rig.said("service_unknown", "service_flapping") == ["service_unknown"]


async def event(rig: Rig) -> Incident:
    """The one event on record, open or over."""
    (one,) = [one for one in await rig.store.incidents() if one.kind == "infrastructure_event"]
    return one


async def because_of(rig: Rig, incident: str) -> list[str]:
    """The services whose own incidents name this one."""
    return sorted(one.subject for one in await rig.store.incidents() if one.data.get("explainedBy") == incident)


@pytest.mark.req("INFRA-02.3")
@simulated
async def test_what_a_member_explains_neither_counts_nor_keeps_the_event_open(rig: Rig):
    rig.registry("root", "b", "c", "d1", "d2", depends={"d1": ["root"], "d2": ["root"]})
    rig.curable = False
    await rig.start()
    await rig.passes(90)
    rig.dies("root", "b", "c", "d1", "d2")
    await rig.passes(10 * MINUTE)
    begun = await event(rig)
    assert begun.data["services"] == ["b", "c", "root"]
    assert begun.cause == "3 services fail together"
    assert await because_of(rig, begun.id) == ["b", "c", "d1", "d2", "root"]
    rig.heals("b", "c")
    await rig.passes(5 * MINUTE)
    assert (await event(rig)).data["stillFailing"] == ["root"]
    assert rig.restarted == ["root"]
    assert rig.watch.explained_by("root") is None, "what outlasts it is handled, and shown, for itself"
    assert await because_of(rig, begun.id) == ["b", "c", "root"], "and stays in the story of what it was part of"
    assert await because_of(rig, rig.watch.healths["root"].outage.incident) == ["d1", "d2"]  # type: ignore[union-attr]


@simulated
async def test_a_member_that_is_paused_when_the_event_ends_is_said_to_fail_still(rig: Rig):
    rig.registry("a", "b", "c")
    rig.level = Level.OBSERVE
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    await rig.passes(5 * MINUTE)
    await rig.watch.pause("a", HOUR, "someone")
    rig.heals("b", "c")
    await rig.passes(5 * MINUTE)
    assert (await event(rig)).data["stillFailing"] == ["a"]


async def _goes_up_and_down(rig: Rig, level: Level) -> set[str]:
    """What was called flapping where a chain fell and came back eight times."""
    names = ("web", "api", "root")
    rig.registry(*names, depends={"web": ["api"], "api": ["root"]}, restartBudget={"maxPerHour": 50}, **AT_ONCE)
    rig.level = level
    await rig.start()
    await rig.passes(90)
    for _ in range(8):
        rig.dies(*names)
        await rig.passes(90)
        rig.heals(*names)
        await rig.passes(90)
    return {one.subject for one in await rig.store.incidents() if one.kind == "service_flapping"}


@simulated
async def test_of_a_chain_that_goes_up_and_down_only_the_root_is_told_of(rig: Rig):
    rig.curable = False
    assert await _goes_up_and_down(rig, Level.OBSERVE) == {"root"}


@simulated
async def test_of_a_chain_whose_root_is_restarted_each_time_nobody_is_called_flapping(rig: Rig):
    assert await _goes_up_and_down(rig, Level.MODERATE) == set()


@simulated
async def test_members_name_the_event_as_soon_as_it_is_declared(rig: Rig):
    rig.registry("a", "b", "c", **AT_ONCE)
    rig.level = Level.OBSERVE
    await rig.start()
    await rig.passes(90)
    rig.dies("a", "b", "c")
    while rig.watch.infrastructure_event is None:
        await rig.passes(0.1)
    await rig.passes(2)
    assert await because_of(rig, rig.watch.infrastructure_event) == ["a", "b", "c"]


@simulated
async def test_what_was_down_long_before_is_no_part_of_the_event(rig: Rig):
    rig.registry("legacy", "a", "b", "c")
    rig.curable = False
    await rig.start()
    await rig.passes(90)
    rig.dies("legacy")
    await rig.passes(HOUR)
    rig.dies("a", "b", "c")
    await rig.passes(10 * MINUTE)
    begun = await event(rig)
    assert begun.data["services"] == ["a", "b", "c"]
    assert await because_of(rig, begun.id) == ["a", "b", "c"]
    await rig.kill()
    await rig.start()
    await rig.passes(10 * MINUTE)
    assert (await event(rig)).data["services"] == ["a", "b", "c"]


@simulated
async def test_what_was_down_long_before_does_not_keep_the_event_open(rig: Rig):
    old = ["old1", "old2", "old3"]
    rig.registry(*old, "a", "b", "c", restartBudget={"maxPerHour": 10})
    rig.curable = False
    await rig.start()
    await rig.passes(90)
    for name in old:
        rig.dies(name)
        await rig.passes(HOUR)
    rig.dies("a", "b", "c")
    await rig.passes(10 * MINUTE)
    assert (await event(rig)).data["services"] == ["a", "b", "c"]
    rig.heals("b", "c")
    await rig.passes(5 * MINUTE)
    assert (await event(rig)).data["stillFailing"] == ["a"]
    assert rig.restarted == [*old, "a"]


@simulated
async def test_dependants_that_are_seen_to_fail_before_their_root_are_no_event_beside_an_old_outage(rig: Rig):
    names = ["d1", "d2", "d3", "root"]
    rig.registry("legacy", *names, depends={name: ["root"] for name in names[:3]})
    rig.curable = False
    await rig.start()
    await rig.passes(90)
    rig.dies("legacy")
    await rig.passes(HOUR)
    rig.dies(*names)
    for name in names[:3]:
        await rig.watch.check(name)
    await rig.passes(10 * MINUTE)
    assert await rig.said("infrastructure_event") == []
    assert rig.restarted == ["legacy", "root"]


@simulated
async def test_what_depends_on_a_service_in_maintenance_makes_no_event(rig: Rig):
    names = ["a", "b", "c"]
    rig.registry("db", *names, depends={name: ["db"] for name in names})
    await rig.start()
    await rig.passes(90)
    await rig.watch.pause("db", 2 * HOUR, "somebody")
    rig.dies("db", *names)
    await rig.passes(HOUR)
    assert await rig.said("infrastructure_event") == []
