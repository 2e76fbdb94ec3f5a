"""What the environments are given by the daemon: one seam for each outside world."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from argus.core.circuit import Circuit
from argus.core.clock import Clock
from argus.core.events import Channel
from argus.environments.blueprint import Blueprint
from argus.environments.e2e.environment import Environment
from argus.environments.e2e.following import Moved
from argus.environments.e2e.source import NAMES
from argus.environments.e2e.suites import Suite
from argus.environments.helper.image import HelperImage
from argus.environments.labels import Owner
from argus.environments.mocking.serving import Open
from argus.environments.ports import Ports
from argus.environments.testing.world import Host
from argus.environments.waiting import Http
from argus.host.engine.birth import Birth
from argus.host.engine.resources import Dock
from argus.store.interface import Store
from argus.store.notes import Notes


@dataclass(frozen=True, slots=True)
class Shell:
    """Where the caller works, and its environment: kept in memory only."""

    folder: str
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """Which environment is meant, and by whom."""

    project_path: str
    config_file: str | None
    shell: Shell
    within: str | None = None
    """Where the caller has to keep to: an agent, to its project."""
    agent: str = ""
    """Which one asks, where it is one."""

    @property
    def place(self) -> tuple[str, str]:
        """The folder of its file, and which file there where that is not the usual one. Known also without the file."""
        file = os.path.normpath(os.path.join(self.project_path, self.config_file or NAMES[0]))
        folder, name = os.path.split(file)
        return folder, "" if name in NAMES else file


@dataclass(frozen=True, slots=True)
class Loaded:
    blueprint: Blueprint
    moved_to: Callable[[Mapping[str, Mapping[int, int]]], Blueprint]
    """The same on other host ports, by service: all that refers to them says the new ones."""
    file: str
    read: Callable[[Moved], Environment]
    """What the file says, with its services on such other host ports. Blocks."""
    suites: tuple[Suite, ...] = ()
    warnings: tuple[str, ...] = ()
    variables: Mapping[str, str] | None = None
    secrets: frozenset[str] = frozenset()
    """What of it is not to be written down."""


@dataclass(frozen=True, slots=True)
class Tools:
    store: Store
    notes: Notes
    clock: Clock
    load: Callable[[Asked], Awaitable[Loaded]]
    circuit: Callable[[Blueprint, Shell], Circuit]
    """The breaker of a project's way to this caller's engine, made when it is first asked for, and on record."""
    dock: Callable[[Shell, Circuit], Dock]
    published: Callable[[Shell], str]
    """Where ports are that this caller's engine publishes."""
    ports: Ports
    listen: Open
    """Begins to answer HTTP at addresses of this machine."""
    helper: HelperImage
    http: Http
    machine: Host
    """For test suites: HTTP, connections, commands."""
    disk_free: Callable[[str], int | None]
    me: Owner
    lives: Callable[[Owner], bool]
    new_id: Callable[[], str]
    show: Callable[[Channel, str, dict[str, Any]], None]
    """What is worth showing and not recording: channel, type and data."""
    engine: Callable[[Shell], Mapping[str, str]]
    """The variables that lead to this caller's engine: nothing else of its environment is ever on record."""
    memory_peak: Callable[[str], int | None]
    """The most memory a container of this machine used, by its id; None where that cannot be read."""
    clean: Callable[[str], str]
    """Takes secrets out of a text."""
    birth: Callable[[Mapping[str, str]], Birth | None]
    """When the engine began to which these variables lead; None where that cannot be known."""
    is_sound: Callable[[], bool]
    """Whether time passed as it should have, so that what timed out may be believed."""
    explained: Callable[[str], str] = lambda run_id: ""
    """The incident of a service that this environment needs and that is down; empty: there is none."""
