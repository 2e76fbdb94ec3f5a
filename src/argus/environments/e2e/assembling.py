"""The services of a validated file, with the paths that were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from argus.environments.e2e import paths
from argus.environments.e2e.environment import Build, Environment, Service
from argus.environments.e2e.following import Moved
from argus.environments.e2e.model import E2E
from argus.environments.e2e.mounts import Mount
from argus.environments.e2e.places import Path
from argus.environments.e2e.services import ListedService, MappedService
from argus.environments.e2e.services import Service as Written
from argus.environments.e2e.source import Source


def services(config: E2E, found: Mapping[Path, paths.Found], opened: Source) -> list[Service]:
    """`services`, as a list or under their names, when it is not empty; and else `service`."""
    if isinstance(config.services, dict) and config.services:
        return [
            _service(one, one.name or key, found[("services", key)], opened) for key, one in config.services.items()
        ]
    if config.services and not isinstance(config.services, dict):
        return [
            _service(one, one.name, found[("services", place)], opened) for place, one in enumerate(config.services)
        ]
    alone = config.service
    return [_service(alone, alone.container.name, found[("service",)], opened)] if alone else []


def _service(one: Written, name: str, found: paths.Found, opened: Source) -> Service:
    return Service(
        name=name,
        build=Build(one.build.image, found.context, found.dockerfile, found.looked_at, one.build.args),
        container=one.container.name,
        ports=one.container.published,
        environment=one.container.environment,
        mounts=tuple(_mount(mount, opened) for mount in one.container.volumes),
        healthcheck=one.container.healthcheck,
        vars=one.vars,
        depends_on=one.depends_on if isinstance(one, ListedService | MappedService) else (),
    )


def _mount(mount: Mount, opened: Source) -> Mount:
    if mount.source is None or not mount.is_bind:
        return mount
    home = opened.env.get("HOME", "")
    text = f"{home}/{mount.source[1:]}" if mount.source.split("/")[0] == "~" and home else mount.source
    return replace(mount, source=str(paths.absolute(opened.roots.file, text)))


def moved_to(made: Environment, moved: Moved, followed: Mapping[str, Mapping[str, str]]) -> Environment:
    """On the ports that could be had, and with the variables that name them."""

    def taken(name: str, port: int) -> int:
        return moved.get(name, {}).get(port, port)

    services = (
        replace(
            one,
            vars=followed[one.name],
            ports=tuple(replace(port, host=taken(one.name, port.host)) for port in one.ports),
        )
        for one in made.services
    )
    # Containers reach a mock where they always did, whatever port it has on the host.
    mocks = {
        name: mock.model_copy(update={"port": taken(name, mock.port), "container_port": mock.inside})
        for name, mock in made.mocks.items()
    }
    return replace(made, services=tuple(services), mocks=mocks)
