"""The part of Argus that watches services, by itself: the real Watch, machine and store, without a door."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from argus.core.autonomy import Level
from argus.core.clock import SystemClock
from argus.host.machine import MachineHost
from argus.host.seam import HttpReply, HttpRequest
from argus.services.checks.base import Service
from argus.services.checks.http import HttpService
from argus.services.checks.tcp import TcpService
from argus.services.model import Status
from argus.services.settings import Health
from argus.services.tools import Tools
from argus.services.watch import Watch
from argus.store.notes import Notes
from argus.store.sqlite import SqliteStore


class CountingHost(MachineHost):
    checks = 0

    async def http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        self.checks += 1
        return await super().http(request, timeout=timeout)


def services(kind: str, ports: Sequence[int], count: int, interval: str) -> tuple[Service, ...]:
    made: list[Service] = []
    for place in range(count):
        port = ports[place % len(ports)]
        common = {"name": f"service-{place}", "interval": interval, "timeout": "5s"}
        if kind == "http":
            given = {**common, "type": "http", "url": f"http://127.0.0.1:{port}/"}
            made.append(HttpService.model_validate(given))
        else:
            made.append(TcpService.model_validate({**common, "type": "tcp", "port": port}))
    return tuple(made)


@contextlib.asynccontextmanager
async def watching(folder: Path, watched: tuple[Service, ...]) -> AsyncIterator[tuple[Watch, CountingHost]]:
    """Runs until the block is left. Fails if anything was found down: failures cost something else."""
    store, host, clock = SqliteStore(folder / "argus.db"), CountingHost(), SystemClock()
    notes = Notes(store, clock)
    tools = Tools(
        host=host,
        store=store,
        notes=notes,
        clock=clock,
        autonomy=lambda: Level.OBSERVE,
        time_is_sound=lambda: True,
        new_id=lambda: "0",
        log_path=lambda name: str(folder / name),
    )
    watch = Watch(Health(), watched, tools)
    await watch.restore()
    parts = [asyncio.ensure_future(part) for part in (notes.run(), watch.run())]
    try:
        yield watch, host
        down = [name for name, health in watch.healths.items() if health.status is not Status.UP]
        if down:
            raise RuntimeError(f"{len(down)} services are not up, as {down[0]}: this measured failures")
    finally:
        for part in parts:
            part.cancel()
        await asyncio.wait(parts)
        host.close()
        await store.close()
