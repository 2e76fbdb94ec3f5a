"""The store while Argus runs: full, locked, frozen, damaged. Nothing is done that is not on record, it is said, Argus
answers all the while, and the outage is handled once when the record can be kept again."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.harness import Argus, WebServer, eventually, never
from tests.faults import Injection
from tests.postgresql import Server

_LONG = 20.0
"""Seconds that the store is locked or frozen: four times as long as a commit waits."""
_PAGE = 4096


class Pulse:
    """Somebody who asks all the time, and what the answers were."""

    def __init__(self, argus: Argus) -> None:
        self.healthy = 0
        self.said: list[str] = []
        self._argus = argus
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._over.wait(0.1):
            self.healthy += self._argus.rest("GET", "/healthz", token=False).status == 200
            state = self._argus.rest("GET", "/api/state")
            self.said.append(state.json["argus"]["store"] if state.status == 200 else f"status {state.status}")

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def was_heard(self, least: int) -> None:
        """Counted and not timed: one that hangs in a commit for its five seconds answers hardly ever."""
        assert self.healthy == len(self.said) >= least
        assert not [said for said in self.said if said.startswith("status")]


def watching(argus: Argus, web: WebServer) -> None:
    argus.up()
    argus.wait_until("web", "up")


def handled_once(argus: Argus, web: WebServer) -> None:
    argus.wait_for("service_recovered", "web")
    assert web.runs == 1
    story = ["service_down", "restart_started", "restart_finished", "service_recovered"]
    assert [event.type for event in argus.journal(*story)] == story
    assert argus.get("/api/state")["argus"]["store"] == "ok"
    assert argus.get("/api/state")["budget"]["left"] == 1
    argus.wait_for("record_away_ended")
    (away,) = argus.journal("record_away_ended")
    assert away.data["why"]
    assert away.data["until"] > away.data["since"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir(mode=0o700)
    mounting = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("a small file system needs the right to mount one")
    yield disk
    # Lazily: a daemon that a failed test left is ended after this.
    subprocess.run(["umount", "--lazy", disk], check=True)


def fill(disk: Path, name: str = "ballast") -> Path:
    ballast = disk / name
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * _PAGE):
            pass
    return ballast


@pytest.mark.fault("ST1")
@pytest.mark.parametrize("what", ["the-whole-folder", "only-the-store"])
async def test_a_full_disk_stops_acting_is_said_and_is_over_when_there_is_room(
    argus: Argus, web: WebServer, small_disk: Path, injected: Injection, what: str
) -> None:
    argus.configure([web.service("repair")])
    if what == "the-whole-folder":
        argus.home = small_disk
        argus.env["ARGUS_HOME"] = str(small_disk)
    else:
        argus.env["ARGUS_STORE"] = f"sqlite:///{small_disk}/argus.db"
    watching(argus, web)
    with injected:
        ballast = fill(small_disk)
        with Pulse(argus) as pulse:
            web.kill()
            eventually(lambda: argus.get("/api/state")["argus"]["store"] != "ok", "it is said")
            refused = argus.rest("PUT", "/api/autonomy", {"level": "full"})
            assert (refused.status, refused.error["code"]) == (503, "STORE_UNAVAILABLE")
            await never(lambda: web.runs, "something was done that could not be recorded", seconds=2)
        pulse.was_heard(8)
        if what == "only-the-store":
            assert "nothing is acted on" in (argus.home / "logs" / "argus.log").read_text()
        ballast.unlink()
        handled_once(argus, web)
    argus.down()


@pytest.mark.parametrize("where", ["the-whole-folder", "only-the-store"])
def test_who_ends_argus_on_a_full_disk_is_told_what_was_lost_and_nobody_advises_it(
    argus: Argus, web: WebServer, small_disk: Path, where: str
) -> None:
    argus.configure([web.service()])
    if where == "the-whole-folder":
        argus.home = small_disk
        argus.env["ARGUS_HOME"] = str(small_disk)
    else:
        argus.env["ARGUS_STORE"] = f"sqlite:///{small_disk}/argus.db"
    watching(argus, web)
    fill(small_disk)
    web.kill()
    eventually(lambda: "wait to be written" in argus.get("/api/state")["argus"]["store"], "something waits")
    found = {one["name"]: one for one in argus.cli("doctor", "--json").json["checks"]}
    assert found["STORE"]["state"] == found["DAEMON"]["state"] == "bad"
    assert "argus down" not in found["STORE"]["next"] + found["DAEMON"]["next"] + found["DISK_SPACE"]["next"]
    place = "DISK_SPACE" if where == "the-whole-folder" else "STORE"
    assert "free disk space" in found[place]["next"]
    assert "writes what waits" in found[place]["next"]
    if where == "the-whole-folder":
        assert found["DISK_SPACE"]["state"] == "bad"
        assert "nothing can be recorded" in found["DISK_SPACE"]["detail"]
        assert (found["STORE"]["next"], found["DAEMON"]["next"]) == ("see DISK_SPACE", "see DISK_SPACE")
    ended = argus.cli("down", *(["--json"] if where == "the-whole-folder" else []))
    assert ended.code == 0
    if where == "the-whole-folder":
        assert ended.json["stopped"] is True
        assert ended.json["lost"] > 0
    else:
        assert "could not be written, and are lost" in ended.stdout


@pytest.mark.parametrize("killed", ["while-all-was-well", "in-a-restart"])
async def test_argus_starts_on_a_full_disk_watches_and_acts_when_there_is_room(
    argus: Argus, web: WebServer, small_disk: Path, killed: str
) -> None:
    """Only the record is there: a folder with no room for daemon.json cannot be worked on at all."""
    steps = ("block", "repair") if killed == "in-a-restart" else ("repair",)
    argus.configure([web.service(*steps)])
    argus.env["ARGUS_STORE"] = f"sqlite:///{small_disk}/argus.db"
    watching(argus, web)
    if killed == "in-a-restart":
        web.kill()
        argus.wait_for("restart_started")
    argus.kill()
    ballast = fill(small_disk)
    if killed != "in-a-restart":
        web.kill()
    argus.up()
    eventually(lambda: argus.get("/api/state")["argus"]["store"] != "ok", "it is said")
    eventually(lambda: argus.service("web")["lastCheck"], "it is watched")
    web.let_go()
    ballast.unlink()
    argus.wait_for("service_recovered", "web")
    assert web.runs == 1
    assert len(argus.journal("restart_started")) == len(argus.journal("restart_finished")) == 1


@pytest.mark.parametrize("when", ["filled-while-it-ran", "filled-after-it-ended", "killed"])
def test_a_state_folder_with_no_room_is_refused_by_its_name_and_is_good_again_when_there_is_room(
    argus: Argus, small_disk: Path, when: str
) -> None:
    argus.configure()
    argus.home = small_disk
    argus.env["ARGUS_HOME"] = str(small_disk)
    argus.up()
    if when == "filled-after-it-ended":
        argus.down()
    ballast = fill(small_disk)
    if when == "filled-while-it-ran":
        argus.down()
        fill(small_disk, "more")
    elif when == "killed":
        argus.kill()
    for words in (("up", "--detach", "--json"), ("up", "--json")):
        refused = argus.cli(*words).error
        assert refused["code"] == "STORE_UNAVAILABLE", refused
        assert "the disk is full" in refused["message"]
        assert refused["suggestedActions"] == ["free_disk_space"]
    ballast.unlink()
    argus.up()
    argus.down()


@pytest.mark.fault("ST2")
@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
async def test_a_store_that_another_process_holds_for_twenty_seconds_stops_acting_and_nothing_else(
    argus: Argus, web: WebServer, injected: Injection, how: str
) -> None:
    argus.configure([web.service("repair")])
    watching(argus, web)
    with injected, contextlib.closing(sqlite3.connect(argus.home / "argus.db", isolation_level=None)) as other:
        other.execute(f"BEGIN {how}")
        web.kill()
        with Pulse(argus) as pulse:
            await never(lambda: web.runs, "something was done that could not be recorded", seconds=_LONG)
        other.execute("ROLLBACK")
        handled_once(argus, web)
    pulse.was_heard(40)
    assert pulse.said[-1] != "ok"


@pytest.mark.fault("ST2")
async def test_a_postgresql_server_that_is_frozen_for_twenty_seconds_stops_acting_and_nothing_else(
    argus: Argus, web: WebServer, postgres: Server, database: str, injected: Injection
) -> None:
    argus.configure([web.service("repair")])
    argus.env["ARGUS_STORE"] = database
    watching(argus, web)
    with injected:
        postgres.freeze()
        try:
            web.kill()
            with Pulse(argus) as pulse:
                await never(lambda: web.runs, "something was done that could not be recorded", seconds=_LONG)
        finally:
            postgres.thaw()
        handled_once(argus, web)
    # The picture waits two seconds for a store that does not answer, and then shows what it knows.
    pulse.was_heard(6)
    assert pulse.said[-1] != "ok"


def with_many_pages(argus: Argus, web: WebServer) -> Path:
    """A store whose journal takes many pages, all of them in its file."""
    argus.configure([web.service("repair")])
    watching(argus, web)
    for _ in range(250):
        for what in ("pause", "resume"):
            body = {"for": "1h"} if what == "pause" else None
            assert argus.rest("POST", f"/api/services/web/{what}", body).status == 200
    argus.down()
    store = argus.home / "argus.db"
    assert store.stat().st_size > 25 * _PAGE
    return store


def spoil(store: Path) -> None:
    """Garbage in a page of the journal's older rows: the first pages are each table's own, the last the newest rows."""
    with store.open("r+b") as file:
        file.seek(store.stat().st_size // _PAGE * 3 // 4 * _PAGE)
        file.write(os.urandom(_PAGE))


def was_set_aside(argus: Argus, web: WebServer, store: Path) -> Path:
    """Kept, said, and for one window everything counts as spent."""
    (said,) = argus.journal("store_set_aside")
    assert said.data["code"] == "STORE_CORRUPT"
    kept = Path(said.data["kept"])
    assert kept.parent == store.parent
    assert kept.exists()
    state = argus.get("/api/state")
    assert (state["argus"]["store"], state["budget"]["left"]) == ("ok", 0)
    return kept


@pytest.mark.fault("ST4")
def test_a_store_damaged_before_the_start_is_set_aside_and_nothing_is_restarted_for_one_window(
    argus: Argus, web: WebServer, injected: Injection
) -> None:
    store = with_many_pages(argus, web)
    with injected:
        spoil(store)
        damaged = store.read_bytes()
        watching(argus, web)
        assert was_set_aside(argus, web, store).read_bytes() == damaged
        web.kill()
        assert argus.wait_for("service_down", "web").data["gate"] == "budget"
    argus.down()
    argus.up()
    assert argus.get("/api/state")["budget"]["left"] == 0, "another start refills nothing"
    assert web.runs == 0


@pytest.mark.fault("ST4")
async def test_a_store_damaged_while_argus_runs_stops_acting_and_the_next_start_sets_it_aside(
    argus: Argus, web: WebServer, injected: Injection
) -> None:
    store = with_many_pages(argus, web)
    watching(argus, web)
    with injected:
        spoil(store)
        # Nobody notices before it is read: who asks for the older events comes upon it. The stream breaks off there.
        with contextlib.suppress(http.client.HTTPException, ConnectionError):
            argus.rest("GET", "/api/events?last=10000&follow=false")
        with Pulse(argus) as pulse:
            web.kill()
            eventually(lambda: argus.service("web")["failures"] >= 2, "it is seen to fail")
            await never(lambda: web.runs, "something was done that could not be recorded", seconds=1)
        pulse.was_heard(3)
        assert "ok" not in pulse.said
        status = argus.cli("status", "--json")
        assert (status.code, status.json["well"]) == (1, False)
        assert [one["name"] for one in status.json["services"]] == ["web"]
        argus.down()
        argus.up()
        was_set_aside(argus, web, store)
        assert argus.wait_for("service_down", "web").data["gate"] == "budget"
    assert web.runs == 0


def test_a_store_of_which_every_page_is_garbage_while_argus_runs_never_gives_the_budget_back(
    argus: Argus, web: WebServer
) -> None:
    store = with_many_pages(argus, web)
    watching(argus, web)
    size = store.stat().st_size
    with store.open("r+b") as file:
        file.write(os.urandom(size))
    web.kill()
    eventually(lambda: argus.service("web")["failures"] >= 2 or web.runs, "it is seen to fail, or was restarted")
    argus.kill()
    argus.up()
    was_set_aside(argus, web, store)
    assert web.runs <= 1
