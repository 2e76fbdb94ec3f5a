"""How a service stands for those who depend on it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from argus.core.autonomy import Level
from argus.core.clock import SystemClock
from argus.core.depending import thing
from argus.graph.model import Told
from argus.graph.policy import Back, news
from argus.graph_room import Parts
from argus.services.model import Flapping, Health, Observation, Outage, Seen, Status

MINUTE = 60.0


@pytest.mark.parametrize(
    ("steady", "flaps", "is_unsettled"),
    [(5.0, True, True), (MINUTE - 5.0, True, True), (MINUTE + 5.0, True, False), (5.0, False, False)],
)
def test_one_that_goes_up_and_down_is_back_for_those_who_wait_once_it_was_steady_for_a_minute(
    steady: float, flaps: bool, is_unsettled: bool
):
    clock = SystemClock()
    now = clock.monotonic()
    flapping = Flapping("i1", 0.0, now - 5 * MINUTE) if flaps else None
    health = Health(flips=(now - 4 * MINUTE, now - steady), flapping=flapping)
    watch: Any = SimpleNamespace(services={"db": SimpleNamespace(depends_on=())}, healths={"db": health})
    parts = Parts(clock, lambda: Level.MODERATE, list, str, watch=cast(Any, watch))
    standing = parts.look(thing("db"))
    assert standing is not None
    assert standing.is_unsettled == is_unsettled


@pytest.mark.parametrize(
    ("seen", "is_over"),
    [pytest.param(9.0, False, id="not-looked-at-since"), pytest.param(2.0, True, id="looked-at-since-and-still-down")],
)
def test_who_was_told_of_a_root_hears_nothing_of_it_between_the_first_good_reading_of_what_needs_it_and_its_own(
    seen: float, is_over: bool
):
    """`seen`: so many seconds ago the root was looked at last; what needs it answers for five seconds."""
    clock = SystemClock()
    now, wall = clock.monotonic(), clock.wall()
    fell = Observation(Seen(Status.DOWN), now - seen, wall - seen)
    rose = Observation(Seen(Status.UP), now - 1.0, wall - 1.0)
    healths = {
        "db": Health(Status.DOWN, failures=3, failing_since=now - 30.0, last=fell, outage=Outage("i1", wall - 20.0)),
        "api": Health(Status.UP, since=wall - 5.0, last=rose),
    }
    services = {"db": SimpleNamespace(depends_on=()), "api": SimpleNamespace(depends_on=("db",))}
    watch: Any = SimpleNamespace(services=services, healths=healths, is_open=lambda name: False)
    parts = Parts(clock, lambda: Level.MODERATE, list, str, watch=cast(Any, watch))
    told = Told("agent:one", {"db": {}}, ("db",))
    assert news([thing("api")], told, parts.look) == (Back(("db",)) if is_over else None)
