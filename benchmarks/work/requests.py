"""Small validated requests, as a heartbeat will be: a JSON body through the door, the token, the model and the answer.

`POST /api/hooks/{agent}` with a token that may only report is what an agent's hooks send at every step. `PUT
/api/autonomy` with the level that holds already has the person's token. Both pass everything that any operation
passes, and neither commits anything. Beside a bare Starlette route on the same server, per second of the server's CPU.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.acceptance.harness import Argus

from benchmarks import load
from benchmarks.floors.programs import running
from benchmarks.measure import cpu_of, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

_CONNECTIONS = 32
_HOOK = {
    "hook_event_name": "PreToolUse",
    "session_id": "8f14e45f-ceea-467f-a0e6-2b1b7a9a3a11",
    "tool_name": "Bash",
    "cwd": "/srv/app",
}


@dataclass(frozen=True, slots=True)
class _Kind:
    title: str
    method: str
    target: str
    body: bytes


_KINDS = (
    _Kind("hook report, a token of its own", "POST", "/api/hooks/claude", json.dumps(_HOOK).encode()),
    _Kind("small command, root token", "PUT", "/api/autonomy", b'{"level":"moderate"}'),
)


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
        reply = argus.rest("POST", "/api/tokens", {"role": "report"})
        if reply.status != 201:
            raise RuntimeError(f"no token was made: {reply.body!r}")
        tokens = (reply.json["token"], argus.token)
        for kind, token in zip(_KINDS, tokens, strict=True):
            turns = {
                "bare": _turn(bare.pid, bare.said, "", kind, each),
                "argus": _turn(argus.pid, port, token, kind, each),
            }
            found = interleave(turns, plan.rounds)
            goal = Goal(0.5, of="bare Starlette", at_least=True)
            for place, unit in ((0, "requests per CPU s"), (1, "requests/s, wall")):
                theirs, ours = ([one[place] for one in found[name]] for name in ("bare", "argus"))
                yield Row(kind.title, unit, ours, floor=("bare Starlette", theirs), goal=None if place else goal)
        argus.down()


def _turn(pid: int, port: int, token: str, kind: _Kind, each: int) -> Callable[[], tuple[float, float]]:
    wire = load.request(kind.method, kind.target, port, token=token, body=kind.body)

    def turn() -> tuple[float, float]:
        cpu, wall = cpu_of(pid), time.perf_counter()
        load.run(load.ask(port, [wire], connections=_CONNECTIONS, each=each))
        used, passed = cpu_of(pid) - cpu, time.perf_counter() - wall
        return _CONNECTIONS * each / used, _CONNECTIONS * each / passed

    return turn
