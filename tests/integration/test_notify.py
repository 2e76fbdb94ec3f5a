"""Delivery from a real journal: each message once, in order, whatever happens between."""

import asyncio
import contextlib
import json
import logging
import re
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from argus.core.clock import Clock, SystemClock
from argus.core.errors import ArgusError, Code
from argus.core.events import Draft, Event
from argus.host.channels import AppriseSender, understood
from argus.notify.deliver import Deliveries, label
from argus.notify.message import Message
from argus.notify.settings import Channel
from argus.store.interface import Store
from argus.store.records import Append
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, SimulatedLoop, run_simulated

ENOUGH = 20.0
CANARY = "canary-of-a-channel"


def channel(name: str = "one", *tiers: int) -> Channel:
    return Channel.model_validate({"url": f"json://{CANARY}-{name}@host/{name}", "tiers": list(tiers or (1, 2, 3))})


def down(name: str, **more: Any) -> Append:
    data = {
        "service": name,
        "failures": 3,
        "place": "Port 1",
        "cause": "refused",
        "autonomy": "observe",
        "action": "none",
        "gate": "autonomy",
        "hint": "restart requires moderate+",
        "incident": f"incident-of-{name}",
        **more,
    }
    return Append(Draft("services", "service_down", name, data))


def up(name: str) -> Append:
    data = {"service": name, "downSeconds": 60.0, "restarted": False, "told": True}
    return Append(Draft("services", "service_recovered", name, data))


SILENT = Append(Draft("services", "state_changed", "api", {"service": "api", "from": "up", "to": "degraded"}))


class Outbox:
    """A sender that takes every message, or behaves as its script says."""

    def __init__(self, *script: Any) -> None:
        self.hangs = asyncio.Event()
        self.sent: list[tuple[str, str, str]] = []
        self.tried: list[tuple[str, str]] = []
        self.times: list[float] = []
        self._script = list(script)

    async def send(self, url: str, title: str, body: str, *, timeout: float) -> bool:
        place = url.rpartition("/")[2]
        self.tried.append((place, title))
        self.times.append(asyncio.get_running_loop().time())
        step = self._script.pop(0) if self._script else True
        if isinstance(step, BaseException):
            raise step
        if step == "hang":
            self.hangs.set()
            await asyncio.Event().wait()
        if step:
            self.sent.append((place, title, body))
        return bool(step)

    @property
    def titles(self) -> list[str]:
        return [title for _, title, _ in self.sent]


@asynccontextmanager
async def delivering(
    store: Any, sender: Any, *channels: Channel, clock: Clock | None = None
) -> AsyncIterator[asyncio.Task[None]]:
    """A life of the notifying part: it is ready when every channel has its position, and ends as if it were killed."""
    channels = channels or (channel(),)
    task = asyncio.ensure_future(Deliveries(channels, store, sender, clock or SystemClock()).run())
    async with asyncio.timeout(ENOUGH):
        while True:
            if None not in [await store.cursor(f"notify:{label(one)}") for one in channels]:
                break
            await asyncio.sleep(0)
    yield task
    task.cancel()
    await asyncio.wait([task])


async def noted(store: Store, type: str, count: int = 1) -> list[Event]:
    """Waits, in the journal, until so much was noted."""
    position, found = 0, []
    async with asyncio.timeout(ENOUGH):
        while True:
            for event in await store.events(position):
                position = event.n
                found += [event] if event.type == type else []
            if len(found) >= count:
                return found
            await store.wait(position)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    made = SqliteStore(tmp_path / "argus.db")
    yield made
    await made.close()


async def test_every_event_is_one_message_in_order_and_silent_ones_are_none(store: SqliteStore):
    outbox = Outbox()
    async with delivering(store, outbox):
        fell, _, rose = await store.commit(down("a"), SILENT, up("a"))
        await store.commit(SILENT)
        (other,) = await store.commit(down("b"))
        notes = await noted(store, "notification_sent", 3)
    assert outbox.titles == ["SERVICE DOWN: a", "SERVICE RECOVERED: a", "SERVICE DOWN: b"]
    assert [note.data["about"] for note in notes] == [fell.id, rose.id, other.id]
    assert [note.data["attempts"] for note in notes] == [1, 1, 1]
    assert [note.data.get("incident") for note in notes] == ["incident-of-a", None, "incident-of-b"]


