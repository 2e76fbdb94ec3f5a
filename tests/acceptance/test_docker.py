"""Services that are containers, on a real engine: killed, stopped, sick, missing; and the engine itself in trouble."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, WebServer, eventually, never
from tests.docker_engine import Engine
from tests.faults import Injection

QUICK: dict[str, Any] = {"interval": "500ms", "timeout": "10s", "failuresBeforeAction": 1}


@pytest.fixture
def watching(argus: Argus, docker: Engine) -> Callable[..., Argus]:
    """An Argus that watches a service of these containers, and others."""

    def start(*containers: str, services: tuple[dict[str, Any], ...] = (), **more: Any) -> Argus:
        health = {key: more.pop(key) for key in ("autonomy", "verifyAfter") if key in more}
        which = {} if "label" in more else {"containers": list(containers)}
        argus.env["DOCKER_HOST"] = docker.url
        argus.configure([{"name": "stack", "type": "docker", **QUICK, **which, **more}, *services], **health)
        argus.up()
        return argus

    return start


def restarts(argus: Argus) -> list[dict[str, Any]]:
    return [event.data for event in argus.journal("restart_finished")]


def check(argus: Argus, name: str) -> tuple[dict[str, Any], float]:
    """What a check says now, and the seconds that it took."""
    began = time.monotonic()
    said: dict[str, Any] = argus.rest("POST", f"/api/services/{name}/check", {}).json
    return said, time.monotonic() - began


@pytest.mark.req("INFRA-01.5", "INFRA-02.1")
def test_a_killed_container_is_restarted_once_and_verified(docker: Engine, watching: Callable[..., Argus]) -> None:
    docker.run("web")
    argus = watching("web")
    assert argus.wait_until("stack", "up")["detail"] == "1/1 running"
    docker.kill_container("web")
    down = argus.wait_for("service_down").data
    # 137 without a word about memory is a crash by SIGKILL.
    assert down["detail"] == "0/1 running: web is exited, exit status 137"
    assert (down["code"], down["place"]) == ("CONTAINER_CRASH", "Container web")
    argus.wait_for("service_recovered")
    (one,) = restarts(argus)
    assert (one["outcome"], one["output"], one["exitCode"]) == ("recovered", "restarted web", 0)
    assert docker.state("web")["Status"] == "running"
    assert docker.starts("web") == 2
    types = [event.type for event in argus.journal()]
    assert types.index("restart_started") < types.index("restart_finished") < types.index("service_recovered")


@pytest.mark.req("INFRA-01.5")
def test_of_three_containers_only_the_bad_one_is_restarted(docker: Engine, watching: Callable[..., Argus]) -> None:
    for name in ("web1", "web2", "web3"):
        docker.run(name, Labels={"app": "shop"})
    argus = watching(label="app=shop")
    assert argus.wait_until("stack", "up")["detail"] == "3/3 running"
    docker.kill_container("web2")
    assert argus.wait_for("service_down").data["detail"].startswith("2/3 running: web2 is exited")
    argus.wait_for("service_recovered")
    assert restarts(argus)[0]["output"] == "restarted web2"
    # What is told and what is on record is what was done: the others were not touched.
    assert argus.journal("service_down")[0].data["target"] == "Container web2"
    assert argus.journal("restart_started")[0].data["target"] == "Container web2"
    assert [docker.starts(name) for name in ("web1", "web2", "web3")] == [1, 2, 1]


def test_a_container_stopped_by_a_person_is_restarted(docker: Engine, watching: Callable[..., Argus]) -> None:
    """What a service watches is meant to run; whoever wants it down pauses the service."""
    docker.run("web")
    argus = watching("web")
    argus.wait_until("stack", "up")
    docker.stop("web")
    argus.wait_for("service_recovered")
    assert docker.state("web")["Status"] == "running"


@pytest.mark.req("INFRA-01.5")
def test_an_unhealthy_container_is_down_and_one_that_starts_is_waited_for(
    docker: Engine, watching: Callable[..., Argus], tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "well").touch()
    check = {"Test": ["CMD-SHELL", "test -e /shared/well"], "Interval": 10**8, "Timeout": 10**10, "Retries": 1}
    docker.run("web", host={"Binds": [f"{tmp_path}:/shared"]}, Healthcheck=check)
    argus = watching("web", failuresBeforeAction=1)
    argus.wait_until("stack", "up")
    (tmp_path / "well").unlink()
    down = argus.wait_for("service_down").data
    assert (down["detail"], down["code"]) == ("0/1 running: web is unhealthy", "SERVICE_DOWN")
    # It is restarted, and then not called well before its own check says so.
    argus.wait_for("restart_started")
    (tmp_path / "well").touch()
    argus.wait_for("service_recovered")
    assert docker.state("web")["Health"]["Status"] == "healthy"
    assert docker.starts("web") == 2


@pytest.mark.req("INFRA-02.4")
def test_killed_while_the_engine_restarts_a_container_argus_waits_for_it_before_it_judges(
    docker: Engine, watching: Callable[..., Argus], tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "well").touch()
    # Told to end it takes its time, and it is well from its second start on.
    ends = "until test -e /shared/enough; do sleep 0.1; done; exit"
    life = f"test -e /shared/mended && touch /mended; trap '{ends}' TERM; while :; do sleep 600 & wait; done"
    test = ["CMD-SHELL", "test -e /shared/well || test -e /mended"]
    check = {"Test": test, "Interval": 10**8, "Timeout": 10**10, "Retries": 1}
    bind = {"Binds": [f"{tmp_path}:/shared"]}
    docker.run("web", "sh", "-c", life, host=bind, Healthcheck=check, StopTimeout=300)
    argus = watching("web")
    argus.wait_until("stack", "up")
    (tmp_path / "mended").touch()
    (tmp_path / "well").unlink()
    argus.wait_for("restart_started")
    eventually(lambda: docker.happened("web", "kill"), "the engine has told it to end")
    argus.kill()
    argus.up()
    for _ in range(3):
        before = argus.service("stack")["lastCheck"]
        eventually(lambda before=before: argus.service("stack")["lastCheck"] != before, "it was checked again")
    (tmp_path / "enough").touch()
    argus.wait_for("service_recovered")
    (one,) = restarts(argus)
    assert (one["outcome"], one["interrupted"]) == ("recovered", True)
    assert argus.journal("service_escalated") == []
    assert docker.starts("web") == 2


def test_a_container_that_starts_is_pending(docker: Engine, watching: Callable[..., Argus]) -> None:
    check = {"Test": ["CMD", "true"], "Interval": 600 * 10**9, "StartPeriod": 600 * 10**9}
    docker.run("web", Healthcheck=check)
    argus = watching("web")
    seen = eventually(lambda: (one := argus.service("stack"))["lastCheck"] and one, "it was checked")
    assert (seen["state"], seen["detail"]) == ("pending", "0/1 running: web is starting")


def test_a_container_that_does_not_exist_is_down_and_says_so(docker: Engine, watching: Callable[..., Argus]) -> None:
    docker.run("web")
    argus = watching("web", "nobody")
    down = argus.wait_for("service_down").data
    assert (down["detail"], down["code"]) == ("1/2 running: nobody does not exist", "CONTAINER_NOT_FOUND")
    argus.wait_for("service_escalated")
    (one,) = restarts(argus)
    assert (one["outcome"], one["problem"]) == ("failed", "nobody does not exist")
    assert docker.starts("web") == 1


def test_a_container_that_ran_out_of_memory_is_named_as_such(docker: Engine, watching: Callable[..., Argus]) -> None:
    docker.exhaust("hog", 24 * 1024 * 1024)
    argus = watching("hog", autonomy="observe")
    down = argus.wait_for("service_down").data
    assert down["detail"] == f"0/1 running: hog is exited, out of memory, exit status {docker.state('hog')['ExitCode']}"
    assert down["code"] == "CONTAINER_OOM"


@pytest.mark.fault("CT6", "CT9")
def test_a_frozen_engine_makes_it_unknown_holds_nobody_up_and_is_asked_again_by_one(
    docker: Engine, watching: Callable[..., Argus], web: WebServer, injected: Injection
) -> None:
    """Over thirty seconds: so long an open breaker waits for its first probe. Until then nobody asks but this test."""
    docker.run("box")
    seldom = {"type": "docker", "containers": ["box"], "interval": "1h", "timeout": "20s"}
    boxes = [f"box{number}" for number in range(10)]
    quick = [f"quick{number}" for number in range(5)]
    others = [{"name": name, **seldom} for name in boxes] + [
        {"name": name, **seldom, "timeout": "1s"} for name in quick
    ]
    argus = watching(
        "box", services=(web.service("repair", failuresBeforeAction=1), *others), interval="1h", timeout="1s"
    )
    for name in ("web", "stack", *boxes, *quick):
        argus.wait_until(name, "up")
    daemon = psutil.Process(argus.pid)
    quiet = len(daemon.net_connections("unix")), len(daemon.children())
    docker.freeze()
    with ThreadPoolExecutor(10) as threads:
        with injected:
            asked = threads.map(partial(check, argus), quick)
            assert {(one["state"], one["code"]) for one, _ in asked} == {("unknown", "DOCKER_UNAVAILABLE")}
            opened = time.monotonic()
            refused = [check(argus, "stack") for _ in range(10)]
            assert {one["code"] for one, _ in refused} == {"CIRCUIT_OPEN"}
            # A noisy machine holds single answers up; nothing but a wait for the engine holds all of them up.
            assert min(seconds for _, seconds in refused) < 0.1
            eventually(
                lambda: (len(daemon.net_connections("unix")), len(daemon.children())) == quiet,
                "nothing is left hanging",
            )
        web.kill()
        argus.wait_for("service_recovered", "web")
        eventually(lambda: time.monotonic() - opened > 31.0, "the breaker's time is over", 2 * DEADLINE)
        with injected:
            ten = [threads.submit(check, argus, name) for name in boxes]
            eventually(lambda: sum(one.done() for one in ten) == 9, "nine are refused")
            docker.thaw()
            codes = sorted((one.result()[0]["code"] or "", one.result()[0]["state"]) for one in ten)
        assert codes == [("", "up"), *[("CIRCUIT_OPEN", "unknown")] * 9]
    assert check(argus, "stack")[0]["state"] == "up"
    assert "\n- stack: UP (1/1 containers running)\n" in argus.cli("context").stdout
    assert len(argus.journal("breaker_opened")) == len(argus.journal("breaker_closed")) == 1
    assert [one["service"] for one in restarts(argus)] == ["web"]
    assert docker.starts("box") == 1


@pytest.mark.fault("CT7")
def test_an_engine_that_was_killed_and_started_works_again_and_no_container_is_restarted(
    docker: Engine, watching: Callable[..., Argus], injected: Injection
) -> None:
    docker.run("web")
    argus = watching("web", interval="1s")
    argus.wait_until("stack", "up")
    begun = docker.state("web")["StartedAt"]
    with injected:
        docker.kill()
        assert argus.wait_until("stack", "unknown")["code"] == "DOCKER_UNAVAILABLE"
        docker.start()
        eventually(lambda: argus.service("stack")["state"] == "up", "the engine is asked again", 2 * DEADLINE)
    changes = [(event.data["from"], event.data["to"]) for event in argus.journal("state_changed")]
    assert changes == [(None, "up"), ("up", "unknown"), ("unknown", "up")]
    assert restarts(argus) == []
    assert docker.state("web")["StartedAt"] == begun


async def test_without_an_engine_nothing_is_down_and_nothing_is_restarted(argus: Argus) -> None:
    argus.env["DOCKER_HOST"] = f"unix://{argus.folder}/no-engine.sock"
    argus.configure([{"name": "stack", "type": "docker", "containers": ["web"], **QUICK}])
    argus.up()
    unknown = argus.wait_until("stack", "unknown")
    assert unknown["detail"].endswith("no-engine.sock cannot be reached: No such file or directory")
    await never(lambda: argus.journal("service_down", "restart_started"), "it was called down", 2.0)


def test_a_web_service_restarts_the_container_that_runs_it(docker: Engine, argus: Argus) -> None:
    """Its container runs; what it is for does not answer."""
    docker.run("web")
    argus.env["DOCKER_HOST"] = docker.url
    entry = {"name": "web", "type": "http", "url": "http://127.0.0.1:1/", "containers": ["web"], **QUICK}
    argus.configure([entry])
    argus.up()
    argus.wait_for("service_escalated")
    assert restarts(argus)[0]["output"] == "restarted web"
    assert docker.starts("web") == 2


@pytest.mark.req("INFRA-02.5")
def test_the_container_that_argus_runs_in_is_refused(docker: Engine, argus: Argus) -> None:
    """Argus in a container that has this machine's whole file system, and in it its own name."""
    words = ["chroot", "/host", "env", *(f"{key}={argus.env[key]}" for key in ("HOME", "ARGUS_HOME", "PATH"))]
    own = docker.create("argus", *words, PROGRAM, "check", str(argus.config), host={"Binds": ["/:/host"]})
    refused = (2, "is Argus itself")
    for container, (code, said) in ((own, refused), (own[:12], refused), ("somebody-else", (0, ": good"))):
        argus.configure([{"name": "me", "type": "docker", "containers": [container]}])
        docker.ask("POST", f"/containers/{own}/start")
        ended = docker.ask("POST", f"/containers/{own}/wait")
        log = docker.ask("GET", f"/containers/{own}/logs?stdout=1&stderr=1&tail=20")
        assert ended["StatusCode"] == code, log
        assert said in log
