"""An e2e.yaml is checked and described from the command line, without Docker and without a daemon."""

from __future__ import annotations

import jsonschema
import pytest
import yaml

from tests.acceptance.harness import Argus

GOOD = """\
project: {name: shop}
x-limits: &limits {interval: 5s, retries: 3}
services:
  web:
    build: {dockerfile: Dockerfile, image: "shop:{{env.BRANCH}}"}
    container: {name: shop-web, ports: ["{{env.PORT}}:80"], healthcheck: {<<: *limits, path: /health}}
    vars: {api: "{{config.base_url}}/api"}
    colour: blue
mocks: {payments: {port: 9081}}
tests: {suites: [{name: API, id: api, file: tests/api.yaml}]}
history: {enabled: true}
"""

BAD = """\
services:
  a: {build: {dockerfile: D, image: a}, container: {name: a, ports: ["99999:80"]}, dependsOn: [b]}
  b: {build: {dockerfile: D, image: b}, container: {name: b, ports: []}, dependsOn: [a]}
project: {nam: shop}
resilience: {circuitBreaker: {failureThreshold: 0}}
"""


def test_a_good_file_is_told_with_its_warnings(argus: Argus) -> None:
    (argus.folder / "e2e.yaml").write_text(GOOD)
    (argus.folder / ".env").write_text("PORT=8088\nBRANCH=never\n")
    checked = argus.cli("check", "e2e.yaml", "--json", env={"BRANCH": "feature/x"})
    assert checked.code == 0
    said = checked.json
    assert (said["valid"], said["file"]) == (True, str(argus.folder / "e2e.yaml"))
    assert (said["services"], said["mocks"], said["suites"]) == (["web"], ["payments"], ["api"])
    places = [(one["path"], one["line"]) for one in said["warnings"]]
    assert ("services.web.colour", 8) in places
    assert ("services.web.build.image", 5) in places, "a name that had to be made legal is told"
    assert len(said["notices"]) == 1
    plain = argus.cli("check", "--e2e", env={"BRANCH": "main"})
    assert plain.code == 0
    assert "e2e.yaml:8: services.web.colour" in plain.stdout
    assert not argus.home.exists(), "checking leaves nothing behind"


def test_a_wrong_file_is_refused_with_every_place(argus: Argus) -> None:
    (argus.folder / "other.yml").write_text(BAD)
    checked = argus.cli("check", "--e2e", "other.yml", "--json")
    assert (checked.code, checked.error["code"]) == (2, "CONFIG_INVALID")
    found = [(one["path"], one["line"]) for one in checked.error["details"]["errors"]]
    assert found == [
        ("services.a.container.ports[0]", 2),
        ("services.a.dependsOn", 2),
        ("project.name", 4),
        ("resilience.circuitBreaker.failureThreshold", 5),
    ]
    assert [one["path"] for one in checked.error["details"]["warnings"]] == [
        "services.a.build.dockerfile",
        "services.b.build.dockerfile",
        "project.nam",
    ]


def test_where_there_is_none_the_places_are_named(argus: Argus) -> None:
    checked = argus.cli("check", "--e2e", "--json")
    assert (checked.code, checked.error["code"]) == (2, "CONFIG_NOT_FOUND")
    assert checked.error["details"]["lookedFor"] == [str(argus.folder / name) for name in ("e2e.yaml", "e2e.yml")]


@pytest.mark.req("FR-R31")
def test_the_schema_is_printed_and_takes_a_good_file(argus: Argus) -> None:
    printed = argus.cli("schema", "e2e")
    assert printed.code == 0
    validator = jsonschema.Draft202012Validator(printed.json)
    validator.validate(yaml.safe_load(GOOD))
    assert not validator.is_valid(yaml.safe_load(BAD))
    assert argus.cli("schema").json["properties"].keys() == argus.cli("schema", "argus").json["properties"].keys()
    assert "health" in argus.cli("schema").json["properties"]


def test_a_file_is_taken_for_what_it_is_whatever_it_is_called(argus: Argus) -> None:
    for name, said in (("staging.yaml", GOOD), ("my-e2e.yaml", "project: {}")):
        (argus.folder / name).write_text(said)
        checked = argus.cli("check", name, "--json", env={"PORT": "80", "BRANCH": "x"})
        about = checked.json["file"] if checked.code == 0 else checked.error["details"]["file"]
        assert (checked.code, about) == (0 if said is GOOD else 2, str(argus.folder / name))
    (argus.folder / "other.yaml").write_text("health: {services: []}\n")
    assert "autonomy" in argus.cli("check", "other.yaml").stdout


def test_a_word_that_stands_for_several_says_which(argus: Argus) -> None:
    alone = argus.cli("env")
    assert (alone.code, alone.stdout) == (2, "")
    assert "Usage: argus env" in alone.stderr
    assert "setup" in alone.stderr
    assert argus.cli("env", "--json").error["code"] == "INVALID_REQUEST"
    assert "--config-file FILE" in argus.cli("env", "setup", "--help").stdout


def test_an_environment_of_the_shell_that_is_too_large_is_named_as_that(argus: Argus) -> None:
    (argus.folder / "e2e.yaml").write_text("project: {name: shop}\n")
    large = {f"LARGE_{n}": "x" * 100_000 for n in range(11)}
    error = argus.cli("env", "init", "--json", env=large).error
    assert (error["code"], set(error["details"]["largest"]) <= set(large)) == ("TOO_LARGE", True)
    assert "LARGE_" in error["message"]
