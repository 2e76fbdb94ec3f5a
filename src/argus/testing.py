"""A simulated clock and machine, for the tests of Argus and of whoever builds on it.

`SimulatedLoop` runs asyncio code on virtual time: nothing waits, and one seed gives one order of steps. `FakeHost` is
the machine behind the same seam as the real one; one contract suite runs over both.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from argus.host.seam import Failure, HttpReply, HttpRequest, ProbeFailed, Ran


class Stuck(Exception):
    """Nothing is scheduled and nothing will ever happen: on a real machine this would be a hang."""


class _VirtualSelector(selectors.DefaultSelector):
    """Instead of waiting, moves the time to the moment that was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if not ready:
            if timeout is None:
                raise Stuck
            self.now += max(0.0, timeout)
        return ready


class SimulatedLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now

    def stall(self, seconds: float) -> None:
        """Time passes while nothing runs, as when the process is stopped."""
        self._virtual.now += seconds


class FakeClock:
    """A clock whose parts can be moved apart. Without a loop it stands still until `advance`."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None, *, wall: float = 1_800_000_000.0) -> None:
        self._loop = loop
        self._offset = 0.0
        self._wall = wall
        self._slept = 0.0
        self.boot_id = "boot-1"

    def monotonic(self) -> float:
        return self._offset + (self._loop.time() if self._loop else 0.0)

    def boot(self) -> float:
        return self.monotonic() + self._slept

    def wall(self) -> float:
        return self._wall + self.boot()

    def advance(self, seconds: float) -> None:
        self._offset += seconds

    def step(self, seconds: float) -> None:
        """Somebody set the wall clock."""
        self._wall += seconds

    def sleep(self, seconds: float) -> None:
        """The machine was suspended: the monotonic clock stood still meanwhile."""
        self._slept += seconds


@dataclass(frozen=True, slots=True)
class Answers:
    """What a fake port does when it is asked: an HTTP status, a failure, or nothing until the deadline."""

    status: int = 200
    body: bytes = b""
    failure: Failure | None = None
    hangs: bool = False
    latency: float = 0.001


class FakeHost:
    """A machine of ports and programs. A port that nobody set up refuses."""

    def __init__(self) -> None:
        self.ports: dict[int, Answers] = {}
        self.programs: dict[str, Callable[[list[str]], Awaitable[Ran]]] = {}
        self.started: list[list[str]] = []

    async def http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        parts = urlsplit(request.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        answers = self.ports.get(port, Answers(failure=Failure.REFUSED))
        await self._reach(answers, timeout)
        return HttpReply(answers.status, answers.latency, answers.body[: request.body_limit])

    async def tcp(self, host: str, port: int, *, timeout: float) -> float:
        answers = self.ports.get(port, Answers(failure=Failure.REFUSED))
        # The kernel accepts for a server that then hangs, hangs up, or speaks something else.
        if answers.hangs or answers.failure in (Failure.NOT_HTTP, Failure.CLOSED):
            answers = Answers()
        return (await self._reach(answers, timeout)).latency

    async def run(self, argv: list[str], *, timeout: float, log: str) -> Ran:
        self.started.append(argv)
        program = self.programs.get(argv[0])
        if program is None:
            return Ran(None, "", 0.0, f"cannot start {argv[0]}: No such file or directory")
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(timeout):
                return await program(argv)
        except TimeoutError:
            return Ran(None, "", loop.time() - began, f"not finished within {timeout:g} s")

    async def outlast(self, log: str, *, timeout: float) -> bool:
        return False  # nothing outlives a simulated Argus

    async def _reach(self, answers: Answers, timeout: float) -> Answers:
        if answers.hangs or answers.latency > timeout:
            await asyncio.sleep(timeout)
            raise ProbeFailed(Failure.TIMEOUT, f"no answer within {timeout:g} s")
        await asyncio.sleep(answers.latency)
        if answers.failure is not None:
            raise ProbeFailed(answers.failure)
        return answers


def run_simulated(main: Callable[[SimulatedLoop], Awaitable[Any]]) -> Any:
    """Runs a coroutine function on virtual time to its end."""
    loop = SimulatedLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:

        async def whole() -> Any:
            return await main(loop)

        return runner.run(whole())


__all__ = ["Answers", "FakeClock", "FakeHost", "SimulatedLoop", "Stuck", "run_simulated"]
