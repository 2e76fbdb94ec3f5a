"""What the circuit breaker adds to a call, closed and open, beside `circuitbreaker` from PyPI."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import uvloop

from argus.core.breaker import Breaker, Limits, State
from argus.core.circuit import Circuit, Verdict
from argus.core.clock import SystemClock
from argus.core.errors import ArgusError
from benchmarks.measure import Stopwatch, in_child, interleave
from benchmarks.plan import Plan
from benchmarks.rows import Goal, Row

Call = Callable[[], Awaitable[None]]


class _Refused(Exception):
    pass


async def _nothing() -> None:
    return None


def _bare(state: str) -> tuple[Call, type[Exception]]:
    async def refuse() -> None:
        raise _Refused

    return (_nothing if state == "closed" else refuse), _Refused


def _ours(state: str) -> tuple[Call, type[Exception]]:
    now = SystemClock().monotonic
    opened = Breaker(State.OPEN, consecutive=5, since=now())
    limits = Limits(failures=5, reset_after=3600.0)
    circuit = Circuit("peer", now, lambda error: Verdict.FAILED, limits)
    circuit.restore(Breaker() if state == "closed" else opened)
    return partial(circuit.call, _nothing), ArgusError


def _theirs(state: str) -> tuple[Call, type[Exception]]:
    library = importlib.import_module("circuitbreaker")
    breaker = library.CircuitBreaker(failure_threshold=5, recovery_timeout=3600)

    async def plain() -> None:
        if not_well:
            raise RuntimeError

    guarded: Call = breaker(plain)

    async def fail() -> None:
        for _ in range(5):
            try:
                await guarded()
            except RuntimeError:
                continue

    not_well = state == "open"
    if not_well:
        asyncio.run(fail())
    return guarded, library.CircuitBreakerError


_CONTENDERS = {"bare call": _bare, "circuitbreaker": _theirs, "argus": _ours}


def turn(who: str, state: str, calls: int) -> dict[str, float]:
    call, refusal = _CONTENDERS[who](state)

    async def accepted() -> None:
        for _ in range(calls):
            await call()

    async def refused() -> None:
        for _ in range(calls):
            try:
                await call()
            except refusal:
                continue
            raise AssertionError("an open breaker let a call through")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, Stopwatch() as watch:
        runner.run(accepted() if state == "closed" else refused())
    return {"ns": watch.cpu / calls * 1e9}


def measure(plan: Plan) -> Iterable[Row]:
    calls = plan.size(200_000, 2_000)
    has_peer = importlib.util.find_spec("circuitbreaker") is not None
    names = [name for name in _CONTENDERS if has_peer or name != "circuitbreaker"]
    for state in ("closed", "open"):
        turns = {name: partial(in_child, turn, who=name, state=state, calls=calls) for name in names}
        turned = interleave(turns, plan.rounds, warm=not plan.quick)
        found = {name: [one["ns"] for one in series] for name, series in turned.items()}
        bare = found.pop("bare call")
        over = {
            name: [max(0.0, one - nothing) for one, nothing in zip(series, bare, strict=True)]
            for name, series in found.items()
        }
        argus = over.pop("argus")
        yield Row(
            f"breaker, {state} call over a bare one",
            "ns",
            argus,
            floor=("bare call", bare),
            peers=over,
            goal=Goal(1 / 3 if state == "closed" else 1.0, of="circuitbreaker"),
            note="" if has_peer else "circuitbreaker could not be installed",
        )
