"""The events: a reader that was cut off goes on where it was, with nothing lost and nothing twice."""

from __future__ import annotations

import threading

import pytest

from tests.acceptance.harness import Argus, Event, free_port


@pytest.fixture
def quiet(argus: Argus) -> Argus:
    """Watches something that is checked once an hour: nothing happens unless a test makes it."""
    argus.configure([{"name": "web", "type": "tcp", "port": free_port(), "interval": "1h", "timeout": "1s"}])
    argus.up()
    return argus


def make_events(argus: Argus, pairs: int) -> None:
    for _ in range(pairs):
        assert argus.rest("POST", "/api/services/web/pause", {"for": "1h"}).status == 200
        assert argus.rest("POST", "/api/services/web/resume").status == 200


def numbers(events: list[Event]) -> list[int]:
    return [event.number for event in events]


@pytest.mark.req("IF-03")
def test_a_reader_that_is_cut_off_resumes_with_nothing_lost_and_nothing_twice(quiet: Argus) -> None:
    seen = quiet.journal()[-1:]
    begin = seen[-1].number
    writer = threading.Thread(target=make_events, args=(quiet, 60))
    writer.start()
    try:
        for count in (1, 2, 3, 5, 8, 13, 21, 34, 33):
            with quiet.events(after=seen[-1].id) as stream:
                seen += stream.take(count)
    finally:
        writer.join()
    assert numbers(seen) == list(range(begin, begin + 121))
    assert seen == [event for event in quiet.journal() if event.number >= begin]


@pytest.mark.req("IF-03")
@pytest.mark.parametrize("end", ["down", "kill"])
def test_a_reader_resumes_across_a_restart_of_argus(quiet: Argus, end: str) -> None:
    make_events(quiet, 5)
    with quiet.events(last="10000") as stream:
        seen = stream.take(4)
        make_events(quiet, 5)
        getattr(quiet, end)()
        seen += list(stream)
    quiet.up()
    make_events(quiet, 5)
    with quiet.events(after=seen[-1].id, follow="false") as stream:
        seen += list(stream)
    assert seen == quiet.journal()
    assert numbers(seen) == list(range(1, len(seen) + 1))
    assert len(seen) >= 30


def test_many_readers_see_the_same(quiet: Argus) -> None:
    begin = quiet.journal()[-1]
    streams = [quiet.events(after=begin.id) for _ in range(10)]
    try:
        make_events(quiet, 10)
        seen = [stream.take(20) for stream in streams]
    finally:
        for stream in streams:
            stream.__exit__()
    assert all(one == seen[0] for one in seen)


@pytest.mark.req("IF-03")
def test_a_position_of_another_store_is_reset(quiet: Argus) -> None:
    make_events(quiet, 2)
    newest = quiet.journal()[-1]
    for foreign in ("another-3", f"{newest.id}0"):
        with quiet.events(after=foreign, follow="false") as stream:
            reset, *rest = list(stream)
        assert (reset.name, reset.type) == ("reset", "reset")
        assert rest == quiet.journal()
    with quiet.events(after=newest.id, follow="false") as stream:
        assert list(stream) == []


def test_what_is_no_position_is_refused(quiet: Argus) -> None:
    for bad in ("nonsense", "-", "x-", "x-y", "x-1_0"):
        reply = quiet.rest("GET", "/api/events?follow=false", headers={"Last-Event-ID": bad})
        assert (reply.status, reply.error["code"]) == (400, "INVALID_REQUEST"), bad


_TYPO = "there is no channel 'service'; there are: "


def test_a_channel_that_is_none_is_refused_and_those_that_are_known_are_named(quiet: Argus) -> None:
    reply = quiet.rest("GET", "/api/events?follow=false&channel=service")
    assert (reply.status, reply.error["code"]) == (400, "INVALID_REQUEST")
    assert reply.error["message"].startswith(_TYPO)
    known = reply.error["details"]["known"]
    assert {"services", "agents", "sessions", "resilience", "test", "system"} <= set(known)
    assert reply.error["message"].endswith(", ".join(known))
    for words in (("events",), ("events", "--follow")):
        ran = quiet.cli(*words, "--channel", "service")
        assert ran.code == 2
        assert _TYPO in ran.stderr
        assert ran.stdout == ""
    long = quiet.rest("GET", f"/api/events?follow=false&channel={'x' * 5000}")
    assert len(long.error["message"]) < 400
    for channel in known:
        with quiet.events(follow="false", channel=channel) as stream:
            list(stream)


def test_a_channel_can_be_chosen_and_resumed(quiet: Argus) -> None:
    make_events(quiet, 3)
    quiet.cli("autonomy", "full")
    every = quiet.journal()
    for channel in ("services", "system"):
        with quiet.events(last="10000", follow="false", channel=channel) as stream:
            chosen = list(stream)
        assert chosen == [event for event in every if event.name.startswith(f"{channel}:")]
        assert chosen
        with quiet.events(after=chosen[0].id, follow="false", channel=channel) as stream:
            assert list(stream) == chosen[1:]


def test_an_event_has_its_name_its_type_and_its_time(quiet: Argus) -> None:
    make_events(quiet, 1)
    for event in quiet.journal():
        channel, _, type = event.name.partition(":")
        assert channel in ("services", "system", "notify")
        assert event.type == type
        assert isinstance(event.data["timestamp"], int)
        assert event.data["timestamp"] > 1_600_000_000_000


def test_the_state_says_from_where_to_follow(quiet: Argus) -> None:
    make_events(quiet, 1)
    state = quiet.get("/api/state")
    make_events(quiet, 1)
    with quiet.events(after=state["cursor"], follow="false") as stream:
        assert [event.type for event in stream] == ["service_paused", "service_resumed"]


def test_events_need_the_token_and_known_parameters(quiet: Argus) -> None:
    reply = quiet.rest("GET", "/api/events", token=False)
    assert (reply.status, reply.error["code"]) == (401, "UNAUTHORIZED")
    for query in ("nonsense=1", "last=many", "last=-1", "last=10001", "follow=perhaps", "last=1&last=1"):
        reply = quiet.rest("GET", f"/api/events?{query}")
        assert (reply.status, reply.error["code"]) == (400, "INVALID_REQUEST")
