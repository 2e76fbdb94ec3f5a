"""Agents that beat: a connection each, and bytes rendered beforehand but for a number, which tells what came last.

Open loop: beats are sent when they are due, answered or not, and a beat's time counts from when it was due. A server
that falls behind cannot slow its own measurement down.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import load

_TICK = 0.002
_ANSWERS = 30.0
"""Seconds in which the last answers have to come."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Wire:
    """One agent's request, around the number of the beat."""

    before: bytes
    after: bytes

    @classmethod
    def of(cls, port: int, agent: str, token: str, pid: int, *, word: str = "step") -> Wire:
        body = (
            b'{"agent_id":"%s","status":"%s-%s","current_task":"SEC-12 - make the log-in remember who came",'
            b'"config_name":"SNTGreen","project_path":"/srv/app","pid":%d}'
            % (agent.encode(), word.encode(), b"#" * _DIGITS, pid)
        )
        whole = load.request("POST", "/api/heartbeat", port, token=token, body=body)
        before, _, after = whole.partition(b"#" * _DIGITS)
        return cls(before, after)

    def beat(self, number: int) -> bytes:
        return b"%s%06d%s" % (self.before, number, self.after)


def said(number: int, *, word: str = "step") -> str:
    """The status that a beat of that number tells."""
    return f"{word}-{number:0{_DIGITS}d}"


class _Agent(asyncio.Protocol):
    def __init__(self, wire: Wire, times: list[float]) -> None:
        self.sent = 0
        self.answered = 0
        self.refusal = b""
        self.is_over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wire = wire
        self._times = times
        self._due: deque[float] = deque()
        self._length = 0
        self._rest = b""
        self._most = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.beat(time.perf_counter())

    def beat(self, due: float) -> None:
        self.sent += 1
        self._due.append(due)
        if not self.is_over.done():
            self.transport.write(self._wire.beat(self.sent))

    def beat_on(self, most: int) -> None:
        """One after the other, as fast as they are answered."""
        self._most = most
        self.beat(time.perf_counter())

    def data_received(self, data: bytes) -> None:
        data = self._rest + data if self._rest else data
        while len(data) >= (self._length or self._learn(data)) > 0:
            if not data.startswith(b"HTTP/1.1 200") or b'"ok":true' not in data[: self._length]:
                self.refusal = data[:300]
                self._end()
                return
            self.answered += 1
            now = time.perf_counter()
            self._times.append(now - self._due.popleft())
            data = data[self._length :]
            if self.answered < self._most:
                self.beat(now)
            elif self._most:
                self._end()
        self._rest = data

    def _learn(self, data: bytes) -> int:
        """All answers are as long as the first."""
        head, end, _ = data.partition(b"\r\n\r\n")
        if end:
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            self._length = len(head) + len(end) + int(fields.get(b"content-length", 0))
        return self._length

    def connection_lost(self, error: Exception | None) -> None:
        if not self.refusal and len(self._due):
            self.refusal = f"the connection was closed: {error}".encode()
        self._end()

    def _end(self) -> None:
        if not self.is_over.done():
            self.is_over.set_result(None)


@dataclass(frozen=True, slots=True)
class Beaten:
    sent: int
    lost: int
    times: list[float]
    """Seconds from when a beat was due to its answer."""
    last: list[int]
    """Of each agent, the number of the last beat that was answered."""
    seconds: float
    refusal: bytes = b""

    def percentile(self, share: float) -> float:
        """Milliseconds; what was not answered at all counts as the longest wait there can be."""
        ordered = sorted(self.times) + [_ANSWERS] * self.lost
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def at_a_rate(port: int, wires: Sequence[Wire], *, rate: int, seconds: float, patience: float = _ANSWERS) -> Beaten:
    """So many beats a second in all, from every agent in turn."""

    async def work() -> Beaten:
        times: list[float] = []
        agents = await _connect(port, wires, times)
        began, made, all_of_them = time.perf_counter(), 0, int(rate * seconds)
        while made < all_of_them:
            due = min(all_of_them, int((time.perf_counter() - began) * rate))
            while made < due:
                agents[made % len(agents)].beat(began + made / rate)
                made += 1
            await asyncio.sleep(_TICK)
        until = time.perf_counter() + patience
        while len(times) < made and time.perf_counter() < until:
            if any(one.is_over.done() for one in agents):
                break
            await asyncio.sleep(_TICK)
        return _told(agents, times, time.perf_counter() - began)

    return _undisturbed(work())


def as_fast_as_they_go(port: int, wires: Sequence[Wire], *, each: int) -> Beaten:
    async def work() -> Beaten:
        times: list[float] = []
        agents = await _connect(port, wires, times)
        began = time.perf_counter()
        for one in agents:
            one.beat_on(each)
        await asyncio.wait([one.is_over for one in agents])
        return _told(agents, times, time.perf_counter() - began)

    return _undisturbed(work())


def _undisturbed(work: Coroutine[Any, Any, Beaten]) -> Beaten:
    gc.collect()
    gc.disable()
    try:
        return load.run(work)
    finally:
        gc.enable()


async def _connect(port: int, wires: Sequence[Wire], times: list[float]) -> list[_Agent]:
    loop = asyncio.get_running_loop()
    made = []
    for wire in wires:
        _, agent = await loop.create_connection(partial(_Agent, wire, times), "127.0.0.1", port)
        made.append(agent)
    # Counted from the second on: the first registers an agent, which is another piece of work.
    async with asyncio.timeout(_ANSWERS):
        while not all(agent.answered for agent in made):
            if refusal := next((agent.refusal for agent in made if agent.refusal), b""):
                raise RuntimeError(f"the first beat was not taken: {refusal!r}")
            await asyncio.sleep(_TICK)
    times.clear()
    return made


def _told(agents: list[_Agent], times: list[float], seconds: float) -> Beaten:
    sent, answered = sum(one.sent for one in agents), sum(one.answered for one in agents)
    refusal = next((one.refusal for one in agents if one.refusal), b"")
    for one in agents:
        one.transport.abort()
    return Beaten(sent, sent - answered, times, [one.answered for one in agents], seconds, refusal)
