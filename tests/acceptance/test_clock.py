"""The wall clock is set while Argus runs: noticed, and nothing is done because of it.

libfaketime gives the daemon another wall clock and leaves its monotonic and its boot clock alone, as a step does."""

from __future__ import annotations

import os
import subprocess
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import PROGRAM, Argus, Event, WebServer, eventually
from tests.faults import Injection

_HOUR = 3600


class WallClock:
    """The wall clock of one daemon."""

    def __init__(self, argus: Argus, library: Path) -> None:
        self._argus = argus
        self._file = argus.folder / "wall-clock"
        self._env = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        self.set(0)

    def set(self, ahead: int) -> None:
        """So many seconds ahead of the real one."""
        beside = self._file.with_suffix(".new")
        beside.write_text(f"{ahead:+d}\n")
        beside.replace(self._file)

    def up(self, *before: str) -> None:
        """Starts Argus on it; only Argus, because libfaketime is not good for everybody's sleep."""
        if before:
            ran = subprocess.run(
                [*before, PROGRAM, "up", "--detach"],
                cwd=self._argus.folder,
                env={**self._argus.env, **self._env},
                check=True,
                capture_output=True,
                timeout=60,
            )
            assert ran.returncode == 0
            assert self._argus.find()
        else:
            plain = self._argus.env
            self._argus.env = {**plain, **self._env}
            self._argus.up()
            self._argus.env = plain


@pytest.fixture
def wall_clock(argus: Argus) -> WallClock:
    found = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if found is None:
        reason = "libfaketime is missing (Debian: apt-get install faketime)"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(reason)
        pytest.skip(reason)
    return WallClock(argus, found)


def state(argus: Argus) -> dict[str, Any]:
    found: dict[str, Any] = argus.get("/api/state")
    return found


def steps(argus: Argus) -> list[Event]:
    """Not the stalls: this machine may be busy."""
    return [event for event in argus.journal("clock_jump") if event.data["kind"] == "step"]


def pause_left(argus: Argus, name: str) -> float:
    """Seconds, by the daemon's own clock."""
    until = datetime.fromisoformat(argus.service(name)["pausedUntil"]).timestamp()
    return float(until - state(argus)["timestamp"] / 1000)


def goes_down_and_is_repaired(argus: Argus, web: WebServer, count: int) -> None:
    web.kill()
    argus.wait_for("service_recovered", web.name, count)
    assert web.runs == count


@pytest.mark.fault("CK1")
@pytest.mark.parametrize(
    ("ahead", "budget"),
    [pytest.param(2 * _HOUR, 1, id="two-hours-on"), pytest.param(-_HOUR, 3, id="an-hour-back")],
)
def test_a_step_of_the_wall_clock_is_noticed_and_nothing_else_happens(
    argus: Argus, web: WebServer, servers: Any, wall_clock: WallClock, injected: Injection, ahead: int, budget: int
) -> None:
    other, sick = servers("other", "sick")
    argus.configure(
        # It fails all the time, and what counts as an outage never comes: its count shows when counting starts over.
        [web.service("repair"), other.service(), sick.service(failuresBeforeAction=100_000, interval="100ms")],
        restartBudget={"maxPerHour": budget},
    )
    wall_clock.up()
    argus.wait_until("web", "up")
    goes_down_and_is_repaired(argus, web, 1)
    assert argus.rest("POST", "/api/services/other/pause", {"for": "1h"}).status == 200
    sick.kill()
    eventually(lambda: argus.service("sick")["failures"] >= 25, "it has failed for a while")
    before = state(argus)
    began, failures, left = time.monotonic(), argus.service("sick")["failures"], pause_left(argus, "other")

    with injected:
        wall_clock.set(ahead)
        jump = eventually(lambda: steps(argus), "it is noticed")[0]
    assert jump.data["code"] == "CLOCK_JUMP"
    assert abs(jump.data["seconds"] - ahead) < 60
    assert argus.service("sick")["failures"] < failures, "counting starts over"
    assert abs(state(argus)["timestamp"] - before["timestamp"] - ahead * 1000) < 60_000, "it is the wall clock"
    assert state(argus)["budget"] == before["budget"], "neither refilled nor spent"
    passed = time.monotonic() - began
    assert abs(left - passed - pause_left(argus, "other")) < 10, "a pause keeps its length"
    assert web.runs == 1
    assert len(argus.journal("service_down")) == 1

    eventually(lambda: argus.service("sick")["failures"] > 5, "checks go on")
    if budget == 1:
        web.kill()
        down = eventually(lambda: argus.journal("service_down")[1:], "it is seen to be down")[0]
        assert down.data["gate"] == "budget", "two hours of the wall clock are no hour"
        assert web.runs == 1
    else:
        goes_down_and_is_repaired(argus, web, 2)
        assert state(argus)["budget"]["left"] == 1
    assert len(steps(argus)) == 1
    argus.down()


@pytest.mark.fault("CK1")
def test_a_wall_clock_set_back_by_an_hour_does_not_keep_the_budget_spent(
    argus: Argus, web: WebServer, wall_clock: WallClock, injected: Injection
) -> None:
    argus.configure([web.service("repair")], restartBudget={"maxPerHour": 1})
    wall_clock.up()
    argus.wait_until("web", "up")
    goes_down_and_is_repaired(argus, web, 1)
    assert state(argus)["budget"]["left"] == 0
    argus.down()
    # More than an hour passes, by the clock that nobody can set; and meanwhile somebody sets the wall clock back.
    wall_clock.set(-_HOUR)
    hour_later = ["unshare", "--time", "--boottime", "3700", "--monotonic", "3700"]
    if subprocess.run([*hour_later, "true"], capture_output=True, check=False).returncode:
        pytest.skip("another time since boot needs a time namespace")
    with injected:
        wall_clock.up(*hour_later)
        argus.wait_until("web", "up")
        assert state(argus)["budget"]["left"] == 1
    goes_down_and_is_repaired(argus, web, 2)
    argus.kill()  # in its time namespace it has another start time, so that `down` takes it for somebody else
