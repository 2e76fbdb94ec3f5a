"""From the file to what is brought up. Pure, once the file is read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from argus.environments.blueprint import Blueprint, Build, HealthWish, Part, PortWish
from argus.environments.e2e import mocks, mounts, names
from argus.environments.e2e.environment import Environment, Service
from argus.environments.helper import image
from argus.environments.mocking import definition
from argus.environments.mocking.serving import HERE, READY
from argus.host.engine.resources import Building, Mount


def plan(environment: Environment) -> Blueprint:
    settings = environment.config.resilience
    breaker = settings.circuit_breaker
    return Blueprint(
        project=environment.config.project.name,
        folder=str(environment.folder),
        network=environment.network,
        parts=(*_services(environment), *(_mock(environment, *one) for one in environment.mocks.items())),
        builds=tuple(_build(one) for one in environment.services),
        disk_threshold=settings.preflight.disk_space_threshold,
        preflight=settings.preflight.enabled,
        clean_orphans=settings.preflight.clean_orphans,
        reassign=settings.network.port_conflict_strategy == "auto",
        verify=settings.network.verify_connectivity,
        port_range=environment.config.isolation.port_range,
        breaker=breaker.enabled,
        breaker_failures=breaker.failure_threshold,
        breaker_reset=breaker.reset_timeout_ms / 1000,
        restart=settings.container.restart_on_failure,
        restarts=settings.container.max_restarts,
        restart_delay=settings.container.restart_delay,
        restart_growth=settings.container.restart_backoff,
    )


def repeated(environment: Environment) -> Iterator[str]:
    """What is said of ports that a service publishes twice in the very same way."""
    for service in environment.services:
        for port in dict.fromkeys(one for one in service.ports if service.ports.count(one) > 1):
            yield f"{service.name} publishes {port} more than once: once is enough"


def _build(one: Service) -> Build:
    build = one.build
    if build.dockerfile is None:
        return Build(one.name, build.image, None, tuple(str(path) for path in build.looked_at))
    return Build(one.name, build.image, Building(build.image, str(build.dockerfile), str(build.context), build.args))


def _services(environment: Environment) -> Iterator[Part]:
    # They may call their mocks while they start.
    served = tuple(name for name, mock in environment.mocks.items() if mock.image is None)
    for one in environment.services:
        yield _service(one, served)


def _service(one: Service, served: tuple[str, ...]) -> Part:
    return Part(
        name=one.name,
        container=one.container,
        image=one.build.image,
        environment=dict(one.environment),
        ports=tuple(
            PortWish(port.container, port.host, port.address, port.protocol) for port in dict.fromkeys(one.ports)
        ),
        mounts=tuple(_mounts(one.mounts)),
        depends_on=one.depends_on,
        starts_after=served,
        health=_health(one),
        alias=names.part(one.name),
    )


def _health(one: Service) -> HealthWish | None:
    check, port = one.healthcheck, one.health_port
    if check is None or port is None:
        return None
    return HealthWish(check.path, port, check.interval, check.timeout, check.retries, check.start_period)


def _mock(environment: Environment, name: str, mock: mocks.Mock) -> Part:
    container = f"{environment.namespace}-{name}"
    if mock.image is None:
        # What it takes for a relay to start, and to answer through; it is a moment, or never.
        health = HealthWish(READY, mock.inside, interval=0.5, timeout=2.0, retries=4, start_period=10.0)
        ports = (PortWish(mock.inside, mock.port, HERE),)
        served = definition.of(name, mock)
        return Part(name, container, image.name(), ports=ports, health=health, is_mock=True, alias=name, serves=served)
    return Part(
        name=name,
        container=container,
        image=mock.image,
        ports=(PortWish(mock.inside, mock.port),),
        mounts=tuple(_mounts(mock.volumes)),
        command=tuple(shlex.split(mock.args)) if mock.args else None,
        is_mock=True,
        alias=name,
    )


def _mounts(wanted: tuple[mounts.Mount, ...]) -> Iterator[Mount]:
    for one in wanted:
        yield Mount(one.source or "", one.target, one.read_only, "bind" if one.is_bind else "volume")
