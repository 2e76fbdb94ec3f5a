"""What leaves an environment in words: no secrets of the project, and errors that say what to do."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.yard import Yard, service, stays
from tests.docker_engine import IMAGE, Engine

SECRET, ARGUMENT = "s3cr3t-of-the-shop", "t0k3n-of-the-build"


def leaky(name: str, image: str, port: str, **build: Any) -> dict[str, Any]:
    made = service(name, image, port, container={"environment": {"DB_PASSWORD": SECRET}})
    made["build"]["args"] = {"NPM_TOKEN": ARGUMENT}
    return made


def test_secrets_that_containers_and_builds_print_are_masked(yard: Yard, docker: Engine) -> None:
    docker.image("leaks:1", "sh", "-c", "echo I have $DB_PASSWORD; trap exit TERM; while :; do sleep 600 & wait; done")
    docker.image("dies:1", "sh", "-c", "echo I had $DB_PASSWORD; exit 1")
    shop = yard.project(services=[leaky("api", "leaks:1", "13080:1")])
    (shop.folder / "Dockerfile").write_text(f"FROM {IMAGE}\nARG NPM_TOKEN\nRUN echo with $NPM_TOKEN; exit 1\n")
    said: list[Any] = []
    with yard.events(live="true") as stream:
        said.append(shop.refused("build"))
        shown = stream.until(lambda one: "with " in str(one.data.get("line")), "the output")
        said += [one.data for one in shown]
    assert said[0]["code"] == "BUILD_FAILED"
    shop.up()
    said.append(shop.env("logs", "api").json)
    assert said[-1]["lines"] == ["I have [redacted]"]
    shop.write(project={"name": "shop"}, services=[leaky("api", "dies:1", "13080:1")])
    said.append(shop.refused("setup"))
    assert (said[-1]["code"], said[-1]["details"]["logs"]) == ("CONTAINER_CRASH", ["I had [redacted]"])
    assert SECRET not in json.dumps(said)
    assert ARGUMENT not in json.dumps(said)


def test_errors_name_the_service_and_suggest_what_fits_an_environment(yard: Yard, docker: Engine) -> None:
    shop = yard.project(services=[stays("db", "15432:5432")])
    shop.up()
    docker.ask("DELETE", "/containers/db?force=1")
    gone = shop.refused("logs", "db")
    assert (gone["code"], gone["suggestedActions"]) == ("CONTAINER_NOT_FOUND", ["read_environment", "check_name"])
    assert "not there any more" in gone["message"]
    docker.image("broken:1", "/no/such/program")
    shop.write(project={"name": "shop"}, services=[stays("db", "15432:5432"), service("api", "broken:1", "13080:1")])
    refused = shop.refused("setup")
    assert (refused["code"], refused["details"]["service"]) == ("DOCKER_REFUSED", "api")
    fail = {"network": {"portConflictStrategy": "fail"}}
    shop.write(project={"name": "shop"}, services=[stays("db", "15432:5432")], resilience=fail)
    with docker.held(15432):
        taken = shop.refused("setup")
        report = shop.env("preflight").json["healthReport"]
    assert taken["code"] == "PORT_CONFLICT"
    assert "use_other_host_port" in taken["suggestedActions"]
    (check,) = [one for one in report["checks"] if one["name"] == "ports"]
    assert check["suggestedActions"] == taken["suggestedActions"]
    (shop.folder / "e2e.yaml").unlink()
    missing = shop.refused("init")
    assert (missing["code"], missing["suggestedActions"]) == (
        "CONFIG_NOT_FOUND",
        ["check_path", "create_environment_file"],
    )
