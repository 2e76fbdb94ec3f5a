"""What an environment is made of on the engine, and what may be asked of the engine about it.

Values and one protocol; nothing here reaches out. Times are seconds of the epoch, by the engine's clock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from argus.host.engine.printed import Printout

Labels = Mapping[str, str]
Wanted = Mapping[str, str | None]
"""Labels to look for, all of them at once; None: whatever its value."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A port of a container on the host."""

    container_port: int
    host_port: int
    """0: any that is free, when it is asked for."""
    host: str = ""
    """The address it is bound to; empty: all of them."""
    protocol: str = "tcp"


@dataclass(frozen=True, slots=True)
class Mount:
    source: str
    target: str
    read_only: bool = False
    kind: Literal["bind", "volume"] = "bind"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The engine runs this in the container. Seconds; None: as the engine does it."""

    test: tuple[str, ...]
    """As in a Dockerfile: `CMD` or `CMD-SHELL` and the words, or `NONE`."""
    interval: float | None = None
    timeout: float | None = None
    start_period: float | None = None
    retries: int | None = None


@dataclass(frozen=True, slots=True)
class Making:
    """What a container is made of."""

    name: str
    image: str
    labels: Labels = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[Binding, ...] = ()
    mounts: tuple[Mount, ...] = ()
    network: str = ""
    """A network's name or id, or `container:ID` to share that one's; empty: the engine's own choice."""
    aliases: tuple[str, ...] = ()
    """More names for it on that network."""
    command: tuple[str, ...] | None = None
    """None: the image's own. So with the entrypoint."""
    entrypoint: tuple[str, ...] | None = None
    extra_hosts: tuple[str, ...] = ()
    """`name:address`, for its /etc/hosts."""
    memory: int | None = None
    """Bytes, with no swap beyond them."""
    health: HealthCheck | None = None
    """None: the image's own."""
    auto_remove: bool = False
    """Gone with all that it printed as soon as it ends, also when nobody is left to remove it."""


@dataclass(frozen=True, slots=True)
class Made:
    """A container as the engine knows it."""

    id: str
    name: str
    image: str
    state: str
    """created, running, paused, restarting, removing, exited or dead."""
    health: str | None = None
    """starting, healthy or unhealthy; None where it has no health check."""
    health_output: str = ""
    """What its last health check printed."""
    exit_code: int = 0
    oom_killed: bool = False
    error: str = ""
    """Why the engine could not start it."""
    labels: Labels = field(default_factory=dict)
    created: float | None = None
    started: float | None = None
    finished: float | None = None
    ports: tuple[Binding, ...] = ()
    """As they are bound now: none while it does not run."""
    networks: Mapping[str, str] = field(default_factory=dict)
    """The address on each, by the network's name; empty while it does not run."""
    memory_limit: int | None = None
    volumes: tuple[str, ...] = ()
    """The names of those that are mounted in it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory in bytes; None where the engine does not know, as of one that does not run."""

    memory: int | None = None
    limit: int | None = None
    """The machine's own memory where it has no limit."""
    peak: int | None = None
    """With cgroup v2 the engine knows none."""


@dataclass(frozen=True, slots=True)
class Network:
    id: str
    name: str
    labels: Labels = field(default_factory=dict)
    created: float | None = None
    gateway: str = ""
    containers: Mapping[str, str] = field(default_factory=dict)
    """Which run on it: names by their ids."""


@dataclass(frozen=True, slots=True)
class Volume:
    name: str
    labels: Labels = field(default_factory=dict)
    created: float | None = None


@dataclass(frozen=True, slots=True)
class Info:
    version: str
    data_root: str
    name: str
    storage_driver: str
    memory: int
    architecture: str = ""
    """As the machine calls it: `x86_64`, `aarch64` …"""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something the engine tells of."""

    kind: Literal["container", "network", "volume"]
    action: str
    """As the engine calls it: `start`, `die`, `kill`, `oom`, `destroy`, `health_status: unhealthy`, `connect` …"""
    id: str
    name: str
    labels: Labels
    """Of containers; of the others the engine tells none."""
    at: float
    exit_code: int | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    """All that the engine says of it: `signal`, `container` …, and the labels among them."""


@dataclass(frozen=True, slots=True)
class Executed:
    """How a command in a container ended: `exit_code` None when it did not, and `problem` says why."""

    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    problem: str = ""
    is_cut: bool = False
    """More was printed than is kept."""


@dataclass(frozen=True, slots=True)
class Process:
    """One in a container, as the engine's machine sees it."""

    pid: int
    user: str
    """A number, which names whom the container's own /etc/passwd says."""
    command: str


@dataclass(frozen=True, slots=True)
class FileFound:
    """A file in a container, running or not; links are followed."""

    path: str
    mode: int
    """With its kind, as `stat` has it."""
    uid: int | None
    gid: int | None
    """None where the engine does not say, as of a socket."""
    size: int
    content: bytes
    """The beginning of it; nothing of a folder."""


@dataclass(frozen=True, slots=True)
class Building:
    """An image to build, by the docker command."""

    tag: str
    dockerfile: str
    context: str
    """Both are absolute paths: the daemon works in another folder than the caller."""
    args: Mapping[str, str] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    no_cache: bool = False


