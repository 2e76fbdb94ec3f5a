"""Reading the daemon's events, across its restarts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from argus import home
from argus.cli.client import Refused, find_or_start, running, token
from argus.cli.http import Connection
from argus.core.errors import ArgusError, Code


def events(
    config: str | None,
    *,
    follow: bool,
    last: int,
    after: str | None,
    channel: str | None,
    live: bool = False,
    start: bool = True,
    begun: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """`begun` is called when the daemon listens: what happens from then on is not missed. `start`: a daemon, where
    there is none."""
    position, may_start = after, start
    while True:
        query = {"follow": "true" if follow else "false", **({"after": position} if position else {"last": str(last)})}
        if channel:
            query["channel"] = channel
        if live:
            query["live"] = "true"
        # Only the first time: one that a person stopped meanwhile is waited for, not started.
        daemon = find_or_start(config) if may_start else running(home.folder(os.environ))
        may_start = False
        if daemon is None:
            time.sleep(0.5)
            continue
        try:
            for event in _read(daemon.host, daemon.port, f"/api/events?{urlencode(query)}", begun):
                position = event["id"] or position
                yield event
        except OSError:
            if not follow:
                raise ArgusError(Code.NO_DAEMON, "the daemon went away while it told its events") from None
        if not follow:
            return
        # The daemon ended; whoever follows wants to know when it is back, from where it was.
        time.sleep(0.5)


def _read(host: str, port: int, target: str, begun: Callable[[], None]) -> Iterator[dict[str, Any]]:
    connection = Connection(host, port, timeout=60.0)
    try:
        connection.begin(
            "GET",
            target,
            {
                "Host": f"{f'[{host}]' if ':' in host else host}:{port}",
                "Authorization": f"Bearer {token(home.folder(os.environ))}",
                "Accept": "text/event-stream",
            },
        )
        connection.read_head()
        if connection.status != 200:
            answer = json.loads(b"".join(connection.chunks()))
            raise Refused(answer["error"])
        begun()
        kept = b""
        for data in connection.chunks():
            *blocks, kept = (kept + data).split(b"\n\n")
            yield from (event for event in map(_event, blocks) if event is not None)
    finally:
        connection.close()


def _event(block: bytes) -> dict[str, Any] | None:
    fields = dict(line.split(": ", 1) for line in block.decode().splitlines() if line and not line.startswith(":"))
    if "data" not in fields:
        return None
    return {"id": fields.get("id", ""), "event": fields.get("event", ""), "data": json.loads(fields["data"])}
