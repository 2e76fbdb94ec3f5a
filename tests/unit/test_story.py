"""The story of an incident: every event that may stand in one has its part, its words and its evidence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from argus.agents.launches import last_words
from argus.core.events import Event
from argus.core.redact import MASK, Redactor
from argus.ops import story
from argus.ops.incidents import LAST, explained, find, incident_view, with_roots
from argus.ops.story import Part
from argus.ops.story_evidence import LINE, LINES, evidence
from argus.ops.story_words import recovered, restart_finished
from argus.store.records import Incident, PutIncident
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, SimulatedLoop, run_simulated

_SOURCE = Path(story.__file__).parent.parent
_MODULES = {
    "services/reports.py": ("services",),
    "agents/reports.py": ("agents",),
    "graph/reports.py": ("agents", "sessions", "resilience"),
    "environments/guarding/ward.py": ("resilience",),
    "environments/guarding/post.py": ("resilience",),
    "notify/deliver.py": ("notify",),
}
"""Where events are made that may carry an incident, and on which channels."""
_ALONE = {"sessions/reports.py": {("sessions", "session_prompted")}}
"""Modules of which only these may carry one."""
_CALLS = {"_draft": 0, "Draft": 1, "event": 0, "_give_up": 1, "tell": 1}
"""What makes an event, and which argument is its type."""


def types(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((_SOURCE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = _CALLS.get(name)
            if place is not None and len(node.args) > place:
                yield from words(node.args[place])


def words(node: ast.expr) -> Iterator[str]:
    """Also of `a if b else c`."""
    yield from (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


MADE = sorted(
    {(channel, type) for module, channels in _MODULES.items() for channel in channels for type in types(module)}.union(
        *_ALONE.values()
    )
)


@pytest.mark.parametrize(("channel", "type"), MADE, ids=lambda one: str(one))
def test_every_event_that_may_carry_an_incident_has_its_part(channel: str, type: str):
    assert f"{channel}:{type}" in story.TABLE


def test_the_search_for_events_finds_them():
    assert {("agents", "agent_silent"), ("resilience", "restart_exhausted"), ("resilience", "port_conflict")} <= set(
        MADE
    )
    assert {("notify", "notification_held"), ("sessions", "dependency_back"), ("services", "service_down")} <= set(MADE)


def test_the_modules_are_all_that_speak_of_incidents():
    speaking = {
        str(path.relative_to(_SOURCE))
        for path in _SOURCE.rglob("*.py")
        if '"incident":' in path.read_text(encoding="utf-8") and "Draft" in path.read_text(encoding="utf-8")
    }
    assert speaking <= {*_MODULES, *_ALONE}


@pytest.mark.parametrize("name", story.TABLE)
def test_words_are_found_also_for_an_event_of_which_nothing_is_known(name: str):
    for data in ({}, {"generation": 2, "hint": None, "services": None}):
        assert all(one.text and "\n" not in one.text for one in story.tell(event(name, **data)))


@pytest.mark.parametrize(
    ("told", "is_over", "what"),
    [
        ([("dependency_lost", {})], False, "waits until it is back"),
        ([("dependency_lost", {})], True, "waited until it was back"),
        ([("dependency_lost", {}), ("dependency_back", {"is_back": True})], False, "waited until it was back"),
        (
            [("dependency_lost", {}), ("dependency_back", {"is_back": False})],
            False,
            "waited, and was told that it need not any more",
        ),
        (
            [("dependency_lost", {}), ("dependency_back", {"is_back": False})],
            True,
            "waited, and was told that it need not any more",
        ),
        ([("spawn_waits", {})], False, "is started when it is back"),
        ([("spawn_waits", {}), ("spawn_wait_ended", {"outcome": "started"})], False, "waited, and was started"),
        ([("spawn_waits", {}), ("spawn_wait_ended", {"outcome": "started"})], True, "waited, and was started"),
        ([("spawn_waits", {})], True, "waited to be started"),
        (
            [("spawn_waits", {}), ("spawn_wait_ended", {"outcome": "stopped", "by": "cli"})],
            False,
            "waited to be started, and was stopped by a person",
        ),
        (
            [("spawn_waits", {}), ("spawn_wait_ended", {"outcome": "removed"})],
            True,
            "waited to be started, and was removed",
        ),
        (
            [("dependency_lost", {}), ("dependency_wait_ended", {"outcome": "stopped", "by": "cli"})],
            False,
            "waited, and was stopped by a person",
        ),
        (
            [("dependency_lost", {}), ("dependency_wait_ended", {"outcome": "cleaned"})],
            True,
            "waited, and was cleaned",
        ),
        (
            [("dependency_lost", {}), ("dependency_wait_ended", {"outcome": "cleaned"}), ("dependency_lost", {})],
            False,
            "waits until it is back",
        ),
        ([("dependency_lost", {}), ("dependency_wait_ended", {})], False, "waits no longer"),
    ],
)
def test_who_stood_still_is_told_as_it_is_by_now(told: list[tuple[str, dict[str, Any]]], is_over: bool, what: str):
    events = [event(f"agents:{type}", **data) for type, data in told]
    root = Incident("i", "service_outage", "db", 0.0, 9.0 if is_over else None, "", {})
    (one,) = explained(root, events, [])
    assert (one.kind, one.name, one.what) == ("agent", "one", what)


@pytest.mark.parametrize(
    ("gate", "closed", "is_over", "what"),
    [
        pytest.param("infrastructure event", None, False, "down, and not restarted for itself", id="part-of-an-event"),
        ("dependency down", None, False, "down, and not restarted for itself"),
        ("dependency down", 5.0, False, "was down with it, and was not restarted for itself"),
        ("dependency down", 5.0, True, "was down with it, and was not restarted for itself"),
        (None, None, True, "fell with it, and is handled for itself by now"),
        ("budget", 5.0, True, "fell with it, and was handled for itself later"),
    ],
)
def test_a_service_that_fell_with_its_root_is_told_as_it_is_by_now(
    gate: str | None, closed: float | None, is_over: bool, what: str
):
    root = Incident("i", "service_outage", "db", 0.0, 9.0 if is_over else None, "", {})
    under = Incident("j", "service_outage", "api", 1.0, closed, "", {"gate": gate, "explainedBy": "i"})
    (one,) = explained(root, [], [under])
    assert (one.kind, one.name, one.incident, one.what) == ("service", "api", "j", what)


@pytest.mark.parametrize(
    ("data", "text", "what"),
    [
        (
            {"root": "cache", "explainedBy": "j"},
            "cache explains from now on why service front is down",
            "was down with it, and then because of cache",
        ),
        (
            {"root": "", "explainedBy": "event"},
            "several services that fail together explain from now on why service front is down",
            "was down with it, and then because of several that failed together",
        ),
        (
            {"root": "", "explainedBy": ""},
            "service front does not depend on it any more",
            "was down with it, and did not depend on it later",
        ),
    ],
)
def test_a_service_that_something_else_explains_by_now_stays_in_the_story(data: dict[str, Any], text: str, what: str):
    moved = Event(1, "e", 0, "services", "explained_otherwise", "front", {"service": "front", "outage": "k", **data})
    assert [(one.part, one.text) for one in story.tell(moved)] == [(Part.EXPLAINED, text)]
    root = Incident("i", "service_outage", "db", 0.0, 9.0, "", {})
    (one,) = explained(root, [moved], [])
    assert (one.kind, one.name, one.incident, one.what) == ("service", "front", "k", what)
    again = Incident("k", "service_outage", "front", 1.0, None, "", {"gate": "dependency down", "explainedBy": "i"})
    (one,) = explained(root, [moved], [again])
    assert one.what == "down, and not restarted for itself", "it stands under this one again"


def test_every_time_of_an_incident_goes_out_in_the_same_form():
    data = {"failingSince": 1_800_000_000.25, "waitsSince": 1_800_000_009.0, "restarts": 1}
    shown = incident_view(Incident("i", "service_outage", "db", 1_800_000_001.0, None, "", data))
    assert (shown.opened, shown.data) == (
        "2027-01-15T08:00:01.000Z",
        {"failingSince": "2027-01-15T08:00:00.250Z", "waitsSince": "2027-01-15T08:00:09.000Z", "restarts": 1},
    )


@pytest.mark.parametrize(
    ("root_closed", "closed", "told"),
    [
        pytest.param(None, None, "root", id="both-go-on"),
        pytest.param(2.0, 2.0, "root", id="both-are-over"),
        pytest.param(None, 2.0, "root", id="its-root-goes-on"),
        pytest.param(2.0, None, "newest", id="it-outlasts-its-root"),
    ],
)
def test_the_newest_story_is_that_of_what_explains_it(root_closed: float | None, closed: float | None, told: str):
    async def asked(loop: SimulatedLoop) -> Incident | None:
        store = SqliteStore(None, clock=FakeClock(loop), inline=True)
        await store.commit(
            PutIncident(Incident("root", "service_outage", "db", 1.0, root_closed)),
            PutIncident(Incident("newest", "service_outage", "api", 1.5, closed, "", {"explainedBy": "root"})),
        )
        return await find(store, LAST)

    found = run_simulated(asked)
    assert found.id == told


def test_what_explains_the_newest_is_given_with_them_however_old_it_is():
    async def given(loop: SimulatedLoop) -> list[str]:
        store = SqliteStore(None, clock=FakeClock(loop), inline=True)
        for id in ("event", "root", "of-no-interest"):
            await store.commit(PutIncident(Incident(id, "service_outage", id, 1.0)))
        for n in range(30):
            because = {"explainedBy": "gone" if n % 2 else "root"}
            await store.commit(PutIncident(Incident(f"{n:02d}", "service_outage", f"api-{n}", 2.0 + n, data=because)))
        await store.commit(PutIncident(Incident("over", "service_outage", "web", 40.0, 41.0)))
        return [one.id for one in await with_roots(store, await store.incidents(limit=4), "event")]

    assert run_simulated(given) == ["event", "root", "29", "28", "27", "over"]


def event(name: str, **data: Any) -> Event:
    channel, _, type = name.partition(":")
    return Event(1, "e", 0, channel, type, "one", data)


def test_an_outage_says_what_was_seen_and_then_what_was_decided_with_its_gate_and_how_that_opens():
    data = {
        "failures": 3,
        "detail": "refused",
        "gate": "autonomy",
        "hint": "restart requires moderate+",
        "action": "none",
    }
    seen, decided = story.tell(event("services:service_down", **data, autonomy="observe"))
    assert (seen.part, seen.text) == (Part.OBSERVATION, "down after 3 failing checks in a row: refused")
    assert decided.part is Part.DECISION
    assert decided.text == "nothing is done: autonomy (restart requires moderate+), autonomy observe"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param({"restarted": False}, "up again, down for 37s", id="by-itself"),
        pytest.param({"restarted": True}, "up again after its restart, down for 37s", id="on-record-since-long-ago"),
        pytest.param(
            {"restarted": True, "restartHelped": True}, "up again after its restart, down for 37s", id="by-its-restart"
        ),
        pytest.param(
            {"restarted": True, "restartHelped": False},
            "up again, down for 37s; its restart had not helped",
            id="by-other-means-than-its-restart",
        ),
    ],
)
def test_a_restart_that_had_not_helped_is_not_what_brought_it_back(data: dict[str, Any], said: str):
    assert recovered({**data, "downSeconds": 37.0}) == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(
            {"exitCode": 3, "output": "one\ncannot bind\n"},
            'the restart command failed with exit status 3 ("cannot bind"); the service is still down (refused)',
            id="its-command-failed",
        ),
        pytest.param(
            {"exitCode": 3, "output": ""},
            "the restart command failed with exit status 3; the service is still down (refused)",
            id="its-command-failed-and-said-nothing",
        ),
        pytest.param(
            {"exitCode": None, "output": "", "problem": "there is no program x"},
            "the restart could not be carried out: there is no program x",
            id="there-is-no-such-command",
        ),
    ],
)
def test_a_restart_that_failed_says_what_failed_and_how_the_service_is(data: dict[str, Any], said: str):
    assert restart_finished({"outcome": "failed", "state": "down", "detail": "refused", **data}) == said


def test_a_restart_says_who_else_asked_for_it_and_one_that_was_not_taken_back_what_ended_its_wait():
    (begun,) = story.tell(event("services:restart_started", target="o1", by="argus", askedBy="cli"))
    assert begun.text == "restarts o1, by argus; cli, who asked for it, waited for the same"
    (taken,) = story.tell(event("services:restart_withdrawn", by="cli"))
    assert taken.text == "cli took the restart back that waited; nothing was done"
    (ended,) = story.tell(event("services:restart_withdrawn", by="cli", why="o1 is no longer watched"))
    assert ended.text == "the restart that cli asked for waits no more: o1 is no longer watched"


def test_an_agent_that_was_stopped_is_said_to_be():
    (one,) = story.tell(event("agents:agent_removed", agent_id="a1", reason="shutdown_requested", by="cli"))
    assert one.text == "a1 was stopped, by cli"


def test_a_first_start_that_a_person_stopped_is_not_said_to_have_failed():
    (one,) = story.tell(event("agents:spawn_wait_ended", agent_id="a1", outcome="stopped", by="cli"))
    assert one.text == "agent a1 is not started any more: stopped by a person (cli)"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("agents", {"agent_id": "a1", "outcome": "stopped", "by": "cli"}, "agent a1 was stopped by a person (cli)"),
        ("agents", {"agent_id": "a1", "outcome": "removed", "by": "page"}, "agent a1 was removed by a person (page)"),
        ("agents", {"agent_id": "a1", "outcome": "finished"}, "agent a1 has done its task"),
        ("sessions", {"project": "shop", "outcome": "unwatched"}, "session shop is not watched any more"),
        ("resilience", {"environment": "shop", "outcome": "cleaned"}, "environment shop was cleaned"),
        ("resilience", {"environment": "shop", "outcome": "set_up_anew"}, "environment shop is set up anew"),
        ("resilience", {"environment": "shop", "outcome": "not_up"}, "environment shop is not up any more"),
    ],
)
def test_who_is_gone_while_it_waits_is_said_to_wait_no_longer_and_why(name: str, data: dict[str, Any], said: str):
    (one,) = story.tell(event(f"{name}:dependency_wait_ended", **data))
    assert (one.part, one.text) == (Part.EXPLAINED, f"{said}, and waits no longer")


def test_who_died_while_it_waited_is_not_said_to_wait_no_longer_for_its_respawn_may():
    (one,) = story.tell(event("agents:dependency_wait_ended", agent_id="a1", outcome="died"))
    assert one.text == "agent a1 died while it waited"


@pytest.mark.parametrize(
    ("ended", "is_over", "what"),
    [
        (None, False, "died, and is respawned when it is back"),
        (None, True, "died, and its respawn waited"),
        ("respawned as a2", True, "died, and its respawn waited"),
        ("removed: shutdown_requested", False, "died, and was stopped by a person"),
        ("removed: stopped", False, "died, and was stopped by a person"),
        ("removed: removed by hand", True, "died, and was removed by a person"),
        ("removed: finished", True, "died, and its task was done"),
        ("it is alive", True, "was taken for dead, and was alive"),
    ],
)
def test_of_a_death_under_a_root_it_is_said_what_came_of_it(ended: str | None, is_over: bool, what: str):
    root = Incident("i", "service_outage", "db", 0.0, 9.0 if is_over else None, "", {})
    data = {"explainedBy": "i", **({"ended": ended} if ended else {})}
    death = Incident("j", "agent_death", "a1", 1.0, 5.0 if ended else None, "", data)
    (one,) = explained(root, [], [death])
    assert (one.name, one.incident, one.what) == ("a1", "j", what)


def test_a_first_start_is_no_decision_to_start_again():
    assert [one.part for one in story.tell(event("agents:spawn_started", generation=1, by="argus"))] == [Part.ACT]
    both = story.tell(event("agents:spawn_started", generation=2, by="argus"))
    assert [one.part for one in both] == [Part.DECISION, Part.ACT]


def test_what_nobody_knows_is_an_observation():
    (one,) = story.tell(event("new:some_thing"))
    assert (one.part, one.text, story.part("new:some_thing")) == (Part.OBSERVATION, "some thing", Part.OBSERVATION)


def test_evidence_is_bounded():
    lines = evidence({"logs": ["x" * 10_000] * 1000, "output": "y\n" * 1000, "diagnostics": {"logs": ["z"] * 1000}})
    assert len(lines) == 3 * LINES
    assert max(map(len, lines)) == LINE + 1


def test_a_reading_says_its_day_and_zone_so_that_whoever_shows_it_can_show_it_by_its_own_clock():
    at = 1767261601788
    readings = [{"at": at, "state": "up", "latencyMs": 3.41}, {"at": at + 500, "state": "down", "detail": "refused"}]
    assert evidence({"readings": readings}) == (
        "2026-01-01T10:00:01.788Z up in 3.41 ms",
        "2026-01-01T10:00:02.288Z down: refused",
    )


def test_evidence_of_a_container_names_its_end_its_memory_and_its_last_lines():
    found = {"exitCode": 137, "oomKilled": True, "ranSeconds": 2.5, "logs": ["a"], "healthOutput": "no\nanswer"}
    memory = {"peak": 32 << 20, "limit": None}
    assert evidence({"diagnostics": {**found, "memoryStats": memory}}) == (
        "exit status 137, after 2.5 s, out of memory",
        "memory: peak 32.0 MiB, limit not known",
        "health check: no answer",
        "| a",
    )


def test_of_what_an_agent_printed_the_last_lines_are_kept_in_bounds():
    assert last_words("\n".join(map(str, range(100))), str) == tuple(map(str, range(80, 100)))
    (one,) = last_words("x" * 100_000, str)
    assert len(one) == 4096
    assert sum(map(len, last_words(("y" * 1000 + "\n") * 20, str))) <= 4096


def test_it_is_cleaned_before_it_is_cut():
    secret = "s" * 3000
    assert last_words(f"{'x' * 5000}{secret}", lambda text: text.replace(secret, "[gone]"))[-1].endswith("[gone]")


def test_the_lines_of_a_key_that_was_cut_off_are_no_last_words():
    key = ["-----BEGIN RSA PRIVATE KEY-----", *["MIIEpAIBAAKCAQEA1c7f9Yt8Zk2Lq0WMIIEpAIBAAKCAQEA1c7f9Yt8Zk2Lq0W"] * 50]
    assert last_words("\n".join(["it begins", *key]), Redactor().text)[-1] == MASK
    assert "MII" not in str(last_words("\n".join(["it begins", *key]), Redactor().text))
