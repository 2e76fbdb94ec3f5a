"""Events to 50 readers: as they happen, one by one, and a replay of what is on record.

Every event comes from a request that changes the autonomy level, so Argus also commits it, synced, before anyone reads
of it. The bare application gets a request as well, and sends the same bytes to as many readers from memory.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from tests.acceptance.harness import Argus

from benchmarks import load
from benchmarks.floors.programs import running
from benchmarks.measure import cpu_of, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Row

_READERS = 50
# In turn, so that each is a change; of one length, as the load expects of all answers.
_LEVELS = (b'{"level":"cautious"}', b'{"level":"moderate"}')
Turn = Callable[[], tuple[float, float]]


def measure(plan: Plan) -> Iterable[Row]:
    changes, replayed = plan.size(400, 10), plan.size(2000, 500)
    argus = Argus(plan.folder / "argus")
    argus.configure(autonomy="moderate")
    event = plan.folder / "event"
    with contextlib.ExitStack() as stack:
        stack.callback(argus.end)
        argus.up()
        port = urlsplit(argus.url).port or 0
        changed = [load.request("PUT", "/api/autonomy", port, token=argus.token, body=body) for body in _LEVELS]
        followed = load.request("GET", "/api/events", port, token=argus.token)
        event.write_bytes(load.run(_capture(port, followed, changed)))
        # So much is on record that a replay finds what it asks for.
        load.run(load.ask(port, changed, connections=1, each=replayed))
        bare = stack.enter_context(running("bare_web", str(event), str(plan.folder / "bare.db")))
        published = [load.request("PUT", "/api/publish", bare.said, body=body) for body in _LEVELS]
        bare_followed = load.request("GET", "/api/events", bare.said)
        live = interleave(
            {
                "bare": _live(bare.pid, bare.said, bare_followed, published, changes),
                "argus": _live(argus.pid, port, followed, changed, changes),
            },
            plan.rounds,
            warm=not plan.quick,
        )
        target = f"/api/events?last={replayed}&follow=false"
        asked = load.request("GET", target, port, token=argus.token)
        bare_asked = load.request("GET", f"/api/replay?last={replayed}", bare.said)
        replay = interleave(
            {
                "bare": _replay(bare.pid, bare.said, bare_asked, replayed),
                "argus": _replay(argus.pid, port, asked, replayed),
            },
            plan.rounds,
            warm=not plan.quick,
        )
        argus.down()
    for title, found in ((f"SSE live to {_READERS} readers", live), (f"SSE replay to {_READERS} readers", replay)):
        for place, unit in ((0, "events per CPU s"), (1, "events/s, wall")):
            bare_series, argus_series = ([one[place] for one in found[name]] for name in ("bare", "argus"))
            yield Row(title, unit, argus_series, floor=("bare Starlette", bare_series))


async def _capture(port: int, followed: bytes, changed: list[bytes]) -> bytes:
    """One event as Argus sends it, without the marks of the chunk it came in."""
    (reader,) = await load.follow(port, followed, 1)
    await load.ask(port, changed, connections=1, each=2)
    await reader.until(2)
    reader.transport.close()
    start = reader.text.index(b"id: ")
    return reader.text[start : reader.text.index(b"\n\n", start) + 2]


def _live(pid: int, port: int, followed: bytes, changed: list[bytes], changes: int) -> Turn:
    async def work() -> tuple[float, float]:
        readers = await load.follow(port, followed, _READERS)
        cpu, wall = cpu_of(pid), time.perf_counter()
        await load.ask(port, changed, connections=1, each=changes)
        for reader in readers:
            await reader.until(changes)
        result = _rates(pid, cpu, wall, changes)
        for reader in readers:
            reader.transport.abort()
        return result

    return lambda: load.run(work())


def _replay(pid: int, port: int, asked: bytes, events: int) -> Turn:
    async def work() -> tuple[float, float]:
        cpu, wall = cpu_of(pid), time.perf_counter()
        readers = await load.follow(port, asked, _READERS)
        for reader in readers:
            await reader.until(events)
        result = _rates(pid, cpu, wall, events)
        for reader in readers:
            reader.transport.abort()
        return result

    return lambda: load.run(work())


def _rates(pid: int, cpu: float, wall: float, events: int) -> tuple[float, float]:
    delivered = events * _READERS
    return delivered / (cpu_of(pid) - cpu), delivered / (time.perf_counter() - wall)
