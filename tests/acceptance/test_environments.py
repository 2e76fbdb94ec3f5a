"""An e2e.yaml comes up, whatever is in the way; and goes away again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.harness import is_alive
from tests.acceptance.yard import NOTHING, Yard, ours, service, stays, web
from tests.docker_engine import IMAGE, Engine


def test_an_environment_comes_up_is_looked_at_and_goes_away(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[web("api", "13080:8080", dependsOn=["db"]), stays("db", "15432:5432")])
    done = shop.up()
    assert done["portMappings"] == [
        {"service": "api", "originalPort": 13080, "actualPort": 13080, "reassigned": False},
        {"service": "db", "originalPort": 15432, "actualPort": 15432, "reassigned": False},
    ]
    assert [(one["name"], one["state"]) for one in done["services"]] == [("api", "running"), ("db", "running")]
    assert ours(docker) == {"containers": ["api", "db"], "networks": [done["network"]], "volumes": []}
    status = shop.status
    assert (status["state"], status["runId"], status["circuitBreaker"]["state"]) == ("up", done["runId"], "closed")
    gone = shop.env("clean").json
    assert gone["duration"] > 0
    assert sorted(one["name"] for one in gone["removed"]) == sorted(["api", "db", done["network"]])
    assert ours(docker) == NOTHING
    assert shop.status["state"] == "none"


@pytest.mark.req("FR-R06")
def test_everything_that_is_made_carries_the_labels(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[stays("db", "15432:5432", container={"volumes": ["data:/data"]})])
    done = shop.up()
    made = [
        docker.ask("GET", "/containers/db/json")["Config"]["Labels"],
        docker.ask("GET", f"/networks/{done['network']}")["Labels"],
        docker.ask("GET", "/volumes/data")["Labels"],
    ]
    for labels in made:
        assert (labels["argusai.managed"], labels["argusai.project"]) == ("true", "shop")
        assert (labels["argusai.run-id"], bool(labels["argusai.created-at"])) == (done["runId"], True)
        assert str(yard.pid) in labels["argusai.owner"]


def test_what_depends_on_another_starts_when_that_one_is_ready(yard: Yard) -> None:
    services = [stays("last", "15001:1", dependsOn=["middle"]), web("middle", "15002:8080", dependsOn=["first"])]
    shop = yard.project(services=[*services, stays("first", "15003:1")])
    shop.up()
    told = [(one.type, one.data["service"]) for one in yard.journal("service_starting", "service_ready")]
    hows = ("service_starting", "service_ready")
    assert told == [(how, name) for name in ("first", "middle", "last") for how in hows]


@pytest.mark.req("US4.1")
@pytest.mark.req("US4.2")
@pytest.mark.req("FR-R13")
def test_a_taken_port_is_replaced_and_followed_wherever_it_was_meant(yard: Yard, docker: Engine, stranger: Any) -> None:
    pid = stranger(13080)
    api = web("api", "13080:8080", vars={"api": "http://localhost:13080/v1"})
    worker = stays("worker", "15001:1", container={"environment": {"API": "{{config.api}}"}})
    done = yard.project(services=[api, worker]).up()
    mapped = done["portMappings"][0]
    assert (mapped["originalPort"], mapped["reassigned"]) == (13080, True)
    actual = mapped["actualPort"]
    assert done["services"][0]["ports"][0]["hostPort"] == actual != 13080
    assert f"API=http://localhost:{actual}/v1" in docker.ask("GET", "/containers/worker/json")["Config"]["Env"]
    (conflict,) = yard.journal("port_conflict")
    assert (conflict.data["service"], conflict.data["port"], conflict.data["pid"]) == ("api", 13080, pid)
    (moved,) = yard.journal("port_reassigned")
    assert (moved.data["original"], moved.data["actual"]) == (13080, actual)


@pytest.mark.req("US4.4")
@pytest.mark.req("US1.4")
def test_where_ports_may_not_move_a_taken_one_is_a_conflict_that_names_its_holder(
    yard: Yard, docker: Engine, stranger: Any
) -> None:
    pid = stranger(13080)
    shop = yard.project(services=[web("api", "13080:8080")], resilience={"network": {"portConflictStrategy": "fail"}})
    error = shop.refused("setup")
    assert (error["code"], error["category"], error["severity"]) == ("PORT_CONFLICT", "network", "recoverable")
    assert (error["details"]["port"], error["details"]["pid"]) == (13080, pid)
    assert ours(docker) == NOTHING
    assert is_alive(pid)


def test_two_services_that_want_one_port_get_two(yard: Yard) -> None:
    done = yard.project(services=[web("one", "13080:8080"), web("two", "13080:8080")]).up()
    assert len({one["actualPort"] for one in done["portMappings"]}) == 2


@pytest.mark.req("FR-R16")
def test_only_leftovers_of_dead_runs_of_this_project_are_removed(yard: Yard, docker: Engine) -> None:
    of_shop = {"argusai.managed": "true", "argusai.project": "shop", "argusai.run-id": "gone"}
    docker.run("left", Labels=of_shop)
    docker.run("other", Labels={**of_shop, "argusai.project": "other"})
    docker.run("strange")
    docker.ask("POST", "/networks/create", {"Name": "left-net", "Labels": of_shop})
    docker.ask("POST", "/volumes/create", {"Name": "left-data", "Labels": of_shop})
    shop = yard.project(services=[stays("db", "15432:5432")])
    report = shop.env("preflight").json["healthReport"]
    (check,) = [one for one in report["checks"] if one["name"] == "orphan_resources"]
    assert (report["overall"], check["status"], check["code"]) == ("degraded", "warn", "ORPHAN_DETECTED")
    found = {(one["type"], one["name"], one["project"]) for one in check["details"]["orphans"]}
    assert found == {("container", "left", "shop"), ("network", "left-net", "shop"), ("volume", "left-data", "shop")}
    done = shop.up()
    assert {one["name"] for one in done["orphanCleanup"]["removed"]} == {"left", "left-net"}
    assert ours(docker) == {"containers": ["db"], "networks": [done["network"]], "volumes": ["left-data"]}
    for name in ("other", "strange"):
        assert docker.state(name)["Running"]
    ran = shop.env("preflight", "--auto-fix")
    fixed = ran.json
    assert ran.code == 0, ran
    assert (fixed["autoFixApplied"], [one["name"] for one in fixed["fixed"]["removed"]]) == (True, ["left-data"])
    assert fixed["healthReport"]["overall"] == "healthy"


def test_a_stranger_with_the_name_of_a_container_is_left_alone(yard: Yard, docker: Engine) -> None:
    docker.run("db")
    error = yard.project(services=[stays("db", "15432:5432")]).refused("setup")
    assert (error["code"], error["details"]["name"]) == ("NAME_CONFLICT", "db")
    assert docker.state("db")["Running"]
    assert ours(docker) == NOTHING


def test_two_folders_of_one_project_live_side_by_side(yard: Yard, docker: Engine) -> None:
    first = yard.project(folder="one", services=[web("api", "13080:8080")])
    second = yard.project(folder="two", services=[web("api", "13080:8080")])
    one, two = first.up(), second.up()
    assert len(ours(docker)["containers"]) == len(ours(docker)["networks"]) == 2
    assert two["services"][0]["container"] == f"api-{two['runId']}"
    aliases = docker.ask("GET", f"/containers/api-{two['runId']}/json")["NetworkSettings"]["Networks"][two["network"]]
    assert "api" in aliases["Aliases"]
    again = first.up()
    assert (again["runId"] != one["runId"], second.status["state"]) == (True, "up")
    first.env("clean")
    assert ours(docker)["containers"] == [f"api-{two['runId']}"]


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_new_daemon_takes_an_environment_over(yard: Yard, docker: Engine, how: str) -> None:
    shop = yard.project(services=[stays("db", "15432:5432")])
    done = shop.up()
    yard.down() if how == "stop" else yard.kill()
    yard.up()
    assert (shop.status["state"], shop.status["runId"]) == ("up", done["runId"])
    assert shop.env("preflight").json["healthReport"]["overall"] == "healthy"
    shop.env("clean")
    assert ours(docker) == NOTHING


def test_what_fails_takes_back_what_it_began(yard: Yard, docker: Engine) -> None:
    docker.image("fails:1", "sh", "-c", "echo it is broken; exit 7")
    shop = yard.project(services=[stays("db", "15432:5432"), service("api", "fails:1", "13080:1", dependsOn=["db"])])
    error = shop.refused("setup")
    assert (error["code"], error["category"]) == ("CONTAINER_CRASH", "container")
    assert (error["details"]["service"], error["details"]["exitCode"]) == ("api", 7)
    assert error["details"]["logs"] == ["it is broken"]
    assert ours(docker) == NOTHING
    assert shop.status["state"] == "failed"


def test_an_image_that_is_not_there_says_so(yard: Yard, docker: Engine) -> None:
    error = yard.project(services=[service("api", "nothing:1", "13080:1")]).refused("setup")
    assert (error["code"], error["details"]["image"]) == ("IMAGE_NOT_FOUND", "nothing:1")
    assert ours(docker) == NOTHING


def test_a_build_that_fails_carries_its_output_and_opens_no_breaker(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[service("api", "broken:1", "13080:1")])
    (shop.folder / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN echo the compiler says no; exit 3\n")
    for _ in range(6):
        error = shop.refused("build")
        assert error["code"] == "BUILD_FAILED"
    assert "the compiler says no" in str(error["details"]["output"])
    assert docker.ask("GET", "/containers/json?all=1") == [], "its steps do not fill the disk"
    assert shop.status["circuitBreaker"]["state"] == "closed"


def test_a_build_makes_an_image_that_setup_runs(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[service("api", "made:1", "13080:1")])
    (shop.folder / "Dockerfile").write_text(f'FROM {IMAGE}\nCMD ["sh", "-c", "trap exit TERM; sleep 600 & wait"]\n')
    (built,) = shop.env("build").json["images"]
    assert (built["service"], built["image"], built["existed"]) == ("api", "made:1", False)
    again = shop.env("build", "--use-existing")
    assert again.code == 0, again
    assert again.json["images"][0]["existed"] is True, again
    assert shop.up()["services"][0]["state"] == "running"
    assert shop.refused("build", "--service", "nobody")["code"] == "SERVICE_NOT_FOUND"


def test_logs_by_the_name_of_the_service_or_of_the_container(yard: Yard, docker: Engine) -> None:
    docker.image("talks:1", "sh", "-c", "echo one; echo two; trap exit TERM; while :; do sleep 600 & wait; done")
    shop = yard.project(services=[service("api", "talks:1", "13080:1", container={"name": "shop-api"})])
    shop.up()
    for name in ("api", "shop-api"):
        assert shop.env("logs", name).json["lines"] == ["one", "two"]
    last = shop.env("logs", "api", "--lines", "1").json
    assert (last["lines"], last["truncated"]) == (["two"], False)
    error = shop.refused("logs", "nobody")
    assert (error["code"], error["details"]["known"]) == ("CONTAINER_NOT_FOUND", ["api", "shop-api"])
