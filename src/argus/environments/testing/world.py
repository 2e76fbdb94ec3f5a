"""What the steps of a test act through: one seam for each outside world. `real.py` is this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from argus.core.errors import ArgusError, Code
from argus.host.commands import Commands, Printed
from argus.host.engine.resources import Executed, FileFound
from argus.host.web import Call, Reply


class Stream(Protocol):
    """An answer that comes bit by bit."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...

    async def piece(self) -> bytes:
        """Empty at its end."""
        ...


class Web(Protocol):
    """Both raise ProbeFailed."""

    async def ask(self, call: Call, *, timeout: float, follow: bool) -> Reply: ...

    def listen(self, call: Call) -> AbstractAsyncContextManager[Stream]:
        """The caller holds the deadline."""
        ...


@dataclass(frozen=True, slots=True)
class Running:
    """A process."""

    users: tuple[str, ...]
    """Whose it is: the name, and the number where that is known."""
    command: str


@dataclass(frozen=True, slots=True)
class FileSeen:
    found: FileFound
    owners: tuple[str, ...]
    """Whose it is: the name, where one is known, and the number."""


class Place(Protocol):
    """Where commands run, files lie and processes live: the caller's machine, or one of the containers."""

    async def run(self, argv: Sequence[str], *, timeout: float) -> Printed | Executed: ...

    async def file(self, path: str, most: int) -> FileSeen | None: ...

    async def processes(self) -> list[Running]: ...


class Container(Place, Protocol):
    """All of it raises ArgusError, and EngineRefused."""

    async def listening(self) -> frozenset[int] | str:
        """The ports; or why nobody can say."""
        ...


class Connect(Protocol):
    async def __call__(self, host: str, port: int, *, timeout: float) -> float:
        """Raises ProbeFailed."""
        ...


class Host(Protocol):
    """What is needed of this machine; `argus.host.machine.MachineHost` has it."""

    @property
    def web(self) -> Web: ...

    @property
    def commands(self) -> Commands: ...

    @property
    def tcp(self) -> Connect: ...


class Matching(Protocol):
    """Searches for regular expressions; blocks. Raises TooSlow."""

    def search(self, pattern: str, text: str) -> bool: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class World:
    web: Web
    machine: Place
    connect: Connect
    container: Callable[[str], Container]
    """By its name at the engine; of this environment alone, and nobody else's of the same name."""
    matching: Callable[[], Matching]
    base_url: str | None = None
    health_urls: tuple[str, ...] = ()
    """Where the environment's services say that they are well; none: base_url and /health."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What a file may call a container: its service's name, or its own; by these, what the engine calls it. The first
    one is where a step that names none looks."""

    def place(self, name: str | None) -> Place:
        """The container that is meant; the machine itself where there is none at all."""
        found = self.named(name)
        return self.machine if found is None else found

    def named(self, name: str | None) -> Container | None:
        """Raises CONTAINER_NOT_FOUND: a test belongs to its environment, and has no business in other containers."""
        if name is None:
            first = next(iter(self.names.values()), None)
            return self.container(first) if first is not None else None
        found = self.names.get(name, name if name in self.names.values() else None)
        if found is None:
            known = sorted({*self.names, *self.names.values()})
            there = f"it has {', '.join(known)}" if known else "it has none"
            message = f"there is no container {name!r} in this environment: {there}"
            raise ArgusError(Code.CONTAINER_NOT_FOUND, message, container=name, known=known)
        return self.container(found)
