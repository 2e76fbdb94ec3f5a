"""An outage that is older than the count of its failures: what is said of how long it fails."""

import pytest
from tests.unit.services.test_reconciler import HOUR, MINUTE, Rig, simulated

from argus.services.watch import describe


async def begin_anew(rig: Rig, how: str) -> None:
    if how == "argus":
        await rig.kill()
        await rig.start()
    elif how == "configuration":
        changed = tuple(one.model_copy(update={"timeout": one.timeout + 1}) for one in rig.settings.services)
        await rig.watch.reconfigure(rig.settings, changed, (), lambda: None)


@pytest.mark.parametrize("how", ["argus", "configuration"])
@simulated
async def test_what_is_told_late_says_how_long_it_has_been_failing(rig: Rig, how: str):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    await rig.watch.pause("api", HOUR, "cli")
    rig.dies("api")
    await rig.passes(20 * MINUTE)
    await begin_anew(rig, how)
    await rig.passes(5 * MINUTE)
    await rig.watch.pause("api", None, "cli")
    await rig.passes(10 * MINUTE)
    changed, escalated = await rig.last("decision_changed"), await rig.last("service_escalated")
    assert changed["news"]
    assert changed["failingSeconds"] == pytest.approx(25 * MINUTE, abs=2 * MINUTE)
    assert 0 < escalated["failingSeconds"] - changed["failingSeconds"] < 5 * MINUTE
    assert describe(rig.watch, "api", rig.clock.wall())["countedAnew"] is True


@simulated
async def test_what_was_counted_from_its_beginning_says_its_count(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    await rig.passes(20 * MINUTE)
    assert "failingSeconds" not in await rig.last("service_down")
    assert "failingSeconds" not in await rig.last("service_escalated")
    assert describe(rig.watch, "api", rig.clock.wall())["countedAnew"] is False


@simulated
async def test_the_next_outage_is_counted_from_its_beginning_again(rig: Rig):
    rig.registry("api")
    rig.curable = False
    await rig.start()
    rig.dies("api")
    await rig.passes(20 * MINUTE)
    await begin_anew(rig, "argus")
    rig.heals("api")
    await rig.passes(20 * MINUTE)
    assert describe(rig.watch, "api", rig.clock.wall())["countedAnew"] is False
    rig.dies("api")
    await rig.passes(20 * MINUTE)
    assert "failingSeconds" not in await rig.last("service_down")
    assert describe(rig.watch, "api", rig.clock.wall())["countedAnew"] is False
