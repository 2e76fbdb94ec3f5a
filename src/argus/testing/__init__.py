"""A simulated clock and machine, for the tests of Argus and of whoever builds on it.

`SimulatedLoop` runs asyncio code on virtual time: nothing waits, and one seed gives one order of steps. `FakeHost` is
the machine behind the same seam as the real one, `FakeLauncher` its agents and `FakePanes` their terminals; one
contract suite runs over the fake and the real ones.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from argus.core.circuit import Circuit
from argus.core.vital import Vital
from argus.host.conversations import Conversation
from argus.host.engine.guard import GuardedEngine
from argus.host.engine.guarded import GuardedDock
from argus.host.identity import Identity
from argus.host.launching import Ended, Launch, LaunchFailed, LaunchUncertain, Running
from argus.host.processes import NoProcess
from argus.host.runfolder import last
from argus.host.seam import Failure, HttpReply, HttpRequest, ProbeFailed, Ran
from argus.host.worktrees import WorktreeFailed
from argus.testing.containers import FakeContainer, FakeImage
from argus.testing.engine import FakeBuild, FakeEngine
from argus.testing.loop import SimulatedLoop, Stuck
from argus.testing.mcp import FakeMcp, FakeSession
from argus.testing.panes import FakePane, FakePanes


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
    tls_expires: float | None = None


class FakeHost:
    """A machine of ports, programs and containers. A port that nobody set up refuses."""

    def __init__(self) -> None:
        self.docker = FakeEngine()
        self.engine = GuardedEngine(self.docker, lambda: asyncio.get_running_loop().time())
        self.ports: dict[int, Answers] = {}
        self.programs: dict[str, Callable[[list[str]], Awaitable[Ran]]] = {}
        self.started: list[list[str]] = []

    def dock(self, environ: Mapping[str, str], circuit: Circuit) -> GuardedDock:
        return GuardedDock(self.docker, circuit)

    async def http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        parts = urlsplit(request.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        answers = self.ports.get(port, Answers(failure=Failure.REFUSED))
        await self._reach(answers, timeout)
        return HttpReply(answers.status, answers.latency, answers.body[: request.body_limit], answers.tls_expires)

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
            return Ran(None, "", 0.0, f"cannot start {argv[0]}: No such file or directory", begun=False)
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(timeout):
                return await program(argv)
        except TimeoutError:
            return Ran(None, "", loop.time() - began, f"not finished within {timeout:g} s")

    async def ask(self, argv: list[str], *, timeout: float) -> Ran:
        return await self.run(argv, timeout=timeout, log="")

    async def process_of_file(self, path: str, *, timeout: float) -> int:
        raise NoProcess(f"{path}: No such file or directory")

    async def processes_named(self, name: str, *, timeout: float) -> list[int]:
        return []

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


@dataclass(frozen=True, slots=True)
class Behaves:
    """What a fake agent does."""

    seconds: float | None = None
    """Then it exits; None: it runs until it is ended."""
    exit_status: int = 0
    ignores_term: bool = False
    prints: str = ""


@dataclass(eq=False)
class FakeAgent:
    """An agent that runs or ran on the fake machine, and what a test may do to it."""

    launch: Launch
    running: Running
    behaves: Behaves
    vital: Vital = Vital.ALIVE
    exit_status: int | None = None
    shim_is_alive: bool = True
    term_is_pending: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def exit(self, status: int) -> None:
        if self.vital is not Vital.DEAD:
            self.vital = Vital.DEAD
            self.exit_status = status if self.shim_is_alive else None
            self.shim_is_alive = False
            self.over.set()

    def signal(self, number: int) -> None:
        if self.vital is Vital.DEAD:
            return
        if number == signal.SIGSTOP:
            self.vital = Vital.STOPPED
        elif number == signal.SIGCONT:
            self.vital = Vital.ALIVE
            if self.term_is_pending:
                self.signal(signal.SIGTERM)
        elif number == signal.SIGTERM and self.vital is Vital.STOPPED:
            self.term_is_pending = True
        elif number == signal.SIGKILL or (number == signal.SIGTERM and not self.behaves.ignores_term):
            self.exit(128 + number)

    def kill_shim(self) -> None:
        """Nobody is left to note how it ends."""
        self.shim_is_alive = False


@dataclass(eq=False)
class _FakeRun:
    """A run folder: attempts up to `fenced` begin nothing any more."""

    fenced: int = 0
    agent: FakeAgent | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class FakeLauncher:
    """A machine of agents that outlives every Argus on it. A program that nobody set up does not exist."""

    def __init__(self) -> None:
        self.programs: dict[str, Behaves] = {}
        self.missing_folders: set[str] = set()
        self.start_takes = 0.01
        """Seconds from the call until the agent runs. It gets there also when nobody waits for it any more."""
        self.fails = ""
        """Why nothing can be started at the moment."""
        self.loses_replies = False
        """What is started runs, and whoever started it is not told."""
        self.agents: list[FakeAgent] = []
        """All that ever ran, in order."""
        self._runs: dict[str, _FakeRun] = {}

    def living(self, folder: str | None = None) -> list[FakeAgent]:
        return [
            agent for agent in self.agents if agent.vital is not Vital.DEAD and folder in (None, agent.launch.folder)
        ]

    def agent(self, folder: str) -> FakeAgent:
        return next(agent for agent in self.agents if agent.launch.folder == folder)

    def prepare(self, folder: str) -> None:
        self._runs.setdefault(folder, _FakeRun())

    async def launch(self, launch: Launch, *, timeout: float) -> Running:
        run = self._runs.setdefault(launch.folder, _FakeRun())
        if run.agent is None:
            attempt = run.fenced + 1
            try:
                self._check(launch)
            except LaunchFailed:
                run.fenced = attempt
                raise
            asyncio.get_running_loop().call_later(self.start_takes, self._arrive, run, launch, attempt)
            try:
                async with asyncio.timeout(timeout):
                    await run.changed.wait()
            except TimeoutError:
                run.fenced = max(run.fenced, attempt)
        if run.agent is None:
            raise LaunchFailed("it did not begin in time")
        if run.agent.launch.nonce != launch.nonce:
            raise LaunchFailed("the run folder belongs to another start")
        if self.loses_replies:
            raise LaunchUncertain("the reply was lost")
        return run.agent.running

    def _check(self, launch: Launch) -> None:
        if self.fails:
            raise LaunchFailed(self.fails)
        if launch.argv[0] not in self.programs:
            raise LaunchFailed(f"no such program: {launch.argv[0]}")
        if launch.cwd in self.missing_folders:
            raise LaunchFailed(f"no such folder to work in: {launch.cwd}")
        if launch.tmux is not None:
            taken = {(agent.launch.tmux_socket, agent.launch.tmux) for agent in self.living()}
            if (launch.tmux_socket, launch.tmux) in taken:
                raise LaunchFailed(f"duplicate session: {launch.tmux}")

    def _arrive(self, run: _FakeRun, launch: Launch, attempt: int) -> None:
        """The shim comes to its latch: the first one in time runs, whoever came too late or second does not."""
        if run.agent is not None or attempt <= run.fenced:
            return
        number = 1000 + 2 * len(self.agents)
        shim, agent = Identity(number, str(number)), Identity(number + 1, str(number + 1))
        behaves = self.programs[launch.argv[0]]
        run.agent = FakeAgent(launch, Running(agent, shim, launch.nonce, launch.folder), behaves)
        self.agents.append(run.agent)
        run.changed.set()
        if behaves.seconds is not None:
            asyncio.get_running_loop().call_later(behaves.seconds, self._finish, run.agent)

    def _finish(self, agent: FakeAgent) -> None:
        if agent.vital is Vital.STOPPED:  # it does not get on; looked at again later
            asyncio.get_running_loop().call_later(1.0, self._finish, agent)
        else:
            agent.exit(agent.behaves.exit_status)

    async def find(self, folder: str, nonce: str) -> Running | Ended | None:
        run = self._runs.get(folder)
        if run is None:
            return None
        if run.agent is None:
            run.fenced += 1
            return None
        if run.agent.launch.nonce != nonce:
            return None
        return Ended(run.agent.exit_status) if run.agent.vital is Vital.DEAD else run.agent.running

    async def ended(self, running: Running) -> Ended:
        agent = self.agent(running.folder)
        await agent.over.wait()
        return Ended(agent.exit_status)

    def identify(self, pid: int) -> Identity | None:
        living = (one.running.agent for one in self.agents if one.vital is not Vital.DEAD)
        return next((one for one in living if one.pid == pid), None)

    def carries(self, pid: int, nonce: str) -> bool:
        return any(one.running.agent.pid == pid and one.launch.nonce == nonce for one in self.agents)

    def look(self, identity: Identity) -> Vital:
        for agent in self.agents:
            if identity == agent.running.agent:
                return agent.vital
            if identity == agent.running.shim:
                return Vital.ALIVE if agent.shim_is_alive else Vital.DEAD
        return Vital.DEAD

    async def stop(self, running: Running, *, grace: float) -> bool:
        agent = self.agent(running.folder)
        if agent.vital is Vital.DEAD:
            return False
        agent.signal(signal.SIGTERM)
        agent.signal(signal.SIGCONT)
        try:
            async with asyncio.timeout(grace):
                await agent.over.wait()
        except TimeoutError:
            agent.signal(signal.SIGKILL)
        return True

    async def tail(self, folder: str, lines: int) -> str:
        printed = "".join(agent.behaves.prints for agent in self.agents if agent.launch.folder == folder)
        return last(printed, lines)

    def clear(self, running: Running) -> None:
        """A fake agent leaves nothing."""

    def bound(self, folder: str) -> None:
        """What a fake agent prints is short."""


def run_simulated(main: Callable[[SimulatedLoop], Awaitable[Any]]) -> Any:
    """Runs a coroutine function on virtual time to its end."""
    loop = SimulatedLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:

        async def whole() -> Any:
            return await main(loop)

        return runner.run(whole())


__all__ = [
    "Answers",
    "Behaves",
    "FakeAgent",
    "FakeBuild",
    "FakeClock",
    "FakeContainer",
    "FakeEngine",
    "FakeHost",
    "FakeImage",
    "FakeLauncher",
    "FakeMcp",
    "FakePane",
    "FakePanes",
    "FakeSession",
    "SimulatedLoop",
    "Stuck",
    "run_simulated",
]


class FakeWorktrees:
    """Folders that are only names."""

    def __init__(self) -> None:
        self.is_repository = True
        self.failure = ""
        self.made: list[str] = []

    def place(self, project: str, lineage: str) -> str:
        return f"/worktrees/{lineage}" if self.is_repository else ""

    async def make(self, project: str, lineage: str) -> None:
        if self.failure:
            raise WorktreeFailed(self.failure)
        self.made.append(lineage)


class FakeConversations:
    """What the programs of agents have written down: a test says what."""

    def __init__(self) -> None:
        self.resumable: set[str] = set()
        self.found: list[Conversation] = []

    async def can_resume(self, kind: str, id: str, env: Mapping[str, str]) -> bool:
        return id in self.resumable

    async def begun(self, kind: str, project: str, since: float, env: Mapping[str, str]) -> tuple[Conversation, ...]:
        return tuple(one for one in self.found if one.began >= since)
