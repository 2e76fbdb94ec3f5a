"""A tool of an MCP server called through the bridge, beside the SDK's own client on the same server.

Both speak to a program by its pipes, one call after another over one session. Argus also looks for the server's
definition, asks its breaker, checks the arguments against the schema and keeps the deadline.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median

import uvloop

from benchmarks.measure import ROOT, in_child, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_SERVER = str(ROOT / "tests" / "mcp_peer.py")
_SDK = "the SDK's client"
_ASKED = {"a": 1, "b": 2}
Call = Callable[[], Awaitable[object]]


async def _sdk(calls: int) -> list[float]:
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    how = StdioServerParameters(command=sys.executable, args=[_SERVER])
    async with stdio_client(how) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()
        return await _timed(lambda: session.call_tool("add", _ASKED), calls)


async def _argus(calls: int, folder: str) -> list[float]:
    from argus.bridge.calling import Calling
    from argus.bridge.circuits import Circuits
    from argus.bridge.definitions import Definitions
    from argus.bridge.keeper import Bridge, Parts
    from argus.bridge.pool import Pool
    from argus.bridge.querying import Querying
    from argus.bridge.settings import Bridge as Settings
    from argus.bridge.whence import Whence
    from argus.core.circuit import Circuit
    from argus.core.redact import Redactor
    from argus.host.machine import MachineHost
    from argus.host.mcp_opener import McpOpener

    held: dict[str, Circuit] = {}

    def hold(circuit: Circuit) -> Circuit:
        held[circuit.name] = circuit
        return circuit

    host, settings, redactor, now = MachineHost(), Settings(), Redactor(), time.monotonic
    pool = Pool(McpOpener(host.pipes), now)
    definitions = Definitions(settings, None, os.environ, redactor.learn)
    circuits, calling = Circuits(settings, now, held, hold), Calling(pool, now, redactor.text)
    querying = Querying(settings, circuits, host.pipes, lambda whence: definitions.known(whence.folder, whence.environ))
    environ = dict(os.environ)
    parts = Parts(definitions, circuits, pool, calling, querying, now, environ, lambda draft: asyncio.sleep(0))
    bridge = Bridge(settings, parts)
    whence = Whence(folder, environ)
    try:
        return await _timed(lambda: bridge.call(whence, "peer", "add", _ASKED), calls)
    finally:
        await bridge.close()
        host.close()


async def _timed(call: Call, calls: int) -> list[float]:
    for _ in range(20):
        await call()
    taken = []
    for _ in range(calls):
        began = time.perf_counter()
        await call()
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def turn(who: str, calls: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        servers = {"peer": {"command": sys.executable, "args": [_SERVER]}}
        Path(folder, ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        return {"ms": median(runner.run(_argus(calls, folder) if who == "argus" else _sdk(calls)))}


def measure(plan: Plan) -> Iterable[Row]:
    calls = plan.size(1_000, 20)
    turns = {name: partial(in_child, turn, who=name, calls=calls) for name in (_SDK, "argus")}
    turned = interleave(turns, plan.rounds, warm=not plan.quick)
    sdk, argus = ([one["ms"] for one in turned[name]] for name in (_SDK, "argus"))
    over = [max(0.0, mine - theirs) for mine, theirs in zip(argus, sdk, strict=True)]
    yield Row("call of an MCP tool, over the SDK's client", "ms", over, floor=(_SDK, sdk), goal=Goal(1.0))
