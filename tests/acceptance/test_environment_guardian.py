"""Containers of an environment that fail are started again, as its file says; what somebody stopped stays stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import Event, eventually, is_alive
from tests.acceptance.screen import Screen
from tests.acceptance.yard import COMMANDS, NOTHING, Project, Yard, ours, service, stays
from tests.docker_engine import Engine
from tests.faults import Injection

BREAKS = "breaks:1"
SCRIPT = (
    "echo it begins; test -f /broken && exit 7;"
    " trap 'echo password=hunter2hunter2; exit 3' USR1;"
    " trap 'touch /broken; exit 7' USR2;"
    " trap 'dd if=/dev/zero of=/dev/null bs=200M; exit $?' HUP;"
    " trap 'exit 0' WINCH; trap exit TERM;"
    " while :; do sleep 600 & wait; done"
)
LIMIT = 32 << 20


@pytest.fixture
def yard(resting: Yard, docker: Engine) -> Yard:
    docker.image(BREAKS, "sh", "-c", SCRIPT)
    resting.up()
    return resting


def breaks(name: str, *ports: str, **more: Any) -> dict[str, Any]:
    """Crashes once at USR1, for ever at USR2, runs out of memory at HUP, ends well at WINCH."""
    return service(name, BREAKS, *ports, **more)


def restarting(delay: str = "50ms", **more: Any) -> dict[str, Any]:
    return {"container": {"restartDelay": delay, **more}}


def signal(engine: Engine, name: str, what: str) -> None:
    engine.ask("POST", f"/containers/{name}/kill?signal={what}")


def of(events: list[Event], container: str) -> list[Event]:
    return [one for one in events if one.data["container"] == container]


def guard(project: Project, name: str) -> dict[str, Any]:
    """What status says the guardian does about a service."""
    (found,) = [one for one in project.status["services"] if one["name"] == name]
    return dict(found["guard"])


def recovered(yard: Yard, project: Project, name: str, times: int = 1) -> Event:
    """Waits until it was started so often; the last event that says so."""
    told = eventually(
        lambda: len(found := of(yard.journal("restart_success"), name)) >= times and found, f"{name} is well again"
    )
    assert yard.engine_state(name) == "running"
    assert guard(project, name)["state"] == "well"
    return told[-1]


@pytest.mark.fault("CT1")
@pytest.mark.req("US3.5", "FR-R07", "FR-R08", "FR-R10", "SC-R05")
def test_a_killed_container_is_started_again_and_the_note_of_it_stays(
    yard: Yard, docker: Engine, injected: Injection
) -> None:
    shop = yard.project(services=[breaks("db", "15432:5432"), stays("api", "13000:3000")], resilience=restarting())
    shop.up()
    id = docker.ask("GET", "/containers/db/json")["Id"]
    with injected:
        docker.ask("POST", "/containers/db/kill")
        done = recovered(yard, shop, "db")
    (begun,) = of(yard.journal("restart_attempt"), "db")
    assert (begun.data["code"], begun.data["attempt"], begun.data["delay"]) == ("CONTAINER_CRASH", 1, 50)
    assert begun.data["subject"] == "shop"
    seen = begun.data["diagnostics"]
    assert (seen["containerId"], seen["containerName"], seen["exitCode"], seen["oomKilled"]) == (id, "db", 137, False)
    assert seen["logs"] == ["it begins"]
    assert (done.data["attempt"], done.data["code"]) == (1, "CONTAINER_CRASH")
    assert done.data["duration"] < 50 + 5000
    assert docker.ask("GET", "/containers/db/json")["Id"] == id  # started, not made anew
    assert (guard(shop, "db")["restarts"], guard(shop, "api")["restarts"]) == (1, 0)
    assert docker.starts("api") == 1


@pytest.mark.fault("CT2")
@pytest.mark.req("US3.1", "FR-R07")
def test_one_that_runs_out_of_memory_is_told_with_its_limit_and_peak_and_started_again(
    yard: Yard, docker: Engine, injected: Injection
) -> None:
    shop = yard.project(services=[breaks("db")], resilience=restarting())
    shop.up()
    docker.ask("POST", "/containers/db/update", {"Memory": LIMIT, "MemorySwap": LIMIT})
    with injected:
        signal(docker, "db", "HUP")
        recovered(yard, shop, "db")
    (begun,) = yard.journal("restart_attempt")
    assert begun.data["code"] == "CONTAINER_OOM"
    memory = begun.data["diagnostics"]["memoryStats"]
    assert memory["limit"] == LIMIT
    assert LIMIT / 2 < memory["peak"] <= LIMIT


@pytest.mark.fault("CT4")
@pytest.mark.req("FR-R07")
def test_what_a_person_stopped_stays_stopped(yard: Yard, docker: Engine, injected: Injection) -> None:
    shop = yard.project(
        services=[breaks("db"), breaks("ends"), breaks("cache"), stays("api")], resilience=restarting("0s")
    )
    shop.up()
    with injected:
        docker.stop("db")
        docker.ask("POST", "/containers/cache/stop?t=0")
        signal(docker, "ends", "WINCH")
        eventually(lambda: len(yard.journal("container_left_alone")) == 3, "all three are left alone")
    docker.ask("POST", "/containers/api/kill")
    recovered(yard, shop, "api")
    assert [docker.starts(name) for name in ("db", "cache", "ends")] == [1, 1, 1]
    assert {one.data["container"] for one in yard.journal("restart_attempt")} == {"api"}
    assert guard(shop, "db") == {
        "state": "left alone",
        "restarts": 0,
        "maxRestarts": 3,
        "nextAttempt": None,
        "reason": "somebody stopped it",
        "crashLoop": False,
        "incident": None,
        "lastError": None,
    }
    assert guard(shop, "ends")["reason"] == "it ended by itself, with exit status 0"
    docker.ask("POST", "/containers/db/start")
    eventually(lambda: guard(shop, "db")["state"] == "well", "started by a person, it is guarded again")
    signal(docker, "db", "USR1")
    recovered(yard, shop, "db")


@pytest.mark.fault("CT5")
@pytest.mark.req("US3.2", "US3.3", "US3.4", "FR-R08", "FR-R09", "FR-R10", "FR-R11")
@pytest.mark.parametrize(("backoff", "steps"), [("exponential", (1, 2, 4)), ("linear", (1, 2, 3))])
def test_a_crash_loop_is_named_and_given_up_with_every_diagnosis(
    yard: Yard, docker: Engine, injected: Injection, backoff: str, steps: tuple[int, ...]
) -> None:
    base = 2000 if injected.in_campaign else 60
    settings = restarting(f"{base}ms", restartBackoff=backoff)
    shop = yard.project(services=[breaks("db")], resilience=settings)
    shop.up()
    with injected:
        signal(docker, "db", "USR2")
        given_up = yard.wait_for("restart_exhausted").data
    assert [one.data["delay"] for one in yard.journal("restart_attempt")] == [base * step for step in steps]
    assert (given_up["container"], given_up["attempts"]) == ("db", 3)
    assert (given_up["code"], given_up["cause"]) == ("CONTAINER_RESTART_EXHAUSTED", "CONTAINER_CRASH")
    assert given_up["crashLoop"] is True
    history = given_up["history"]
    assert (history["containerName"], history["finalStatus"]) == ("db", "exhausted")
    assert [one["attemptNumber"] for one in history["attempts"]] == [1, 2, 3]
    assert [one["exitCode"] for one in history["attempts"]] == [7, 7, 7]
    assert [one["logs"] for one in history["attempts"]] == [["it begins"] * n for n in (1, 2, 3)]
    assert all(one["timestamp"] > 0 for one in history["attempts"])
    told = guard(shop, "db")
    assert (told["state"], told["restarts"], told["crashLoop"]) == ("exhausted", 3, True)
    error = told["lastError"]
    assert (error["code"], len(error["details"]["history"]["attempts"])) == ("CONTAINER_RESTART_EXHAUSTED", 3)
    assert docker.starts("db") == 4


@pytest.mark.req("INFRA-01.8")
def test_what_was_given_up_is_said_wherever_the_whole_is_shown(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[breaks("db"), stays("api")], resilience=restarting())
    shop.up()
    well = yard.cli("status")
    assert well.code == 0
    (line,) = [one.split() for one in well.stdout.splitlines() if one.startswith("shop ")]
    assert (line[1], line[-2:]) == ("up", ["2", "well"])
    assert "- environment shop: UP (2/2 containers well)" in yard.cli("context").stdout.splitlines()
    signal(docker, "db", "USR2")
    yard.wait_for("restart_exhausted")
    assert yard.get("/api/state")["needsYou"] == ["environment shop"]
    status = yard.cli("status")
    assert status.code == 1
    assert "needs you: environment shop;" in status.stdout
    (line,) = [one for one in status.stdout.splitlines() if one.startswith("shop ")]
    assert line.endswith("db exhausted; 1 well")
    (said,) = [one for one in yard.cli("context").stdout.splitlines() if one.startswith("- environment shop")]
    assert said.startswith("- environment shop: db EXHAUSTED (")
    screen = Screen(yard.words("status", "--watch"), {**yard.env, "TERM": "xterm-256color"}, yard.folder, columns=140)
    try:
        screen.shows("needs you: environment shop")
        screen.shows("db exhausted; 1 well")
    finally:
        screen.end()
    assert shop.env("clean").code == 0
    assert yard.cli("status").code == 0
    assert "environment" not in yard.cli("context").stdout


@pytest.mark.req("US3.6", "FR-R07")
def test_one_that_is_unhealthy_is_restarted_with_what_its_check_said(yard: Yard, docker: Engine) -> None:
    docker.image(
        "sick:1", "sh", "-c", "mkdir -p /www; touch /www/health; trap exit TERM; httpd -f -p 8080 -h /www & wait"
    )
    health = {"path": "/health", "port": 8080, "interval": "100ms", "retries": 2}
    shop = yard.project(
        services=[service("api", "sick:1", "13080:8080", container={"healthcheck": health})], resilience=restarting()
    )
    shop.up()
    # At its start it makes the file again.
    made = docker.ask("POST", "/containers/api/exec", {"Cmd": ["rm", "/www/health"]})["Id"]
    docker.ask("POST", f"/exec/{made}/start", {"Detach": True})
    done = recovered(yard, shop, "api")
    assert done.data["code"] == "HEALTH_CHECK_TIMEOUT"
    (begun,) = yard.journal("restart_attempt")
    assert begun.data["reason"] == "its health check fails: /health answers 404"
    assert begun.data["diagnostics"]["exitCode"] is None
    assert docker.happened("api", "restart") == 1


@pytest.mark.req("FR-R10")
def test_what_a_container_printed_is_kept_without_its_secrets(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[breaks("db")], resilience=restarting("0s"))
    shop.up()
    signal(docker, "db", "USR1")
    recovered(yard, shop, "db")
    (begun,) = yard.journal("restart_attempt")
    assert begun.data["diagnostics"]["logs"] == ["it begins", "password=[redacted]"]
    assert not any(b"hunter2hunter2" in path.read_bytes() for path in yard.home.rglob("*") if path.is_file())


def test_without_restarts_a_failure_is_told_and_nothing_is_done(yard: Yard, docker: Engine) -> None:
    settings = restarting("0s", restartOnFailure=False)
    shop = yard.project(services=[breaks("db")], resilience=settings)
    shop.up()
    signal(docker, "db", "USR1")
    told = yard.wait_for("container_failed").data
    assert (told["code"], told["diagnostics"]["exitCode"]) == ("CONTAINER_CRASH", 3)
    assert guard(shop, "db")["state"] == "failed"
    assert docker.starts("db") == 1


def test_a_port_that_was_taken_meanwhile_is_told_and_tried_again(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[breaks("db", "15432:5432")], resilience=restarting("300ms"))
    shop.up()
    signal(docker, "db", "USR1")
    yard.wait_for("restart_attempt")
    with docker.held(15432) as pid:
        conflict = yard.wait_for("port_conflict").data
        assert (conflict["service"], conflict["port"], conflict["pid"]) == ("db", 15432, pid)
    recovered(yard, shop, "db")
    codes = [one.data["code"] for one in yard.journal("restart_attempt")]
    assert codes[:2] == ["CONTAINER_CRASH", "PORT_CONFLICT"]


def test_clean_ends_a_restart_that_is_waited_for(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[breaks("db"), stays("api")], resilience=restarting("20s"))
    shop.up()
    signal(docker, "db", "USR1")
    yard.wait_for("restart_attempt")
    told = guard(shop, "db")
    assert (told["state"], told["restarts"]) == ("waiting", 1)
    assert told["nextAttempt"] is not None
    assert told["lastError"]["code"] == "CONTAINER_CRASH"
    shop.env("clean")
    assert ours(docker) == NOTHING
    shop.up()
    assert guard(shop, "db")["restarts"] == 0  # another run, another count
    assert [one.type for one in yard.journal("restart_attempt", "restart_success", "container_left_alone")] == [
        "restart_attempt"
    ]


@pytest.mark.parametrize(
    ("place", "delay"),
    [("guard-planned", "100ms"), ("guard-intended", "0s"), ("guard-started", "0s")],
)
def test_an_argus_that_is_killed_in_the_middle_of_a_restart_goes_on_with_it(
    resting: Yard, docker: Engine, place: str, delay: str
) -> None:
    yard = resting
    docker.image(BREAKS, "sh", "-c", SCRIPT)
    yard.env["ARGUS_FAILPOINT"] = place
    pid = yard.up()["pid"]
    del yard.env["ARGUS_FAILPOINT"]
    shop = yard.project(services=[breaks("db")], resilience=restarting(delay))
    shop.up()
    signal(docker, "db", "USR1")
    eventually(lambda: not is_alive(pid), "Argus is killed")
    yard.up()
    recovered(yard, shop, "db")
    assert len(yard.journal("restart_attempt")) == 1
    assert docker.starts("db") == 2
    signal(docker, "db", "USR1")
    recovered(yard, shop, "db", times=2)
    assert [one.data["attempt"] for one in yard.journal("restart_attempt")] == [1, 2]
    assert docker.starts("db") == 3


def test_what_happened_while_argus_was_away_is_found_out(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[breaks("crashed"), breaks("stopped"), breaks("killed")], resilience=restarting("0s"))
    shop.up()
    yard.kill()
    signal(docker, "crashed", "USR1")
    docker.ask("POST", "/containers/killed/kill")
    docker.stop("stopped")
    yard.up()
    for name in ("crashed", "killed"):
        recovered(yard, shop, name)
    eventually(lambda: guard(shop, "stopped")["state"] == "left alone", "what a person stopped is left alone")
    assert [docker.starts(name) for name in ("crashed", "killed", "stopped")] == [2, 2, 1]


def test_two_environments_on_one_engine_are_guarded_each_for_itself(yard: Yard, docker: Engine) -> None:
    one = yard.project("one", "one", services=[breaks("db-one")], resilience=restarting("0s"))
    two = yard.project("two", "two", services=[breaks("db-two")], resilience=restarting("0s", maxRestarts=0))
    one.up()
    two.up()
    for name in ("db-one", "db-two"):
        signal(docker, name, "USR1")
    recovered(yard, one, "db-one")
    assert yard.wait_for("restart_exhausted").data["container"] == "db-two"
    assert (docker.starts("db-one"), docker.starts("db-two")) == (2, 1)
    one.env("clean")
    two.up()
    assert guard(two, "db-two")["state"] == "well"
    signal(docker, "db-two", "USR1")
    eventually(lambda: len(yard.journal("restart_exhausted")) == 2, "the other is guarded on")


@pytest.mark.fault("CT7")
def test_an_engine_that_is_killed_takes_its_containers_along_and_they_are_up_again_after_it(
    mortal: Engine, tmp_path: Path, injected: Injection
) -> None:
    """The next engine ends what the killed one left, as `docker stop` would, before it answers anybody."""
    yard = Yard(tmp_path / "argus", mortal)
    yard.configure([])
    for image, command in COMMANDS.items():
        mortal.image(image, *command)
    try:
        yard.up()
        shop = yard.project(services=[stays("db"), stays("api", dependsOn=["db"])], resilience=restarting("0s"))
        shop.up()
        begun = {name: mortal.state(name)["StartedAt"] for name in ("db", "api")}
        with injected:
            mortal.kill()
            yard.wait_for("engine_lost")
            mortal.start()
            for name, at in begun.items():
                eventually(
                    lambda one=name, at=at: mortal.state(one)["Running"] and mortal.state(one)["StartedAt"] > at,
                    f"{name} runs again",
                )
                eventually(lambda one=name: guard(shop, one)["state"] == "well", f"{name} is well again")
        assert yard.journal("container_left_alone", "restart_exhausted") == []
    finally:
        yard.end()


@pytest.mark.fault("CT7")
@pytest.mark.req("FR-R08")
def test_containers_that_fell_with_their_engine_are_up_again_after_it_in_their_order(
    mortal: Engine, tmp_path: Path, injected: Injection
) -> None:
    yard = Yard(tmp_path / "argus", mortal)
    yard.configure([])
    for image, command in {**COMMANDS, BREAKS: ("sh", "-c", SCRIPT)}.items():
        mortal.image(image, *command)
    try:
        yard.up()
        services = [stays("db"), stays("api", dependsOn=["db"]), stays("cache")]
        shop = yard.project(services=services, resilience=restarting("0s", maxRestarts=1))
        shop.up()
        mortal.stop("cache")
        yard.wait_for("container_left_alone")
        with injected:
            mortal.process.terminate()
            lost = yard.wait_for("engine_lost").data
            eventually(lambda: not mortal.runs, "the engine is gone")
            mortal.start()
            back = yard.wait_for("engine_back").data
            for name in ("db", "api"):
                eventually(lambda one=name: guard(shop, one)["state"] == "well", f"{name} is well again")
                assert yard.engine_state(name) == "running"
        assert sorted(back["fallen"]) == ["api", "db"]
        assert lost["engine"] == back["engine"] == mortal.url
        assert len(yard.journal("engine_lost", "engine_back")) == 2
        assert yard.journal("restart_attempt", "restart_exhausted") == []
        assert mortal.state("db")["StartedAt"] < mortal.state("api")["StartedAt"]
        assert yard.engine_state("cache") == "exited"  # stopped by a person before
        assert guard(shop, "db")["restarts"] == 0
        mortal.ask("POST", "/containers/db/kill")
        recovered(yard, shop, "db")
    finally:
        yard.end()


def test_an_engine_that_was_started_anew_while_argus_was_away_has_its_containers_back(
    mortal: Engine, tmp_path: Path
) -> None:
    yard = Yard(tmp_path / "argus", mortal)
    yard.configure([])
    for image, command in COMMANDS.items():
        mortal.image(image, *command)
    try:
        yard.up()
        services = [stays("db"), stays("api", dependsOn=["db"]), stays("cache")]
        shop = yard.project(services=services, resilience=restarting("0s", maxRestarts=0))
        shop.up()
        mortal.stop("cache")
        yard.wait_for("container_left_alone")
        for how, is_first in (("ended", True), ("killed", True), ("killed", False)):
            yard.kill()
            if how == "ended":
                mortal.process.terminate()
            else:
                mortal.kill()
            eventually(lambda: not mortal.runs, "the engine is gone")
            if is_first:
                mortal.start()
                yard.up()
            else:
                yard.up()
                eventually(lambda: guard(shop, "db")["state"] == "unwatched", "nobody can look")
                mortal.start()
            for name in ("db", "api"):
                eventually(lambda one=name: yard.engine_state(one) == "running", f"{name} runs again")
                eventually(lambda one=name: guard(shop, one)["state"] == "well", f"{name} is well again")
        assert yard.engine_state("cache") == "exited", "stopped by a person"
        assert {guard(shop, name)["restarts"] for name in ("db", "api")} == {0}
    finally:
        yard.end()
