"""The last readings of each service: in order, and in bounds however many there are."""

from __future__ import annotations

import pytest

from argus.services.model import Observation, Seen, Status
from argus.services.recent import Recent


def read(status: Status, wall: float, latency: float | None = None) -> Observation:
    return Observation(Seen(status, latency), wall, wall)


def test_readings_come_back_in_their_order_as_they_were():
    recent = Recent()
    recent.take("api", read(Status.UP, 10.0, 0.25))
    recent.take("api", read(Status.DOWN, 11.0))
    found = recent.of("api")
    assert [(one.wall, one.status, one.latency) for one in found] == [
        (10.0, Status.UP, 0.25),
        (11.0, Status.DOWN, None),
    ]
    assert recent.of("nobody") == []
    recent.forget({"api", "nobody"})
    assert recent.of("api") == []


@pytest.mark.parametrize(("services", "kept"), [(1, 60), (2000, 30), (20_000, 12)])
def test_with_many_services_each_keeps_fewer(services: int, kept: int):
    recent = Recent()
    for name in range(services):
        recent.take(str(name), read(Status.UP, 0.0))
    for wall in range(200):
        recent.take("0", read(Status.UP, float(wall)))
    found = recent.of("0")
    assert found[-1].wall == 199.0
    assert kept <= len(found) <= min(60, kept + 12)
