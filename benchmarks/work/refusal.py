"""`CIRCUIT_OPEN` over REST: how long somebody waits who sets an environment up while its breaker is open.

The project's file is read for it, because the file says whose breaker it is; the engine is not asked. Beside the
smallest question to the same daemon, on the same connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import quantiles

from tests.acceptance.yard import Yard

from benchmarks.measure import interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row
from benchmarks.yards import Door, shop, standing

_FAILURES = 5
_AWAY = "unix:///nowhere/docker.sock"
_GOAL, _ALLOWED = 5.0, 100.0


def measure(plan: Plan) -> Iterable[Row]:
    calls = plan.size(300, 20)
    with standing(plan) as yard:
        project = shop(yard, resilience={"circuitBreaker": {"failureThreshold": _FAILURES, "resetTimeoutMs": 0}})
        with Door(yard) as door:
            for _ in range(_FAILURES):
                door.timed(door.asked(project, "setup", host=_AWAY))
            turns = {
                "smallest": lambda: _asked(
                    door, door.wire("GET", "/api/autonomy"), calls, lambda status, _: status == 200
                ),
                "argus": lambda: _asked(door, door.asked(project, "setup", host=_AWAY), calls, _is_refused),
            }
            found = interleave(turns, plan.rounds)
        _check(yard)
    for place, kind, goal in ((0, "half of them within", _GOAL), (1, "99 % of them within", _ALLOWED)):
        series = {name: [one[place] for one in several] for name, several in found.items()}
        floor = ("GET /api/autonomy", series["smallest"])
        yield Row(f"CIRCUIT_OPEN over REST, {kind}", "ms", series["argus"], floor=floor, goal=Goal(goal))


def _asked(door: Door, wire: bytes, calls: int, is_right: Callable[[int, bytes], bool]) -> tuple[float, float]:
    """Milliseconds: the median and the 99th of a hundred."""
    times = []
    for _ in range(calls):
        took, status, body = door.timed(wire)
        if not is_right(status, body):
            raise RuntimeError(f"answered {status} {body[:300]!r}")
        times.append(took)
    cuts = quantiles(times, n=100, method="inclusive")
    return cuts[49], cuts[98]


def _is_refused(status: int, body: bytes) -> bool:
    return status == 503 and body.startswith(b'{"error":{"code":"CIRCUIT_OPEN"')


def _check(yard: Yard) -> None:
    """Whoever was refused did not reach for the engine: it would have counted."""
    (one,) = [one for one in yard.get("/api/breakers")["breakers"] if one["name"].startswith("docker:shop@")]
    if (one["state"], one["failures"]) != ("open", _FAILURES):
        raise RuntimeError(f"the breaker is {one['state']} after {one['failures']} failures")
