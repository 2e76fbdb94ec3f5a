"""What the domains may ask of the machine, and how a probe says that it failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from argus.core.circuit import Circuit
from argus.host.engine.resources import Dock
from argus.host.engine.seam import Engine


class Failure(StrEnum):
    """Why a probe did not get its answer. An observation, not an error of Argus."""

    REFUSED = "connection refused"
    TIMEOUT = "timeout"
    DNS = "DNS failure"
    TLS = "TLS failure"
    UNREACHABLE = "unreachable"
    CLOSED = "connection closed"
    NOT_HTTP = "not HTTP"
    OURS = "Argus could not ask"
    """No descriptor, no thread, no memory left: says nothing about the service."""


class ProbeFailed(Exception):
    def __init__(self, failure: Failure, detail: str = "") -> None:
        super().__init__(detail or failure.value)
        self.failure = failure
        self.detail = detail or failure.value


@dataclass(frozen=True, slots=True)
class HttpRequest:
    url: str
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body_limit: int = 0
    """How many bytes of the body are wanted; 0 leaves as soon as the status line and headers are read."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    latency: float
    body: bytes = b""
    tls_expires: float | None = None
    """Wall time at which the peer's certificate ends."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: `exit_code` None when it was ended at its deadline or could not be started."""

    exit_code: int | None
    output: str
    seconds: float
    problem: str = ""
    begun: bool = True
    """False when nothing was done at all."""


class Host(Protocol):
    @property
    def engine(self) -> Engine:
        """The Docker engine, if there is one: asking tells."""
        ...

    def dock(self, environ: Mapping[str, str], circuit: Circuit) -> Dock:
        """The Docker engine of one caller, behind a breaker of its own (`engine.guard.judge` judges for it)."""
        ...

    async def http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        """Raises ProbeFailed."""
        ...

    async def tcp(self, host: str, port: int, *, timeout: float) -> float:
        """Seconds to connect. Raises ProbeFailed."""
        ...

    async def run(self, argv: list[str], *, timeout: float, log: str) -> Ran:
        """Runs a program in a process group of its own, its output going to the file `log`."""
        ...

    async def ask(self, argv: list[str], *, timeout: float) -> Ran:
        """Runs a program for what it prints; at its end or its deadline its whole group is ended."""
        ...

    async def process_of_file(self, path: str, *, timeout: float) -> int:
        """The living process that a PID file names. Raises NoProcess, and TimeoutError when nobody can say."""
        ...

    async def processes_named(self, name: str, *, timeout: float) -> list[int]:
        """The living processes of that name. Raises TimeoutError when nobody can say."""
        ...

    async def outlast(self, log: str, *, timeout: float) -> bool:
        """Waits for the program that an earlier Argus left running with that log, and ends it at the deadline.

        False when there is none any more.
        """
        ...
