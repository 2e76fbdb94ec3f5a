"""A record that has grown old, and a history that outlives the process."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from typing import Any

import asyncpg
import pytest
import yaml

from tests.acceptance.harness import Argus, Event, Silent, WebServer, eventually, watched

DAYS = 200 * 86_400
FILLING = 12_000
Run = Callable[[str, list[tuple[Any, ...]]], None]
"""Runs a statement once for each row of values, past Argus."""


@pytest.fixture(params=["sqlite", "postgres"])
def run(request: pytest.FixtureRequest, argus: Argus) -> Run:
    if request.param == "sqlite":
        return lambda sql, values: _in_file(argus, sql.replace("$", "?").replace("argus.", ""), values)
    url = str(request.getfixturevalue("database"))
    argus.env["ARGUS_STORE"] = url
    return lambda sql, values: asyncio.run(_in_database(url, sql, values))


def _in_file(argus: Argus, sql: str, values: list[tuple[Any, ...]]) -> None:
    db = sqlite3.connect(argus.home / "argus.db")
    try:
        db.executemany(sql, values)
        db.commit()
    finally:
        db.close()


async def _in_database(url: str, sql: str, values: list[tuple[Any, ...]]) -> None:
    db = await asyncpg.connect(url)
    try:
        await db.executemany(sql, values)
    finally:
        await db.close()


def keep_for(argus: Argus, retention: str) -> None:
    settings = yaml.safe_load(argus.config.read_text(encoding="utf-8"))
    argus.write(yaml.safe_dump({**settings, "store": {"retention": retention}}))


def first_from(argus: Argus, position: str) -> Event:
    with argus.events(after=position, follow="false") as stream:
        return stream.take(1)[0]


def test_old_events_go_and_what_is_open_or_counts_stays(
    argus: Argus, servers: Callable[..., list[WebServer]], run: Run
) -> None:
    web, lost = servers("web", "lost")
    argus.configure([web.service("repair"), lost.service()])
    argus.up()
    argus.wait_until("web", "up")
    argus.wait_until("lost", "up")
    web.kill()
    argus.wait_for("service_recovered", "web")
    lost.kill()
    argus.wait_for("service_down", "lost")
    incident = argus.wait_until("lost", "down")["incident"]
    argus.down()
    # Half a year goes by: everything is older by the wall clock, and much was written since.
    run("UPDATE argus.journal SET timestamp = timestamp - $1", [(DAYS * 1000,)])
    run("UPDATE argus.acts SET wall = wall - $1, ended = ended - $1", [(float(DAYS),)])
    run("UPDATE argus.incidents SET opened = opened - $1, closed = closed - $1", [(float(DAYS),)])
    filling = (
        "INSERT INTO argus.journal (timestamp, channel, type, subject, data) VALUES ($1, 'c', 'filling', '', '{}')"
    )
    run(filling, [(1_700_000_000_000,)] * FILLING)
    keep_for(argus, "3650d")
    argus.up()
    story = argus.cli("explain", incident, "--json").json["events"]
    assert [event["type"] for event in story][:1] == ["service_down"]
    budget = argus.get("/api/state")["budget"]
    assert budget == {"left": 1, "most": 2}
    epoch, _, newest = argus.get("/api/state")["cursor"].rpartition("-")
    assert first_from(argus, f"{epoch}-1").type != "reset"
    argus.down()

    keep_for(argus, "30d")
    argus.up()
    logs = argus.home / "logs"
    eventually(lambda: any(" pruned " in log.read_text() for log in logs.iterdir()), "the log says what was pruned")
    with argus.events(after=f"{epoch}-1", follow="false") as stream:
        reset, *kept = list(stream)
    assert reset.type == "reset"
    assert len(kept) >= 10_000
    assert [event.number for event in kept] == list(range(reset.number + 1, kept[-1].number + 1))
    assert kept[-1].number >= int(newest), "everything that is kept comes"
    assert first_from(argus, reset.id).type != "reset", "the new position is good"
    again = argus.cli("explain", incident, "--json").json["events"]
    assert again[: len(story)] == story, "what is open keeps its story"
    assert reset.number > max(event_number(event) for event in story)
    assert argus.service("lost")["incident"] == incident
    assert argus.get("/api/state")["budget"] == budget, "neither age nor a clock refills the budget"
    assert [one["subject"] for one in argus.get("/api/incidents")["incidents"]] == ["lost", "web"]


def event_number(event: dict[str, Any]) -> int:
    return int(str(event["id"]).rpartition("-")[2])


@pytest.mark.req("INFRA-01.7")
def test_the_uptime_of_a_service_is_shown_and_survives_a_restart(argus: Argus, web: WebServer) -> None:
    argus.configure([web.service()])
    argus.up()
    argus.wait_until("web", "up")
    assert argus.service("web")["uptime"] == {"24h": 1.0, "7d": 1.0, "30d": 1.0}
    web.kill()
    argus.wait_until("web", "down")
    seen = argus.service("web")["uptime"]
    assert 0 < seen["24h"] < 1
    assert seen["24h"] == seen["7d"] == seen["30d"]
    listed = argus.cli("services", "list")
    assert "UPTIME" in listed.stdout
    assert " %" in listed.stdout
    argus.down()

    # Nothing is checked any more, so what is shown is what was kept.
    settings = yaml.safe_load(argus.config.read_text(encoding="utf-8"))
    settings["health"]["services"][0]["interval"] = "1h"
    argus.write(json.dumps(settings))
    argus.up()
    again = argus.wait_until("web", "down")["uptime"]
    assert 0 < again["24h"] < 1
    (one,) = argus.cli("services", "list", "--json").json["services"]
    assert one["uptime"] == argus.service("web")["uptime"]
    assert argus.get("/api/state")["services"][0]["uptime"] == one["uptime"]


def test_what_was_never_judged_has_no_uptime(argus: Argus, silent: Silent) -> None:
    argus.configure([watched("silent", silent.url, interval="1h", timeout="60s")])
    argus.up()
    assert argus.service("silent")["uptime"] == {"24h": None, "7d": None, "30d": None}
