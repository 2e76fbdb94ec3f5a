"""What may be asked of the engine. An engine that cannot be asked is an error with its code, never an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from argus.core.errors import ArgusError, Code


@dataclass(frozen=True, slots=True)
class Container:
    id: str
    name: str
    state: str
    """created, running, paused, restarting, removing, exited or dead."""
    health: str | None = None
    """starting, healthy or unhealthy; None where it has no health check."""
    exit_code: int = 0
    oom_killed: bool = False


class EngineUnavailable(ArgusError):
    """It is gone, refuses, does not answer in time, or speaks something else."""

    def __init__(self, message: str, *, is_the_engines: bool = True, **details: Any) -> None:
        super().__init__(Code.DOCKER_UNAVAILABLE, message, **details)
        self.is_the_engines = is_the_engines
        """Whether that is a failure of the engine, and not of Argus or of a deadline that was too short for anyone."""


class EngineRefused(Exception):
    """It was asked, and did not do it: what it said, for people. Most often the container is at fault."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """Of its answer; 0 where there was none."""


class Engine(Protocol):
    """Every question has a deadline that holds whatever the engine does.

    All of them raise EngineUnavailable, and CIRCUIT_OPEN when it was unavailable too often.
    """

    async def named(self, names: Sequence[str], *, timeout: float) -> dict[str, Container | None]:
        """The containers of these names or ids; None for one that does not exist."""
        ...

    async def labelled(self, label: str, *, timeout: float) -> list[Container]:
        """All that carry a label, `key` or `key=value`, running or not, by name."""
        ...

    async def restart(self, id: str, *, timeout: float) -> None:
        """Stops it, in its own time, and starts it. Raises CONTAINER_NOT_FOUND, and EngineRefused."""
        ...
