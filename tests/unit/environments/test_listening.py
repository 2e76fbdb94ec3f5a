"""One engine's events: cut off, it is asked again from where it was."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from argus.core.errors import ArgusError, Code
from argus.host.engine.listening import Listener, Outage
from argus.host.engine.resources import Happening
from argus.host.engine.seam import EngineUnavailable
from argus.testing import FakeClock, SimulatedLoop, run_simulated

EPOCH = 1_800_000_000.0


def event(action: str, at: float) -> Happening:
    return Happening("container", action, "1" * 64, "db", {}, EPOCH + at)


class Streams:
    """What each beginning gives: events and then its end, or why there is none."""

    def __init__(self, loop: SimulatedLoop, *several: list[Happening] | Exception) -> None:
        self.clock = FakeClock(loop)
        self.several = list(several)
        self.asked: list[float | None] = []
        self.heard: list[str] = []
        self.outages: list[Outage] = []
        self.begun: list[float] = []
        self.takes = 0.0
        self.listener = Listener(
            self.begin,
            self.clock,
            heard=lambda one: self.heard.append(one.action),
            began=lambda: self.begun.append(loop.time()),
            away=self.outages.append,
        )

    @contextlib.asynccontextmanager
    async def begin(self, since: float | None) -> AsyncIterator[AsyncIterator[Happening]]:
        self.asked.append(since)
        await asyncio.sleep(self.takes)
        given = self.several.pop(0) if self.several else []
        if isinstance(given, Exception):
            raise given
        yield self.telling(given)

    async def telling(self, given: list[Happening]) -> AsyncIterator[Happening]:
        for one in given:
            yield one
        await asyncio.sleep(10.0 if self.several else 1e6)
        raise EngineUnavailable("cut")

    async def play(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.listener.run()


def test_after_a_cut_it_asks_since_the_last_one_and_tells_nothing_twice():
    async def main(loop: SimulatedLoop) -> None:
        first, second = event("start", 1.0), event("die", 2.0)
        streams = Streams(loop, [first], [first, second])
        streams.clock.step(5.0)
        await streams.play(60.0)
        assert streams.heard == ["start", "die"]
        assert streams.begun == [0.0, 10.0]  # at once
        _, since = streams.asked
        assert since is not None
        assert EPOCH < since < first.at
        assert streams.outages == []

    run_simulated(main)


def test_a_clock_that_is_set_back_meanwhile_does_not_hide_what_happened():
    async def main(loop: SimulatedLoop) -> None:
        streams = Streams(loop, [event("start", 1.0)], [event("die", -3590.0)])
        streams.clock.step(5.0)
        loop.call_later(3.0, streams.clock.step, -3600.0)
        await streams.play(60.0)
        _, since = streams.asked
        assert since is not None
        assert EPOCH - 3600 < since < EPOCH - 3590, "since it was heard, by the clock as it is now"

    run_simulated(main)


def test_an_engine_that_is_gone_is_told_once_and_asked_every_second():
    async def main(loop: SimulatedLoop) -> None:
        refused = EngineUnavailable("refused")
        streams = Streams(loop, [event("start", 1.0)], *[refused] * 30, [event("die", 50.0)])
        await streams.play(100.0)
        assert [one.stream for one in streams.outages] == [1]
        assert streams.heard == ["start", "die"]
        assert len(streams.asked) == 32
        assert 25 < streams.begun[1] - 10 < 31

    run_simulated(main)


def test_an_open_breaker_is_waited_for():
    async def main(loop: SimulatedLoop) -> None:
        streams = Streams(loop, *[ArgusError(Code.CIRCUIT_OPEN, "open")] * 5, [])
        await streams.play(20.0)
        assert len(streams.begun) == 1
        assert streams.outages == []  # nobody has asked the engine

    run_simulated(main)


def test_one_that_takes_long_to_begin_was_being_started():
    async def main(loop: SimulatedLoop) -> None:
        streams = Streams(loop, [])
        streams.takes = 3.0
        await streams.play(20.0)
        assert (len(streams.begun), len(streams.outages)) == (1, 1)

    run_simulated(main)
