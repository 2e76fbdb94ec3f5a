"""How a service stands for those who depend on it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from argus.core.autonomy import Level
from argus.core.clock import SystemClock
from argus.core.depending import thing
from argus.graph_room import Parts
from argus.services.model import Flapping, Health

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
