"""Calls over pooled sessions on virtual time: what counts against a server, and what becomes of its session."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from argus.bridge.calling import Called, Calling
from argus.bridge.circuits import Circuits
from argus.bridge.pool import Pool
from argus.bridge.settings import Bridge
from argus.core.breaker import State
from argus.core.circuit import Circuit
from argus.core.errors import ArgusError, Code
from argus.host.mcp_seam import Reach
from argus.testing import FakeMcp, FakeSession, SimulatedLoop, run_simulated

importlib.import_module("jsonschema.validators")  # here: on virtual time there are no threads
PROGRAM = Reach(("server",), "/")
REMOTE = Reach(url="http://there/mcp")


class Rig:
    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.mcp = FakeMcp()
        self.pool = Pool(self.mcp, loop.time, idle=300.0, most=3)
        self._calling = Calling(self.pool, loop.time, lambda text: text.replace("hunter2", "[redacted]"))
        held: dict[str, Circuit] = {}
        settings = Bridge.model_validate({"failures": 3, "resetAfter": "5m"})
        self.circuit = Circuits(settings, loop.time, held, lambda one: held.setdefault(one.name, one)).of("peer")

    async def call(self, tool: str, reach: Reach = PROGRAM, timeout: float = 10.0, **arguments: Any) -> Called:
        return await self._calling.call("peer", reach, self.circuit, tool, arguments, timeout=timeout, slow_after=30.0)

    async def fails(self, tool: str, reach: Reach = PROGRAM, timeout: float = 10.0, **arguments: Any) -> ArgusError:
        with pytest.raises(ArgusError) as failed:
            await self.call(tool, reach, timeout, **arguments)
        return failed.value

    @property
    def counted(self) -> int:
        return self.circuit.breaker.consecutive

    @property
    def session(self) -> FakeSession:
        return self.mcp.opened[-1]


def simulated(scene: Callable[[Rig], Awaitable[None]]) -> None:
    async def whole(loop: SimulatedLoop) -> None:
        rig = Rig(loop)
        await scene(rig)
        await rig.pool.close()
        assert not any(one.is_open for one in rig.mcp.opened)

    run_simulated(whole)


def test_calls_go_over_one_session() -> None:
    async def scene(rig: Rig) -> None:
        first, second = await asyncio.gather(rig.call("sleep", n=3), rig.call("add", a=1, b=2))
        assert (first.seconds, second.seconds, second.reply.structured) == (3.0, 0.0, {"sum": 3})
        await rig.call("add", a=1, b=2)
        assert len(rig.mcp.opened) == 1

    simulated(scene)


def test_a_server_is_started_once_for_all_who_wait() -> None:
    async def scene(rig: Rig) -> None:
        rig.mcp.starts_in = 2.0
        await asyncio.gather(*(rig.call("add", a=1, b=2) for _ in range(5)))
        assert (len(rig.mcp.opened), rig.mcp.most_under_way) == (1, 1)

    simulated(scene)


def test_a_session_that_nobody_uses_is_closed_and_one_in_use_is_not() -> None:
    async def scene(rig: Rig) -> None:
        running = asyncio.ensure_future(rig.pool.run())
        await rig.call("add", a=1, b=2)
        await rig.call("sleep", timeout=1000.0, n=600)
        assert rig.session.is_open
        await asyncio.sleep(290)
        assert rig.session.is_open
        await asyncio.sleep(40)
        assert (rig.session.closed, rig.pool.is_empty) == ([False], True)
        running.cancel()

    simulated(scene)


@pytest.mark.req("INFRA-03.3")
def test_the_third_failure_opens_and_one_probe_closes_it_again() -> None:
    async def scene(rig: Rig) -> None:
        for _ in range(3):
            assert (await rig.fails("die")).details["reason"] == "died"
        opened = len(rig.mcp.opened)
        refused = await rig.fails("add", a=1, b=2)
        assert (refused.code, len(rig.mcp.opened)) == (Code.CIRCUIT_OPEN, opened)
        await asyncio.sleep(299)
        assert (await rig.fails("add", a=1, b=2)).code is Code.CIRCUIT_OPEN
        await asyncio.sleep(1)
        probe = asyncio.ensure_future(rig.call("sleep", n=5))
        await asyncio.sleep(1)
        assert (await rig.fails("add", a=1, b=2)).code is Code.CIRCUIT_OPEN
        await probe
        assert rig.circuit.breaker.state is State.CLOSED
        await rig.call("add", a=1, b=2)

    simulated(scene)


def test_a_call_that_hangs_ends_its_program_and_the_next_starts_another() -> None:
    async def scene(rig: Rig) -> None:
        failed = await rig.fails("hang", timeout=5.0)
        assert (failed.code, failed.details["reason"], rig.counted) == (Code.MCP_FAILED, "timeout", 1)
        assert failed.details["mayHaveRun"] is True
        hung = rig.session
        await asyncio.sleep(0)
        assert hung.closed == [True]
        await rig.call("add", a=1, b=2)
        assert (len(rig.mcp.opened), hung.asked, rig.session.asked, rig.counted) == (2, ["hang"], ["add"], 0)

    simulated(scene)


def test_who_shares_a_program_that_hangs_fails_with_it_and_is_not_counted() -> None:
    async def scene(rig: Rig) -> None:
        other = asyncio.ensure_future(rig.fails("sleep", timeout=100.0, n=50))
        await rig.fails("hang", timeout=5.0)
        assert (await other).details["reason"] == "ended_with_another"
        assert rig.counted == 1

    simulated(scene)


def test_who_shares_an_address_goes_on_when_another_call_hangs() -> None:
    async def scene(rig: Rig) -> None:
        other = asyncio.ensure_future(rig.call("sleep", REMOTE, 100.0, n=50))
        await rig.fails("hang", REMOTE, 5.0)
        first = rig.session
        await rig.call("add", REMOTE, a=1, b=2)
        assert (len(rig.mcp.opened), first.is_open) == (2, True)
        await other
        await asyncio.sleep(0)
        assert not first.is_open

    simulated(scene)


def test_a_server_that_does_not_come_up_in_time_is_given_up_and_counted() -> None:
    async def scene(rig: Rig) -> None:
        rig.mcp.starts_in = 60.0
        failed = await rig.fails("add", timeout=5.0, a=1, b=2)
        assert (failed.details["reason"], failed.details["mayHaveRun"], rig.counted) == ("timeout", False, 1)
        await asyncio.sleep(100)
        assert (rig.mcp.opened, rig.pool.is_empty) == ([], True)

    simulated(scene)


def test_a_start_goes_on_for_who_still_has_the_time() -> None:
    async def scene(rig: Rig) -> None:
        rig.mcp.starts_in = 6.0
        patient = asyncio.ensure_future(rig.call("add", timeout=20.0, a=1, b=2))
        await rig.fails("add", timeout=5.0, a=1, b=2)
        await patient
        assert len(rig.mcp.opened) == 1

    simulated(scene)


def test_a_program_that_died_while_nobody_used_it_is_started_anew_and_nothing_is_counted() -> None:
    async def scene(rig: Rig) -> None:
        await rig.call("add", a=1, b=2)
        rig.session.die()
        await rig.call("add", a=1, b=2)
        assert (len(rig.mcp.opened), rig.counted) == (2, 0)

    simulated(scene)


def test_a_caller_who_goes_away_counts_nothing_and_the_server_is_told() -> None:
    async def scene(rig: Rig) -> None:
        await rig.fails("die")
        caller = asyncio.ensure_future(rig.call("hang"))
        await asyncio.sleep(1)
        caller.cancel()
        await asyncio.wait({caller})
        assert (rig.counted, rig.session.cancelled, rig.session.is_open) == (1, 1, True)

    simulated(scene)


def test_a_tool_that_says_no_is_an_answer() -> None:
    async def scene(rig: Rig) -> None:
        await rig.fails("die")
        done = await rig.call("refuse")
        assert (done.reply.is_error, rig.counted) == (True, 0)

    simulated(scene)


def test_a_slow_answer_is_passed_on_and_counted() -> None:
    async def scene(rig: Rig) -> None:
        done = await rig.call("sleep", timeout=100.0, n=31)
        assert (done.reply.is_error, rig.counted) == (False, 1)
        await rig.call("sleep", timeout=100.0, n=29)
        assert rig.counted == 0

    simulated(scene)


def test_an_answer_that_is_too_large_is_said_and_not_counted() -> None:
    async def scene(rig: Rig) -> None:
        failed = await rig.fails("bytes", n=50_000_000)
        assert (failed.details["reason"], rig.counted, rig.session.is_open) == ("answer_too_large", 0, True)

    simulated(scene)


def test_an_unknown_tool_is_looked_for_anew_and_the_known_ones_are_named() -> None:
    async def scene(rig: Rig) -> None:
        rig.mcp.tools = ("add",)
        await rig.call("add", a=1, b=2)
        failed = await rig.fails("refuse")
        assert (failed.code, failed.details["known"], rig.session.asked) == (Code.NOT_FOUND, ["add"], ["add"])
        rig.mcp.tools = ("add", "refuse")
        assert (await rig.call("refuse")).reply.is_error

    simulated(scene)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"a": 1}, "arguments.b"), ({"a": 1, "b": "2"}, "arguments.b"), ({}, "arguments.a")],
    ids=["missing", "of another type", "none"],
)
def test_arguments_that_do_not_fit_are_not_sent(arguments: dict[str, Any], field: str) -> None:
    async def scene(rig: Rig) -> None:
        failed = await rig.fails("add", **arguments)
        assert (failed.code, failed.details["errors"][0]["field"]) == (Code.INVALID_REQUEST, field)
        assert (rig.session.asked, rig.counted) == ([], 0)

    simulated(scene)


def test_a_program_that_cannot_be_started_is_counted_and_its_words_are_cleaned() -> None:
    async def scene(rig: Rig) -> None:
        rig.mcp.cannot_start = "no such program: hunter2"
        failed = await rig.fails("add", a=1, b=2)
        assert (failed.details["reason"], rig.counted) == ("cannot_start", 1)
        assert "hunter2" not in failed.message

    simulated(scene)


def test_there_are_only_so_many_sessions_and_an_idle_one_makes_room() -> None:
    async def scene(rig: Rig) -> None:
        calls = [asyncio.ensure_future(rig.call("sleep", Reach((f"s{n}",)), n=5)) for n in range(3)]
        await asyncio.sleep(1)
        failed = await rig.fails("add", Reach(("one more",)), a=1, b=2)
        assert (failed.details["reason"], rig.counted) == ("busy", 0)
        await asyncio.gather(*calls)
        await rig.call("add", Reach(("one more",)), a=1, b=2)
        assert [one.is_open for one in rig.mcp.opened].count(True) == 3

    simulated(scene)
