"""What takes a heartbeat: `pings DATABASE` keeps a row for every ping, as healthchecks does; `pings -` keeps nothing.

A bare Starlette route on uvicorn, with the settings that Argus gives it. With a database it inserts the ping and
updates the row of who sent it, committed and synced before the answer, and throws old pings away as healthchecks does:
the last hundred of each stay.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import sys
import time

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

_KEPT = 100
_TABLES = """
CREATE TABLE checks (id TEXT PRIMARY KEY, status TEXT, n_pings INTEGER, last_ping REAL);
CREATE TABLE pings (id INTEGER PRIMARY KEY, owner TEXT, n INTEGER, created REAL, body TEXT);
CREATE INDEX pings_of ON pings (owner, n);
"""


async def bare(request: Request) -> Response:
    await request.json()
    return JSONResponse({"ok": True, "timestamp": int(time.time() * 1000)})


class Rows:
    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(_TABLES)

    async def ping(self, request: Request) -> Response:
        asked = await request.json()
        agent, status, now = asked["agent_id"], asked["status"], time.time()
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        (n,) = db.execute(
            "INSERT INTO checks VALUES (?, ?, 1, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status, "
            "n_pings = n_pings + 1, last_ping = excluded.last_ping RETURNING n_pings",
            (agent, status, now),
        ).fetchone()
        db.execute("INSERT INTO pings (owner, n, created, body) VALUES (?, ?, ?, ?)", (agent, n, now, status))
        if n % _KEPT == 0:
            db.execute("DELETE FROM pings WHERE owner = ? AND n <= ?", (agent, n - _KEPT))
        db.execute("COMMIT")
        return JSONResponse({"ok": True, "timestamp": int(now * 1000)})


def main() -> None:
    endpoint = bare if sys.argv[1] == "-" else Rows(sys.argv[1]).ping
    app = Starlette(routes=[Route("/api/heartbeat", endpoint, methods=["POST"])])
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        date_header=False,
        server_header=False,
        timeout_keep_alive=30,
    )
    print(json.dumps(listener.getsockname()[1]), flush=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