async def test_a_channel_hears_its_tiers_only(store: SqliteStore):
    outbox = Outbox()
    async with delivering(store, outbox, channel("urgent", 1), channel("important", 2)):
        await store.commit(down("a"), up("a"))
        await noted(store, "notification_sent", 2)
    assert sorted((place, title) for place, title, _ in outbox.sent) == [
        ("important", "SERVICE RECOVERED: a"),
        ("urgent", "SERVICE DOWN: a"),
    ]


async def test_the_position_is_saved_with_the_message(store: SqliteStore):
    async with delivering(store, Outbox()):
        (event,) = await store.commit(down("a"))
        await noted(store, "notification_sent")
    cursor = await store.cursor(f"notify:{label(channel())}")
    assert cursor is not None
    assert (cursor.n, cursor.sending) == (event.n, 0)


async def test_a_new_start_goes_on_where_the_last_ended_and_repeats_nothing(tmp_path: Path):
    path, outbox = tmp_path / "argus.db", Outbox()
    first = SqliteStore(path)
    async with delivering(first, outbox):
        await first.commit(down("a"))
        await noted(first, "notification_sent")
    await first.commit(down("while-nobody-delivered"))
    await first.close()
    second = SqliteStore(path)
    async with delivering(second, outbox):
        await second.commit(down("b"))
        await noted(second, "notification_sent", 3)
    await second.close()
    assert outbox.titles == ["SERVICE DOWN: a", "SERVICE DOWN: while-nobody-delivered", "SERVICE DOWN: b"]


async def test_a_new_channel_does_not_hear_the_past(store: SqliteStore):
    await store.commit(down("past"))
    outbox = Outbox()
    async with delivering(store, outbox, channel("new")):
        await store.commit(down("present"))
        await noted(store, "notification_sent")
    assert outbox.titles == ["SERVICE DOWN: present"]


async def test_a_channel_that_is_added_does_not_move_the_others(store: SqliteStore):
    outbox = Outbox()
    async with delivering(store, outbox, channel("old")):
        await store.commit(down("a"))
        await noted(store, "notification_sent")
    await store.commit(down("between"))
    async with delivering(store, outbox, channel("old"), channel("new")):
        await store.commit(down("b"))
        await noted(store, "notification_sent", 4)
    heard = [(place, title) for place, title, _ in outbox.sent]
    assert [title for place, title in heard if place == "new"] == ["SERVICE DOWN: b"]
    assert [title for place, title in heard if place == "old"] == [
        "SERVICE DOWN: a",
        "SERVICE DOWN: between",
        "SERVICE DOWN: b",
    ]


async def test_an_interrupted_message_is_repeated_once_and_says_so(store: SqliteStore):
    hanging = Outbox("hang")
    async with delivering(store, hanging):
        (event,) = await store.commit(down("a"))
        async with asyncio.timeout(ENOUGH):
            await hanging.hangs.wait()
    cursor = await store.cursor(f"notify:{label(channel())}")
    assert cursor is not None
    assert cursor.sending == event.n
    outbox = Outbox()
    async with delivering(store, outbox):
        await store.commit(down("b"))
        await noted(store, "notification_sent", 2)
    assert outbox.titles == ["SERVICE DOWN: a", "SERVICE DOWN: b"]
    first, second = (body for _, _, body in outbox.sent)
    assert first.startswith(second)
    assert len(first) > len(second)


class Forgetful:
    """A store that cannot be written once, just when a message has left."""

    def __init__(self, store: SqliteStore, outbox: Outbox) -> None:
        self._store, self._outbox, self._done = store, outbox, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, *writes: Any) -> list[Event]:
        if self._outbox.sent and not self._done:
            self._done = True
            raise ArgusError(Code.STORE_UNAVAILABLE, "the disk is full")
        return await self._store.commit(*writes)


async def test_a_message_that_could_not_be_noted_is_repeated_once_and_says_so(store: SqliteStore):
    outbox = Outbox()
    async with delivering(Forgetful(store, outbox), outbox):
        await store.commit(down("a"))
        await noted(store, "notification_sent")
    first, second = (body for _, _, body in outbox.sent)
    assert second.startswith(first)
    assert len(second) > len(first)


async def test_events_without_a_message_do_not_keep_the_position_back_for_ever(store: SqliteStore):
    async with delivering(store, Outbox()):
        await store.commit(*[SILENT] * 450)
        async with asyncio.timeout(ENOUGH):
            while True:
                cursor = await store.cursor(f"notify:{label(channel())}")
                assert cursor is not None
                if cursor.n >= 250:
                    break


