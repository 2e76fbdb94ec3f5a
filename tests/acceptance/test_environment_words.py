"""What leaves an environment in words: no secrets of the project, and errors that say what to do."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.yard import Yard, service
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
