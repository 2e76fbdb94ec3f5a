"""An environment as its file describes it: a value that does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from argus.core import names
from argus.environments.e2e import following, mocks, published, services, suites
from argus.environments.e2e.model import E2E
from argus.environments.e2e.mounts import Mount
from argus.environments.e2e.source import Source
from argus.environments.e2e.variables import Variables
from argus.yaml_lines import Problem


@dataclass(frozen=True, slots=True)
class Build:
    image: str
    context: Path
    dockerfile: Path | None
    """None where there is none; then it cannot be built."""
    looked_at: tuple[Path, ...]
    args: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    build: Build
    container: str
    ports: tuple[published.Port, ...]
    """With the host ports as they are taken, which need not be the wanted ones."""
    environment: Mapping[str, str] = field(repr=False)
    mounts: tuple[Mount, ...]
    """Folders of the host are full paths here."""
    healthcheck: services.Healthcheck | None
    vars: Mapping[str, str] = field(repr=False)
    depends_on: tuple[str, ...] = ()

    @property
    def health_port(self) -> int | None:
        """Inside the container."""
        if self.healthcheck is not None and self.healthcheck.port is not None:
            return self.healthcheck.port
        return self.ports[0].container if self.ports else None


@dataclass(frozen=True, slots=True)
class Environment:
    config: E2E = field(repr=False)
    file: Path
    project: Path
    """The folder that the caller named."""
    working: Path
    """Where the caller stood."""
    services: tuple[Service, ...]
    mocks: Mapping[str, mocks.Mock] = field(repr=False)
    warnings: tuple[Problem, ...]
    notices: tuple[str, ...]
    variables: Variables = field(repr=False)
    """What `{{…}}` stood for. `variables.config` is what the suites see."""
    origins: Mapping[str, str]
    """Every variable that the file refers to, and where its value came from; values are secrets and not here."""
    source: Source = field(repr=False)

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def namespace(self) -> str:
        """What the names of made things begin with."""
        made = names.apart(self.config.isolation.namespace or self.config.project.name, otherwise="project")
        return made.lstrip("_") or "project"

    @property
    def network(self) -> str:
        return self.config.network.name or f"argusai-{self.namespace}-network"

    @property
    def suites(self) -> tuple[suites.Suite, ...]:
        return self.config.tests.suites if self.config.tests else ()

    @property
    def base_url(self) -> str | None:
        return self.variables.config.get("base_url")

    def owners(self) -> tuple[following.Owner, ...]:
        of_services = tuple(
            following.Owner(
                one.name,
                frozenset(port.host for port in one.ports),
                frozenset(port.container for port in one.ports),
            )
            for one in self.services
        )
        of_mocks = tuple(
            following.Owner(name, frozenset({mock.port}), frozenset({mock.inside})) for name, mock in self.mocks.items()
        )
        return of_services + of_mocks
