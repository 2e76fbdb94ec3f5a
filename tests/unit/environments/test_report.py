"""What several checks come to together."""

from __future__ import annotations

import pytest

from argus.core.errors import ArgusError, Code
from argus.environments.report import Check, HealthReport, Overall, Verdict, gate

PASS, WARN, FAIL = Verdict


def report(*statuses: Verdict) -> HealthReport:
    names = ("docker_daemon", "disk_space", "ports")
    checks = (
        Check(name, one, f"{name} says", {"why": name}, code=Code.DISK_SPACE_LOW)
        for name, one in zip(names, statuses, strict=False)
    )
    return HealthReport(tuple(checks), 0, 0.0)


@pytest.mark.req("FR-R04")
@pytest.mark.parametrize(
    ("statuses", "overall"),
    [
        ((), Overall.HEALTHY),
        ((PASS, PASS), Overall.HEALTHY),
        ((PASS, WARN), Overall.DEGRADED),
        ((WARN, FAIL), Overall.UNHEALTHY),
        ((FAIL, PASS), Overall.UNHEALTHY),
    ],
)
def test_overall(statuses: tuple[Verdict, ...], overall: Overall):
    assert report(*statuses).overall is overall


def test_the_gate_holds_with_what_the_first_failed_check_found():
    gate(report(PASS, WARN))
    failed = report(WARN, FAIL, FAIL)
    with pytest.raises(ArgusError) as caught:
        gate(failed)
    assert (caught.value.code, caught.value.message) == (Code.DISK_SPACE_LOW, "disk_space says")
    assert caught.value.details == {
        "why": "disk_space",
        "check": "disk_space",
        "healthReport": failed.public(),
    }
