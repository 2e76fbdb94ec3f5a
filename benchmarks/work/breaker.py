"""What the circuit breaker adds to a call, closed and open, beside `circuitbreaker`, `aiobreaker` and `purgatory`."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
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

    not_well = state == "open"
    if not_well:
        asyncio.run(_failing(guarded, RuntimeError))
    return guarded, library.CircuitBreakerError


def _aiobreaker(state: str) -> tuple[Call, type[Exception]]:
    library = importlib.import_module("aiobreaker")
    breaker = library.CircuitBreaker(fail_max=5, timeout_duration=timedelta(hours=1))
    guarded: Call = breaker(_nothing)
    if state == "open":
        breaker.open()
    return guarded, library.CircuitBreakerError


def _purgatory(state: str) -> tuple[Call, type[Exception]]:
    library = importlib.import_module("purgatory")
    factory = library.AsyncCircuitBreakerFactory(default_threshold=5, default_ttl=3600)

    async def plain() -> None:
        if not_well:
            raise RuntimeError

    guarded: Call = factory("peer")(plain)
    not_well = state == "open"
    if not_well:
        asyncio.run(_failing(guarded, RuntimeError))
    return guarded, importlib.import_module("purgatory.domain.model").OpenedState


async def _failing(call: Call, how: type[Exception]) -> None:
    for _ in range(5):
        with contextlib.suppress(how):
            await call()


_CONTENDERS = {
    "bare call": _bare,
    "circuitbreaker": _theirs,
    "aiobreaker": _aiobreaker,
    "purgatory": _purgatory,
    "argus": _ours,
}


_PEERS = ("circuitbreaker", "aiobreaker", "purgatory")


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
    missing = [name for name in _PEERS if importlib.util.find_spec(name) is None]
    names = [name for name in _CONTENDERS if name not in missing]
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
            note=f"could not be installed: {', '.join(missing)}" if missing else "",
        )
