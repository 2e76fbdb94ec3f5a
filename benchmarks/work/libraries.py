"""What each library costs the daemon: CPU of its import, and memory. No table of goals, a report of its own.

Alone: in a Python that has imported nothing else. Beside the others: when everything else that the daemon always loads
is there already, which is what leaving it out would save. What is loaded late comes after all that is always loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from statistics import median

from benchmarks import rows
from benchmarks.imports import turn
from benchmarks.measure import in_child, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Row

_ALWAYS = {
    "click": ["click"],
    "uvloop": ["uvloop"],
    "httptools": ["httptools"],
    "yaml": ["yaml"],
    "pydantic": ["pydantic.main", "pydantic.type_adapter", "pydantic.fields", "pydantic.functional_validators"],
    "starlette": ["starlette.applications", "starlette.requests", "starlette.responses", "starlette.routing"],
    "uvicorn": ["uvicorn", "uvicorn.protocols.http.httptools_impl"],
}
_LATE = {
    "psutil": ["psutil"],
    "asyncpg": ["asyncpg"],
    "apprise": ["apprise"],
    "mcp": ["mcp_types", "mcp.server.lowlevel", "mcp.server.streamable_http_manager", "mcp.shared.message"],
}
_OWN = "argus itself"


def measure(plan: Plan) -> Iterable[Row]:
    every = [module for modules in _ALWAYS.values() for module in modules]
    wanted = {**_ALWAYS, **_LATE, _OWN: ["argus.assembly"]}
    turns = {}
    for name, modules in wanted.items():
        others = [module for module in every if module not in modules]
        turns[f"{name} alone"] = partial(in_child, turn, before=[], wanted=modules)
        turns[f"{name} beside"] = partial(in_child, turn, before=others, wanted=modules)
    found = interleave(turns, plan.rounds, warm=not plan.quick)
    lines = []
    for name in wanted:
        cells = [name, "late" if name in _LATE else "always"]
        for way in ("alone", "beside"):
            series = found[f"{name} {way}"]
            cells += [rows.figure(median(one[key] for one in series)) for key in ("ms", "mb")]
        lines.append(cells)
    header = ("library", "loaded", "alone, CPU ms", "alone, MB", "beside the others, CPU ms", "beside the others, MB")
    print(f"\nWhat each library costs the daemon:\n{rows.grid(header, lines)}\n", flush=True)
    return []
