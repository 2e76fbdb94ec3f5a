"""One suite over every store: what the interface promises, whatever is behind it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.core.clock import Stamp
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft, Event
from argus.core.redact import MASK, Redactor
from argus.store.interface import Store
from argus.store.postgres import PostgresStore
from argus.store.records import (
    Act,
    Append,
    Claim,
    CloseAct,
    Condition,
    Cursor,
    Document,
    Incident,
    OpenAct,
    PutCondition,
    PutCursor,
    PutDocument,
    PutIncident,
    PutSetting,
)
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock

Open = Callable[[], Awaitable[Store]]
SECRET = "canary-of-this-installation"
ENOUGH = 5.0
"""Seconds after which a wait in this suite has failed."""


def redactor() -> Redactor:
    made = Redactor()
    made.learn(SECRET)
    return made


# A store joins the suite here and in `opening`. A store in memory ends with its process.
STORES = ["sqlite-file", "sqlite-memory", "postgres"]
durable = pytest.mark.parametrize("kind", ["sqlite-file", "postgres"])


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("database")) if kind == "postgres" else ""


@pytest.fixture
async def opening(kind: str, url: str, tmp_path: Path) -> AsyncIterator[Open]:
    opened: list[Store] = []

    async def open_store() -> Store:
        store: Store
        if kind == "postgres":
            store = await PostgresStore.open(url, clock=FakeClock(), redactor=redactor())
        else:
            path = tmp_path / "argus.db" if kind == "sqlite-file" else None
            store = SqliteStore(path, clock=FakeClock(), redactor=redactor(), inline=path is None)
        opened.append(store)
        return store

    yield open_store
    for store in opened:
        await store.close()


@pytest.fixture
async def store(opening: Open) -> Store:
    return await opening()


@pytest.fixture
def reopened(opening: Open, store: Store) -> Open:
    async def again() -> Store:
        await store.close()
        return await opening()

    return again


def note(type: str = "t", subject: str = "", channel: str = "c", **data: Any) -> Append:
    return Append(Draft(channel, type, subject, data))


def act(id: str = "a1", **more: Any) -> Act:
    return Act(id, more.pop("kind", "restart_service"), "api", Stamp("boot-1", 5.0, 1_000.0), **more)


async def every(store: Store, after: int = 0) -> list[Event]:
    """All events, page by page, as a reader with a position gets them."""
    found: list[Event] = []
    while page := await store.events(found[-1].n if found else after):
        found += page
    return found


# Events.


async def test_an_empty_store_has_nothing_and_says_so(store: Store):
    assert await store.events(0) == []
    assert await store.last_events(10) == []
    assert await store.span() == (0, 0)
    assert await store.acts(kind="restart_service") == []
    assert await store.open_acts() == []
    assert await store.incidents() == []
    assert await store.incident("i") is None
    assert await store.conditions("services") == {}
    assert await store.setting("autonomy") is None
    assert await store.cursor("notify:x") is None
    assert await store.story("i") == []


async def test_a_commit_returns_its_events_as_they_are_read_later(store: Store):
    made = await store.commit(note("first", "api", detail="x"), PutSetting("k", 1), note("second", "db"))
    assert [(event.type, event.subject, event.data) for event in made] == [
        ("first", "api", {"detail": "x"}),
        ("second", "db", {}),
    ]
    assert await every(store) == made


async def test_a_commit_of_nothing_is_nothing(store: Store):
    assert await store.commit() == []
    assert await store.span() == (0, 0)


async def test_numbers_rise_and_ids_name_the_store(store: Store):
    made = [event for _ in range(5) for event in await store.commit(note(), note())]
    numbers = [event.n for event in made]
    assert numbers == sorted(set(numbers))
    assert [event.id for event in made] == [f"{store.epoch}-{n}" for n in numbers]
    assert await store.span() == (numbers[0], numbers[-1])


async def test_two_stores_have_two_names(store: Store):
    other = SqliteStore(None, inline=True)
    assert other.epoch != store.epoch
    await other.close()


async def test_the_time_of_an_event_is_the_clock_s_in_milliseconds(store: Store):
    (event,) = await store.commit(note())
    assert event.timestamp == 1_800_000_000_000


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param({}, [1, 2, 3, 4, 5, 6], id="everything"),
        pytest.param({"limit": 2}, [1, 2], id="a-page-is-the-oldest-first"),
        pytest.param({"channel": "x"}, [1, 3, 5], id="one-channel"),
        pytest.param({"subject": "a"}, [1, 2, 6], id="one-subject"),
        pytest.param({"channel": "x", "subject": "a"}, [1], id="both"),
        pytest.param({"channel": "x", "limit": 2}, [1, 3], id="the-limit-counts-what-matches"),
        pytest.param({"channel": "nobody"}, [], id="a-channel-nobody-uses"),
    ],
)
async def test_events_are_filtered(store: Store, query: dict[str, Any], expected: list[int]):
    for place, subject in enumerate("aabbca", start=1):
        await store.commit(note(subject=subject, channel="x" if place % 2 else "y", place=place))
    assert [event.data["place"] for event in await store.events(0, **query)] == expected
    assert [event.data["place"] for event in await store.events(2, **query)] == [
        event.data["place"] for event in await store.events(0, **{**query, "limit": 500}) if event.n > 2
    ][: query.get("limit", 500)]


async def test_after_the_newest_there_is_nothing(store: Store):
    (event,) = await store.commit(note())
    assert await store.events(event.n) == []
    assert await store.events(event.n + 1000) == []


async def test_the_newest_events_come_oldest_first_and_filtered(store: Store):
    for place in range(6):
        await store.commit(note("odd" if place % 2 else "even", channel="x" if place < 3 else "y", place=place))

    async def places(limit: int, **query: Any) -> list[int]:
        return [event.data["place"] for event in await store.last_events(limit, **query)]

    assert await places(3) == [3, 4, 5]
    assert await places(10, channel="x") == [0, 1, 2]
    assert await places(2, type="odd") == [3, 5]
    assert await places(10, since=1_800_000_000_001) == []
    assert await places(10, since=1_800_000_000_000) == [0, 1, 2, 3, 4, 5]


async def test_what_is_read_does_not_depend_on_whether_it_is_still_in_memory(store: Store):
    """More events than any store keeps at hand: a reader far behind and one close by see one journal."""
    many = 2_600
    async with asyncio.timeout(ENOUGH):
        for first in range(0, many, 100):
            batch = (note(subject=str(n % 7), channel="xyz"[n % 3], n=n, t=("a", 1)) for n in range(first, first + 100))
            await store.commit(*batch)
    whole = await every(store)
    assert [event.data["n"] for event in whole] == list(range(many))
    for after in (0, 1, 500, many - 2049, many - 2048, many - 2047, many - 500, many - 1):
        start = whole[after].n - 1
        assert await store.events(start, limit=many) == whole[after:]
        for query in ({"channel": "x"}, {"subject": "3"}, {"channel": "z", "subject": "5"}):
            assert (
                await store.events(start, limit=40, **query)
                == [
                    event
                    for event in whole[after:]
                    if all(getattr(event, key) == value for key, value in query.items())
                ][:40]
            )
    assert await store.last_events(300) == whole[-300:]


async def test_a_story_is_the_events_of_one_incident_in_order(store: Store):
    for place in range(6):
        await store.commit(note(place=place, **({"incident": "i1"} if place % 2 else {"incident": "i2"})), note())
    assert [event.data["place"] for event in await store.story("i1")] == [1, 3, 5]
    assert [event.data["place"] for event in await store.story("i1", limit=2)] == [1, 3]
    assert await store.story("i3") == []


async def test_waiting_ends_with_the_next_event_and_not_before(store: Store):
    (event,) = await store.commit(note())
    waiting = asyncio.ensure_future(store.wait(event.n))
    await store.commit(PutSetting("k", "no event"))
    assert not waiting.done()
    await store.commit(note())
    async with asyncio.timeout(ENOUGH):
        await waiting
        await store.wait(event.n)


async def test_many_who_wait_are_all_woken(store: Store):
    waiting = [asyncio.ensure_future(store.wait(0)) for _ in range(50)]
    await asyncio.sleep(0)
    await store.commit(note())
    async with asyncio.timeout(ENOUGH):
        await asyncio.gather(*waiting)


async def test_who_waits_is_woken_when_the_store_is_closed(store: Store):
    waiting = asyncio.ensure_future(store.wait(0))
    await asyncio.sleep(0)
    await store.close()
    async with asyncio.timeout(ENOUGH):
        with pytest.raises(ArgusError) as caught:
            await waiting
    assert caught.value.code is Code.STORE_UNAVAILABLE


# All or nothing.


BAD = {
    "a-second-outcome": CloseAct("nobody", "recovered", 1.0),
    "an-act-that-is-there-already": OpenAct(act("taken")),
    "what-is-no-json": PutSetting("k", object()),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("place", [0, 1, 2], ids=["at-the-beginning", "in-the-middle", "at-the-end"])
async def test_one_bad_write_takes_back_the_whole_commit(store: Store, bad: Any, place: int):
    await store.commit(OpenAct(act("taken")))
    writes = [note("lost"), PutSetting("lost", 1)]
    writes.insert(place, bad)
    with pytest.raises(Exception) as caught:
        async with asyncio.timeout(ENOUGH):
            await store.commit(*writes, PutCondition(Condition("services", "lost", "up", 1.0)))
    assert not isinstance(caught.value, TimeoutError)
    assert await store.events(0) == []
    assert await store.setting("lost") is None
    assert await store.conditions("services") == {}
    (event,) = await store.commit(note("next"))
    assert await store.span() == (event.n, event.n)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_a_bad_commit_takes_nothing_of_its_neighbours_with_it(store: Store, bad: Any):
    """They arrive together and share one sync."""
    await store.commit(OpenAct(act("taken")))
    good = [store.commit(note("good", place=place)) for place in range(40)]
    mixed = [*good[:20], store.commit(note("lost"), bad, note("lost")), *good[20:]]
    async with asyncio.timeout(ENOUGH):
        results = await asyncio.gather(*mixed, return_exceptions=True)
    assert [place for place, result in enumerate(results) if isinstance(result, BaseException)] == [20]
    assert sorted(event.data["place"] for event in await every(store)) == list(range(40))
    assert {event.type for event in await every(store)} == {"good"}


class Unsayable:
    def __str__(self) -> str:
        raise RuntimeError("a bug somewhere else")


@pytest.mark.parametrize(
    "crashing",
    [
        pytest.param({"detail": Unsayable()}, id="a-value-that-cannot-be-said"),
        pytest.param({"incident": {"no": "text"}}, id="an-incident-that-is-no-text"),
    ],
)
async def test_a_commit_that_crashes_the_writer_s_code_stops_no_other(store: Store, crashing: dict[str, Any]):
    work = [store.commit(note(place=1)), store.commit(note(**crashing)), store.commit(note(place=2))]
    async with asyncio.timeout(ENOUGH):
        before, _, after = await asyncio.gather(*work, return_exceptions=True)
        assert [isinstance(result, BaseException) for result in (before, after)] == [False, False]
        assert await store.commit(note(place=3))
    assert [event.data["place"] for event in await store.events(0) if "place" in event.data] == [1, 2, 3]


async def test_a_thousand_commits_at_once_are_all_there_in_the_order_they_were_made(store: Store):
    async with asyncio.timeout(ENOUGH):
        made = await asyncio.gather(*(store.commit(note(place=place), note(place=place)) for place in range(1_000)))
    assert [event.data["place"] for event in await every(store)] == [place for place in range(1_000) for _ in range(2)]
    numbers = [event.n for events in made for event in events]
    assert numbers == list(range(numbers[0], numbers[0] + 2_000))


async def test_a_commit_whose_caller_was_cancelled_still_counts_and_hurts_nobody(store: Store):
    caller = asyncio.ensure_future(store.commit(note("left")))
    await asyncio.sleep(0)
    caller.cancel()
    (event,) = await store.commit(note("after"))
    assert [one.type for one in await store.events(0)][-1] == "after"
    assert (await store.span())[1] == event.n


async def test_a_closed_store_refuses(store: Store):
    await store.close()
    with pytest.raises(ArgusError) as caught:
        await store.commit(note())
    assert caught.value.code is Code.STORE_UNAVAILABLE
    await store.close()


# Acts.


async def test_an_act_is_open_until_it_has_its_outcome(store: Store):
    opened = act(incident="i1", intent={"target": "api"})
    await store.commit(OpenAct(opened))
    assert await store.open_acts() == [opened]
    await store.commit(CloseAct("a1", "recovered", 99.5, {"exitCode": 0}))
    assert await store.open_acts() == []
    (closed,) = await store.acts(kind="restart_service")
    assert (closed.outcome, closed.ended, closed.detail) == ("recovered", 99.5, {"exitCode": 0})
    assert (closed.begun, closed.incident, closed.intent) == (opened.begun, "i1", {"target": "api"})


@pytest.mark.parametrize("id", ["a1", "nobody"], ids=["that-has-one", "that-was-never-opened"])
async def test_an_outcome_for_an_act_is_a_conflict(store: Store, id: str):
    await store.commit(OpenAct(act("a1")), CloseAct("a1", "recovered", 1.0))
    with pytest.raises(ArgusError) as caught:
        await store.commit(CloseAct(id, "still_down", 2.0))
    assert caught.value.code is Code.CONFLICT
    assert [one.outcome for one in await store.acts(kind="restart_service")] == ["recovered"]


async def test_of_two_outcomes_at_once_exactly_one_counts(store: Store):
    await store.commit(OpenAct(act("a1")))
    work = [store.commit(CloseAct("a1", outcome, 1.0), note(outcome)) for outcome in ("recovered", "failed")]
    results = await asyncio.gather(*work, return_exceptions=True)
    assert sum(isinstance(result, ArgusError) for result in results) == 1
    (closed,) = await store.acts(kind="restart_service")
    assert [event.type for event in await store.events(0)] == [closed.outcome]


async def test_acts_are_the_newest_of_their_kind_oldest_first(store: Store):
    for place in range(5):
        await store.commit(OpenAct(act(f"a{place}")), OpenAct(act(f"other{place}", kind="respawn")))
    assert [one.id for one in await store.acts(kind="restart_service", newest=3)] == ["a2", "a3", "a4"]
    assert [one.id for one in await store.open_acts()][:2] == ["a0", "other0"]


# Incidents, conditions, settings, cursors.


async def test_incidents_are_paged_from_the_newest(store: Store):
    for place in range(7):
        closed = 2.0 if place % 2 else None
        await store.commit(PutIncident(Incident(f"i{place}", "service_outage", "api", 1.0, closed, "c", {"p": place})))

    async def ids(**query: Any) -> list[str]:
        return [one.id for one in await store.incidents(**query)]

    assert await ids() == ["i6", "i5", "i4", "i3", "i2", "i1", "i0"]
    assert await ids(limit=3) == ["i6", "i5", "i4"]
    assert await ids(limit=3, before="i4") == ["i3", "i2", "i1"]
    assert await ids(open_only=True) == ["i6", "i4", "i2", "i0"]
    assert await ids(open_only=True, before="i4", limit=1) == ["i2"]
    assert await ids(before="nobody") == []


async def test_an_incident_changes_in_its_place_and_keeps_when_it_began(store: Store):
    await store.commit(PutIncident(Incident("i1", "service_outage", "api", 1.0, None, "refused", {"told": False})))
    await store.commit(PutIncident(Incident("i2", "service_outage", "db", 2.0)))
    ended = Incident("i1", "service_outage", "api", 1.0, 9.0, "refused", {"told": True})
    await store.commit(PutIncident(ended))
    assert await store.incident("i1") == ended
    assert [one.id for one in await store.incidents()] == ["i2", "i1"]


async def test_conditions_are_the_last_of_each_by_domain(store: Store):
    await store.commit(PutCondition(Condition("services", "api", "up", 1.0)))
    await store.commit(PutCondition(Condition("services", "api", "down", 2.0)))
    await store.commit(PutCondition(Condition("agents", "api", "hung", 3.0)))
    assert await store.conditions("services") == {"api": Condition("services", "api", "down", 2.0)}


@pytest.mark.parametrize("value", [0, False, "", [], {}, {"a": [1, None, "ü"]}, 1.5, "text", True])
async def test_a_setting_is_read_as_it_was_written(store: Store, value: Any):
    await store.commit(PutSetting("k", "before"))
    await store.commit(PutSetting("k", value))
    assert await store.setting("k") == value
    await store.commit(PutSetting("k", None))
    assert await store.setting("k") is None


async def test_a_cursor_moves(store: Store):
    await store.commit(PutCursor(Cursor("notify:x", 3, sending=4)))
    assert await store.cursor("notify:x") == Cursor("notify:x", 3, 4)
    await store.commit(PutCursor(Cursor("notify:x", 4)))
    assert await store.cursor("notify:x") == Cursor("notify:x", 4, 0)
    assert await store.cursor("notify:y") is None


# Secrets, and texts of all kinds.


async def test_no_secret_gets_into_the_record(store: Store):
    text = f"x {SECRET} y"
    made = await store.commit(
        note("t", text, detail=text, password="hunter2", deep=[{"token": "abc", "note": text}]),
        OpenAct(act("a1", intent={"detail": text})),
        PutIncident(Incident("i1", "service_outage", "api", 1.0, None, text, {"detail": text})),
    )
    await store.commit(CloseAct("a1", "failed", 1.0, {"output": text, "apiKey": "abc"}))
    read = [made, await every(store), await store.acts(kind="restart_service"), await store.incidents()]
    assert SECRET not in repr(read)
    assert "hunter2" not in repr(read)
    assert made[0].data["deep"] == [{"token": MASK, "note": f"x {MASK} y"}]


TEXTS = {
    "umlauts-and-emoji": "Grüße 🚀 日本",
    "control-characters": "a\x00b\x1b[31m\n\r\t\x7f",
    "quotes-and-sql": "'; DROP TABLE journal; --\"\\",
    "a-lone-surrogate": "half \ud800 a character",
    "a-swapped-pair": "\udc00\ud800",
    "very-long": "x" * 300_000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
async def test_any_text_in_the_data_comes_back_as_it_was(store: Store, text: str):
    (event,) = await store.commit(note(detail=text, deep=[{text[:50]: text}]))
    assert json.dumps(event.data["detail"]) == json.dumps(text)
    (disk,) = await store.last_events(1)
    assert disk == event


@pytest.mark.parametrize("text", ["half \ud800", "nothing \0"], ids=["half-a-character", "nul"])
@pytest.mark.parametrize("place", ["subject", "incident", "cause"])
async def test_no_character_breaks_a_column(store: Store, place: str, text: str):
    writes = {
        "subject": note(subject=text),
        "incident": note(incident=text),
        "cause": PutIncident(Incident("i", "service_outage", "api", 1.0, None, text)),
    }
    await store.commit(writes[place])


@pytest.mark.parametrize("kind", ["sqlite-memory", "postgres"])
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=10,
    )
)
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_memory_and_disk_say_about_an_event_is_the_same(kind: str, url: str, value: Any):
    async def whole() -> None:
        store: Store = (
            await PostgresStore.open(url, clock=FakeClock(), redactor=redactor())
            if kind == "postgres"
            else SqliteStore(None, clock=FakeClock(), redactor=redactor(), inline=True)
        )
        made = await store.commit(note(value=value))
        assert await store.events(made[0].n - 1) == made == await store.last_events(1)
        await store.close()

    asyncio.run(whole())


# A new start.


@durable
async def test_everything_is_there_after_a_new_start(store: Store, reopened: Open):
    epoch = store.epoch
    events = await store.commit(
        note("t", "api", incident="i1"),
        OpenAct(act("open")),
        OpenAct(act("closed")),
        CloseAct("closed", "recovered", 1.0),
        PutIncident(Incident("i1", "service_outage", "api", 1.0)),
        PutCondition(Condition("services", "api", "down", 2.0)),
        PutSetting("k", {"v": 1}),
        PutCursor(Cursor("n", 7, 8)),
    )
    again = await reopened()
    assert again.epoch == epoch
    assert await again.events(0) == events == await again.story("i1")
    assert await again.span() == (1, 1)
    assert [one.id for one in await again.open_acts()] == ["open"]
    assert [one.outcome for one in await again.acts(kind="restart_service")] == [None, "recovered"]
    assert [one.id for one in await again.incidents(open_only=True)] == ["i1"]
    assert (await again.conditions("services"))["api"].state == "down"
    assert await again.setting("k") == {"v": 1}
    assert await again.cursor("n") == Cursor("n", 7, 8)


@durable
async def test_numbers_go_on_after_a_new_start(store: Store, reopened: Open):
    await store.commit(note(), note())
    again = await reopened()
    (event,) = await again.commit(note())
    assert event.n == 3
    assert [one.n for one in await again.events(0)] == [1, 2, 3]
    assert [one.n for one in await again.events(2)] == [3]


@durable
async def test_what_was_accepted_before_closing_is_written(store: Store, reopened: Open):
    work = [asyncio.ensure_future(store.commit(note(place=place))) for place in range(500)]
    await asyncio.sleep(0)
    again = await reopened()
    assert [event.data["place"] for event in await every(again)] == list(range(500))
    async with asyncio.timeout(ENOUGH):
        await asyncio.gather(*work)


# Documents and claims.


async def test_a_document_comes_back_as_it_was_and_changes(store: Store):
    task = 'say "hi" \n $(x) \u0000 \ud800 password=abcdef'
    await store.commit(PutDocument(Document("agents", "a1", {"task": task})), PutDocument(Document("other", "a1", {})))
    assert await store.documents("agents") == [Document("agents", "a1", {"task": task})]
    await store.commit(PutDocument(Document("agents", "a1", {"task": "b"}, live=False)))
    assert await store.documents("agents") == []
    assert await store.documents("agents", live=False) == [Document("agents", "a1", {"task": "b"}, live=False)]


async def test_what_is_claimed_is_claimed_once_and_takes_its_whole_commit_back(store: Store):
    await store.commit(Claim("lineage:2", 1.0))
    with pytest.raises(ArgusError) as refused:
        await store.commit(PutDocument(Document("agents", "twin", {})), Claim("lineage:2", 2.0))
    assert refused.value.code is Code.CONFLICT
    assert await store.documents("agents") == []
    assert store.problem is None
    await store.commit(Claim("lineage:3", 3.0))
