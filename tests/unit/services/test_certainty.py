"""Whether what explains an outage is known by now, and for how long that is waited for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus.services.certainty import is_open
from argus.services.checks import TcpService
from argus.services.model import Gate, Health, Observation, Outage, Seen, Status

SERVICES = {
    name: TcpService.model_validate(
        {"name": name, "type": "tcp", "port": 1, "interval": "10s", "timeout": "1s", "dependsOn": below}
    )
    for name, below in (("root", []), ("mid", ["root"]), ("leaf", ["mid"]))
}
OUTAGE = Outage("i", 0.0, gate=Gate.DEPENDENCY)
"""Each reading takes at most 12 s; three of them confirm an outage."""


def seen(status: Status, at: float) -> Observation:
    return Observation(Seen(status), at, at)


def up(at: float = 100.0) -> Health:
    return Health(Status.UP, last=seen(Status.UP, at))


def failing(since: float = 100.0, outage: Outage | None = None, at: float = 100.0, repair: str | None = None) -> Health:
    return Health(
        Status.DOWN, failures=1, failing_since=since, last=seen(Status.DOWN, at), outage=outage, repair=repair
    )


down = failing(outage=OUTAGE)
alone = failing(outage=replace(OUTAGE, gate=Gate.AUTONOMY))


@pytest.mark.parametrize(
    ("root", "mid", "leaf", "now", "open"),
    [
        pytest.param(failing(), up(), down, 101.0, True, id="until-its-next-reading-when-what-explained-it-is-well"),
        pytest.param(up(), failing(), down, 101.0, True, id="while-what-explains-it-is-not-confirmed"),
        pytest.param(failing(), down, down, 101.0, True, id="while-what-explains-that-is-not-confirmed"),
        pytest.param(up(), failing(), down, 135.9, True, id="as-long-as-that-may-take"),
        pytest.param(up(), failing(), down, 136.1, False, id="and-no-longer"),
        pytest.param(up(), up(), down, 111.9, True, id="until-its-own-next-reading-when-its-root-is-back"),
        pytest.param(up(), up(), down, 112.1, False, id="which-is-not-waited-for-for-ever"),
        pytest.param(up(), up(), alone, 101.0, False, id="not-when-the-others-were-seen-to-be-well"),
        pytest.param(up(), up(99.0), alone, 101.0, True, id="while-another-was-not-seen-since-it-began-to-fail"),
        pytest.param(up(), up(99.0), alone, 112.1, False, id="but-no-longer-than-that-takes"),
        pytest.param(
            up(), failing(), failing(outage=OUTAGE, repair="act"), 101.0, False, id="not-once-it-is-restarted"
        ),
        pytest.param(up(), up(), failing(), 101.0, False, id="not-of-one-that-is-not-down"),
        pytest.param(down, down, down, 101.0, False, id="not-when-all-of-them-are-confirmed"),
    ],
)
def test_who_is_told_of_a_root_is_told_once_that_is_known(
    root: Health, mid: Health, leaf: Health, now: float, open: bool
):
    healths = {"root": root, "mid": mid, "leaf": leaf}
    assert is_open("leaf", SERVICES, healths, lambda _: 3, now) is open
