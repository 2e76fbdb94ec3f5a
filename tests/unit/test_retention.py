"""What is taken away when, as values."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.core.budget import MOST
from argus.core.clock import Stamp
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.retention import Retention, orders
from argus.store.pruning import pruned_up_to
from argus.store.records import Append, Prune, PruneActs, Pruned, PruneEvents, PruneIncidents, PruneTallies
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, SimulatedLoop, run_simulated

NOW = Stamp("boot", 500.0, 1_800_000_000.0)
DAY = 86_400


def order(**more: int) -> PruneEvents:
    return PruneEvents(**{"now": 1000, "before": 500, "keep": 0, "most": 1_000_000, **more})


@pytest.mark.parametrize(
    ("times", "newest", "expected"),
    [
        pytest.param([], 0, None, id="nothing-there"),
        pytest.param([600, 700], 2, None, id="all-young"),
        pytest.param([1, 2, 499], 3, 3, id="all-old"),
        pytest.param([1, 499, 500, 1], 4, 2, id="ends-at-the-first-that-is-young"),
        pytest.param([1, 1001, 2, 600], 4, 3, id="one-from-the-future-goes-with-its-neighbours"),
        pytest.param([1001, 1001], 2, None, id="the-future-alone-is-not-old"),
        pytest.param([1, 1001, 600], 3, 1, id="the-future-before-a-young-one-stays"),
        pytest.param([600, 600, 600], 1_000_002, 2, id="too-many-although-young"),
    ],
)
def test_the_oldest_go_up_to_the_first_that_must_stay(times: list[int], newest: int, expected: int | None):
    assert pruned_up_to(list(enumerate(times, start=1)), order(), newest) == expected


@given(st.lists(st.integers(0, 2000), max_size=30), st.integers(0, 40))
def test_whatever_the_clock_did_no_young_event_goes_unless_there_are_too_many(times: list[int], most: int):
    rows = list(enumerate(times, start=1))
    last = pruned_up_to(rows, order(most=most), len(rows)) or 0
    for n, timestamp in itertools.takewhile(lambda row: row[0] <= last, rows):
        assert timestamp < 500 or timestamp > 1000 or n <= len(rows) - most
    assert last >= len(rows) - most, "and never are there more than the most"


def test_what_always_stays():
    found = orders(NOW, 90.0 * DAY)
    events, acts, incidents = found["events"], found["acts"], found["incidents"]
    assert isinstance(events, PruneEvents)
    assert isinstance(acts, PruneActs)
    assert isinstance(incidents, PruneIncidents)
    assert (events.keep, events.most) == (10_000, 1_000_000)
    assert (events.before, events.now) == ((1_800_000_000 - 90 * DAY) * 1000, 1_800_000_000_000)
    assert (acts.keep, acts.age, acts.now) == (MOST, 90.0 * DAY, NOW)
    assert (incidents.keep, incidents.before) == (1000, NOW.wall - 90.0 * DAY)


def test_acts_that_may_count_for_a_budget_stay_however_short_the_retention():
    acts = orders(NOW, 0.001)["acts"]
    assert isinstance(acts, PruneActs)
    assert acts.age >= 3600 + 60


def test_buckets_have_an_age_of_their_own():
    hours, days = orders(NOW, 1.0)["hours"], orders(NOW, 1.0)["days"]
    assert isinstance(hours, PruneTallies)
    assert isinstance(days, PruneTallies)
    assert (hours.span, NOW.wall - hours.before) == (3600, 48 * 3600)
    assert (days.span, NOW.wall - days.before) == (DAY, 400 * DAY)


class Store:
    """The real one, which may be away."""

    def __init__(self, clock: FakeClock) -> None:
        self.real = SqliteStore(None, clock=clock, inline=True)
        self.is_away = False

    async def prune(self, order: Prune) -> Pruned:
        if self.is_away:
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        return await self.real.prune(order)

    async def write(self, count: int) -> None:
        await self.real.commit(*(Append(Draft("c", "t")) for _ in range(count)))


def simulated(story: Callable[[Store, FakeClock], Awaitable[None]]) -> Callable[[], None]:
    def test() -> None:
        async def play(loop: SimulatedLoop) -> None:
            clock = FakeClock(loop)
            store = Store(clock)
            running = asyncio.ensure_future(Retention(store, clock, 90.0 * DAY).run())  # type: ignore[arg-type]
            await story(store, clock)
            assert not running.done()
            running.cancel()

        run_simulated(play)

    test.__name__, test.__qualname__ = story.__name__, story.__name__
    return test


@simulated
async def test_it_prunes_shortly_after_the_start_and_every_hour(store: Store, clock: FakeClock):
    await store.write(10_000)
    clock.step(100.0 * DAY)
    await store.write(2_500)
    await asyncio.sleep(60)
    assert (await store.real.span())[0] == 2_501, "in as many pieces as it takes"
    await store.write(7)
    await asyncio.sleep(3600)
    assert (await store.real.span())[0] == 2_508
    assert [event.type for event in await store.real.last_events(5)] == ["t"] * 5, "and records nothing of its own"


@simulated
async def test_it_goes_on_when_the_store_is_back(store: Store, clock: FakeClock):
    await store.write(10_001)
    clock.step(100.0 * DAY)
    store.is_away = True
    await asyncio.sleep(60)
    store.is_away = False
    await asyncio.sleep(3600)
    assert (await store.real.span())[0] == 2


def test_the_log_says_what_went(caplog: pytest.LogCaptureFixture):
    @simulated
    async def story(store: Store, clock: FakeClock) -> None:
        await store.write(10_003)
        clock.step(100.0 * DAY)
        await asyncio.sleep(7300)

    with caplog.at_level("INFO", logger="argus"):
        story()
    assert [record.getMessage() for record in caplog.records if record.name == "argus"] == ["pruned 3 events"]
