"""One suite over every store: what is counted, what is taken away, and what readers see of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from argus.core.clock import Stamp, milliseconds
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft
from argus.store.interface import Store
from argus.store.postgres import PostgresStore
from argus.store.records import (
    Act,
    AddTallies,
    Append,
    CloseAct,
    Counts,
    Incident,
    OpenAct,
    Prune,
    PruneActs,
    PruneEvents,
    PruneIncidents,
    PruneStories,
    PruneTallies,
    PutIncident,
    PutSetting,
    Tally,
)
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock

Open = Callable[[], Awaitable[Store]]
DAY = 86_400.0
NOW = Stamp("this-boot", 1_000_000.0, 1_800_000_000.0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["sqlite-file", "sqlite-memory", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("database")) if kind == "postgres" else ""


@pytest.fixture
async def opening(kind: str, url: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Open]:
    opened: list[Store] = []

    async def open_store() -> Store:
        path = tmp_path / "argus.db" if kind == "sqlite-file" else None
        store: Store
        if kind == "postgres":
            store = await PostgresStore.open(url, clock=clock)
        else:
            store = SqliteStore(path, clock=clock, inline=path is None)
        opened.append(store)
        return store

    yield open_store
    for store in opened:
        await store.close()


@pytest.fixture
async def store(opening: Open) -> Store:
    return await opening()


def note(type: str = "t", **data: Any) -> Append:
    return Append(Draft("c", type, "", data))


def events_older(clock: FakeClock, days: float, *, keep: int = 0, most: int = 1_000, piece: int = 1_000) -> PruneEvents:
    now = clock.wall()
    return PruneEvents(milliseconds(now), milliseconds(now - days * DAY), keep=keep, most=most, piece=piece)


async def write(store: Store, count: int, **data: Any) -> list[int]:
    return [event.n for event in await store.commit(*(note(**data) for _ in range(count)))]


async def numbers(store: Store, after: int = 0) -> list[int]:
    return [event.n for event in await store.events(after)]


async def pruned(store: Store, order: Prune) -> list[int]:
    """How many rows each piece took, until there was no more."""
    rows = []
    while True:
        piece = await store.prune(order)
        rows.append(piece.rows)
        if not piece.more:
            return rows


# The journal.


async def test_old_events_go_and_the_span_says_from_where_on_there_are_any(store: Store, clock: FakeClock):
    old = await write(store, 5)
    clock.advance(10 * DAY)
    young = await write(store, 3)
    assert await pruned(store, events_older(clock, 5)) == [5]
    assert await store.span() == (old[-1] + 1, young[-1])
    assert await numbers(store) == young
    assert await numbers(store, old[2]) == young
    assert await numbers(store, young[0]) == young[1:]
    assert [event.n for event in await store.last_events(100)] == young
    assert await pruned(store, events_older(clock, 5)) == [0]


async def test_a_store_in_which_nothing_is_old_stays_as_it_is(store: Store, clock: FakeClock):
    written = await write(store, 3)
    clock.advance(DAY)
    assert await pruned(store, events_older(clock, 5)) == [0]
    assert await store.span() == (written[0], written[-1])
    assert await numbers(store) == written


async def test_an_empty_store_can_be_pruned(store: Store, clock: FakeClock):
    for order in (
        events_older(clock, 0),
        PruneStories(),
        PruneActs(NOW, 0, keep=0, most=0),
        PruneIncidents(NOW.wall, keep=0, most=0),
        PruneTallies(3600, int(NOW.wall), keep=1, most=2),
    ):
        assert await pruned(store, order) == [0]
    assert await store.span() == (0, 0)


async def test_the_newest_stay_however_old_the_clock_makes_them(store: Store, clock: FakeClock):
    written = await write(store, 10)
    clock.step(365 * DAY)
    assert await pruned(store, events_older(clock, 5, keep=4)) == [6]
    assert await numbers(store) == written[6:]
    assert await pruned(store, events_older(clock, 5, keep=4)) == [0]


async def test_beyond_the_most_the_oldest_go_although_they_are_young(store: Store, clock: FakeClock):
    written = await write(store, 10)
    assert await pruned(store, events_older(clock, 5, keep=2, most=7)) == [3]
    assert await numbers(store) == written[3:]


async def test_an_event_that_looks_old_does_not_take_younger_ones_before_it_along(store: Store, clock: FakeClock):
    young = await write(store, 2)
    clock.step(-365 * DAY)
    looks_old = await write(store, 2)
    clock.step(365 * DAY)
    assert await pruned(store, events_older(clock, 5)) == [0]
    assert await numbers(store) == young + looks_old


async def test_an_event_from_the_future_goes_with_its_neighbours(store: Store, clock: FakeClock):
    await write(store, 2)
    clock.step(1000 * DAY)
    await write(store, 2)
    clock.step(-1000 * DAY)
    await write(store, 2)
    clock.advance(10 * DAY)
    young = await write(store, 1)
    assert await pruned(store, events_older(clock, 5)) == [6]
    assert await numbers(store) == young


async def test_a_prune_comes_in_pieces(store: Store, clock: FakeClock):
    written = await write(store, 25)
    clock.advance(10 * DAY)
    young = await write(store, 1)
    order = events_older(clock, 5, piece=10)
    first = await store.prune(order)
    assert (first.rows, first.more, first.up_to) == (10, True, written[9])
    assert await store.span() == (written[10], young[0])
    assert await pruned(store, order) == [10, 5]
    assert await numbers(store) == young


async def test_what_was_pruned_stays_pruned_after_a_new_start(kind: str, store: Store, opening: Open, clock: FakeClock):
    if kind == "sqlite-memory":
        return  # it ends with its process
    await write(store, 5)
    clock.advance(10 * DAY)
    await store.commit(PutIncident(Incident("i1", "outage", "api", 1.0)))
    young = await write(store, 2)
    await pruned(store, events_older(clock, 5))
    span = await store.span()
    await store.close()
    again = await opening()
    assert await again.span() == span
    assert await numbers(again) == young
    assert await write(again, 1) == [young[-1] + 1]


async def test_the_story_of_an_open_incident_stays_until_it_is_over(store: Store, clock: FakeClock):
    incident = Incident("i1", "outage", "api", 1.0)
    ended = Incident("i2", "outage", "web", 1.0, closed=2.0)
    await store.commit(PutIncident(incident), PutIncident(ended))
    await write(store, 3)
    mine = await write(store, 2, incident="i1")
    await write(store, 2, incident="i2")
    await write(store, 1, incident="nobody")
    more = await write(store, 1, incident="i1")
    clock.advance(10 * DAY)
    young = await write(store, 2)
    assert await pruned(store, events_older(clock, 5, piece=4)) == [3, 3, 0]
    assert [event.n for event in await store.story("i1")] == mine + more
    assert await store.story("i2") == []
    assert await store.span() == (young[0], young[-1])
    assert await numbers(store) == young, "what is kept for a story confuses no reader"
    assert [event.n for event in await store.last_events(100)] == young

    assert await pruned(store, PruneStories()) == [0]
    await store.commit(PutIncident(replace(incident, closed=clock.wall())))
    assert await pruned(store, PruneStories(piece=2)) == [2, 1]
    assert await store.story("i1") == []
    assert await numbers(store) == young


async def test_a_prune_that_is_taken_back_took_nothing(store: Store, clock: FakeClock):
    written = await write(store, 5)
    clock.advance(10 * DAY)
    with pytest.raises(ArgusError) as caught:
        await store.commit(events_older(clock, 5), CloseAct("nobody", "recovered", 1.0))
    assert caught.value.code is Code.CONFLICT
    assert await store.span() == (written[0], written[-1])
    assert await numbers(store) == written


async def test_who_reads_while_it_is_pruned_sees_no_holes(store: Store, clock: FakeClock):
    await store.commit(PutIncident(Incident("i1", "outage", "api", 1.0)))
    for _ in range(60):
        await store.commit(*(note() for _ in range(45)), *(note(incident="i1") for _ in range(5)))
    clock.advance(10 * DAY)
    newest = (await write(store, 1))[0]
    pages: list[list[int]] = []
    done = False

    async def read() -> None:
        while not done:
            pages.append(await numbers(store, 3))
            await asyncio.sleep(0)

    async def prune() -> None:
        nonlocal done
        try:
            await pruned(store, events_older(clock, 5, piece=100))
        finally:
            done = True

    await asyncio.gather(read(), prune())
    for page in pages:
        assert page == list(range(page[0], page[0] + len(page)))
    assert await numbers(store) == [newest]


async def test_settings_are_never_pruned(store: Store, clock: FakeClock):
    await store.commit(PutSetting("tombstone:green", {"by": "cli"}))
    await write(store, 5)
    clock.advance(10 * DAY)
    await pruned(store, events_older(clock, 5))
    assert await store.setting("tombstone:green") == {"by": "cli"}


# Acts and incidents.


def act(id: str, begun: Stamp, kind: str = "restart_service") -> Act:
    return Act(id, kind, "api", begun)


def earlier(seconds: float, boot_id: str = NOW.boot_id) -> Stamp:
    return Stamp(boot_id, NOW.boot - seconds, NOW.wall - seconds)


async def put_acts(store: Store, *acts: Act, is_open: bool = False) -> None:
    for one in acts:
        await store.commit(OpenAct(one))
        if not is_open:
            await store.commit(CloseAct(one.id, "recovered", 1.0))


async def acts_left(store: Store, kind: str = "restart_service") -> list[str]:
    return [one.id for one in await store.acts(kind=kind)]


async def test_old_acts_go_but_the_newest_of_each_kind(store: Store):
    await put_acts(store, *(act(f"a{place}", earlier(10 * DAY)) for place in range(6)))
    await put_acts(store, *(act(f"r{place}", earlier(10 * DAY), "respawn") for place in range(3)))
    await put_acts(store, act("young", earlier(DAY)))
    order = PruneActs(NOW, 5 * DAY, keep=2, most=100, piece=3)
    assert sum(await pruned(store, order)) == 6
    assert await acts_left(store) == ["a5", "young"]
    assert await acts_left(store, "respawn") == ["r1", "r2"]


async def test_an_open_act_stays_however_old_it_is(store: Store):
    await put_acts(store, act("open", earlier(100 * DAY)), is_open=True)
    await put_acts(store, *(act(f"a{place}", earlier(10 * DAY)) for place in range(3)))
    await pruned(store, PruneActs(NOW, 5 * DAY, keep=1, most=2))
    assert await acts_left(store) == ["open", "a2"]
    assert [one.id for one in await store.open_acts()] == ["open"]


@pytest.mark.parametrize(
    ("begun", "goes"),
    [
        pytest.param(earlier(10 * DAY), True, id="old-by-both-clocks"),
        pytest.param(Stamp(NOW.boot_id, NOW.boot - 60, NOW.wall - 365 * DAY), False, id="the-wall-clock-was-set-ahead"),
        pytest.param(Stamp(NOW.boot_id, NOW.boot - 10 * DAY, NOW.wall), True, id="the-wall-clock-was-set-back"),
        pytest.param(earlier(10 * DAY, "another-boot"), True, id="of-another-boot-old-by-the-wall-clock"),
        pytest.param(earlier(DAY, "another-boot"), False, id="of-another-boot-and-young"),
    ],
)
async def test_the_age_of_an_act_is_told_as_budgets_tell_it(store: Store, begun: Stamp, goes: bool):
    await put_acts(store, act("asked", begun), act("newest", earlier(0)))
    await pruned(store, PruneActs(NOW, 5 * DAY, keep=1, most=100))
    assert ("asked" in await acts_left(store)) is not goes


async def test_beyond_the_most_acts_go_although_they_are_young(store: Store):
    await put_acts(store, *(act(f"a{place}", earlier(0)) for place in range(6)))
    await pruned(store, PruneActs(NOW, 5 * DAY, keep=2, most=4))
    assert await acts_left(store) == ["a2", "a3", "a4", "a5"]


async def test_a_budget_s_worth_of_acts_is_given_without_asking_for_it(store: Store):
    for place in range(0, 1000, 100):
        await store.commit(*(OpenAct(act(f"a{place + each}", earlier(0))) for each in range(100)))
    assert len(await store.acts(kind="restart_service")) == 1000


async def test_ended_incidents_go_when_they_are_old_but_the_newest(store: Store):
    for place in range(6):
        ended = None if place == 1 else NOW.wall - (10 - place) * DAY
        await store.commit(PutIncident(Incident(f"i{place}", "outage", "api", NOW.wall - 20 * DAY, ended)))
    assert await pruned(store, PruneIncidents(NOW.wall - 6.5 * DAY, keep=1, most=100)) == [3]
    assert [one.id for one in await store.incidents()] == ["i5", "i4", "i1"]
    assert await pruned(store, PruneIncidents(NOW.wall - 1, keep=1, most=100)) == [1]
    assert [one.id for one in await store.incidents()] == ["i5", "i1"]
    assert await pruned(store, PruneIncidents(0, keep=0, most=1)) == [0]


async def test_beyond_the_most_incidents_go_although_they_are_young(store: Store):
    for place in range(5):
        await store.commit(PutIncident(Incident(f"i{place}", "outage", "api", NOW.wall, NOW.wall)))
    assert await pruned(store, PruneIncidents(0, keep=1, most=3, piece=1)) == [1, 1, 0]
    assert [one.id for one in await store.incidents()] == ["i4", "i3", "i2"]


# Tallies.


def tally(start: int, subject: str = "api", *, span: int = 3600, domain: str = "services", **counts: Any) -> Tally:
    return Tally(span, start, domain, subject, Counts(**counts))


async def test_tallies_add_up_in_their_bucket(store: Store):
    first = tally(7200, up=3, degraded=1, down=2, unknown=1, timed=4, latency=0.5, slowest=0.3)
    await store.commit(AddTallies((first,)))
    await store.commit(AddTallies((tally(7200, up=1, timed=1, latency=0.25, slowest=0.25), tally(7200, down=1))))
    expected = Counts(up=4, degraded=1, down=3, unknown=1, timed=5, latency=0.75, slowest=0.3)
    assert await store.tallied("services", 3600, 7200, 7200) == {"api": expected}


async def test_sums_are_of_one_domain_and_span_and_from_the_first_bucket_to_the_last(store: Store):
    starts = (0, 3600, 7200, 10800)
    await store.commit(AddTallies(tuple(tally(start, up=1 + place) for place, start in enumerate(starts))))
    await store.commit(AddTallies((tally(3600, "web", down=7), tally(3600, span=86400, up=99))))
    await store.commit(AddTallies((tally(3600, domain="agents", up=50),)))
    assert await store.tallied("services", 3600, 3600, 7200) == {"api": Counts(up=5), "web": Counts(down=7)}
    assert await store.tallied("services", 86400, 0, 10800) == {"api": Counts(up=99)}
    assert await store.tallied("nobody", 3600, 0, 10800) == {}


async def test_single_buckets_are_read_by_their_starts_and_subjects(store: Store):
    hours = (0, 3600, 7200)
    await store.commit(AddTallies(tuple(tally(start, name, up=1) for start in hours for name in ("api", "web", "db"))))
    await store.commit(AddTallies((tally(0, span=86400, up=9), tally(0, domain="agents", up=9))))
    found = await store.buckets("services", 3600, [0, 7200, 99], ["api", "db", "nobody"])
    assert sorted((one.start, one.subject) for one in found) == [(0, "api"), (0, "db"), (7200, "api"), (7200, "db")]
    assert {one.counts for one in found} == {Counts(up=1)}


async def test_any_name_has_its_tally(store: Store):
    await store.commit(AddTallies((tally(0, "ü\x00 '\ud800", up=1),)))
    (found,) = (await store.tallied("services", 3600, 0, 0)).values()
    assert found == Counts(up=1)


async def test_a_tally_is_taken_back_with_its_commit(store: Store):
    with pytest.raises(ArgusError):
        await store.commit(AddTallies((tally(0, up=1),)), CloseAct("nobody", "recovered", 1.0))
    assert await store.tallied("services", 3600, 0, 0) == {}


async def starts_left(store: Store, span: int = 3600) -> list[int]:
    return [start for start in range(0, 20 * 3600, 3600) if await store.tallied("services", span, start, start)]


async def put_hours(store: Store, count: int) -> None:
    names = [f"s{place}" for place in range(3)]
    all_of_them = (tally(hour * 3600, name, up=1) for hour in range(count) for name in names)
    await store.commit(AddTallies((*all_of_them, tally(0, span=86400, up=1))))


@pytest.mark.parametrize(
    ("before", "keep", "most", "left"),
    [
        pytest.param(4 * 3600, 2, 100, [4, 5, 6, 7], id="by-age"),
        pytest.param(10**9, 2, 100, [6, 7], id="the-newest-stay-when-the-clock-ran-ahead"),
        pytest.param(0, 2, 5, [3, 4, 5, 6, 7], id="never-more-than-the-most-when-it-was-set-back"),
        pytest.param(0, 2, 100, list(range(8)), id="nothing-is-old"),
        pytest.param(10**9, 20, 100, list(range(8)), id="fewer-than-always-stay"),
    ],
)
async def test_old_buckets_go(store: Store, before: int, keep: int, most: int, left: list[int]):
    await put_hours(store, 8)
    taken = await pruned(store, PruneTallies(3600, before, keep=keep, most=most, piece=4))
    assert sum(taken) == 3 * (8 - len(left))
    assert all(rows <= 4 for rows in taken)
    assert await starts_left(store) == [hour * 3600 for hour in left]
    assert await starts_left(store, 86400) == [0], "the other span is not touched"
