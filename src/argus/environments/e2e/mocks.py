"""The mocks of an `e2e.yaml`: what stands in for the services of others."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from argus.environments.e2e.values import (
    Delay,
    Filled,
    Image,
    Mount,
    Part,
    Port,
    Rooted,
    Text,
    Truth,
    Url,
    Words,
    whole,
)

_NOT_ACTED_ON = ("openapi", "mode", "validate_requests", "target", "recordings_dir", "max_depth")


class Response(Part):
    """What is answered."""

    status: Annotated[int, whole(100, 599)] = Field(default=200, description="The HTTP status.")
    headers: dict[str, Text] = Field(default_factory=dict, description="Headers of the answer.")
    body: Any = Field(
        default=None,
        description="The body: text, or anything else as JSON. `{{timestamp}}`, `{{uuid}}`, `{{request.body.NAME}}`, "
        "`{{request.params.NAME}}` and `{{request.query.NAME}}` are resolved for each request.",
    )
    delay: Delay = Field(
        default=0.0, description='How long the answer waits, such as "100ms".', json_schema_extra={"default": "0s"}
    )


class When(Part):
    """What a request has to have for the route to answer it."""

    body: dict[str, Any] = Field(default_factory=dict, description="Fields of the body, with their values.")
    headers: dict[str, Text] = Field(default_factory=dict, description="Headers, with their values.")
    query: dict[str, Text] = Field(default_factory=dict, description="Parameters of the query, with their values.")


class Route(Part):
    """One request and its answer."""

    method: Filled = Field(description="The HTTP method.")
    path: Rooted = Field(description="The path; `:id` stands for anything and is `{{request.params.id}}`.")
    response: Response = Field(default_factory=Response, description="What is answered.")
    when: When | None = Field(default=None, description="Only requests like this are answered.")


class Mock(Part):
    """What stands in for a service of others."""

    port: Port = Field(description="The port on the host.")
    container_port: Port | None = Field(
        default=None, description="The port that containers reach it on; the same as `port` when left out."
    )
    routes: tuple[Route, ...] = Field(default=(), description="Requests and their answers.")
    image: Image | None = Field(default=None, description="An image that is run instead of the routes.")
    openapi: Filled | None = Field(default=None, description="An OpenAPI document, seen from this file.")
    mode: Literal["auto", "record", "replay", "smart"] = Field(
        default="auto",
        description="auto answers from the OpenAPI document, record asks `target` and keeps the answers, replay gives "
        "those again, smart replays what there is and makes the rest up.",
    )
    validate_requests: Truth = Field(
        default=False, alias="validate", description="Whether requests are held against the OpenAPI document."
    )
    target: Url | None = Field(default=None, description="What is asked while recording.")
    recordings_dir: Filled = Field(default=".argusai/recordings", description="Where recordings are, from this file.")
    max_depth: Annotated[int, whole(1, 10)] = Field(
        default=3, description="How deep a schema that holds itself is followed."
    )
    overrides: tuple[Route, ...] = Field(default=(), description="Routes that go before those of the document.")
    volumes: tuple[Mount, ...] = Field(default=(), description="What is mounted into the image's container.")
    args: Words | None = Field(default=None, description="Arguments of the image's program, as a shell splits them.")

    @property
    def inside(self) -> int:
        return self.container_port or self.port

    @property
    def not_acted_on(self) -> list[str]:
        """What it says beyond routes and images, by its names in the file."""
        said = [one for one in _NOT_ACTED_ON if getattr(self, one) != type(self).model_fields[one].default]
        return [type(self).model_fields[one].alias or one for one in said]
