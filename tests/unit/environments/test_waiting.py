"""Waiting for a service: where it is asked, and what is said when that was in vain."""

import time
from typing import Any

import pytest

from argus.core.circuit import Circuit
from argus.core.clock import SystemClock
from argus.core.errors import ArgusError, Code
from argus.core.redact import Redactor
from argus.environments.blueprint import HealthWish, Part
from argus.environments.waiting import Waiter, reached
from argus.host.engine.guard import judge
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.resources import Making
from argus.host.seam import Failure, HttpReply, HttpRequest, ProbeFailed
from argus.testing import FakeEngine


async def nothing(part: Part, container: str) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize(
    ("bound", "engine", "asked"),
    [
        pytest.param("", "127.0.0.1", "127.0.0.1", id="everywhere"),
        pytest.param("0.0.0.0", "127.0.0.1", "127.0.0.1", id="everywhere-said-so"),
        pytest.param("::", "127.0.0.1", "::1", id="everywhere-of-the-other-family"),
        pytest.param("127.0.0.9", "127.0.0.1", "127.0.0.9", id="another-loopback"),
        pytest.param("::1", "127.0.0.1", "::1", id="the-loopback-of-the-other-family"),
        pytest.param("10.0.0.5", "127.0.0.1", "10.0.0.5", id="an-address-of-this-machine"),
        pytest.param("", "docker.example", "docker.example", id="everywhere-on-another-machine"),
        pytest.param("10.0.0.5", "docker.example", "10.0.0.5", id="an-address-of-another-machine"),
        pytest.param("127.0.0.1", "docker.example", "docker.example", id="the-loopback-of-another-machine"),
    ],
)
def test_a_port_is_asked_where_it_is_bound(bound: str, engine: str, asked: str):
    assert reached(bound, engine) == asked


async def test_one_that_runs_out_of_memory_is_told_with_the_most_that_was_seen():
    engine = FakeEngine()
    api = engine.add("api", making=Making("api", "api:1", memory=32 << 20), memory=20 << 20, peak=24 << 20)
    dock = GuardedDock(engine, Circuit("docker:test", time.monotonic, judge))

    async def http(request: HttpRequest, *, timeout: float) -> HttpReply:
        api.end(137, out_of_memory=True)
        raise ProbeFailed(Failure.REFUSED)

    waiter = Waiter(dock, http, SystemClock(), "127.0.0.1", lambda part, what: None, nothing)
    with pytest.raises(ArgusError) as raised:
        await waiter.until_ready(Part("api", "api", "api:1", health=HealthWish("/", 80)), api.id)
    assert raised.value.code is Code.CONTAINER_OOM
    assert (raised.value.details["memoryLimit"], raised.value.details["memoryPeak"]) == (32 << 20, 24 << 20)


@pytest.mark.parametrize("before", [0, 150, 1950])
async def test_what_its_own_health_check_prints_is_told_without_secrets(before: int):
    engine, told = FakeEngine(), []
    api = engine.add("api", health="unhealthy")
    api.health_output = (
        f"{'0' * before} postgres://app:HuntEr2SecretPw99xyz@db/shop the-known-one-1 {'1' * (2000 - before)}"
    )
    dock = GuardedDock(engine, Circuit("docker:test", time.monotonic, judge))

    async def http(request: HttpRequest, *, timeout: float) -> HttpReply:
        raise AssertionError

    def heard(part: str, what: str) -> None:
        told.append(what)

    redactor = Redactor()
    redactor.learn("the-known-one-1")
    waiter = Waiter(dock, http, SystemClock(), "127.0.0.1", heard, nothing, clean=redactor.text)
    with pytest.raises(ArgusError) as raised:
        await waiter.until_ready(Part("api", "api", "api:1"), api.id)
    said = f"{raised.value.structured(0)} {told}"
    assert "its own health check says unhealthy" in said
    assert "HuntE" not in said
    assert "w99xyz" not in said
    assert "the-known" not in said
