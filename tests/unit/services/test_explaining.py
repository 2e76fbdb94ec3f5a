"""What explains an outage may change while it lasts: both stories have it."""

from __future__ import annotations

import pytest
from tests.unit.services.test_reconciler import HOUR, MINUTE, Rig, simulated

from argus.core.autonomy import Level
from argus.core.events import Event
from argus.ops import story
from argus.ops.incidents import explained, under
from argus.store.records import Incident


async def incident(rig: Rig, subject: str) -> Incident:
    """The newest of it."""
    return next(one for one in await rig.store.incidents(limit=100) if one.subject == subject)


async def because_of(rig: Rig, subject: str) -> dict[str, str]:
    root = await incident(rig, subject)
    events: list[Event] = await rig.store.story(root.id)
    return {one.name: one.what for one in explained(root, events, under(root, await rig.store.incidents(limit=100)))}


async def told(rig: Rig, subject: str) -> list[str]:
    events: list[Event] = await rig.store.story((await incident(rig, subject)).id)
    return [one.text for event in events for one in story.tell(event)]


async def falls_under_two(rig: Rig) -> None:
    """front falls with db, and cache falls by itself before that one is back."""
    names = ("db", "api", "front", "cache")
    rig.registry(
        *names, depends={"api": ["db"], "front": ["api", "cache"]}, failuresBeforeAction=1, correlatedFailureThreshold=9
    )
    rig.level = Level.OBSERVE
    await rig.start()
    await rig.passes(90)
    rig.dies("db", "api", "front")
    await rig.passes(4 * MINUTE)
    rig.dies("cache")
    await rig.passes(4 * MINUTE)


@simulated
async def test_what_another_root_explains_by_now_stays_in_the_story_of_the_first(rig: Rig):
    await falls_under_two(rig)
    held = "down, and not restarted for itself"
    assert await because_of(rig, "db") == {"api": held, "front": held}
    rig.heals("db", "api")
    await rig.passes(4 * MINUTE)
    rig.heals("front", "cache")
    await rig.passes(4 * MINUTE)
    assert await because_of(rig, "db") == {
        "api": "was down with it, and was not restarted for itself",
        "front": "was down with it, and then because of cache",
    }
    assert await because_of(rig, "cache") == {"front": "was down already, and was not restarted for itself"}
    db, cache, front = [await incident(rig, name) for name in ("db", "cache", "front")]
    assert (front.data["explainedBy"], front.data["explainedBefore"]) == (cache.id, db.id)
    first, later = [line for line in await told(rig, "front") if line.startswith("nothing is done")]
    assert ("(db is failing and explains this)" in first, "(cache is failing and explains this)" in later) == (
        True,
        True,
    )
    assert "cache explains from now on why service front is down" in await told(rig, "db")


@simulated
async def test_a_new_argus_remembers_what_explained_it_before(rig: Rig):
    await falls_under_two(rig)
    rig.heals("db", "api")
    await rig.passes(4 * MINUTE)
    await rig.kill()
    await rig.start()
    await rig.passes(4 * MINUTE)
    rig.heals("front", "cache")
    await rig.passes(4 * MINUTE)
    front = await incident(rig, "front")
    assert (front.data["explainedBefore"], front.closed is not None) == ((await incident(rig, "db")).id, True)


@simulated
async def test_a_root_that_comes_to_light_later_explains_the_same_trouble(rig: Rig):
    rig.registry("db", "api", "web", depends={"api": ["db"], "web": ["api"]}, failuresBeforeAction=1)
    rig.level = Level.OBSERVE
    await rig.start()
    await rig.passes(90)
    rig.dies("api", "web")
    await rig.passes(4 * MINUTE)
    rig.dies("db")
    await rig.passes(4 * MINUTE)
    held = "down, and not restarted for itself"
    assert await because_of(rig, "db") == {"api": held, "web": held}
    assert await because_of(rig, "api") == {"web": "was down with it, and then because of db"}
    assert "explainedBefore" not in (await incident(rig, "web")).data


@pytest.mark.parametrize("is_back", [True, False], ids=["back-with-its-root", "still-down"])
@simulated
async def test_what_may_be_back_with_its_root_explains_nothing_for_good_before_its_next_reading(
    rig: Rig, is_back: bool
):
    rig.registry("db", "api", "web", depends={"api": ["db"], "web": ["api"]}, failuresBeforeAction=1)
    rig.level = Level.OBSERVE
    await rig.start()
    await rig.passes(90)
    rig.dies("db", "api", "web")
    await rig.passes(4 * MINUTE)
    rig.heals("db")
    await rig.watch.check("db")
    await rig.watch.check("web")
    assert await rig.said("explained_otherwise", "decision_changed") == []
    if is_back:
        rig.heals("api", "web")
        await rig.watch.check("api")
    await rig.passes(4 * MINUTE)
    rig.heals("api", "web")
    await rig.passes(4 * MINUTE)
    otherwise = await rig.said("explained_otherwise")
    assert otherwise == ([] if is_back else ["explained_otherwise"])
    assert (await because_of(rig, "db"))["web"] == "was down with it, and was not restarted for itself"


@simulated
async def test_what_nothing_else_explains_is_told_once(rig: Rig):
    rig.registry("db", "api", depends={"api": ["db"]})
    rig.level = Level.OBSERVE
    await rig.start()
    rig.dies("db", "api")
    await rig.passes(HOUR)
    rig.heals("db", "api")
    await rig.passes(5 * MINUTE)
    assert await rig.said("explained_otherwise", "decision_changed") == []
