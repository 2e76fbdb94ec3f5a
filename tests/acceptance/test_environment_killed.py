"""Whoever brings an environment up is killed in the middle: what was begun goes, and the next setup succeeds."""

from __future__ import annotations

import os
import signal
from typing import Any

import psutil
import pytest

from argus.core.failpoints import SetupPlace
from tests.acceptance.harness import eventually, is_alive
from tests.acceptance.yard import NOTHING, Project, Yard, ended, ours, service, stays, web
from tests.docker_engine import IMAGE, Engine
from tests.faults import Injection

STEPS = [*SetupPlace, f"{SetupPlace.PART_READY}>{SetupPlace.CONTAINER_MADE}"]
"""The last: one service stands and the next is being made."""
DB = stays("db", "15432:5432", container={"volumes": ["data:/data"]})


@pytest.fixture
def shop(yard: Yard) -> Project:
    return yard.project(services=two())


def two() -> list[dict[str, Any]]:
    return [DB, stays("api", "13080:1", dependsOn=["db"])]


def never() -> list[dict[str, Any]]:
    """One that is waited for as long as anybody waits."""
    api = web("api", "13080:8080", dependsOn=["db"])
    api["container"]["healthcheck"] |= {"path": "/nothing"}
    return [DB, api]


def stands_alone(docker: Engine, done: dict[str, Any], *, volume_of: str = "") -> bool:
    """Nothing of the project is there but what this setup made, whole; the volume may be of a run that was up."""
    made = ours(docker)
    inspected = [docker.ask("GET", f"/containers/{name}/json") for name in made["containers"]]
    runs = {one["Config"]["Labels"]["argusai.run-id"] for one in inspected}
    expected = {"containers": ["api", "db"], "networks": ["argusai-shop-network"], "volumes": ["data"]}
    return made == expected and runs == {done["runId"]} and made_by(docker, "data") == (volume_of or done["runId"])


def made_by(docker: Engine, volume: str) -> str:
    return str(docker.ask("GET", f"/volumes/{volume}")["Labels"]["argusai.run-id"])


def up_to(yard: Yard, step: str) -> None:
    yard.env["ARGUS_FAILPOINT"] = step
    yard.up()
    del yard.env["ARGUS_FAILPOINT"]


def dies(shop: Project, step: str) -> None:
    assert shop.env("setup").code != 0
    eventually(lambda: not is_alive(shop.yard.pid), f"Argus dies at {step}")


@pytest.mark.fault("EN7")
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_next_setup_succeeds_and_nothing_of_the_old_is_left(
    resting: Yard, docker: Engine, injected: Injection, step: str
) -> None:
    shop = resting.project(services=two())
    up_to(resting, step)
    with injected:
        dies(shop, step)
        # Complete and on record at the last step, it was up: what was kept in its volume stays.
        kept = made_by(docker, "data") if step == SetupPlace.DONE else ""
        done = shop.up()
    assert stands_alone(docker, done, volume_of=kept)
    assert [one["actualPort"] for one in done["portMappings"]] == [15432, 13080]
    assert shop.status["state"] == "up"


@pytest.mark.fault("EN7")
@pytest.mark.parametrize("step", [SetupPlace.CLEARED, SetupPlace.CONTAINER_STARTED])
def test_killed_while_it_replaces_an_environment_that_stood_the_next_setup_succeeds(
    yard: Yard, docker: Engine, shop: Project, injected: Injection, step: str
) -> None:
    stood = shop.up()
    yard.kill()
    up_to(yard, step)
    with injected:
        dies(shop, step)
        done = shop.up()
    assert stands_alone(docker, done, volume_of=stood["runId"]), "what it kept in its volume is still there"


