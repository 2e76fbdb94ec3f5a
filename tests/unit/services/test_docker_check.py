"""What the engine says of containers, and what it means; and which of them a restart touches."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from argus.host.engine.seam import Container
from argus.host.oneself import Oneself
from argus.services.checks import DockerService
from argus.services.checks.base import Service
from argus.services.containers import Found, judged
from argus.services.model import Observation, Seen, Status
from argus.services.repairs import outcome
from argus.services.restarters import DockerRestarter
from argus.services.restarters.docker import choose
from argus.services.settings import Health
from argus.testing import FakeHost


def found(name: str, state: str = "running", **more: Any) -> Found:
    return Found(name, Container("0" * 64, name, state, **more))


@pytest.mark.parametrize(
    ("containers", "status", "detail", "code"),
    [
        pytest.param([found("a")], Status.UP, "1/1 running", None, id="running"),
        pytest.param([found("a", health="healthy"), found("b")], Status.UP, "2/2 running", None, id="healthy"),
        pytest.param(
            [found("a"), found("b", health="unhealthy")], Status.DOWN, "1/2 running: b is unhealthy", "SERVICE_DOWN",
            id="unhealthy",
        ),
        pytest.param(
            [found("a"), found("b", health="starting")], Status.PENDING, "1/2 running: b is starting", None,
            id="starting",
        ),
        pytest.param(
            [found("a", health="starting"), found("b", "exited")], Status.DOWN,
            "0/2 running: b is exited, exit status 0", "SERVICE_DOWN", id="one-starts-and-another-is-down",
        ),
        pytest.param(
            [found("a", "restarting", exit_code=3)], Status.DOWN, "0/1 running: a is restarting, exit status 3",
            "CONTAINER_CRASH", id="restarting",
        ),
        pytest.param(
            [found("a", "exited", exit_code=137)], Status.DOWN, "0/1 running: a is exited, exit status 137",
            "CONTAINER_CRASH", id="killed-without-a-word-of-memory",
        ),
        pytest.param(
            [found("a", "exited", exit_code=1, oom_killed=True)], Status.DOWN,
            "0/1 running: a is exited, out of memory, exit status 1", "CONTAINER_OOM", id="a-child-ran-out-of-memory",
        ),
        pytest.param([found("a", oom_killed=True)], Status.UP, "1/1 running", None, id="a-child-died-and-it-goes-on"),
        pytest.param([found("a", "paused")], Status.DOWN, "0/1 running: a is paused", "SERVICE_DOWN", id="paused"),
        pytest.param([found("a", "created")], Status.DOWN, "0/1 running: a is created", "SERVICE_DOWN", id="not-begun"),
        pytest.param(
            [found("a"), Found("b", None)], Status.DOWN, "1/2 running: b does not exist", "CONTAINER_NOT_FOUND",
            id="missing",
        ),
        pytest.param(
            [Found("a", None), found("b", "exited", exit_code=1)], Status.DOWN,
            "0/2 running: a does not exist, b is exited, exit status 1", "SERVICE_DOWN", id="of-several-kinds",
        ),
        pytest.param([], Status.DOWN, "no container carries the label", "CONTAINER_NOT_FOUND", id="none-at-all"),
        pytest.param(
            [found("a"), *(Found(f"b{n}", None) for n in range(9))], Status.DOWN,
            "1/10 running: b0 does not exist, b1 does not exist, b2 does not exist, b3 does not exist, "
            "b4 does not exist, and 4 more",
            "CONTAINER_NOT_FOUND", id="only-the-first-few-are-named",
        ),
        pytest.param(
            [Found("x" * 200, None)], Status.DOWN, f"0/1 running: {'x' * 59}… does not exist", "CONTAINER_NOT_FOUND",
            id="a-long-name-is-cut",
        ),
    ],
)  # fmt: skip
def test_what_the_engine_says(containers: list[Found], status: Status, detail: str, code: str | None):
    seen = judged(containers)
    assert (seen.status, seen.detail, seen.code) == (status, detail, code)


def service(type: str = "docker", **keys: object) -> Service:
    (one,) = Health.model_validate({"services": [{"name": "stack", "type": type, **keys}]}).services
    return one


def restarter(one: Service) -> DockerRestarter:
    assert isinstance(one.restart, DockerRestarter)
    return one.restart


def test_its_times_are_those_of_containers():
    one = service(containers=["a"])
    assert isinstance(one, DockerService)
    assert (one.interval, one.timeout) == (120.0, 10.0)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({}, id="neither-names-nor-a-label"),
        pytest.param({"containers": ["a"], "label": "a=b"}, id="both"),
        pytest.param({"containers": []}, id="no-names"),
        pytest.param({"containers": ["a", "a"]}, id="one-twice"),
        pytest.param({"containers": ["-f"]}, id="an-option"),
        pytest.param({"containers": ["../images"]}, id="a-path"),
        pytest.param({"containers": ["a/b"]}, id="two-segments"),
        pytest.param({"containers": [""]}, id="an-empty-name"),
        pytest.param({"containers": "a"}, id="a-text"),
        pytest.param({"label": "=x"}, id="a-label-without-a-key"),
        pytest.param({"label": ""}, id="an-empty-label"),
        pytest.param({"containers": ["a"], "restart": {"docker": ["-f"]}}, id="an-option-to-restart"),
    ],
)
def test_what_names_no_containers_is_refused(keys: dict[str, object]):
    with pytest.raises(ValidationError):
        service(**keys)


@pytest.mark.parametrize(
    ("one", "docker", "well_too"),
    [
        pytest.param(service(containers=["a", "b"]), ("a", "b"), False, id="left-out"),
        pytest.param(service(containers=["a"], restart="docker"), ("a",), False, id="by-its-word"),
        pytest.param(service(label="app=web"), "app=web", False, id="by-a-label"),
        pytest.param(service("tcp", port=1, containers=["a"]), ("a",), True, id="what-runs-a-port"),
        pytest.param(service("tcp", port=1, restart={"docker": ["a"]}), ("a",), True, id="said-in-full"),
    ],
)
def test_the_restart_comes_from_its_own_keys(one: Service, docker: object, well_too: bool):
    assert (restarter(one).docker, restarter(one).well_too) == (docker, well_too)


TWO_OF_THREE = judged([found("a", "exited", exit_code=1), found("b"), found("c", "dead")])
GONE = judged([Found("a", None), found("b")])
MANY = judged([found(f"c{place}", "exited", exit_code=1) for place in range(9)])


@pytest.mark.parametrize(
    ("one", "seen", "target"),
    [
        pytest.param(service(containers=["a", "b", "c"]), TWO_OF_THREE, "Containers a, c", id="those-that-are-bad"),
        pytest.param(service(label="app=x"), TWO_OF_THREE, "Containers a, c", id="the-same-by-a-label"),
        pytest.param(service(label="app=x"), MANY, "Containers c0, c1, c2, c3, c4, and 4 more", id="a-few-of-many"),
        pytest.param(
            service(containers=["a", "b"]), GONE, "what is down of 2 containers", id="one-that-does-not-exist"
        ),
        pytest.param(service(containers=["a", "b"]), None, "what is down of 2 containers", id="not-looked-at-yet"),
        pytest.param(service(containers=["a"]), None, "Container a", id="the-only-one"),
        pytest.param(
            service(containers=["a", "b", "c"], restart={"docker": ["x", "y"]}),
            TWO_OF_THREE,
            "what is down of 2 containers, or all of them",
            id="others-than-those-that-are-looked-at",
        ),
        pytest.param(
            service("tcp", port=1, label="app=x"),
            Seen(Status.DOWN),
            "what is down of containers with app=x, or all of them",
            id="a-check-that-does-not-see-containers",
        ),
    ],
)
def test_a_restart_is_told_as_what_it_touches(one: Service, seen: Seen | None, target: str):
    assert one.target(seen) == target


def test_no_restart_is_no_restart():
    assert service(containers=["a"], restart="none").restart is None
    with pytest.raises(ValidationError, match="containers or label"):
        service("tcp", port=1, restart="docker")


async def test_only_those_that_are_bad_now_are_restarted():
    host, one = FakeHost(), service(containers=["a", "b", "c", "d"])
    for name in "abcd":
        host.docker.add(name)
    host.docker.containers_by_name["b"].end(1)
    host.docker.containers_by_name["d"].health = "unhealthy"
    ran = await restarter(one).restart(host, log="")
    assert (ran.exit_code, ran.output, ran.problem) == (0, "restarted b, d", "")
    assert {name: made.starts for name, made in host.docker.containers_by_name.items()} == {
        "a": 0,
        "b": 1,
        "c": 0,
        "d": 1,
    }


async def test_what_came_back_by_itself_is_left_alone():
    host, one = FakeHost(), service(containers=["a"])
    made = host.docker.add("a")
    ran = await restarter(one).restart(host, log="")
    assert (ran.exit_code, ran.output, made.starts) == (0, "nothing was restarted", 0)
    seen = Observation(judged([found("a")]), 0.0, 0.0)
    assert outcome(ran, seen) == "not_needed", "nobody is told that it was restarted"


async def test_a_check_of_something_else_restarts_containers_that_look_well():
    host, one = FakeHost(), service("tcp", port=1, label="app=web")
    for name in ("a", "b"):
        host.docker.add(name, labels={"app": "web"})
    other = host.docker.add("c", labels={"app": "other"})
    assert (await restarter(one).restart(host, log="")).output == "restarted a, b"
    host.docker.containers_by_name["b"].end(1)
    assert (await restarter(one).restart(host, log="")).output == "restarted b"
    assert other.starts == 0


async def test_what_cannot_be_restarted_is_named_and_the_others_are_restarted():
    host, one = FakeHost(), service(containers=["a", "b", "c"])
    host.docker.add("a").end(1)
    host.docker.add("b", refuses="port is already allocated").end(1)
    ran = await restarter(one).restart(host, log="")
    assert (ran.exit_code, ran.output) == (None, "restarted a")
    assert ran.problem == "c does not exist, b: port is already allocated"


async def test_nothing_is_ordered_of_an_engine_that_is_away():
    host, one = FakeHost(), service(containers=["a"])
    made = host.docker.add("a")
    made.end(1)
    host.docker.away = "gone"
    ran = await restarter(one).restart(host, log="")
    assert (ran.exit_code, ran.output, made.starts) == (None, "nothing was restarted", 0)
    assert "gone" in ran.problem


def test_its_own_container_is_never_restarted():
    own, other = found("argus", "exited"), Found("web", Container("1" * 64, "web", "exited"))
    assert own.container is not None
    chosen, problems = choose([own, other], Oneself(containers=(own.container.id,)), well_too=True)
    assert (chosen, problems) == ([other.container], ["argus is Argus itself"])


async def test_an_engine_that_cannot_be_asked_makes_it_unknown():
    host, one = FakeHost(), service(containers=["a"])
    host.docker.away = "No such file or directory"
    for _ in range(5):
        seen = await one.probe(host)
        assert (seen.status, seen.code) == (Status.UNKNOWN, "DOCKER_UNAVAILABLE")
    seen = await one.probe(host)
    assert (seen.status, seen.code) == (Status.UNKNOWN, "CIRCUIT_OPEN")
