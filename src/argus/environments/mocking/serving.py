"""The mocks of environments that are up, answered by this daemon: on the host, and for containers at the gateway."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from argus.core.clock import Clock, rfc3339
from argus.core.errors import ArgusError, Code
from argus.environments.mocking import answering
from argus.environments.mocking.definition import Placed
from argus.environments.mocking.log import RequestLog, seen
from argus.environments.mocking.reading import Request, request
from argus.host.doors import Answerer, Came, CannotListen, Closed, Goes

HERE = "127.0.0.1"
READY = "/_mock/health"
"""What a relay is asked to see that it answers through. It is in nobody's log."""
_LOGGED, _CLEARED = "/_mock/requests", "/_mock/requests/clear"
"""Others of this format have these in every mock."""
_AGAIN = 2.0
"""Seconds until a mock of an earlier daemon's that could not listen tries again."""


class Door(Protocol):
    async def close(self) -> None: ...


Open = Callable[[Iterable[tuple[str, int]], Answerer], Awaitable[Door]]


@dataclass(slots=True)
class _Live:
    placed: Placed
    log: RequestLog = field(default_factory=RequestLog)
    door: Door | None = None
    problem: str = ""
    """Why nobody listens."""


class Mocks:
    def __init__(self, open: Open, clock: Clock) -> None:
        self._open = open
        self._clock = clock
        self._runs: dict[str, dict[str, _Live]] = {}
        self._missing = asyncio.Event()

    async def serve(self, run: str, mocks: Iterable[Placed]) -> None:
        """All of them, instead of those that this run had. Raises PORT_CONFLICT, and NETWORK_UNREACHABLE where the
        network's gateway is not on this machine."""
        await self._close(self._runs.pop(run, {}))
        several = {one.mock.name: _Live(one) for one in mocks}
        for live in several.values():
            _check(live.placed.gateway)
        self._runs[run] = several
        try:
            for live in several.values():
                live.door = await self._opened(live)
        except CannotListen as cannot:
            await self._close(self._runs.pop(run))
            raise _refusal(cannot) from None

    def restore(self, run: str, mocks: Iterable[Placed]) -> None:
        """Those of an earlier daemon, on the same ports: as soon as they can be had."""
        self._runs[run] = {one.mock.name: _Live(one, problem="not yet") for one in mocks}
        if self._runs[run]:
            self._missing.set()

    async def keep(self, alive: Collection[str]) -> None:
        """What is not alive any more is not answered for."""
        for run in [one for one in self._runs if one not in alive]:
            await self._close(self._runs.pop(run))

    async def run(self) -> None:
        while True:
            await self._missing.wait()
            for live in [one for several in self._runs.values() for one in several.values() if one.door is None]:
                try:
                    live.door, live.problem = await self._opened(live), ""
                except CannotListen as cannot:
                    live.problem = str(cannot)
            if all(one.door for several in self._runs.values() for one in several.values()):
                self._missing.clear()
            else:
                await asyncio.sleep(_AGAIN)

    async def close(self) -> None:
        await self.keep(())

    def problems(self, run: str) -> dict[str, str]:
        return {name: one.problem for name, one in self._runs.get(run, {}).items() if one.problem}

    def logs(self, run: str) -> Mapping[str, RequestLog]:
        return {name: one.log for name, one in self._runs.get(run, {}).items()}

    async def _opened(self, live: _Live) -> Door:
        one = live.placed
        # A mock of several runs at once is answered on the host by its port, and for containers by their gateway.
        addresses = dict.fromkeys(((HERE, one.port), (one.gateway, one.port)))

        async def answer(came: Came) -> Goes:
            return await self._answer(live, came)

        return await self._open(addresses, answer)

    async def _close(self, several: Mapping[str, _Live]) -> None:
        for live in several.values():
            if live.door is not None:
                await live.door.close()

    async def _answer(self, live: _Live, came: Came) -> Goes:
        began, mock = self._clock.monotonic(), live.placed.mock
        asked = request(came.method, came.path, came.query, came.headers, came.body)
        reply = _own(live, asked)
        if reply is None:
            if came.is_too_large:
                reply = answering.said(413, error="more than this mock takes", mock=mock.name)
            else:
                reply = answering.answer(mock, asked, rfc3339(self._clock.wall()), lambda: str(uuid.uuid4()))
            await asyncio.sleep(reply.delay)
            seconds = self._clock.monotonic() - began
            at = self._clock.wall()
            live.log.add(seen(mock.name, at, asked, came.body, reply.route, reply.status, seconds))
        headers = [*reply.headers, ("connection", "close")] if came.is_too_large else list(reply.headers)
        return Goes(reply.status, headers, reply.body)


def _own(live: _Live, asked: Request) -> answering.Reply | None:
    """What every mock answers, whatever its routes."""
    match asked.method, asked.path:
        case "GET" | "HEAD", str(path) if path == READY:
            return answering.said(200, status="ok", mock=live.placed.mock.name)
        case "GET", str(path) if path == _LOGGED:
            several = live.log.all()
            told = [
                {"method": one.method, "path": one.path, "headers": dict(one.headers), "body": one.body,
                 "query": dict(one.query), "timestamp": rfc3339(one.at)}
                for one in several
            ]  # fmt: skip
            return answering.Reply(200, (("content-type", "application/json"),), json.dumps(told).encode())
        case "POST" | "DELETE", str(path) if path == _CLEARED:
            live.log.clear()
            return answering.said(200, cleared=True)
    return None


def _check(gateway: str) -> None:
    """One address and no other is listened on; an empty one would be all of them."""
    try:
        address = ipaddress.IPv4Address(gateway)
    except ValueError:
        address = None
    if address is None or address.is_unspecified or address.is_loopback:
        message = f"mocks cannot be served to containers: their network has no gateway of IPv4 ({gateway or 'none'})"
        raise ArgusError(Code.NETWORK_UNREACHABLE, message, gateway=gateway)


def _refusal(cannot: CannotListen) -> ArgusError:
    if cannot.why is Closed.TAKEN:
        return ArgusError(Code.PORT_CONFLICT, f"port {cannot.port} is taken", port=cannot.port, host=cannot.host)
    message = (
        f"mocks cannot be served to containers: the gateway {cannot.host} of their network is not an address of this "
        "machine (an engine in a virtual machine, on another host, or rootless); give these mocks an `image`"
    )
    if cannot.why is not Closed.ELSEWHERE:
        message = f"mocks cannot be served at {cannot}"
    return ArgusError(Code.NETWORK_UNREACHABLE, message, gateway=cannot.host, port=cannot.port)
