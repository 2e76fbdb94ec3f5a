"""`e2e.yaml` as a whole, and the JSON Schema that is made of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from argus.environments.e2e.mocks import Mock
from argus.environments.e2e.resilience import Resilience
from argus.environments.e2e.services import ListedService, MappedService, Service
from argus.environments.e2e.suites import Tests
from argus.environments.e2e.values import PLACEHOLDER, Called, ContainerName, Filled, Part, Text, whole

NOT_ACTED_ON = ("history", "dashboard", "server", "plugins")
"""Sections of other programs that read the same file."""

_LIST, _MAP = "<list>", "<map>"
"""No key of a file: an error's place is found by leaving them out."""


class Project(Part):
    """What is tested."""

    name: Called = Field(description="The project's name. It is on everything that is made, and finds it again.")
    description: Text | None = Field(default=None, description="What it is.")
    version: Text | None = Field(default=None, description="Its version.")


class Network(Part):
    """The Docker network that all containers of the environment share."""

    name: ContainerName | None = Field(default=None, description="Its name; made of the project's when left out.")


class Isolation(Part):
    """What keeps several environments on one machine apart."""

    namespace: Filled | None = Field(
        default=None, description="What the names of made things begin with; made of the project's name when left out."
    )
    port_range: tuple[Annotated[int, whole(1024, 65535)], Annotated[int, whole(1024, 65535)]] | None = Field(
        default=None, description="The first and the last port that may be taken where a wanted one is not free."
    )


class Repo(Part):
    """A git repository that belongs to the project."""

    name: Filled = Field(description="Its name.")
    path: Filled | None = Field(default=None, description="Where it is, seen from this file.")
    url: Filled | None = Field(default=None, description="Where it comes from.")
    branch: Filled | None = Field(default=None, description="The branch that is used.")


def _form(value: Any) -> str | None:
    return _LIST if isinstance(value, list | tuple) else _MAP if isinstance(value, dict) else None


Services = Annotated[
    Annotated[tuple[ListedService, ...], Tag(_LIST)] | Annotated[dict[str, MappedService], Tag(_MAP)],
    Discriminator(_form),
]


class E2E(Part):
    """A test environment: services and mocks as containers on one network, and the tests that run against them."""

    version: Text = Field(default="1", description="The version of the format.")
    project: Project = Field(description="What is tested.")
    service: Service | None = Field(default=None, description="The only service, where there is just one.")
    services: Services = Field(
        default=(),
        description="Several services, as a list or under their names. It goes before `service` when it is not empty.",
    )
    mocks: dict[str, Mock] = Field(
        default_factory=dict, description="What stands in for services of others, under the names they are reached by."
    )
    tests: Tests | None = Field(default=None, description="What is run against the environment.")
    network: Network = Field(default_factory=Network, description="The Docker network of the environment.")
    isolation: Isolation = Field(default_factory=Isolation, description="What keeps several environments apart.")
    repos: tuple[Repo, ...] = Field(default=(), description="Git repositories that belong to the project.")
    resilience: Resilience = Field(default_factory=Resilience, description="How much is repaired without being asked.")
    history: Any = Field(default=None, description="Accepted and not acted on.")
    dashboard: Any = Field(default=None, description="Accepted and not acted on.")
    server: Any = Field(default=None, description="Accepted and not acted on.")
    plugins: Any = Field(default=None, description="Accepted and not acted on.")


def bare_schema() -> dict[str, Any]:
    """What the model says, for whoever wants to know which keys there are."""
    return E2E.model_json_schema(by_alias=True)


def json_schema() -> dict[str, Any]:
    """What an editor holds a file against: as it is written, with its `{{…}}` and its empty keys."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **bare_schema()}
    for one in (schema, *schema["$defs"].values()):
        for key, field in one.get("properties", {}).items():
            # Where a key and its section are described alike, pydantic says it once, at the section.
            elsewhere = schema["$defs"].get(field.get("$ref", "").rpartition("/")[2], {})
            described = {"description": elsewhere.get("description"), **field} if elsewhere else field
            one["properties"][key] = _as_written(described, optional=key not in one.get("required", ()))
    return schema


def _as_written(field: dict[str, Any], *, optional: bool) -> dict[str, Any]:
    said: dict[str, Any] = {key: field[key] for key in ("title", "description", "default") if key in field}
    rest = {key: value for key, value in field.items() if key not in said}
    if not rest:
        return said
    choices = rest.get("anyOf") or rest.get("oneOf") or [rest]
    choices = [_with_items(choice) for choice in choices]
    if any(_closed(choice) for choice in choices):
        choices.append({"type": "string", "pattern": PLACEHOLDER})
    if optional and {"type": "null"} not in choices:
        choices.append({"type": "null"})
    return {**said, "anyOf": choices}


def _closed(choice: dict[str, Any]) -> bool:
    """Whether a text with a variable in it would be refused although what the variable stands for may be right."""
    return choice.get("type") in ("integer", "number", "boolean") or any(key in choice for key in ("pattern", "enum"))


def _with_items(choice: dict[str, Any]) -> dict[str, Any]:
    items = choice.get("items")
    if not isinstance(items, dict) or not _closed(items):
        return choice
    return {**choice, "items": {"anyOf": [items, {"type": "string", "pattern": PLACEHOLDER}]}}
