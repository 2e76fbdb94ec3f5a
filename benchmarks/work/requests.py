"""Small validated requests, as a heartbeat will be: a JSON body through the door, the token, the model and the answer.

`PUT /api/autonomy` with the level that holds already: it passes everything that any operation passes, and commits
nothing. Beside a bare Starlette route on the same server. Counted per second of the server's own CPU.
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
from benchmarks.rows import Goal, Row

_BODY = b'{"level":"moderate"}'
_CONNECTIONS = 32


def measure(plan: Plan) -> Iterable[Row]:
    each = plan.size(400, 10)
    (event := plan.folder / "event").write_bytes(b"")
    argus = Argus(plan.folder / "argus")
    argus.configure(autonomy="moderate")
    with contextlib.ExitStack() as stack:
        bare = stack.enter_context(running("bare_web", str(event), str(plan.folder / "bare.db")))
        stack.callback(argus.end)
        argus.up()
        port = urlsplit(argus.url).port or 0
        found = interleave(
            {
                "bare": _turn(bare.pid, bare.said, "", each),
                "argus": _turn(argus.pid, port, argus.token, each),
            },
            plan.rounds,
        )
        argus.down()
    for place, unit, goal in (
        (0, "requests per CPU s", Goal(0.5, of="bare Starlette", at_least=True)),
        (1, "requests/s, wall", None),
    ):
        bare_series, argus_series = ([one[place] for one in found[name]] for name in ("bare", "argus"))
        yield Row("small validated request", unit, argus_series, floor=("bare Starlette", bare_series), goal=goal)


def _turn(pid: int, port: int, token: str, each: int) -> Callable[[], tuple[float, float]]:
    wire = load.request("PUT", "/api/autonomy", port, token=token, body=_BODY)

    def turn() -> tuple[float, float]:
        cpu, wall = cpu_of(pid), time.perf_counter()
        load.run(load.ask(port, [wire], connections=_CONNECTIONS, each=each))
        # A quick round may be over before the kernel's clock has ticked.
        used = max(cpu_of(pid) - cpu, 0.01)
        return _CONNECTIONS * each / used, _CONNECTIONS * each / (time.perf_counter() - wall)

    return turn
