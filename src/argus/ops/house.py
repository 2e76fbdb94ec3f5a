"""What an operation can reach: the parts, handed in by the daemon, and who is asking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from argus.agents.crew import Crew
from argus.autonomy import Autonomy
from argus.breakers import Breakers
from argus.bridge.keeper import Bridge
from argus.core.clock import Clock
from argus.core.depending import Thing
from argus.environments.keeper import Environments
from argus.environments.runs import Run
from argus.environments.tools import Shell
from argus.graph.keeper import Graph
from argus.live import Live
from argus.ops.caller import ARGUS, Caller, Role
from argus.services.registry import Change
from argus.services.watch import Watch
from argus.sessions.keeper import Sessions
from argus.store.interface import Store
from argus.store.notes import Notes


@dataclass(frozen=True, slots=True)
class Facts:
    """What does not change while this daemon runs."""

    version: str
    pid: int
    url: str
    home: str
    started: float


@dataclass(slots=True)
class Setup:
    """Where the configuration in force came from; a reload changes it."""

    config: str | None
    discovered: bool
    """No configuration was found: the services are what was listening."""
    notices: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()
    """Of the notices, those that a reload does not take away."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What reading the configuration again came to."""

    services: Change
    changed: tuple[str, ...]
    """The sections that say something else now."""
    restart_needed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class House:
    store: Store
    clock: Clock
    watch: Watch
    crew: Crew
    graph: Graph
    needed: Callable[[Run], tuple[Thing, ...]]
    """What argus.yaml says that an environment needs."""
    autonomy: Autonomy
    facts: Facts
    setup: Setup
    login_link: Callable[[], str]
    reload: Callable[[str], Awaitable[Reloaded]]
    make_token: Callable[[Role, str | None, str | None], str]
    breakers: Breakers
    live: Live
    notes: Notes
    clean: Callable[[str], str]
    """Takes secrets out of what agents and programs said, before it is shown."""
    clean_value: Callable[[Any], Any]
    """The same with all that a value holds."""
    environments: Environments
    bridge: Bridge
    sessions: Sessions
    shell: Shell
    """Where the caller works, where it does not say so itself: by MCP its own, else the daemon's."""
    caller: Caller = ARGUS

    def asked_by(self, caller: Caller, shell: Shell | None = None) -> House:
        return replace(self, caller=caller, shell=shell or self.shell)

    @property
    def by(self) -> str:
        """Who asks, for the record."""
        return self.caller.by
