"""Counting what the checks saw, and what is made of it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.core.errors import ArgusError, Code
from argus.services.history import DAY, DOMAIN, HOUR, WINDOWS, History, Uptime, Window, bucket, rounded, share
from argus.services.model import Observation, Seen, Status
from argus.store.records import Counts, Undecided
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, SimulatedLoop, run_simulated

NOON = 1_800_014_400.0
assert NOON % DAY == DAY / 2


@pytest.mark.parametrize(
    ("wall", "span", "start"),
    [
        pytest.param(0.0, HOUR, 0, id="the-first-moment"),
        pytest.param(3599.999, HOUR, 0, id="the-last-moment-of-an-hour"),
        pytest.param(3600.0, HOUR, 3600, id="the-first-moment-of-the-next"),
        pytest.param(NOON + 1800.5, DAY, 1_799_971_200, id="a-day"),
        pytest.param(-1.0, HOUR, -3600, id="before-1970"),
    ],
)
def test_a_moment_lies_in_its_bucket(wall: float, span: int, start: int):
    assert bucket(wall, span) == start


@given(st.floats(-1e9, 4e9), st.sampled_from([HOUR, DAY]))
def test_every_moment_lies_in_exactly_one_bucket(wall: float, span: int):
    start = bucket(wall, span)
    assert start <= wall < start + span
    assert start % span == 0


@given(st.floats(0, 4e9))
def test_the_day_of_an_hour_is_the_day_of_every_moment_in_it(wall: float):
    assert bucket(bucket(wall, HOUR), DAY) == bucket(wall, DAY)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param(Counts(), None, id="nothing-was-seen"),
        pytest.param(Counts(unknown=9), None, id="what-nobody-knows-is-not-judged"),
        pytest.param(Counts(up=3), 1.0, id="always-up"),
        pytest.param(Counts(down=3), 0.0, id="never-up"),
        pytest.param(Counts(up=1, degraded=2, down=1, unknown=5), 0.75, id="degraded-is-alive"),
    ],
)
def test_the_share_of_checks_that_found_it_alive(counts: Counts, expected: float | None):
    assert share(counts) == expected


@pytest.mark.parametrize(
    ("exact", "shown"),
    [(None, None), (1.0, 1.0), (0.0, 0.0), (1 - 1e-9, 0.999999), (2 / 3, 0.666666), (0.75, 0.75)],
)
def test_a_share_is_rounded_down(exact: float | None, shown: float | None):
    assert rounded(exact) == shown


seen = st.builds(Counts, *[st.integers(0, 10**6)] * 5, st.floats(0, 1e6), st.floats(0, 1e3))


@given(seen, seen)
def test_a_share_lies_between_those_of_its_parts(one: Counts, other: Counts):
    parts = [part for part in (share(one), share(other)) if part is not None]
    whole = share(one + other)
    assert whole is None if not parts else whole is not None and min(parts) - 1e-9 <= whole <= max(parts) + 1e-9


@pytest.mark.parametrize(
    ("window", "hours_ago", "inside"),
    [
        pytest.param(Window(HOUR, 24), 0, True, id="the-running-hour"),
        pytest.param(Window(HOUR, 24), 24, True, id="all-of-the-24-hours"),
        pytest.param(Window(HOUR, 24), 25, False, id="before-them"),
        pytest.param(Window(HOUR, 24), -1, False, id="from-a-clock-that-ran-ahead"),
        pytest.param(Window(DAY, 7), 7 * 24, True, id="all-of-the-7-days"),
        pytest.param(Window(DAY, 7), 8 * 24, False, id="before-the-7-days"),
    ],
)
def test_a_window_holds_whole_buckets(window: Window, hours_ago: int, inside: bool):
    assert window.holds(int(NOON) - hours_ago * HOUR, NOON + 59) is inside


class Store:
    """The real one, which may fail or never answer."""

    def __init__(self, clock: FakeClock) -> None:
        self.real = SqliteStore(None, clock=clock, inline=True)
        self.is_full = self.is_lost_at_the_end = False
        self.answers = asyncio.Event()
        self.answers.set()
        self.asked = self.commits = 0

    async def commit(self, *writes: Any) -> Any:
        if self.is_full:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        self.commits += 1
        await asyncio.sleep(0)
        events = await self.real.commit(*writes)
        if self.is_lost_at_the_end:
            raise Undecided("the store was lost", "4711")
        return events

    async def tallied(self, *asked: Any) -> Any:
        await self.answers.wait()
        if self.is_full:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        self.asked += 1
        return await self.real.tallied(*asked)

    async def buckets(self, *asked: Any) -> Any:
        return await self.real.buckets(*asked)


class Rig:
    def __init__(self, loop: SimulatedLoop) -> None:
        self.clock = FakeClock(loop, wall=NOON)
        self.store = Store(self.clock)
        self.history = self.restarted()

    def restarted(self) -> History:
        self.history = History(self.store, self.clock)  # type: ignore[arg-type]
        return self.history

    def see(self, *statuses: Status, name: str = "api", latency: float | None = 0.1, ago: float = 0.0) -> None:
        for status in statuses:
            self.history.take(name, Observation(Seen(status, latency), 0.0, self.clock.wall() - ago))

    async def uptime(self, name: str = "api") -> Uptime:
        return (await self.history.uptimes([name]))[name]

    async def written(self, span: int, start: float) -> dict[str, Counts]:
        return await self.store.real.tallied(DOMAIN, span, int(start), int(start))


Story = Callable[[Rig], Awaitable[None]]


def simulated(story: Story) -> Callable[[], None]:
    def test() -> None:
        run_simulated(lambda loop: story(Rig(loop)))

    test.__name__, test.__qualname__ = story.__name__, story.__name__
    return test


UP, DOWN, DEGRADED, UNKNOWN = Status.UP, Status.DOWN, Status.DEGRADED, Status.UNKNOWN


@simulated
async def test_readings_count_at_once_and_are_the_same_after_they_were_written(rig: Rig):
    rig.see(UP, UP, DEGRADED, DOWN, UNKNOWN)
    before = await rig.uptime()
    await rig.history.flush()
    assert before == await rig.uptime() == Uptime(0.75, 0.75, 0.75)
    rig.restarted()
    assert await rig.uptime() == Uptime(0.75, 0.75, 0.75)


@simulated
async def test_who_was_never_seen_has_no_uptime(rig: Rig):
    assert await rig.uptime("nobody") == Uptime(None, None, None)


@simulated
async def test_hours_and_days_hold_the_same_readings(rig: Rig):
    rig.see(UP, DOWN, ago=HOUR)
    rig.see(UP, latency=0.5)
    rig.see(Status.PENDING, latency=None)
    await rig.history.flush()
    assert await rig.written(HOUR, NOON - HOUR) == {"api": Counts(1, 0, 1, 0, 2, 0.2, 0.1)}
    assert await rig.written(HOUR, NOON) == {"api": Counts(1, 0, 0, 1, 1, 0.5, 0.5)}
    assert await rig.written(DAY, NOON - DAY / 2) == {"api": Counts(2, 0, 1, 1, 3, 0.7, 0.5)}


@simulated
async def test_every_window_ends_where_it_should(rig: Rig):
    rig.see(DOWN, ago=31 * DAY)
    rig.see(DOWN, ago=9 * DAY)
    rig.see(UP, ago=2 * DAY)
    rig.see(UP, DOWN)
    expected = Uptime(day=1 / 2, week=2 / 3, month=2 / 4)
    assert await rig.uptime() == expected
    await rig.history.flush()
    assert await rig.uptime() == expected


@simulated
async def test_it_is_written_once_a_minute_for_all_services_together(rig: Rig):
    running = asyncio.ensure_future(rig.history.run())
    for place in range(50):
        rig.see(UP, name=f"s{place}")
    await asyncio.sleep(59)
    assert rig.store.commits == 0
    await asyncio.sleep(2)
    assert rig.store.commits == 1
    await asyncio.sleep(300)
    assert rig.store.commits == 1, "nothing was counted, so nothing is written"
    running.cancel()


@simulated
async def test_ten_thousand_services_are_written_in_pieces(rig: Rig):
    for place in range(10_000):
        rig.see(UP, name=f"s{place}")
    await rig.history.flush()
    assert rig.store.commits == 10
    assert len(await rig.written(HOUR, NOON)) == len(await rig.written(DAY, NOON - DAY / 2)) == 10_000


@simulated
async def test_counts_wait_while_the_store_cannot_be_written(rig: Rig):
    running = asyncio.ensure_future(rig.history.run())
    await rig.uptime()
    rig.store.is_full = True
    for _ in range(5):
        rig.see(UP, DOWN)
        await asyncio.sleep(60)
    assert await rig.uptime() == Uptime(0.5, 0.5, 0.5), "it is shown without the store, too"
    rig.store.is_full = False
    await asyncio.sleep(61)
    assert await rig.written(HOUR, NOON) == {
        "api": Counts(up=5, down=5, timed=10, latency=pytest.approx(1.0), slowest=0.1)
    }
    assert not running.done()
    running.cancel()


@simulated
async def test_a_store_that_cannot_be_written_for_long_does_not_fill_the_memory(rig: Rig):
    rig.store.is_full = True
    for hours in range(100, 0, -1):
        rig.see(UP, ago=hours * HOUR)
        with pytest.raises(ArgusError):
            await rig.history.flush()
    rig.store.is_full = False
    await rig.history.flush()
    kept = [hours for hours in range(100, 0, -1) if await rig.written(HOUR, NOON - hours * HOUR)]
    assert kept == [3, 2, 1]


@simulated
async def test_what_may_be_on_record_is_not_counted_twice(rig: Rig):
    rig.see(UP)
    rig.store.is_lost_at_the_end = True
    with pytest.raises(Undecided):
        await rig.history.flush()
    rig.store.is_lost_at_the_end = False
    await rig.history.flush()
    (counts,) = (await rig.written(HOUR, NOON)).values()
    assert counts.up == 1


@simulated
async def test_what_is_seen_while_it_is_written_is_not_lost(rig: Rig):
    rig.see(UP)
    writing = asyncio.ensure_future(rig.history.flush())
    await asyncio.sleep(0)
    rig.see(DOWN)
    await writing
    assert await rig.uptime() == Uptime(0.5, 0.5, 0.5)
    await rig.history.flush()
    assert await rig.uptime() == Uptime(0.5, 0.5, 0.5)


@simulated
async def test_the_store_is_asked_once_for_all_and_again_only_after_something_was_written(rig: Rig):
    for place in range(20):
        rig.see(UP, name=f"s{place}")
    for _ in range(5):
        await rig.history.uptimes([f"s{place}" for place in range(20)])
    await asyncio.gather(*(rig.uptime(f"s{place}") for place in range(20)))
    assert rig.store.asked == len(WINDOWS)
    await rig.history.flush()
    await rig.uptime()
    assert rig.store.asked == 2 * len(WINDOWS)


@simulated
async def test_a_store_that_does_not_answer_holds_nobody_up(rig: Rig):
    rig.see(UP)
    rig.store.answers.clear()
    async with asyncio.timeout(2):
        assert await rig.uptime() == Uptime(None, None, None), "what was before is not known"
    rig.store.answers.set()
    await asyncio.sleep(1)
    assert rig.store.asked == len(WINDOWS), "the answer that came late is kept"
    assert await rig.uptime() == Uptime(1.0, 1.0, 1.0)
    assert rig.store.asked == len(WINDOWS)


@simulated
async def test_the_last_known_is_shown_while_the_store_does_not_answer(rig: Rig):
    rig.see(UP)
    await rig.history.flush()
    await rig.uptime()
    rig.see(DOWN)
    await rig.history.flush()
    rig.see(DOWN)
    rig.store.answers.clear()
    assert await rig.uptime() == Uptime(0.5, 0.5, 0.5)
    rig.store.answers.set()
    assert await rig.uptime() == Uptime(1 / 3, 1 / 3, 1 / 3)


@simulated
async def test_buckets_hold_what_was_written_and_what_waits_for_it(rig: Rig):
    rig.see(UP, DOWN, ago=HOUR)
    rig.see(UP, ago=30 * HOUR)
    await rig.history.flush()
    rig.see(DOWN, ago=HOUR)
    rig.see(UP, UP)
    rig.see(DOWN, name="web")
    found = await rig.history.buckets(["api"], HOUR, 24)
    now = bucket(rig.clock.wall(), HOUR)
    assert {start: (one.up, one.down) for start, one in found["api"].items()} == {now: (2, 0), now - HOUR: (1, 2)}
    days = (await rig.history.buckets(["api", "web"], DAY, 30))["api"]
    assert sum(one.up + one.down for one in days.values()) == 6
    assert await rig.history.buckets(["nobody"], DAY, 30) == {"nobody": {}}
