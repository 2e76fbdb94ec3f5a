"""A bare Starlette application on uvicorn, with the settings that Argus gives it: `bare_web EVENT_FILE DATABASE`.

Two routes read JSON and answer JSON. /api/events sends the bytes of EVENT_FILE once for every PUT /api/publish.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

EVENT = Path(sys.argv[1]).read_bytes()
DATABASE = sqlite3.connect(sys.argv[2])
READERS: set[asyncio.Queue[bytes]] = set()


async def autonomy(request: Request) -> Response:
    asked = await request.json()
    return JSONResponse({"level": asked["level"]})


async def report(request: Request) -> Response:
    await request.json()
    return JSONResponse({"ok": True, "timestamp": int(time.time() * 1000)})


async def publish(request: Request) -> Response:
    await request.json()
    for reader in READERS:
        reader.put_nowait(EVENT)
    return JSONResponse({"level": "done"})


async def events(request: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        READERS.add(queue)
        try:
            yield b": argus\n\n"
            while True:
                yield await queue.get()
        finally:
            READERS.discard(queue)

    return StreamingResponse(chunks(), media_type="text/event-stream")


async def replay(request: Request) -> Response:
    """As many events as were asked for, in pieces of 500."""
    left = int(request.query_params["last"])

    async def chunks() -> AsyncIterator[bytes]:
        yield b": argus\n\n"
        for _ in range(left // 500):
            yield EVENT * 500

    return StreamingResponse(chunks(), media_type="text/event-stream")


def main() -> None:
    app = Starlette(
        routes=[
            Route("/api/hooks/{agent}", report, methods=["POST"]),
            Route("/api/autonomy", autonomy, methods=["PUT"]),
            Route("/api/publish", publish, methods=["PUT"]),
            Route("/api/events", events),
            Route("/api/replay", replay),
        ]
    )
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    DATABASE.execute("PRAGMA journal_mode = WAL")
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        date_header=False,
        server_header=False,
    )
    print(json.dumps(listener.getsockname()[1]), flush=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
