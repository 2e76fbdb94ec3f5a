"""This machine, for real: the whole of the seam `Host`."""

from __future__ import annotations

from argus.host.dns import Resolver
from argus.host.http import HttpProber
from argus.host.process import outlast, run
from argus.host.seam import HttpReply, HttpRequest, Ran
from argus.host.tcp import connect


class MachineHost:
    """This machine, for real."""

    def __init__(self, resolver: Resolver | None = None) -> None:
        self._resolver = resolver or Resolver()
        self._http = HttpProber(self._resolver)

    async def http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        return await self._http.ask(request, timeout=timeout)

    async def tcp(self, host: str, port: int, *, timeout: float) -> float:
        return await connect(self._resolver, host, port, timeout=timeout)

    async def run(self, argv: list[str], *, timeout: float, log: str) -> Ran:
        return await run(argv, timeout=timeout, log=log)

    async def outlast(self, log: str, *, timeout: float) -> bool:
        return await outlast(log, timeout=timeout)

    def close(self) -> None:
        self._resolver.close()
