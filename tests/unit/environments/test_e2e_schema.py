"""The JSON Schema of e2e.yaml: every key with a description, and the same judgement as the loader's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.unit.environments.rig import project, service
from tests.unit.environments.test_e2e_file import EVERYTHING

from argus.environments.e2e import model

VALIDATOR = jsonschema.Draft202012Validator(model.json_schema())


def _properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, one in (("", schema), *schema["$defs"].items()):
        for key, field in one.get("properties", {}).items():
            yield f"{name}.{key}", field


@pytest.mark.req("FR-R31")
def test_every_key_has_a_description():
    found = dict(_properties(model.json_schema()))
    assert len(found) > 80
    assert [key for key, field in found.items() if not field.get("description", "").endswith(".")] == []


@pytest.mark.req("FR-R31")
def test_the_defaults_of_resilience_are_in_it_as_people_write_them():
    found = {key: field.get("default") for key, field in _properties(model.json_schema())}
    assert (found["Preflight.diskSpaceThreshold"], found["Restarts.restartDelay"]) == ("2GB", "2s")
    assert (found["CircuitBreaker.resetTimeoutMs"], found["Healthcheck.startPeriod"]) == (30_000, "30s")


def test_it_is_a_json_schema_and_takes_every_key_in_every_form():
    jsonschema.Draft202012Validator.check_schema(model.json_schema())
    VALIDATOR.validate(yaml.safe_load(EVERYTHING.replace("- 3000:3000", '- "3000:3000"').replace("yes", '"yes"')))


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(project(service=service(), unknown=1), id="unknown-keys"),
        pytest.param(project(services={"a": service()}), id="services-under-their-names"),
        pytest.param(project(services=None, tests=None, resilience={"network": None}), id="empty-sections"),
        pytest.param(project(mocks={"m": {"port": "{{env.PORT}}"}}), id="a-variable-for-a-number"),
        pytest.param(project(mocks={"m": {"port": 1, "validate": "{{env.V}}"}}), id="a-variable-for-a-truth"),
        pytest.param(
            project(service={**service(), "container": {"name": "{{env.N}}", "ports": ["{{env.P}}:80"]}}),
            id="variables-in-names-and-ports",
        ),
    ],
)
def test_it_takes_what_the_loader_takes(written: dict[str, Any]):
    VALIDATOR.validate(written)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param({}, id="no-project"),
        pytest.param(project(services=3), id="services-that-are-a-number"),
        pytest.param(project(mocks={"m": {"port": 70_000}}), id="a-port-out-of-range"),
        pytest.param(project(resilience={"container": {"maxRestarts": 11}}), id="too-many-restarts"),
        pytest.param(project(tests={"suites": [{"name": "a", "id": "a", "runner": ""}]}), id="no-runner"),
        pytest.param(project(tests={"suites": [], "retry": {"maxAttempts": 1, "delay": "soon"}}), id="no-duration"),
        pytest.param(project(isolation={"portRange": [1, 2]}), id="privileged-ports"),
    ],
)
def test_it_refuses_what_the_loader_refuses(written: dict[str, Any]):
    assert not VALIDATOR.is_valid(written)


def test_the_documentation_names_every_section():
    page = (Path(__file__).parents[3] / "docs" / "environments.md").read_text(encoding="utf-8")
    assert [key for key in model.bare_schema()["properties"] if f"`{key}`" not in page] == []
