"""This machine, for real: the whole of the seam `Host`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argus.core.circuit import Circuit
from argus.host import processes
from argus.host.asking import ask
from argus.host.children import Children
from argus.host.commands import Commands
from argus.host.deadlines import Deadlines
from argus.host.dns import Resolver
from argus.host.engine.building import DockerDock
from argus.host.engine.docker import DockerContainers
from argus.host.engine.guard import GuardedEngine
from argus.host.engine.guarded import GuardedDock
from argus.host.engine.wire import Line
from argus.host.http import HttpProber
from argus.host.leftovers import Leftovers
from argus.host.piped import Pipes
from argus.host.process import outlast, run
from argus.host.seam import HttpReply, HttpRequest, Ran
from argus.host.tcp import connect
from argus.host.tmux import Tmux
from argus.host.tmux_panes import TmuxPanes
from argus.host.web import Web

T = TypeVar("T")


class MachineHost:
    """This machine, for real."""

    def __init__(self, resolver: Resolver | None = None) -> None:
        self._resolver = resolver or Resolver()
        self._deadlines = Deadlines()
        self._http = HttpProber(self._resolver, self._deadlines)
        self.engine = GuardedEngine(DockerContainers(self._resolver), time.monotonic)
        self._children = Children()
        self._leftovers = Leftovers()
        self.pipes = Pipes(self._children, self._leftovers)
        self.web = Web(self._resolver)
        self.commands = Commands(self._children, self._leftovers)
        self._lookers = ThreadPoolExecutor(4, thread_name_prefix="look")

    def dock(self, environ: Mapping[str, str], circuit: Circuit) -> GuardedDock:
        return GuardedDock(DockerDock(Line(self._resolver, environ), self._children, self._leftovers, environ), circuit)

    def panes(self) -> TmuxPanes:
        return TmuxPanes(self._children, Tmux(self._children))

    async def http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        return await self._http.ask(request, timeout=timeout)

    async def tcp(self, host: str, port: int, *, timeout: float) -> float:
        return await connect(self._resolver, self._deadlines, host, port, timeout=timeout)

    async def run(self, argv: list[str], *, timeout: float, log: str) -> Ran:
        return await run(argv, timeout=timeout, log=log)

    async def ask(self, argv: list[str], *, timeout: float) -> Ran:
        return await ask(self._children, self._leftovers, argv, timeout=timeout)

    async def process_of_file(self, path: str, *, timeout: float) -> int:
        return await self._look(timeout, processes.of_file, path)

    async def processes_named(self, name: str, *, timeout: float) -> list[int]:
        return await self._look(timeout, processes.of_name, name)

    async def _look(self, timeout: float, work: Callable[[str], T], what: str) -> T:
        """In a thread of its own: a file may lie on a disk that hangs, and a list of processes is long."""
        looking = asyncio.get_running_loop().run_in_executor(self._lookers, work, what)
        return await asyncio.wait_for(asyncio.shield(looking), timeout)

    async def outlast(self, log: str, *, timeout: float) -> bool:
        return await outlast(log, timeout=timeout)

    def close(self) -> None:
        self._resolver.close()
        self.pipes.close()
        self._leftovers.close()
        self._children.close()
        self._lookers.shutdown(wait=False, cancel_futures=True)
