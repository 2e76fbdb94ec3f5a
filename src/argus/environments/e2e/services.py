"""The services of an `e2e.yaml`: what is built, and how it runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from argus.environments.e2e import published
from argus.environments.e2e.values import (
    Called,
    ContainerName,
    Duration,
    Filled,
    Image,
    Mount,
    Part,
    Port,
    PositiveDuration,
    Published,
    Rooted,
    Text,
    lasting,
    whole,
)


class Build(Part):
    """How the image is made."""

    dockerfile: Filled = Field(
        description="The Dockerfile. It is looked for beside this file, then in the context, then in the folder where "
        "the command was given; the first that exists is taken."
    )
    context: Filled = Field(default=".", description="The folder that is sent to the build, seen from this file.")
    image: Image = Field(description="The name, and most often a tag, that the built image gets.")
    args: dict[str, Text] = Field(default_factory=dict, description="Arguments of the build.")


class Healthcheck(Part):
    """When the service is well: an HTTP answer of 2xx or 3xx on this path."""

    path: Rooted = Field(description="The path that is asked.")
    port: Port | None = Field(
        default=None, description="The port inside the container; the first published one when left out."
    )
    interval: PositiveDuration = lasting("10s", "The time between two checks.")
    timeout: PositiveDuration = lasting("5s", "How long one check may take.")
    retries: Annotated[int, whole(0, 1000)] = Field(
        default=10, description="So many failures in a row, and it is unhealthy."
    )
    start_period: Duration = lasting("30s", "Failures in this time after the start do not count.")


class Container(Part):
    """How the service runs."""

    name: ContainerName = Field(description="The container's name.")
    ports: tuple[Published, ...] = Field(
        max_length=1000,
        description='What is reached from outside, as "HOST:CONTAINER", "ADDRESS:HOST:CONTAINER/PROTOCOL", or one '
        "port that is the same on both sides. Setup takes another host port where this one is taken.",
    )
    environment: dict[str, Text] = Field(default_factory=dict, description="Its environment variables.")
    volumes: tuple[Mount, ...] = Field(
        default=(),
        description='What is mounted: "VOLUME:/inside", "./FOLDER:/inside", either with ":ro". '
        "Relative folders are seen from this file.",
    )
    healthcheck: Healthcheck | None = Field(
        default=None, description="When the service is well; without it, it is well while it runs."
    )

    @property
    def published(self) -> tuple[published.Port, ...]:
        return tuple(port for several in self.ports for port in several)


class Service(Part):
    """The only service, where there is just one."""

    build: Build = Field(description="How the image is made.")
    container: Container = Field(description="How the service runs.")
    vars: dict[str, Text] = Field(
        default_factory=dict,
        description="Variables: `{{config.NAME}}` in this file and in the tests. `base_url` is what the tests call.",
    )


class MappedService(Service):
    """One of several services, under its name."""

    name: Called | None = Field(default=None, description="Its name, where it is not the key it stands under.")
    depends_on: tuple[Filled, ...] = Field(
        default=(), description="The services that have to be well before this one is started."
    )


class ListedService(Service):
    """One of several services, in a list."""

    name: Called = Field(
        description="Its name, and the name others reach it by: with - for what no host name may hold."
    )
    depends_on: tuple[Filled, ...] = Field(
        default=(), description="The services that have to be well before this one is started."
    )
