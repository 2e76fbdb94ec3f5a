"""Following the journal over SSE while something happens to it."""

import asyncio
import re
from pathlib import Path
from typing import Any

from argus.api.answers import Errors
from argus.api.sse import EventStream
from argus.core.events import Draft
from argus.core.redact import Redactor
from argus.live import Live
from argus.store.records import Append, Incident, PruneEvents, PutIncident
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock


async def test_a_reader_that_is_overtaken_by_a_prune_is_told_and_goes_on_with_what_is_kept(tmp_path: Path):
    clock = FakeClock()
    store = SqliteStore(tmp_path / "argus.db", clock=clock)
    await store.commit(PutIncident(Incident("i1", "outage", "api", 1.0)))
    for place in range(30):
        # Of every hundred one belongs to an open incident, and stays where all others go.
        drafts = [Draft("c", "t", "", {"incident": "i1"} if place == 0 else {}) for place in range(100)]
        await store.commit(*map(Append, drafts))
    clock.advance(100.0)
    order = PruneEvents(int(clock.wall() * 1000), int(clock.wall() * 1000), keep=100, most=10_000, piece=10_000)
    said: list[bytes] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message.get("body", b""))
        if b"id: " in said[-1]:
            await store.prune(order)

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/events",
        "headers": [(b"last-event-id", f"{store.epoch}-0".encode())],
        "query_string": b"follow=false",
    }
    live = Live(clock, Redactor())
    stream = EventStream(store, live, clock, Errors(clock, Redactor()), asyncio.Event())
    await stream(scope, receive, send)  # type: ignore[arg-type]
    lines = re.findall(rb"id: \w+-(\d+)\nevent: ([\w:]+)\n", b"".join(said))
    expected = [*((n, "c:t") for n in range(1, 501)), (2900, "reset"), *((n, "c:t") for n in range(2901, 3001))]
    assert [(int(n), name.decode()) for n, name in lines] == expected
    await store.close()