def test_after_a_kill_what_is_left_can_be_seen_and_cleaned(resting: Yard, docker: Engine) -> None:
    shop = resting.project(services=two())
    up_to(resting, SetupPlace.CONTAINER_STARTED)
    dies(shop, SetupPlace.CONTAINER_STARTED)
    resting.up()
    assert shop.status["state"] == "interrupted"
    report = shop.env("preflight").json["healthReport"]
    (check,) = [one for one in report["checks"] if one["name"] == "orphan_resources"]
    assert sorted(one["name"] for one in check["details"]["orphans"]) == ["argusai-shop-network", "data", "db"]
    gone = shop.env("clean").json
    assert sorted(one["name"] for one in gone["removed"]) == ["argusai-shop-network", "data", "db"]
    assert ours(docker) == NOTHING


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_goes_away_in_a_setup_takes_it_back(yard: Yard, docker: Engine, shop: Project, how: int) -> None:
    shop.write(project={"name": "shop"}, services=never())
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
    assert len(ours(docker)["containers"]) == 2
    os.killpg(setting_up.pid, how)
    shop.write(project={"name": "shop"}, services=two())
    done = shop.up()  # which waits until the other has taken back what it began
    ended(setting_up)
    assert stands_alone(docker, done)
    assert done["orphanCleanup"]["removed"] == []


def test_a_client_that_goes_away_while_it_waits_for_its_turn_begins_nothing(
    yard: Yard, docker: Engine, shop: Project
) -> None:
    shop.write(project={"name": "shop"}, services=never())
    with yard.events(live="true") as stream:
        first = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
        second = shop.begin("setup")
        stream.until(lambda one: one.type == "waiting_for_turn", "the other waits for its turn")
    os.killpg(second.pid, signal.SIGKILL)
    ended(second)
    os.killpg(first.pid, signal.SIGKILL)
    ended(first)
    eventually(lambda: ours(docker) == NOTHING, "what was begun is taken back")
    assert shop.status["state"] == "failed"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_goes_away_in_a_build_ends_it(yard: Yard, docker: Engine, shop: Project, how: int) -> None:
    (shop.folder / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN echo it has begun; sleep 600\n")
    with yard.events(live="true") as stream:
        building = shop.begin("build")
        stream.until(lambda one: "it has begun" in str(one.data.get("line")), "the build's output")
    assert psutil.Process(yard.pid).children()
    os.killpg(building.pid, how)
    ended(building)
    eventually(lambda: not psutil.Process(yard.pid).children(), "the docker command is ended")
    eventually(lambda: not docker.ask("GET", "/containers/json?all=1"), "the step of the build is gone too")
    assert stands_alone(docker, shop.up())


def test_a_daemon_that_is_stopped_in_a_setup_takes_it_back_first(yard: Yard, docker: Engine, shop: Project) -> None:
    shop.write(project={"name": "shop"}, services=never())
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
    yard.down()
    assert ours(docker) == NOTHING
    assert ended(setting_up).code != 0
    yard.up()
    assert shop.status["state"] == "failed"
    shop.write(project={"name": "shop"}, services=two())
    assert stands_alone(docker, shop.up())


def test_a_clean_ends_the_setups_that_are_under_way(yard: Yard, docker: Engine, shop: Project) -> None:
    shop.write(project={"name": "shop"}, services=never())
    with yard.events(live="true") as stream:
        first = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
        second = shop.begin("setup")
        stream.until(lambda one: one.type == "waiting_for_turn", "the other waits for its turn")
    assert shop.env("clean").code == 0
    assert [ended(one).error["code"] for one in (first, second)] == ["CONFLICT", "CONFLICT"]
    assert ours(docker) == NOTHING
    assert shop.status["state"] == "none"


def test_a_setup_that_is_refused_or_killed_before_it_began_leaves_the_environment_that_stands(
    yard: Yard, docker: Engine, shop: Project
) -> None:
    stood = shop.up()
    docker.run("strange")
    refused = {
        "DISK_SPACE_LOW": {"services": two(), "resilience": {"preflight": {"diskSpaceThreshold": "100TB"}}},
        "IMAGE_NOT_FOUND": {"services": [*two(), service("more", "nothing:1", "13081:1")]},
        "NAME_CONFLICT": {"services": [*two(), stays("strange", "13081:1")]},
    }
    for code, said in refused.items():
        shop.write(project={"name": "shop"}, **said)
        assert shop.refused("setup")["code"] == code
        assert stands_alone(docker, stood), code
        assert (shop.status["state"], shop.status["runId"]) == ("up", stood["runId"]), code
    yard.kill()
    up_to(yard, SetupPlace.RECORDED)
    shop.write(project={"name": "shop"}, services=two())
    dies(shop, SetupPlace.RECORDED)
    yard.up()
    assert (shop.status["state"], shop.status["runId"]) == ("up", stood["runId"])
    assert stands_alone(docker, shop.up(), volume_of=stood["runId"])
