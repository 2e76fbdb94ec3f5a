"""From the file to what is brought up. Pure, once the file is read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from argus.environments.blueprint import Blueprint, Build, HealthWish, Part, PortWish
from argus.environments.e2e import mocks, mounts, names
from argus.environments.e2e.environment import Environment, Service
from argus.host.engine.resources import Building, Mount


def plan(environment: Environment) -> Blueprint:
    settings = environment.config.resilience
    breaker = settings.circuit_breaker
    return Blueprint(
        project=environment.config.project.name,
        folder=str(environment.folder),
        network=environment.network,
        parts=(*(_service(one) for one in environment.services), *_mocks(environment)),
        builds=tuple(_build(one) for one in environment.services),
        warnings=tuple(
            f"mocks.{name}: {mocks.NOT_SERVED}" for name, mock in environment.mocks.items() if mock.image is None
        ),
        disk_threshold=settings.preflight.disk_space_threshold,
        preflight=settings.preflight.enabled,
        clean_orphans=settings.preflight.clean_orphans,
        reassign=settings.network.port_conflict_strategy == "auto",
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


def _service(one: Service) -> Part:
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
        health=_health(one),
        alias=names.part(one.name),
    )


def _health(one: Service) -> HealthWish | None:
    check, port = one.healthcheck, one.health_port
    if check is None or port is None:
        return None
    return HealthWish(check.path, port, check.interval, check.timeout, check.retries, check.start_period)


def _mocks(environment: Environment) -> Iterator[Part]:
    """Those that are images."""
    for name, mock in environment.mocks.items():
        if mock.image is not None:
            yield _mock(environment, name, mock, mock.image)


def _mock(environment: Environment, name: str, mock: mocks.Mock, image: str) -> Part:
    return Part(
        name=name,
        container=f"{environment.namespace}-{name}",
        image=image,
        ports=(PortWish(mock.inside, mock.port),),
        mounts=tuple(_mounts(mock.volumes)),
        command=tuple(shlex.split(mock.args)) if mock.args else None,
        is_mock=True,
        alias=name,
    )


def _mounts(wanted: tuple[mounts.Mount, ...]) -> Iterator[Mount]:
    for one in wanted:
        yield Mount(one.source or "", one.target, one.read_only, "bind" if one.is_bind else "volume")
