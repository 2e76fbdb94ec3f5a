"""The barest thing that starts a container again: `bare_guardian SOCKET CONTAINER`. An event, an order, no record."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from urllib.parse import quote

import uvloop

from benchmarks.floors import bare_engine


class _Events(asyncio.Protocol):
    def __init__(self, died: asyncio.Event) -> None:
        self._died = died
        self.begun = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.begun.set()
        if b'"die"' in data:
            self._died.set()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport


async def main(path: str, container: str) -> None:
    loop, died = asyncio.get_running_loop(), asyncio.Event()
    filters = quote(json.dumps({"container": [container], "event": ["die"]}))
    transport, events = await loop.create_unix_connection(lambda: _Events(died), path)
    transport.write(f"GET /events?filters={filters} HTTP/1.1\r\nHost: docker\r\n\r\n".encode())
    await events.begun.wait()
    print(json.dumps(True), flush=True)
    order = [bare_engine.wire("POST", f"/containers/{container}/start")]
    while True:
        await died.wait()
        died.clear()
        await bare_engine.ask(path, order)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))
