"""A bare page that shows one line of the same JSON, on a bare Starlette application: `bare_page STATE_FILE`.

Its stream has one event for every PUT /api/publish, with the time at which it was made, and the page shows its number.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

STATE = Path(sys.argv[1]).read_bytes()
READERS: set[asyncio.Queue[bytes]] = set()
PAGE = """<!doctype html><meta charset="utf-8"><title>bare</title><p id="line"></p><p id="event"></p><script>
fetch("/api/state").then((answer) => answer.json()).then((state) => {
  document.getElementById("line").textContent = `${state.services.length} services, ${state.agents.length} agents`;
});
const stream = new EventSource("/api/events");
window.following = new Promise((resolve) => (stream.onopen = () => resolve(true)));
stream.onmessage = (event) => {
  document.getElementById("event").textContent = `number ${JSON.parse(event.data).number}.`;
};
</script>"""


async def page(request: Request) -> Response:
    return HTMLResponse(PAGE)


async def state(request: Request) -> Response:
    return Response(STATE, media_type="application/json")


async def publish(request: Request) -> Response:
    said = {"number": (await request.json())["number"], "timestamp": int(time.time() * 1000)}
    for reader in READERS:
        reader.put_nowait(f"data: {json.dumps(said)}\n\n".encode())
    return JSONResponse(said)


async def events(request: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        READERS.add(queue)
        try:
            yield b": bare\n\n"
            while True:
                yield await queue.get()
        finally:
            READERS.discard(queue)

    return StreamingResponse(chunks(), media_type="text/event-stream")


def main() -> None:
    routes = [
        Route("/", page),
        Route("/api/state", state),
        Route("/api/events", events),
        Route("/api/publish", publish, methods=["PUT"]),
    ]
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    config = uvicorn.Config(
        Starlette(routes=routes), http="httptools", ws="none", lifespan="off", log_config=None, access_log=False
    )
    print(json.dumps(listener.getsockname()[1]), flush=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
