"""The engine of an environment is away, hangs or dies in the middle: told by its code, not asked for ever."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.acceptance.harness import Reply, eventually
from tests.acceptance.yard import NOTHING, Project, Yard, ended, ours, service, stays, web
from tests.docker_engine import IMAGE, Engine
from tests.faults import Injection

BY_HAND = {"circuitBreaker": {"resetTimeoutMs": 0}}
NOWHERE = "/nowhere/docker.sock"
CIRCUIT = ("circuit_open", "circuit_half_open", "circuit_closed")


def ask(yard: Yard, project: Project, operation: str, *, host: str = "", **more: Any) -> Reply:
    """Over REST, as a program in the project's folder."""
    environ = {**yard.env, **({"DOCKER_HOST": host} if host else {})}
    shell = {"folder": str(project.folder), "environ": environ}
    return yard.rest("POST", f"/api/environments/{operation}", {"projectPath": ".", "shell": shell, **more})


def breaker(project: Project) -> dict[str, Any]:
    return dict(project.status["circuitBreaker"])


def checks(report: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    return {one["name"]: (one["status"], one["code"]) for one in report["checks"]}


def children(yard: Yard) -> list[psutil.Process]:
    return psutil.Process(yard.pid).children(recursive=True)


class Front:
    """Where everybody looks for the engine: a link that leads to it, to something else, or to nothing."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self._engine = engine
        self.lead()

    def lead(self, to: str | Path | None = None) -> None:
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(to or self._engine.socket)


@pytest.fixture
def front(docker: Engine, tmp_path: Path) -> Front:
    return Front(tmp_path / "front.sock", docker)


@pytest.fixture
def yard(resting: Yard, front: Front) -> Yard:
    resting.env["DOCKER_HOST"] = f"unix://{front.path}"
    resting.up()
    return resting


@pytest.fixture
def shop(yard: Yard) -> Project:
    return yard.project(services=[stays("db", "15432:5432")], resilience=BY_HAND)


@pytest.fixture
def away(yard: Yard, front: Front) -> Project:
    """There is no engine."""
    front.lead(NOWHERE)
    return yard.project(services=[stays("db", "15432:5432")], resilience=BY_HAND)


@pytest.mark.req("US1.1", "US1.5", "FR-R02", "SC-R06")
def test_without_an_engine_building_and_setting_up_say_so_and_looking_answers(
    yard: Yard, away: Project, front: Front
) -> None:
    for operation in ("build", "setup"):
        error = away.refused(operation)
        assert (error["code"], error["category"]) == ("DOCKER_UNAVAILABLE", "infrastructure")
        assert (error["severity"], error["details"]["address"]) == ("fatal", str(front.path))
        assert checks(error["details"]["healthReport"])["docker_daemon"] == ("fail", "DOCKER_UNAVAILABLE")
    status = away.status
    assert (status["problem"]["code"], status["problem"]["severity"]) == ("DOCKER_UNAVAILABLE", "fatal")
    assert "start_docker" in status["problem"]["suggestedActions"]
    assert [one["state"] for one in status["services"]] == ["unknown"]
    for words in (("logs", "db"), ("clean", "--force")):
        assert away.refused(*words)["code"] in ("CONTAINER_NOT_FOUND", "DOCKER_UNAVAILABLE")


@pytest.mark.req("US2.2", "FR-R04")
def test_without_an_engine_preflight_is_a_report_and_not_an_error(yard: Yard, away: Project) -> None:
    said = ask(yard, away, "preflight_check")
    assert said.status == 200, said
    report = said.json["healthReport"]
    assert report["overall"] == "unhealthy"
    found = checks(report)
    assert found["docker_daemon"] == ("fail", "DOCKER_UNAVAILABLE")
    assert found["disk_space"] == ("warn", None)
    assert found["ports"] == ("pass", None)


@pytest.mark.req("US6.1", "US6.2", "US6.6", "FR-R18", "FR-R19", "FR-R20", "SC-R03")
def test_the_sixth_call_to_an_engine_that_is_away_does_not_reach_for_it(yard: Yard, away: Project) -> None:
    for count in range(5):
        assert breaker_of(yard, away)["failures"] == count
        assert ask(yard, away, "setup").error["code"] == "DOCKER_UNAVAILABLE"
    assert (breaker_of(yard, away)["state"], breaker_of(yard, away)["failures"]) == ("open", 5)
    for operation in ("setup", "build", "clean"):
        error = ask(yard, away, operation, **({"force": True} if operation == "clean" else {})).error
        assert (error["code"], error["category"]) == ("CIRCUIT_OPEN", "infrastructure"), operation
        assert (error["details"]["breaker"], error["details"]["failures"]) == ("docker:shop", 5)
    report = ask(yard, away, "preflight_check").json
    assert (report["healthReport"]["overall"], report["circuitBreakerState"]["state"]) == ("unhealthy", "open")
    assert checks(report["healthReport"])["docker_daemon"] == ("fail", "CIRCUIT_OPEN")
    status = ask(yard, away, "status").json
    said = status["circuitBreaker"]
    assert (said["state"], said["failureCount"], len(said["failureHistory"])) == ("open", 5, 5)
    assert said["lastFailureTime"] == said["failureHistory"][-1]["timestamp"] == said["lastStateTransition"]
    assert abs(said["lastStateTransition"] / 1000 + said["secondsInState"] - time.time()) < 60
    assert "cannot be reached" in said["failureHistory"][0]["error"]
    assert status["problem"]["code"] == "CIRCUIT_OPEN"
    assert breaker_of(yard, away)["failures"] == 5, "what was refused did not reach for it"
    assert len(yard.journal("breaker_opened")) == 1
    eventually(lambda: len(yard.journal("preflight_end")) >= 6, "the last look is on record")
    assert len(yard.journal("preflight_start")) == 6, "five setups and one look: what is refused looks at nothing"


def breaker_of(yard: Yard, project: Project) -> dict[str, Any]:
    """As everybody is shown it: to look at it asks no engine."""
    known = yard.get("/api/breakers")["breakers"]
    return next((one for one in known if one["name"] == "docker:shop"), {"failures": 0, "state": "closed"})


def opened(yard: Yard, project: Project, front: Front, times: int = 5) -> None:
    front.lead(NOWHERE)
    for _ in range(times):
        ask(yard, project, "setup")
    front.lead()
    assert breaker_of(yard, project)["state"] == "open"


@pytest.mark.req("FR-R18", "US6.6")
def test_an_open_breaker_is_known_to_the_next_daemon_also_before_anybody_asks_about_its_project(
    yard: Yard, shop: Project, front: Front
) -> None:
    opened(yard, shop, front)
    eventually(lambda: yard.journal("breaker_opened"), "it is on record")
    yard.kill()
    yard.up()
    kept = breaker_of(yard, shop)
    assert (kept["state"], kept["failures"], len(kept["history"])) == ("open", 5, 5)
    assert "docker:shop: open, 5 failures in a row" in yard.cli("breakers").stdout
    assert shop.refused("setup")["code"] == "CIRCUIT_OPEN"
    done = yard.cli("breakers", "reset", "docker:shop", "--json").json
    assert (done["previousState"], done["currentState"]) == ("open", "half-open")


@pytest.mark.req("US6.3", "US6.4", "FR-R21", "FR-R22", "FR-R27", "FR-R28")
def test_reset_by_hand_one_setup_finds_out_that_the_engine_is_back(yard: Yard, shop: Project, front: Front) -> None:
    opened(yard, shop, front)
    refused = shop.refused("setup")
    assert (refused["code"], refused["suggestedActions"]) == ("CIRCUIT_OPEN", ["reset_circuit", "fix_cause"])
    done = shop.env("reset-circuit").json
    assert (done["previousState"], done["currentState"]) == ("open", "half-open")
    assert [one["code"] for one in done["failureHistory"]] == ["DOCKER_UNAVAILABLE"] * 5
    again = shop.env("reset-circuit").json
    assert (again["previousState"], again["currentState"]) == ("half-open", "half-open")
    assert "nothing to reset" in again["message"]
    assert shop.up()["services"][0]["state"] == "running"
    found = breaker(shop)
    assert (found["state"], found["failureCount"], found["failureHistory"]) == ("closed", 0, [])
    assert isinstance(found["lastStateTransition"], int)
    eventually(
        lambda: [one.name for one in yard.journal(*CIRCUIT)] == [f"resilience:{one}" for one in CIRCUIT],
        "its three changes are told",
    )
    closed = shop.env("reset-circuit").json
    assert (closed["previousState"], closed["currentState"], closed["failureHistory"]) == ("closed", "closed", [])
    assert len(yard.journal("breaker_reset")) == 1


@pytest.mark.req("US6.5", "FR-R22")
def test_a_probe_that_fails_opens_it_again(yard: Yard, shop: Project, front: Front) -> None:
    opened(yard, shop, front)
    shop.env("reset-circuit")
    front.lead(NOWHERE)
    assert ask(yard, shop, "setup").error["code"] == "DOCKER_UNAVAILABLE"
    found = breaker_of(yard, shop)
    assert (found["state"], found["failures"], len(found["history"])) == ("open", 6, 6)
    assert ask(yard, shop, "setup").error["code"] == "CIRCUIT_OPEN"


def test_a_setup_that_never_reached_the_engine_leaves_the_environment_as_it_was(
    yard: Yard, shop: Project, front: Front
) -> None:
    done = shop.up()
    front.lead(NOWHERE)
    assert ask(yard, shop, "setup").error["code"] == "DOCKER_UNAVAILABLE"
    front.lead()
    status = shop.status
    assert (status["state"], status["runId"], status["services"][0]["state"]) == ("up", done["runId"], "running")
    assert shop.env("preflight").json["healthReport"]["overall"] == "healthy"


def test_status_and_preflight_are_probes_like_any_other(yard: Yard, shop: Project, front: Front) -> None:
    shop.write(project={"name": "shop"}, services=[stays(f"s{n}", f"1500{n}:1") for n in range(4)], resilience=BY_HAND)
    for look in ("status", "preflight_check"):
        opened(yard, shop, front)
        shop.env("reset-circuit")
        said = ask(yard, shop, look).json
        if look == "status":
            assert (said["problem"], said["circuitBreaker"]["state"]) == (None, "closed")
        else:
            assert said["healthReport"]["overall"] == "healthy", said
        assert breaker_of(yard, shop)["state"] == "closed"


def test_after_its_time_an_open_breaker_lets_the_next_setup_try(yard: Yard, front: Front) -> None:
    settings = {"circuitBreaker": {"failureThreshold": 2, "resetTimeoutMs": 1000}}
    shop = yard.project(services=[stays("db", "15432:5432")], resilience=settings)
    opened(yard, shop, front, times=2)
    eventually(lambda: shop.env("setup").code == 0, "it is tried again")
    assert breaker(shop)["state"] == "closed"


def test_an_engine_that_is_away_closes_no_way_to_another(yard: Yard, shop: Project) -> None:
    for _ in range(5):
        ask(yard, shop, "setup", host=f"unix://{NOWHERE}")
    error = ask(yard, shop, "setup", host=f"unix://{NOWHERE}").error
    assert error["code"] == "CIRCUIT_OPEN"
    assert error["details"]["breaker"].startswith("docker:shop@nowhere-docker.sock-")
    assert shop.up()["services"][0]["state"] == "running"
    done = yard.cli("breakers", "reset", error["details"]["breaker"], "--json").json
    assert (done["previousState"], done["currentState"]) == ("open", "half-open")


class Gate:
    """Stands before the engine: counts who comes, and lets nobody through until it is opened."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self.come = 0
        self.open = threading.Event()
        self._engine = engine
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(100)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                visitor, _ = self._listener.accept()
                self.come += 1
                threading.Thread(target=self._pass, args=(visitor,), daemon=True).start()

    def _pass(self, visitor: socket.socket) -> None:
        self.open.wait()
        behind = socket.socket(socket.AF_UNIX)
        behind.connect(self._engine.socket)
        back = threading.Thread(target=_pump, args=(behind, visitor), daemon=True)
        back.start()
        _pump(visitor, behind)
        back.join()
        visitor.close()
        behind.close()

    def close(self) -> None:
        self.open.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def gate(docker: Engine, tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "gate.sock", docker)
    yield made
    made.close()


@pytest.mark.fault("CT9")
@pytest.mark.req("NFR-R04", "FR-R22")
def test_of_ten_calls_at_once_on_a_half_open_breaker_one_reaches_the_engine(
    yard: Yard, shop: Project, front: Front, gate: Gate, injected: Injection
) -> None:
    shop.up()
    for _ in range(5):
        opened(yard, shop, front)
        front.lead(NOWHERE)  # the guardian looks too, and what it could see would be the answer
        shop.env("reset-circuit")
        gate.open.clear()
        before = gate.come
        front.lead(gate.path)
        with ThreadPoolExecutor(10) as callers, injected:
            # Nine of them come back while the first is still on its way.
            asked = [callers.submit(ask, yard, shop, "logs", container="db") for _ in range(10)]
            refused = eventually(
                lambda asked=asked: (done := [one for one in asked if one.done()])[8:] and done, "nine"
            )
            assert {one.result().error["code"] for one in refused} == {"CIRCUIT_OPEN"}
            assert gate.come == before + 1
            gate.open.set()
            answers = sorted(one.result().status for one in asked)
        if 200 in answers:
            break  # else the one that went through was a look of the guardian's
    assert answers == [200, *[503] * 9]
    assert breaker_of(yard, shop)["state"] == "closed"


@pytest.mark.fault("CT6")
@pytest.mark.req("SC-R03", "NFR-R01")
def test_a_frozen_engine_is_a_failed_check_and_then_is_not_asked(
    yard: Yard, docker: Engine, shop: Project, injected: Injection
) -> None:
    shop.write(
        project={"name": "shop"},
        services=[stays("db", "15432:5432")],
        resilience={"circuitBreaker": {"resetTimeoutMs": 0, "failureThreshold": 1}},
    )
    with injected:
        docker.freeze()
        report = ask(yard, shop, "preflight_check").json["healthReport"]
        assert checks(report)["docker_daemon"] == ("fail", "DOCKER_UNAVAILABLE")
        assert report["overall"] == "unhealthy"
        assert ask(yard, shop, "setup").error["code"] == "CIRCUIT_OPEN"
        assert children(yard) == []
        docker.thaw()
        shop.env("reset-circuit")
        assert shop.up()["services"][0]["state"] == "running"


@pytest.mark.req("EC-R01", "EC-R08")
def test_an_engine_that_dies_in_a_build_is_not_the_dockerfiles_fault(yard: Yard, docker: Engine, shop: Project) -> None:
    (shop.folder / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN echo it has begun; sleep 600\n")
    with yard.events(live="true") as stream:
        building = shop.begin("build")
        stream.until(lambda one: "it has begun" in str(one.data.get("line")), "the build's output")
        docker.kill()
        error = ended(building).error
    assert (error["code"], error["severity"]) == ("DOCKER_UNAVAILABLE", "fatal")
    assert "it has begun" in str(error["details"]["output"])
    assert breaker(shop)["failureCount"] >= 1
    assert children(yard) == []
    docker.start()
    assert shop.up()["services"][0]["state"] == "running"


@pytest.mark.req("EC-R06")
def test_what_a_setup_began_when_its_engine_died_goes_as_soon_as_it_is_back(yard: Yard, docker: Engine) -> None:
    never = web("api", "13080:8080")
    never["container"]["healthcheck"]["path"] = "/nothing"
    settings = {"circuitBreaker": {"failureThreshold": 1, "resetTimeoutMs": 500}}
    shop = yard.project(services=[never], resilience=settings)
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
        docker.kill()
        assert ended(setting_up).error["code"] == "DOCKER_UNAVAILABLE"
    docker.start()
    eventually(lambda: ours(docker) == NOTHING, "it is removed, and nobody asked for it")


@pytest.mark.fault("CT7")
@pytest.mark.req("EC-R01")
def test_an_engine_that_dies_in_a_setup_is_told_and_when_it_is_back_setup_works(
    yard: Yard, docker: Engine, injected: Injection
) -> None:
    never = service("api", "stays:1", "13080:8080", dependsOn=["db"])
    never["container"]["healthcheck"] = {"path": "/", "port": 8080}
    shop = yard.project(services=[stays("db", "15432:5432"), never])
    with yard.events() as stream, injected:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_starting" and one.data["service"] == "api", "the second service")
        docker.kill()
        error = ended(setting_up).error
        assert (error["code"], error["severity"]) == ("DOCKER_UNAVAILABLE", "fatal")
        assert "could not be removed" in error["details"]["leftBehind"]
        assert {one["service"]: one["state"] for one in error["details"]["services"]}["db"] == "ready"
        assert shop.status["state"] == "failed"
        docker.start()
        shop.write(project={"name": "shop"}, services=[stays("db", "15432:5432")])
        shop.env("reset-circuit")
        done = shop.up()
    assert ours(docker) == {"containers": ["db"], "networks": [done["network"]], "volumes": []}


def test_an_engine_that_freezes_in_a_setup_holds_nobody_up(yard: Yard, docker: Engine) -> None:
    never = web("api", "13080:8080")
    never["container"]["healthcheck"]["path"] = "/nothing"
    shop = yard.project(services=[never])
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
        docker.freeze()
        error = ended(setting_up).error
    assert error["code"] == "DOCKER_UNAVAILABLE"
    docker.thaw()
    shop.env("reset-circuit")
    shop.env("clean")
    assert ours(docker) == NOTHING


def test_ctrl_c_in_a_frozen_build_leaves_no_child(yard: Yard, docker: Engine, shop: Project) -> None:
    (shop.folder / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN echo it has begun; sleep 600\n")
    with yard.events(live="true") as stream:
        building = shop.begin("build")
        stream.until(lambda one: "it has begun" in str(one.data.get("line")), "the build's output")
    docker.freeze()
    os.killpg(building.pid, signal.SIGINT)
    ended(building)
    eventually(lambda: not children(yard), "the docker command is ended")
    docker.thaw()
    eventually(lambda: not docker.ask("GET", "/containers/json"), "the step of the build is ended too")
