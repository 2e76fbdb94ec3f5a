"""Readings that say more about Argus than about the service: its loop was held up, or they are from before a repair."""

import asyncio
from typing import Any

import pytest
from tests.unit.services.test_reconciler import MINUTE, REFUSES, Rig, Store, simulated

from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.host.seam import Failure, HttpReply, HttpRequest
from argus.services.messages import Observed
from argus.services.model import Health, Observation, Seen, Status
from argus.store.records import CloseAct
from argus.testing import Answers

HANGS = Answers(hangs=True)


class Stalls:
    """Holds the loop up in the middle of every check, as a busy disk or a starved machine does."""

    def __init__(self, rig: Rig, seconds: float, past: float = 1.1) -> None:
        """`past` is how far the stall reaches over the check's deadline."""
        self.seconds = seconds
        self.past = past
        self.count = 0
        self._rig = rig
        self._real = rig.host.http
        rig.host.http = self._http  # type: ignore[method-assign]

    async def _http(self, request: HttpRequest, *, timeout: float) -> HttpReply:
        if self.seconds:
            self.count += 1
            self._rig.loop.call_later(timeout + self.past - self.seconds, self._rig.loop.stall, self.seconds)
        return await self._real(request, timeout=timeout)


@pytest.mark.req("INFRA-01.6")
@pytest.mark.parametrize(("seconds", "past"), [(0.8, 0.5), (2.6, 0.3), (2.6, 1.1), (2.6, 2.5), (3.4, 1.9)])
@simulated
async def test_a_check_that_ran_into_its_deadline_while_argus_was_held_up_says_nothing(
    rig: Rig, seconds: float, past: float
):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    stalls = Stalls(rig, seconds, past)
    rig.host.ports[rig.ports["api"]] = HANGS
    await rig.passes(20 * MINUTE)
    assert stalls.count > 10, "the loop was held up again and again"
    last = rig.watch.healths["api"].last
    assert last is not None
    assert last.seen.status is Status.UNKNOWN
    assert rig.watch.healths["api"].failures == 0
    assert rig.watch.healths["api"].outage is None
    assert await rig.said("service_down", "restart_started") == []
    assert rig.restarted == []


@pytest.mark.req("INFRA-01.6")
@simulated
async def test_what_hangs_is_confirmed_down_once_argus_runs_freely_again(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    stalls = Stalls(rig, 2.6)
    rig.host.ports[rig.ports["api"]] = HANGS
    await rig.passes(10 * MINUTE)
    assert rig.restarted == []
    stalls.seconds = 0.0
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["api"]
    assert (await rig.last("service_down"))["failures"] == 3


@simulated
async def test_a_refusal_counts_however_long_the_loop_was_held_up(rig: Rig):
    """Nothing of ours makes a port refuse: a stall excuses only what ran out of time."""
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    Stalls(rig, 2.6)
    rig.dies("api")
    await rig.passes(5 * MINUTE)
    assert rig.restarted == ["api"]


@simulated
async def test_a_probe_that_failed_for_a_reason_of_ours_is_unknown_and_no_outage(rig: Rig):
    rig.registry("api")
    await rig.start()
    await rig.passes(90)
    rig.host.ports[rig.ports["api"]] = Answers(failure=Failure.OURS)
    await rig.passes(20 * MINUTE)
    last = rig.watch.healths["api"].last
    assert last is not None
    assert last.seen.status is Status.UNKNOWN
    assert await rig.said("service_down", "restart_started") == []
    assert rig.restarted == []


async def tell(rig: Rig, name: str, at: float) -> Health:
    """A failing check that was started then, and whose result arrives now."""
    reply: asyncio.Future[Health] = rig.loop.create_future()
    seen = Seen(Status.DOWN, None, "timeout", "no answer within 5 s", "HEALTH_CHECK_TIMEOUT")
    rig.watch._queue.put_nowait(Observed(name, Observation(seen, at, rig.clock.wall()), reply))
    return await reply


async def repaired(rig: Rig) -> float:
    """A service that died, was restarted and is verified; returns a moment before that was so."""
    rig.registry("api", failuresBeforeAction=1)
    await rig.start()
    await rig.passes(90)
    rig.dies("api")
    while not rig.restarted:
        await rig.passes(0.5)
    within = rig.clock.monotonic()
    while not await rig.said("service_recovered"):
        await rig.passes(0.5)
    assert rig.clock.monotonic() > within + 1
    return within


@pytest.mark.req("INFRA-02.4")
@simulated
async def test_a_failing_check_from_before_the_repair_was_verified_does_not_count_after_it(rig: Rig):
    within = await repaired(rig)
    health = await tell(rig, "api", within)
    assert (health.status, health.failures, health.outage) == (Status.UP, 0, None)
    await rig.passes(5 * MINUTE)
    assert await rig.said("service_down") == ["service_down"]
    assert rig.restarted == ["api"]


@pytest.mark.req("INFRA-02.4")
@simulated
async def test_a_failing_check_from_after_the_repair_is_an_outage_of_its_own(rig: Rig):
    await repaired(rig)
    await rig.passes(1)
    rig.host.ports[rig.ports["api"]] = REFUSES
    health = await tell(rig, "api", rig.clock.monotonic())
    assert health.status is Status.DOWN
    assert await rig.said("service_down") == ["service_down", "service_down"]


class LosesAnAnswer(Store):
    """Writes an outcome, and loses the answer that says so."""

    lost = False

    async def commit(self, *writes: Any) -> list[Event]:
        events = await super().commit(*writes)
        if not self.lost and any(isinstance(write, CloseAct) for write in writes):
            self.lost = True
            raise ArgusError(Code.STORE_UNAVAILABLE, "the connection was lost")
        return events


@simulated
async def test_an_outcome_that_is_on_record_though_its_answer_was_lost_is_taken_over(rig: Rig):
    rig.store = store = LosesAnAnswer(rig.store._real)
    await repaired(rig)
    await rig.passes(5 * MINUTE)
    assert store.lost
    assert await rig.said("restart_finished") == ["restart_finished"]
    assert rig.watch.healths["api"].repair is None
    assert rig.watch.healths["api"].status is Status.UP