async def test_no_secret_of_a_channel_is_in_the_journal_or_the_log(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    async with delivering(store, Outbox(True, RuntimeError("no"), True)):
        await store.commit(down("a"))
        await noted(store, "notification_sent")
        await store.commit(down("b"))
        await noted(store, "notification_delayed")
    events = await store.events(0)
    assert CANARY not in json.dumps([event.public() for event in events])
    assert CANARY not in caplog.text
    assert CANARY not in label(channel())


def test_a_label_is_the_same_at_every_start_and_another_for_another_channel():
    assert label(channel("a")) == label(channel("a"))
    assert label(channel("a")) != label(channel("b"))
    assert label(channel("a")).startswith("json-")


# Channels that fail, on simulated time.


def simulate(scenario: Any) -> None:
    async def whole(loop: SimulatedLoop) -> None:
        clock = FakeClock(loop)
        store = SqliteStore(None, clock=clock, inline=True)
        await scenario(store, clock)
        await store.close()

    run_simulated(whole)


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param(False, id="that-says-no"),
        pytest.param(TimeoutError(), id="that-does-not-answer"),
        pytest.param(RuntimeError("a bug in a plug-in"), id="that-crashes"),
    ],
)
def test_a_channel_is_tried_again_with_growing_pauses(failing: Any):
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox(*[failing] * 11)
        async with delivering(store, outbox, clock=clock):
            await store.commit(down("a"), down("b"))
            await asyncio.sleep(3600)
        pauses = [later - earlier for earlier, later in zip(outbox.times, outbox.times[1:], strict=False)]
        assert pauses == pytest.approx([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 0])
        assert outbox.titles == ["SERVICE DOWN: a", "SERVICE DOWN: b"]
        delayed, sent = await noted(store, "notification_delayed"), await noted(store, "notification_sent", 2)
        assert len(delayed) == 1
        assert [note.data["attempts"] for note in sent] == [12, 1]

    simulate(scenario)