class Dock(Protocol):
    """The engine for one caller: found by the caller's environment, behind one breaker.

    Every call has a deadline that holds whatever the engine does. Any of them raises:
    - DOCKER_UNAVAILABLE (EngineUnavailable): it cannot be reached, hangs, or fails by itself. Counted by the breaker.
    - CIRCUIT_OPEN: it was unavailable too often, and was not asked.
    - DISK_SPACE_LOW: it has no space left.
    - CONTAINER_NOT_FOUND, where one is named by its id and the answer has no place for None.
    - EngineRefused, with what it said and its status: anything else that it did not do.
    Container, image, network and volume names that no engine would take are not sent; they are refused just so.
    """

    def watching(self) -> Dock:
        """The same for who looks again and again: it spends one failure of the breaker for an outage."""
        ...

    async def ping(self, *, timeout: float) -> None: ...

    async def info(self, *, timeout: float) -> Info: ...

    async def image(self, name: str, *, timeout: float) -> str | None:
        """Its id."""
        ...

    async def import_image(self, tar: bytes, name: str, changes: Sequence[str] = (), *, timeout: float) -> str:
        """One layer from a tar, with lines of a Dockerfile (`ENV …`, `ENTRYPOINT …`). Returns its id."""
        ...

    async def build(self, building: Building, heard: Callable[[str], None] | None = None, *, timeout: float) -> str:
        """Tells every line of output as it comes, and returns the image's id.

        Raises BUILD_FAILED with the end of the output. At the deadline, and when the caller is cancelled, the build
        is ended.
        """
        ...

    async def make(self, making: Making, *, timeout: float) -> str:
        """Returns its id. Raises NAME_CONFLICT (with the holder, and its labels) and IMAGE_NOT_FOUND."""
        ...

    async def start(self, id: str, *, timeout: float) -> None:
        """One that runs already is left alone. Raises PORT_CONFLICT; it is then there and not running."""
        ...

    async def restart(self, id: str, *, timeout: float) -> None:
        """Stops it, in its own time, and starts it: the engine does both, also when nobody waits for it any more."""
        ...

    async def stop(self, id: str, grace: float, *, timeout: float) -> None:
        """Asks it to end, and after the grace ends it. One that does not run is left alone."""
        ...

    async def kill(self, id: str, signal: str = "KILL", *, timeout: float) -> None:
        """Raises CONTAINER_NOT_RUNNING."""
        ...

    async def remove(self, id: str, *, timeout: float) -> bool:
        """Running or not, with its anonymous volumes. False: it was gone already, or another removes it."""
        ...

    async def container(self, name_or_id: str, *, timeout: float) -> Made | None: ...

    async def containers(self, labels: Wanted, *, timeout: float) -> list[Made]:
        """Running or not, by name."""
        ...

    async def logs(self, id: str, tail: int = 100, since: float | None = None, *, timeout: float) -> Printout:
        """The last lines of both outputs, in bounds: at most `tail`, and 256 KiB; they say when that cut them."""
        ...

    async def stats(self, id: str, *, timeout: float) -> Usage: ...

    async def execute(
        self, id: str, argv: Sequence[str], environment: Labels | None = None, *, timeout: float
    ) -> Executed:
        """Runs a command in it to its end. At the deadline nobody waits any more; the engine cannot end it.

        Raises CONTAINER_NOT_RUNNING. A program that is not there is an exit code of 126 or 127.
        """
        ...

    async def processes(self, id: str, *, timeout: float) -> list[Process]:
        """What runs in it, without those that have ended. Raises CONTAINER_NOT_RUNNING."""
        ...

    async def file(self, id: str, path: str, most: int = 0, *, timeout: float) -> FileFound | None:
        """A file in it, with the first `most` bytes; None where there is none. Needs no program in the image."""
        ...

    async def make_network(self, name: str, labels: Labels, *, timeout: float) -> str:
        """Returns its id. Raises NAME_CONFLICT."""
        ...

    async def network(self, name_or_id: str, *, timeout: float) -> Network | None: ...

    async def networks(self, labels: Wanted, *, timeout: float) -> list[Network]: ...

    async def remove_network(self, id: str, *, timeout: float) -> bool:
        """False: it was gone already. Refused while containers are on it."""
        ...

    async def join(self, network: str, container: str, aliases: Sequence[str] = (), *, timeout: float) -> None: ...

    async def leave(self, network: str, container: str, *, timeout: float) -> bool:
        """False: it was not on it, or one of the two is gone."""
        ...

    async def make_volume(self, name: str, labels: Labels, *, timeout: float) -> None:
        """One of the same name and labels will do. Raises NAME_CONFLICT for one with others."""
        ...

    async def volumes(self, labels: Wanted, *, timeout: float) -> list[Volume]: ...

    async def remove_volume(self, name: str, *, timeout: float) -> bool:
        """False: it was gone already. Refused while a container has it."""
        ...

    def happenings(
        self, labels: Wanted, since: float | None = None, *, timeout: float
    ) -> AbstractAsyncContextManager[AsyncIterator[Happening]]:
        """What happens to containers, networks and volumes, from the moment it is entered (or since then), for ever.

        The deadline is that of its beginning. A lost connection raises EngineUnavailable. Networks and volumes are
        told of only where no labels are wanted: the engine does not know theirs here. Health checks' own commands
        (`exec_…`) are not told of.
        """
        ...
