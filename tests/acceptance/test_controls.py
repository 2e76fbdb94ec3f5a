"""The controls of the fault campaign: nothing is broken, so nothing is done, however long one looks."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.crew import Crew
from tests.acceptance.harness import Argus, WebServer, eventually, never, watched

_A_WHILE = 6.0
"""Seconds: longer than an agent may be silent."""
_DONE = (
    *("service_down", "service_escalated", "restart_started", "infrastructure_event", "witness_failed"),
    *("agent_silent", "agent_hung", "agent_unknown", "agent_died", "agent_respawned", "respawn_held_back"),
    *("agent_escalated", "spawn_failed"),
)


class Control:
    """An Argus that may restart and respawn, with services and agents for which there is no reason to."""

    def __init__(self, argus: Argus) -> None:
        self.argus = argus
        self.crew = Crew(argus)
        self.asked = 0
        """Agents that a person had started."""

    def up(self, *services: dict[str, Any], agents: int = 0) -> None:
        self.crew.configure()
        settings = yaml.safe_load(self.argus.config.read_text())
        settings["health"] = {"verifyAfter": "500ms", "services": list(services)}
        self.argus.write(yaml.safe_dump(settings, sort_keys=False))
        self.argus.up()
        for service in services:
            name = service["name"]
            eventually(lambda name=name: self.argus.service(name)["state"] in ("up", "degraded"), f"{name} answers")
        for number in range(agents):
            self.spawn(f"task {number}")

    def spawn(self, task: str) -> None:
        self.asked += 1
        self.crew.spawn(task)

    def finishing(self) -> None:
        """Its agents end at once, with exit status 0."""
        Path(f"{self.crew.starts}.exit").write_text("0")

    def acted(self) -> object:
        """Whatever was reported or done, beyond what a person asked for."""
        return self.argus.journal(*_DONE) or self._acts()[self.asked :] or self.crew.started()[self.asked :]

    def _acts(self) -> list[tuple[str, str]]:
        store = f"file:{self.argus.home / 'argus.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(store, uri=True)) as record:
            return record.execute("SELECT kind, subject FROM acts ORDER BY n").fetchall()

    async def stays_quiet(self, seconds: float = _A_WHILE) -> None:
        await never(self.acted, "something was done though nothing was broken", seconds)


@pytest.fixture
def control(argus: Argus) -> Control:
    return Control(argus)


@pytest.mark.control("NO1")
async def test_healthy_services_are_left_alone(control: Control, servers: Callable[..., list[WebServer]]) -> None:
    three = servers("first", "second", "third")
    control.up(*(one.service("repair") for one in three))
    await control.stays_quiet(3.0)
    assert [one.runs for one in three] == [0, 0, 0]


@pytest.fixture
def slow() -> Iterator[str]:
    """A web server that thinks for a while."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            over.wait(0.7)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        over.set()
        server.shutdown()
        thread.join()


@pytest.mark.control("NO2")
async def test_a_service_that_is_slow_within_its_timeout_is_left_alone(control: Control, slow: str) -> None:
    control.up({**watched("slow", slow, timeout="5s"), "restart": {"command": ["false"]}})
    await control.stays_quiet()


@pytest.mark.control("NO4")
async def test_a_service_that_answers_with_an_error_of_its_own_is_left_alone(control: Control, web: WebServer) -> None:
    control.up(web.service("repair", url=f"{web.url}500"))
    await control.stays_quiet(3.0)
    assert control.argus.service("web")["state"] == "degraded"
    assert web.runs == 0


@pytest.mark.control("NO5")
async def test_agents_that_live_are_left_alone(control: Control) -> None:
    control.up(agents=3)
    await control.stays_quiet()
    assert set(control.crew.states().values()) == {"alive"}


@pytest.mark.control("NO6")
async def test_an_agent_that_beats_slowly_within_its_threshold_is_left_alone(control: Control) -> None:
    control.up()
    next_beat = 0.0

    def acted() -> object:
        nonlocal next_beat
        if time.monotonic() >= next_beat:
            beat = {"agent_id": "slow001", "config_name": "SNTGreen", "project_path": str(control.crew.project)}
            assert control.argus.rest("POST", "/api/heartbeat", {**beat, "host": "elsewhere"}).json["ok"] is True
            next_beat = time.monotonic() + 2.0  # twice as long as it should be, half as long as it may be
        return control.acted()

    await never(acted, "something was done though nothing was broken", _A_WHILE)
    assert control.crew.states() == {"slow001": "alive"}


@pytest.mark.control("NO7")
async def test_an_agent_that_finishes_is_not_started_again(control: Control) -> None:
    control.finishing()
    control.up()
    control.asked = 1
    asked = {"config_name": "SNTGreen", "task": "t"}
    assert control.argus.rest("POST", "/api/agents/spawn", asked).status == 201
    assert control.argus.wait_for("agent_removed").data["reason"] == "finished"
    await control.stays_quiet(3.0)
    assert len(control.crew.started()) == 1


@pytest.mark.control("NO8")
async def test_a_reload_of_the_same_file_does_nothing(control: Control, web: WebServer) -> None:
    control.up(web.service("repair"), agents=1)
    for _ in range(3):
        assert control.argus.cli("reload").code == 0
        await control.stays_quiet(1.5)
    assert control.crew.states() == {"team-sntgreen001": "alive"}
    assert web.runs == 0


@pytest.mark.control("NO9")
async def test_a_restart_of_argus_does_nothing(control: Control, web: WebServer) -> None:
    control.up(web.service("repair"), agents=2)
    control.argus.down()
    control.argus.up()
    await control.stays_quiet()
    assert set(control.crew.states().values()) == {"alive"}
    assert control.argus.wait_until("web", "up")["failures"] == 0
    assert web.runs == 0


@pytest.mark.control("NO10")
async def test_a_burst_of_beats_and_hooks_does_nothing(control: Control, web: WebServer) -> None:
    control.up(web.service("repair"), agents=1)
    argus = control.argus

    def report(number: int) -> int:
        who = f"busy{number % 10:03d}"
        if number % 3:
            return argus.rest("POST", "/api/heartbeat", {"agent_id": who, "status": "working"}).status
        return argus.rest("POST", f"/api/hooks/{who}", {"hook_event_name": "PreToolUse"}).status

    with ThreadPoolExecutor(8) as burst:
        answers = list(burst.map(report, range(600)))
    assert {status for status in answers if not 200 <= status < 300} == set()
    await control.stays_quiet(2.0)
    assert len(control.crew.states()) == 11
    assert web.runs == 0