def test_a_message_that_goes_out_late_says_when_it_happened():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox(*[False] * 11)
        async with delivering(store, outbox, clock=clock):
            (fell,) = await store.commit(down("a"))
            await asyncio.sleep(3600)
            await store.commit(down("b"))
            await asyncio.sleep(5)
        at = datetime.fromtimestamp(fell.timestamp / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        late, at_once = [body for _, _, body in outbox.sent]
        # 1 + 2 + 4 … + 256 s, and twice 300.
        assert f"\n(happened {at}, 18m ago)\n" in late
        assert "happened" not in at_once

    simulate(scenario)


def test_how_long_ago_it_was_looked_at_is_counted_to_when_it_is_told():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox(*[False] * 5)
        async with delivering(store, outbox, clock=clock):
            seen = round(clock.wall() * 1000)
            # Kept for a record that was away, and then held up by the channel for 31 s.
            await store.commit(replace(down("a", lastCheckAt=seen), at=seen))
            await asyncio.sleep(60)
        assert "(last check: 31s ago)" in outbox.sent[0][2]

    simulate(scenario)


def test_a_channel_that_fails_holds_up_no_other():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        class Half(Outbox):
            async def send(self, url: str, title: str, body: str, *, timeout: float) -> bool:
                return not url.endswith("/bad") and await super().send(url, title, body, timeout=timeout)

        outbox = Half()
        async with delivering(store, outbox, channel("bad"), channel("good"), clock=clock):
            await store.commit(down("a"))
            await asyncio.sleep(5)
            await store.commit(down("b"))
            await asyncio.sleep(5)
        assert outbox.sent
        assert [(place, title) for place, title, _ in outbox.sent] == [
            ("good", "SERVICE DOWN: a"),
            ("good", "SERVICE DOWN: b"),
        ]

    simulate(scenario)


def test_an_outage_of_a_channel_loses_nothing():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox(*[False] * 8)
        async with delivering(store, outbox, clock=clock):
            for place in range(30):
                await store.commit(down(f"s{place}"))
                await asyncio.sleep(20)
        told = [name for _, title, body in outbox.sent for name in re.findall(r"DOWN: (s\d+)", f"{title}\n{body}")]
        assert told == [f"s{place}" for place in range(30)]
        assert len(outbox.sent) < 30, "what had to wait for the rate limit went out together"

    simulate(scenario)


# What is told past the journal, on simulated time.

AWAY = Message(1, "RECORD CANNOT BE WRITTEN", "For 1m: the disk is full")


def test_what_is_told_past_the_journal_reaches_every_channel_for_its_tier_once_and_writes_nothing():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox(False, True, False)
        channels = channel("urgent", 1), channel("important", 2), channel("all")
        async with delivering(store, outbox, *channels, clock=clock):
            deliveries = Deliveries(channels, store, outbox, clock)
            await asyncio.wait_for(deliveries.past_the_record(AWAY), 60)
        assert sorted(place for place, _, _ in outbox.sent) == ["all", "urgent"]
        assert await store.events(0) == []
        assert [body for _, _, body in outbox.sent if "may be a repetition" in body]

    simulate(scenario)


def test_what_is_told_past_the_journal_is_given_up_when_it_is_no_longer_so():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox(*[RuntimeError("a bug in a plug-in")] * 100)
        deliveries = Deliveries((channel(),), store, outbox, clock)
        telling = asyncio.ensure_future(deliveries.past_the_record(AWAY))
        await asyncio.sleep(10)
        telling.cancel()
        await asyncio.wait([telling])
        tried = len(outbox.tried)
        await asyncio.sleep(600)
        assert (len(outbox.tried), outbox.sent) == (tried, [])

    simulate(scenario)


# What may not go out yet, on simulated time.


def paced(**more: Any) -> Channel:
    return Channel.model_validate({"url": "json://host/one", "tiers": [1, 2, 3], **more})


def settled(name: str) -> Append:
    return Append(Draft("services", "service_settled", name, {"service": name, "incident": "i", "to": "up"}))


def local(clock: FakeClock, hours: float) -> str:
    """The local time in so many hours."""
    return datetime.fromtimestamp(clock.wall() + hours * 3600).strftime("%H:%M")  # noqa: DTZ006


def test_informative_messages_go_out_as_one_after_a_while():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox()
        async with delivering(store, outbox, paced(digestEvery="1h"), clock=clock):
            await store.commit(settled("a"))
            await asyncio.sleep(1800)
            await store.commit(settled("b"), down("c"))
            await asyncio.sleep(1700)
            assert outbox.titles == ["SERVICE DOWN: c"]
            await asyncio.sleep(200)
            assert outbox.titles == ["SERVICE DOWN: c", "2 MESSAGES"]
            await asyncio.sleep(1800)
        assert outbox.titles == ["SERVICE DOWN: c", "2 MESSAGES"]
        assert "- SERVICE SETTLED: b" in outbox.sent[-1][2]

    simulate(scenario)


def test_in_quiet_hours_only_urgent_messages_go_out_and_the_others_together_afterwards():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox, hours = Outbox(), {"from": local(clock, 0), "to": local(clock, 8)}
        began = datetime.fromtimestamp(clock.wall(), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        async with delivering(store, outbox, paced(quietHours=hours), clock=clock):
            await store.commit(down("a"), up("a"), down("b"), up("b"))
            await asyncio.sleep(7.8 * 3600)
            assert outbox.titles == ["SERVICE DOWN: a", "SERVICE DOWN: b"]
            await asyncio.sleep(0.4 * 3600)
        assert outbox.titles == ["SERVICE DOWN: a", "SERVICE DOWN: b", "2 MESSAGES"]
        assert outbox.sent[-1][2].splitlines() == [
            f"- SERVICE RECOVERED: a: Up again, down for 1m (happened {began}, 8h ago)",
            f"- SERVICE RECOVERED: b: Up again, down for 1m (happened {began}, 8h ago)",
        ]

    simulate(scenario)


def test_what_waits_outlives_a_restart_and_goes_out_once():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox, hours = Outbox(), {"from": local(clock, 0), "to": local(clock, 8)}
        for _ in range(3):
            async with delivering(store, outbox, paced(quietHours=hours), clock=clock):
                await store.commit(up("a"))
                await asyncio.sleep(3600)
        async with delivering(store, outbox, paced(quietHours=hours), clock=clock):
            await asyncio.sleep(8 * 3600)
        async with delivering(store, outbox, paced(quietHours=hours), clock=clock):
            await asyncio.sleep(3600)
        assert outbox.titles == ["3 MESSAGES"]
        assert await store.documents("notify") == []

    simulate(scenario)


def test_beyond_the_rate_limit_messages_go_out_together_and_none_is_lost():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox()
        limited = paced(rateLimit={"messages": 2, "per": "1m"})
        async with delivering(store, outbox, limited, clock=clock):
            for place in range(40):
                await store.commit(down(f"s{place}"))
            await asyncio.sleep(30)
            assert outbox.titles == ["SERVICE DOWN: s0", "SERVICE DOWN: s1"]
            await asyncio.sleep(60)
        assert outbox.titles == ["SERVICE DOWN: s0", "SERVICE DOWN: s1", "38 MESSAGES"]
        lines = outbox.sent[-1][2].splitlines()
        assert lines[0].startswith("- SERVICE DOWN: s2: 3 consecutive failures")
        assert lines[-1] == "- and 8 more: argus events"
        (*_, sent) = await noted(store, "notification_sent", 3)
        assert sent.data["messages"] == 38

    simulate(scenario)


def test_every_incident_has_in_its_story_why_nobody_was_told_yet_and_then_the_message_that_told_of_several():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox()
        async with delivering(store, outbox, paced(rateLimit={"messages": 1, "per": "1m"}), clock=clock):
            for name in ("first", "a", "b", "a"):
                await store.commit(down(name))
            await asyncio.sleep(120)
        assert outbox.titles == ["SERVICE DOWN: first", "3 MESSAGES"]
        for name, types in {
            "first": ["notification_sent"],
            "a": ["notification_held", "notification_held", "notification_sent"],
            "b": ["notification_held", "notification_included"],
        }.items():
            story = await store.story(f"incident-of-{name}")
            told = [event for event in story if event.channel == "notify"]
            assert [event.type for event in told] == types
            held = [event.data for event in told if event.type == "notification_held"]
            assert all(data["why"] == "too many messages at once" and data["until"] for data in held)
        assert told[-1].data["messages"] == 3

    simulate(scenario)


def test_a_digest_that_was_interrupted_is_repeated_once_and_says_so():
    async def scenario(store: SqliteStore, clock: FakeClock) -> None:
        outbox = Outbox("hang")
        async with delivering(store, outbox, paced(digestEvery="1m"), clock=clock):
            await store.commit(settled("a"), settled("b"))
            await asyncio.sleep(120)
        assert outbox.sent == []
        async with delivering(store, outbox, paced(digestEvery="1m"), clock=clock):
            await asyncio.sleep(600)
        assert outbox.titles == ["2 MESSAGES"]
        assert outbox.sent[0][2].endswith("(Argus was interrupted; this may be a repetition)")

    simulate(scenario)


# Out of the house.


@asynccontextmanager
async def web_server(status: int = 200, *, silent: bool = False) -> AsyncIterator[tuple[int, list[dict[str, Any]]]]:
    posts: list[dict[str, Any]] = []
    handlers: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        posts.append(json.loads(await reader.readexactly(length)))
        if silent:
            await asyncio.Event().wait()
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own = asyncio.current_task()
        assert own is not None
        handlers.add(own)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await answer(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], posts
        for one in handlers:
            one.cancel()
        await asyncio.wait(handlers)


@pytest.fixture(autouse=True, scope="module")
def plug_ins() -> None:
    """Apprise loads them all at the first look; some of them use what Python calls deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        understood("json://host")


@pytest.fixture
async def apprise_sender() -> AsyncIterator[AppriseSender]:
    sender = AppriseSender()
    yield sender
    sender.close()


async def test_a_message_leaves_the_house_through_apprise(store: SqliteStore, apprise_sender: AppriseSender):
    async with web_server() as (port, posts):
        out = Channel.model_validate({"url": f"json://127.0.0.1:{port}/hook"})
        async with delivering(store, apprise_sender, out):
            await store.commit(down("<b>api</b>"))
            await noted(store, "notification_sent")
    assert len(posts) == 1
    assert posts[0]["title"] == "SERVICE DOWN: <b>api</b>"
    assert posts[0]["message"] == (
        "3 consecutive failures (last check: 0s ago)\nPort 1 - refused\n\n"
        "Autonomy: observe (restart requires moderate+)"
    )


async def test_a_channel_that_answers_with_an_error_did_not_take_the_message(apprise_sender: AppriseSender):
    async with web_server(500) as (port, posts):
        assert await apprise_sender.send(f"json://127.0.0.1:{port}/", "t", "b", timeout=ENOUGH) is False
    assert len(posts) == 1


async def test_a_channel_that_does_not_answer_keeps_the_deadline(apprise_sender: AppriseSender):
    async with web_server(silent=True) as (port, _):
        with pytest.raises(TimeoutError):
            await apprise_sender.send(f"json://127.0.0.1:{port}/?rto=2", "t", "b", timeout=0.5)


@pytest.mark.parametrize(
    ("url", "known"), [("json://host/path", True), ("ntfys://topic", True), ("nobody://x", False), ("nonsense", False)]
)
def test_a_url_that_can_never_deliver_is_found(url: str, known: bool):
    assert understood(url) is known
