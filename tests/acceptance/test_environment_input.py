"""What is wrong with a file, or with what it starts: said whole, with its place; others' things are not touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.yard import NOTHING, Project, Yard, ended, ours, service, stays, web
from tests.docker_engine import IMAGE, Engine

WRONG = """\
project: {name: shop}
services:
  - name: api
    build: {dockerfile: Dockerfile, image: "api:1"}
    container: {name: api, ports: ["99999:80"], healthcheck: {path: /, retries: many}}
    dependsOn: [db]
  - name: db
    build: {dockerfile: Dockerfile, image: 7}
    container: {name: db, ports: []}
    dependsOn: [api]
resilience: {preflight: {diskSpaceThreshold: lots}}
isolation: {portRange: [1, 70000]}
colour: green
"""


@pytest.fixture
def shop(yard: Yard) -> Project:
    return yard.project(services=[stays("db", "15432:5432")])


@pytest.mark.req("US1.5", "SC-R06")
def test_all_that_is_wrong_with_a_file_is_said_at_once_with_path_and_line(yard: Yard, shop: Project) -> None:
    (shop.folder / "e2e.yaml").write_text(WRONG)
    for operation in ("init", "setup", "status", "clean", "preflight"):
        error = shop.refused(operation)
        assert (error["code"], error["severity"]) == ("CONFIG_INVALID", "fatal")
        found = {one["path"]: one["line"] for one in error["details"]["errors"]}
        assert found == {
            "services[0].container.ports[0]": 5,
            "services[0].container.healthcheck.retries": 5,
            "services[0].dependsOn": 6,
            "services[1].build.image": 8,
            "resilience.preflight.diskSpaceThreshold": 11,
            "isolation.portRange[0]": 12,
            "isolation.portRange[1]": 12,
        }, operation
        assert [(one["path"], one["line"]) for one in error["details"]["warnings"]][-1] == ("colour", 13)
    circle = next(one for one in error["details"]["errors"] if one["path"].endswith("dependsOn"))
    assert "api -> db -> api" in circle["message"]


@pytest.mark.req("SC-R07", "FR-R30")
def test_unknown_keys_are_warnings_and_no_section_of_resilience_means_its_defaults(yard: Yard, shop: Project) -> None:
    shop.write(project={"name": "shop", "owner": "me"}, services=[stays("db", "15432:5432", colour="green")], x=1)
    said = [one.partition(" ")[0] for one in shop.env("init").json["warnings"]]
    assert {"project.owner", "services[0].colour", "x"} <= set(said)
    assert shop.up()["preflight"]["overall"] == "healthy"


def test_a_dockerfile_outside_of_the_project_is_not_read(yard: Yard, shop: Project, tmp_path: Path) -> None:
    outside = tmp_path / "Dockerfile.outside"
    outside.write_text(f"FROM {IMAGE}\nRUN echo it was read\n")
    (shop.folder / "link").symlink_to(outside)
    for name in (str(outside), "../../Dockerfile.outside", "link"):
        api = service("api", "made:1", "13080:1")
        api["build"]["dockerfile"] = name
        shop.write(project={"name": "shop"}, services=[api])
        error = shop.refused("build")
        assert error["code"] == "CONFIG_INVALID", name
        assert [one["path"] for one in error["details"]["errors"]] == ["services[0].build.dockerfile"]


def test_without_a_file_or_a_folder_it_says_where_it_looked(yard: Yard, shop: Project) -> None:
    (shop.folder / "e2e.yaml").unlink()
    error = shop.refused("setup")
    assert (error["code"], error["category"]) == ("CONFIG_NOT_FOUND", "system")
    assert error["details"]["lookedFor"] == [str(shop.folder / name) for name in ("e2e.yaml", "e2e.yml")]
    error = shop.refused("setup", "--config-file", "other.yaml")
    assert error["details"]["lookedFor"] == [str(shop.folder / "other.yaml")]
    for text in ("", "[1, 2]", "a: [", "services: !!python/object/apply:os.getcwd []"):
        (shop.folder / "e2e.yaml").write_text(text)
        assert shop.refused("setup")["code"] == "CONFIG_INVALID", text


@pytest.mark.req("FR-R07", "FR-R24")
def test_health_that_never_comes_says_what_was_last_seen(yard: Yard, docker: Engine, shop: Project) -> None:
    docker.image("talks:1", "sh", "-c", "echo about to listen; mkdir /www; exec httpd -f -p 8080 -h /www")
    api = service("api", "talks:1", "13080:8080")
    health = {"path": "/health", "port": 8080, "interval": "1s", "timeout": "1s", "retries": 1, "startPeriod": "0s"}
    api["container"]["healthcheck"] = health
    shop.write(project={"name": "shop"}, services=[api])
    error = shop.refused("setup")
    assert (error["code"], error["category"], error["severity"]) == ("HEALTH_CHECK_TIMEOUT", "network", "recoverable")
    details = error["details"]
    assert (details["service"], details["logs"]) == ("api", ["about to listen"])
    assert "404" in details["lastResult"]
    assert details["networks"]
    assert ours(docker) == NOTHING


def test_a_setup_that_may_not_take_that_long_is_taken_back(yard: Yard, docker: Engine, shop: Project) -> None:
    never = web("api", "13080:8080")
    never["container"]["healthcheck"] |= {"path": "/nothing"}
    tests = stays("tests", "15433:5432", dependsOn=["db", "api"])
    shop.write(project={"name": "shop"}, services=[never, stays("db", "15432:5432"), tests])
    error = shop.refused("setup", "--timeout", "3s")
    assert (error["code"], error["details"]["timeoutSeconds"]) == ("HEALTH_CHECK_TIMEOUT", 3)
    assert (error["details"]["notReady"], error["details"]["logs"]) == (["api", "tests"], {"api": []})
    api, db, tests = error["details"]["services"]
    assert (api["state"], "404" in api["waitingFor"]) == ("started", True)
    assert (db["state"], db["waitingFor"]) == ("ready", None)
    assert (tests["state"], tests["waitingFor"]) == ("waiting", "api")
    assert "404" in error["message"]
    assert ours(docker) == NOTHING


@pytest.mark.req("US1.3", "FR-R07")
def test_a_service_that_runs_out_of_memory_while_it_comes_up_is_told_as_that(
    yard: Yard, docker: Engine, shop: Project
) -> None:
    # The file knows no memory limits: somebody gives the container one while it is waited for.
    go = yard.folder / "go"
    go.mkdir()
    waits = "while ! test -e /go/now; do sleep 0.1; done"
    greedy = f"{waits}; echo too much; exec dd if=/dev/zero of=/dev/null bs=200M count=1"
    docker.image("greedy:1", "sh", "-c", greedy)
    api = service("api", "greedy:1", "13080:8080")
    api["container"] |= {"volumes": [f"{go}:/go"], "healthcheck": {"path": "/", "port": 8080}}
    shop.write(project={"name": "shop"}, services=[api])
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
        docker.ask("POST", "/containers/api/update", {"Memory": 32 << 20, "MemorySwap": 32 << 20})
        (go / "now").touch()
        error = ended(setting_up).error
    assert (error["code"], error["category"], error["severity"]) == ("CONTAINER_OOM", "container", "recoverable")
    details = error["details"]
    assert (details["service"], details["oomKilled"], details["memoryLimit"]) == ("api", True, 32 << 20)
    assert details["logs"] == ["too much"]
    assert "memoryPeak" in details
    assert ours(docker) == NOTHING


@pytest.mark.req("FR-R07")
def test_a_service_that_is_killed_is_no_case_of_memory(yard: Yard, docker: Engine, shop: Project) -> None:
    never = web("api", "13080:8080")
    never["container"]["healthcheck"] |= {"path": "/nothing"}
    shop.write(project={"name": "shop"}, services=[never])
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
        docker.kill_container("api")
        error = ended(setting_up).error
    assert (error["code"], error["details"]["exitCode"]) == ("CONTAINER_CRASH", 137)
    assert (error["details"]["oomKilled"], ours(docker)) == (False, NOTHING)


def test_a_service_that_is_removed_while_it_comes_up_is_told_as_that(yard: Yard, docker: Engine, shop: Project) -> None:
    never = web("api", "13080:8080")
    never["container"]["healthcheck"] |= {"path": "/nothing"}
    shop.write(project={"name": "shop"}, services=[never])
    with yard.events(live="true") as stream:
        setting_up = shop.begin("setup")
        stream.until(lambda one: one.type == "service_waiting", "it waits")
        docker.ask("DELETE", "/containers/api?force=1")
        error = ended(setting_up).error
    assert error["code"] == "CONTAINER_NOT_FOUND"
    assert ours(docker) == NOTHING


def test_a_service_that_ends_at_once_is_a_crash_also_without_a_health_check(
    yard: Yard, docker: Engine, shop: Project
) -> None:
    docker.image("ends:1", "sh", "-c", "echo it is broken; exit 7")
    shop.write(project={"name": "shop"}, services=[service("api", "ends:1", "13080:1"), stays("db", "15432:5432")])
    for _ in range(3):
        error = shop.refused("setup")
        assert (error["code"], error["details"]["exitCode"]) == ("CONTAINER_CRASH", 7)


def test_a_network_of_a_stranger_is_left_alone(yard: Yard, docker: Engine, shop: Project) -> None:
    docker.ask("POST", "/networks/create", {"Name": "theirs"})
    shop.write(project={"name": "shop"}, services=[stays("db", "15432:5432")], network={"name": "theirs"})
    error = shop.refused("setup")
    assert (error["code"], error["details"]["network"]) == ("NAME_CONFLICT", "theirs")
    assert [one["Name"] for one in docker.ask("GET", "/networks") if one["Name"] == "theirs"] == ["theirs"]
    assert ours(docker) == NOTHING


def test_projects_whose_names_differ_in_letters_that_docker_does_not_take_stand_side_by_side(yard: Yard) -> None:
    networks = {
        yard.project(name, f"p{n}", services=[stays(f"s{n}", f"1500{n}:1")]).up()["network"]
        for n, name in enumerate(("商店", "银行"))
    }
    assert len(networks) == 2


def test_health_is_asked_where_the_port_is_published(yard: Yard, shop: Project) -> None:
    services = [web("four", "127.0.0.9:13080:8080"), web("six", "[::1]:13081:8080")]
    shop.write(project={"name": "shop"}, services=services)
    done = shop.up("--timeout", "40s")
    assert [one["ports"][0]["host"] for one in done["services"]] == ["127.0.0.9", "::1"]


def test_a_service_whose_own_health_check_gave_up_is_not_waited_for_any_longer(
    yard: Yard, docker: Engine, shop: Project
) -> None:
    (shop.folder / "Dockerfile").write_text(
        "FROM stays:1\nHEALTHCHECK --interval=1s --timeout=5s --retries=2 CMD echo no good; exit 1\n"
    )
    shop.write(project={"name": "shop"}, services=[service("api", "sick:1", "13080:1")])
    assert shop.env("build").code == 0
    error = shop.refused("setup", "--timeout", "100s")
    assert (error["code"], error["details"]["service"]) == ("HEALTH_CHECK_TIMEOUT", "api")
    assert "timeoutSeconds" not in error["details"], "it was not the time of the whole that was over"
    assert "no good" in error["details"]["healthOutput"]
    assert "unhealthy" in error["details"]["lastResult"]
