"""One graph over all parts: who needs something that is down is told once, waits, and is told when it is back."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.crew import HEARTBEAT, WORKER
from tests.acceptance.harness import Argus, Hook, WebServer, eventually, is_alive
from tests.acceptance.yard import Yard, ended, stays
from tests.tmux_server import TmuxServer, noted

_LINES = Path(__file__).parent.parent / "line_agent.py"


class World:
    """A service, agents that need it, and a session in tmux that needs it too."""

    def __init__(self, argus: Argus, web: WebServer, hook: Hook, folder: Path) -> None:
        self.argus, self.web, self.hook = argus, web, hook
        self.tmux = TmuxServer(folder)
        self.project = folder / "project"
        self.project.mkdir()
        self.starts = folder / "starts"
        self.lines = folder / "lines.jsonl"
        worker = folder / "worker.py"
        worker.write_text(WORKER)
        self.claude = folder / "claude"
        self.claude.write_text(f'#!/bin/sh\necho "$$ $ARGUS_AGENT_ID -" >> {self.starts}\nexec sleep 600\n')
        self.claude.chmod(0o755)
        self.worker = [sys.executable, "-I", "-S", str(worker), str(self.starts), "{{task}}"]

    def up(
        self,
        *steps: str,
        autonomy: str = "moderate",
        needs: list[str] | None = None,
        also: Iterable[dict[str, Any]] = (),
        respawn: bool = True,
        **health: Any,
    ) -> None:
        needs = needs or ["web"]
        reads = {"command": [sys.executable, str(_LINES), str(self.lines)], "tmux": True, "agent": "plain"}
        works = {"command": self.worker}
        thinks = {"command": [str(self.claude), "{{task}}"]}
        configs = {
            name: {**one, "cwd": str(self.project), "dependsOn": needs}
            for name, one in (("reader", reads), ("worker", works), ("thinker", thinks))
        }
        project = {"path": str(self.project), "agent": "plain", "dependsOn": needs}
        said = {
            "server": {"port": 0},
            "autonomy": autonomy,
            "health": {
                "verifyAfter": "500ms",
                "waitForWork": "20s",
                **health,
                "services": [self.web.service(*steps), *also],
            },
            "notify": {"channels": [{"url": self.hook.url}]},
            "agents": {"heartbeat": HEARTBEAT, "respawn": {"backoff": "0s", "enabled": respawn}, "configs": configs},
            "sessions": {"tmuxSocket": self.tmux.socket, "lookEvery": "300ms", "projects": {"shop": project}},
        }
        self.argus.write(yaml.safe_dump(said, sort_keys=False))
        self.argus.up()
        self.argus.wait_until("web", "up")

    def spawn(self, config: str) -> str:
        reply = self.argus.rest("POST", "/api/agents/spawn", {"config_name": config, "task": "a task"})
        assert reply.status == 201, reply
        return str(reply.json["agent_id"])

    def agent(self, id: str) -> dict[str, Any]:
        found = self.argus.get("/api/agents")["agents"]
        return next(one for one in found if one["agent_id"] == id)

    def works(self, id: str) -> int:
        def look() -> int:
            lines = self.starts.read_text().splitlines() if self.starts.exists() else []
            return next((int(line.split()[0]) for line in lines if line.split()[1] == id), 0)

        return eventually(look, f"{id} works")

    def is_in_turn(self, id: str) -> bool:
        """As the record says."""
        store = f"file:{self.argus.home / 'argus.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(store, uri=True)) as record:
            rows = record.execute("SELECT data FROM documents WHERE domain = 'agents' AND id = ?", (id,)).fetchall()
        return any(json.loads(data)["in_turn"] for (data,) in rows)

    def events(self, type: str) -> list[dict[str, Any]]:
        return [event.data for event in self.argus.journal(type)]


def told(argus: Argus, type: str, who: str, count: int = 1) -> dict[str, Any]:
    """The event of that one, once the journal has it (that many times)."""

    def look() -> list[dict[str, Any]]:
        found = [event.data for event in argus.journal(type) if event.data["subject"] == who]
        return found if len(found) >= count else []

    return eventually(look, f"{type} of {who} x{count}")[count - 1]


@pytest.fixture
def world(argus: Argus, web: WebServer, hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as sockets:  # a socket's path must be short
        monkeypatch.setenv("TMUX_TMPDIR", sockets)
        argus.env["TMUX_TMPDIR"] = sockets
        made = World(argus, web, hook, tmp_path)
        yield made
        argus.end()  # first: as long as it looks for its sessions, its tmux makes the folder of sockets anew
        made.tmux.end()
        made.tmux.socket = "default"
        made.tmux.end()


def test_who_needs_it_is_told_once_waits_and_goes_on_when_it_is_back(world: World) -> None:
    session = world.tmux.agent("shop-ps")
    world.up()
    reader, worker = world.spawn("reader"), world.spawn("worker")
    pid = world.works(worker)
    eventually(lambda: world.agent(reader)["state"] == "alive", "the reader lives")

    world.web.kill()
    incident = world.argus.wait_for("service_down").data["incident"]
    for file in (session, world.lines):
        (line,) = eventually(lambda file=file: noted(file), f"it was told: {world.argus.cli('audit').stdout}", 10)
        assert line.startswith("[argus] service web is down (for ")
        assert "connection refused" in line
        assert "You will be told when it is back." in line
    assert world.agent(worker)["waits_for"] == ["service web"]
    beat = world.argus.rest("POST", "/api/heartbeat", {"agent_id": worker})
    assert beat.json["notice"].startswith("[argus] service web is down")
    admission = world.argus.get("/api/sessions/shop/admission?size=tiny")
    assert admission["accept"] is False
    assert "service web is down" in admission["reason"]

    waiting = world.argus.rest("POST", "/api/agents/spawn", {"config_name": "worker", "task": "later"}).json
    assert (waiting["state"], waiting["gate"]) == ("spawning", "dependency down")
    os.kill(pid, signal.SIGKILL)
    held = world.argus.wait_for("respawn_held_back").data
    assert (held["agent_id"], held["gate"]) == (worker, "dependency down")
    # Killed and started again, it tells nobody twice, and goes on waiting.
    world.argus.kill()
    world.argus.up()
    eventually(lambda: world.agent(waiting["agent_id"])["gate"] == "dependency down", "it still waits")

    story = world.argus.get(f"/api/incidents/{incident}")
    assert {(one["kind"], one["name"]) for one in story["explains"]} == {
        ("agent", reader),
        ("agent", worker),
        ("agent", waiting["agent_id"]),
        ("session", "shop"),
    }
    (death,) = [one for one in world.argus.get("/api/incidents?open=true")["incidents"] if one["kind"] == "agent_death"]
    assert (death["subject"], death["data"]["explainedBy"]) == (worker, incident)
    assert {one["name"]: one["incident"] for one in story["explains"]}[worker] == death["id"]
    shown = world.argus.cli("explain", incident).stdout
    assert "because of it" in shown
    assert "session shop" in shown

    world.web.start()
    world.argus.wait_for("service_recovered")
    world.works(waiting["agent_id"])
    respawned = world.argus.wait_for("agent_respawned").data
    assert (respawned["previous"], respawned["incident"]) == (worker, death["id"])
    assert not world.argus.get("/api/incidents?open=true")["incidents"]
    for file in (session, world.lines):
        lines = eventually(lambda file=file: len(noted(file)) == 2 and noted(file), "that it is back was told")
        assert lines[1] == "[argus] web is back. Go on with your work."
    told = [message.title for message in world.hook.messages if not message.title.startswith("AGENT RESPAWNED")]
    assert told == ["SERVICE DOWN: web", "SERVICE RECOVERED: web"]

    # The story says who really was told, and not that somebody was who only asks.
    def typed() -> list[str]:
        entries = world.argus.get(f"/api/incidents/{incident}")["story"]
        return sorted(one["text"].split(": ")[0] for one in entries if one["text"].startswith("typed to "))

    # A line is on record as typed once the pane shows that it was taken, a moment after its reader has it.
    eventually(lambda: len(typed()) >= 4, "all four lines stand in the story")
    assert typed() == sorted(["typed to shop", f"typed to {reader}"] * 2)
    entries = world.argus.get(f"/api/incidents/{incident}")["story"]
    assert "it is back: session shop goes on" in [one["text"] for one in entries]


def test_a_line_that_a_killed_argus_left_at_an_agents_prompt_is_submitted_and_the_next_one_comes(world: World) -> None:
    world.argus.env["ARGUS_FAILPOINT"] = "typing-pasted:1"
    world.tmux.agent("other-ps")  # nobody waits in it
    world.up()
    reader = world.spawn("reader")
    eventually(lambda: world.agent(reader)["state"] == "alive", "the reader lives")
    world.web.kill()
    eventually(lambda: not is_alive(world.argus.pid), "Argus was killed between the paste and Enter")
    assert noted(world.lines) == []
    del world.argus.env["ARGUS_FAILPOINT"]
    world.argus.up()
    (line,) = eventually(lambda: noted(world.lines), "it was submitted", 10)
    assert line.startswith("[argus] service web is down")
    world.web.start()
    lines = eventually(lambda: len(noted(world.lines)) == 2 and noted(world.lines), "that it is back was told", 10)
    assert lines[1] == "[argus] web is back. Go on with your work."


def test_a_chain_that_falls_with_its_root_is_told_in_one_line_and_stays_in_its_story(world: World) -> None:
    session, alive = world.tmux.agent("shop-ps"), world.project / "alive"
    alive.touch()
    falls = {"type": "command", "command": ["test", "-e", str(alive)], "interval": "200ms"}
    chain = [
        {**falls, "name": "gate", "dependsOn": ["api"], "failuresBeforeAction": 1},
        {**falls, "name": "api", "dependsOn": ["db"], "failuresBeforeAction": 1},
        {**falls, "name": "db", "failuresBeforeAction": 8},
    ]
    world.up(needs=["gate"], also=chain)
    for one in ("db", "api", "gate"):
        world.argus.wait_until(one, "up")
    alive.unlink()
    incident = world.argus.wait_for("service_down", "db").data["incident"]
    waiting = world.spawn("worker")
    (line,) = eventually(lambda: noted(session), "it was told")
    assert line.startswith("[argus] service db is down (for ")
    alive.touch()
    world.works(waiting)
    lines = eventually(lambda: len(noted(session)) >= 2 and noted(session), "that it is back was told")
    assert lines[1:] == ["[argus] db is back. Go on with your work."]
    eventually(lambda: not world.argus.get("/api/incidents?open=true")["incidents"], "all of it is over")

    story = world.argus.get(f"/api/incidents/{incident}")
    assert {(one["kind"], one["name"]): one["what"] for one in story["explains"]} == {
        ("service", "api"): "was down with it, and was not restarted for itself",
        ("service", "gate"): "was down with it, and was not restarted for itself",
        ("session", "shop"): "waited until it was back",
        ("agent", waiting): "waited, and was started",
    }
    assert [one["type"] for one in story["events"] if one["subject"] == waiting] == ["spawn_waits", "spawn_wait_ended"]


def test_only_who_died_with_its_root_needs_nobody_until_that_is_back(world: World) -> None:
    world.up(respawn=False)
    before, meanwhile = world.spawn("worker"), world.spawn("worker")
    pids = {one: world.works(one) for one in (before, meanwhile)}
    os.kill(pids[before], signal.SIGKILL)
    eventually(lambda: world.agent(before)["gate"] == "respawn disabled", "its death stands for itself")
    world.web.kill()
    incident = world.argus.wait_for("service_down").data["incident"]
    os.kill(pids[meanwhile], signal.SIGKILL)
    eventually(lambda: world.agent(meanwhile)["gate"] == "respawn disabled", "the other one is dead too")

    assert world.argus.get("/api/state")["needsYou"] == ["service web", f"agent {before}"]
    explains = world.argus.get(f"/api/incidents/{incident}")["explains"]
    assert [one["name"] for one in explains if one["kind"] == "agent" and one["incident"]] == [meanwhile]
    assert f"needs you: service web, agent {before}" in world.argus.cli("status").stdout

    world.web.start()
    both = [f"agent {before}", f"agent {meanwhile}"]
    eventually(lambda: world.argus.get("/api/state")["needsYou"] == both, "nothing respawns the other one either")


def test_who_depends_on_it_no_longer_is_told_to_go_on_at_the_reload(world: World) -> None:
    session = world.tmux.agent("shop-ps")
    world.up()
    reader = world.spawn("reader")
    eventually(lambda: world.agent(reader)["state"] == "alive", "the reader lives")
    world.web.kill()
    incident = world.argus.wait_for("service_down").data["incident"]
    for file in (session, world.lines):
        eventually(lambda file=file: noted(file), "it was told")
    assert "waits for service web" in world.argus.cli("status").stdout
    waiting = world.spawn("worker")

    said = yaml.safe_load(world.argus.config.read_text())
    for one in (*said["agents"]["configs"].values(), *said["sessions"]["projects"].values()):
        del one["dependsOn"]
    world.argus.write(yaml.safe_dump(said, sort_keys=False))
    assert world.argus.cli("reload").code == 0
    for file in (session, world.lines):
        lines = eventually(lambda file=file: len(noted(file)) == 2 and noted(file), "it may go on")
        assert lines[1] == "[argus] You need not wait for web any more. Go on with your work."
    assert {one["incident"] for one in world.events("dependency_back")} == {incident}
    world.works(waiting)

    def said() -> dict[str, str]:
        return {one["name"]: one["what"] for one in world.argus.get(f"/api/incidents/{incident}")["explains"]}

    may_go_on = "waited, and was told that it need not any more"
    expected = {"shop": may_go_on, reader: may_go_on, waiting: "waited, and was started"}
    eventually(lambda: said() == expected, "the story follows")
    world.web.start()
    world.argus.wait_for("service_recovered")
    assert said() == expected


def test_of_what_goes_up_and_down_nobody_hears_every_time(world: World) -> None:
    session = world.tmux.agent("shop-ps")
    world.up(flapping={"flips": 3, "within": "15s"}, failuresBeforeAction=2)
    for _ in range(5):
        world.web.kill()
        world.argus.wait_until("web", "down")
        time.sleep(1.0)
        world.web.start()
        world.argus.wait_until("web", "up")
        time.sleep(1.0)
    assert world.argus.journal("service_flapping")
    assert len(noted(session)) <= 3, "down, back, and down: then it is known to flap"
    said = eventually(lambda: noted(session)[-1] == "[argus] web is back. Go on with your work." and noted(session), "")
    assert len(said) <= 4


def test_who_was_told_of_a_root_that_goes_up_and_down_goes_on_once_that_has_settled(world: World) -> None:
    session, all_of_it, leaf = world.tmux.agent("shop-ps"), world.project / "alive", world.project / "leaf"
    for file in (all_of_it, leaf):
        file.touch()
    checked = {"type": "command", "interval": "200ms", "failuresBeforeAction": 1}
    chain = [
        {**checked, "name": "leaf", "command": ["ls", str(all_of_it), str(leaf)], "dependsOn": ["mid"]},
        {**checked, "name": "mid", "command": ["test", "-e", str(all_of_it)], "dependsOn": ["root"]},
        {**checked, "name": "root", "command": ["test", "-e", str(all_of_it)]},
    ]
    world.up(needs=["leaf"], also=chain, flapping={"flips": 4, "within": "8s"})
    names = ("root", "mid", "leaf")

    def turn(file: Path, state: str, *those: str) -> None:
        file.touch() if state == "up" else file.unlink()
        for one in those:
            world.argus.wait_until(one, state)

    for one in names:
        world.argus.wait_until(one, "up")
    for _ in range(2):
        turn(all_of_it, "down", *names)
        eventually(lambda: noted(session) and "root is down" in noted(session)[-1], "it was told")
        turn(all_of_it, "up", *names)
    turn(all_of_it, "down", *names)
    world.argus.wait_for("service_flapping", "root")
    eventually(lambda: "root is down" in noted(session)[-1], "it was told of what goes up and down")
    turn(all_of_it, "up", *names)
    waits = world.argus.get("/api/sessions")["sessions"][0]["waits_for"]
    assert waits == ["service root"], "also while it answers"
    turn(leaf, "down", "leaf")
    eventually(lambda: "leaf is down" in noted(session)[-1], "it was told of the other")
    turn(leaf, "up", "leaf")
    said = eventually(lambda: "Go on with your work." in noted(session)[-1] and noted(session), "all of it is over", 20)
    assert said[-2:] == [
        "[argus] leaf is back. root has not settled yet.",
        "[argus] root is back. Go on with your work.",
    ]
    assert not [line for line in said if "need not wait" in line], "nobody took anything out of the configuration"
    over = [event for event in world.events("dependency_back") if event["dependency"] == "leaf"]
    assert over[-1]["still_waits_for"] == ["root"]


def test_one_that_waits_can_be_stopped_or_forgotten_and_never_starts(world: World) -> None:
    world.up()
    world.web.kill()
    incident = world.argus.wait_for("service_down").data["incident"]
    refused = world.argus.cli("agent", "run", "worker", "--task", "x")
    assert "dependency down" in refused.stderr, "who sits in front of it is told at once"
    stopped, forgotten = world.spawn("worker"), world.spawn("worker")
    assert world.argus.cli("agents", "stop", stopped).code == 0
    assert world.argus.cli("agents", "forget", forgotten).code == 0
    eventually(lambda: not world.argus.get("/api/agents")["agents"], "both are gone")
    # Neither of them ever lived: a person did not want it any more, and that is no death.
    story = world.argus.get(f"/api/incidents/{incident}")
    assert {one["name"]: one["what"] for one in story["explains"] if one["kind"] == "agent"} == {
        stopped: "waited to be started, and was stopped by a person",
        forgotten: "waited to be started, and was removed",
    }
    assert f"agent {stopped} is not started any more: stopped by a person (cli)" in str(story["story"])
    assert [one["kind"] for one in world.argus.get("/api/incidents")["incidents"]] == ["service_outage"]
    assert not world.argus.journal("spawn_failed")
    world.web.start()
    world.argus.wait_for("service_recovered")
    third = world.spawn("worker")
    world.works(third)
    assert len(world.starts.read_text().splitlines()) == 1


def test_who_is_gone_while_it_waits_waits_no_longer_in_the_story_which_says_why(world: World) -> None:
    world.up()
    stopped, forgotten, waits = (world.spawn("worker") for _ in range(3))
    pid = world.works(forgotten)
    for one in (stopped, waits):
        world.works(one)
    world.web.kill()
    incident = world.argus.wait_for("service_down").data["incident"]
    world.argus.wait_for("dependency_lost", count=4)  # three agents and the session
    assert world.argus.cli("agents", "stop", stopped).code == 0
    ended = told(world.argus, "dependency_wait_ended", stopped)
    assert (ended["outcome"], ended["by"], ended["dependency"]) == ("stopped", "cli", "web")
    os.kill(pid, signal.SIGKILL)
    world.argus.wait_for("respawn_held_back")
    assert told(world.argus, "dependency_wait_ended", forgotten)["outcome"] == "died"

    def said() -> dict[str, str]:
        explains = world.argus.get(f"/api/incidents/{incident}")["explains"]
        return {one["name"]: one["what"] for one in explains if one["kind"] == "agent"}

    assert said() == {
        stopped: "waited, and was stopped by a person",
        forgotten: "died, and is respawned when it is back",
        waits: "waits until it is back",
    }
    assert world.argus.cli("agents", "forget", forgotten).code == 0
    world.web.start()
    told(world.argus, "dependency_back", waits)
    assert said() == {
        stopped: "waited, and was stopped by a person",
        forgotten: "died, and was removed by a person",
        waits: "waited until it was back",
    }
    shown = world.argus.cli("explain", incident).stdout
    assert f"outcome  agent {stopped} was stopped by a person (cli), and waits no longer" in shown


def test_an_agent_that_only_beats_hears_once_that_it_is_back(world: World) -> None:
    world.up()
    worker = world.spawn("worker")
    world.works(worker)

    def hears() -> str:
        return str(world.argus.rest("POST", "/api/heartbeat", {"agent_id": worker}).json["notice"])

    assert hears() == "None"
    world.web.kill()
    world.argus.wait_for("dependency_lost")
    assert hears().startswith("[argus] service web is down")
    world.web.start()
    world.argus.wait_for("dependency_back")
    assert [hears(), hears()] == ["[argus] web is back. Go on with your work.", "None"]


def test_one_that_waits_says_what_it_waits_for_now(world: World) -> None:
    cache = WebServer(world.argus, "cache").start()
    world.up(needs=["web", "cache"], also=[cache.service()])
    world.argus.wait_until("cache", "up")
    world.web.kill()
    world.argus.wait_until("web", "down")
    waiting = world.spawn("worker")
    assert world.agent(waiting)["reason"] == "waits for service web"
    cache.kill()
    world.argus.wait_until("cache", "down")
    world.web.start()
    eventually(lambda: world.agent(waiting)["reason"] == "waits for service cache", "the other by now")
    cache.start()
    world.works(waiting)


def test_below_moderate_nothing_is_typed_and_the_record_says_it(world: World) -> None:
    session = world.tmux.agent("shop-ps")
    world.up(autonomy="observe")
    world.web.kill()
    (lost,) = [one for one in [world.argus.wait_for("dependency_lost").data] if one["project"] == "shop"]
    assert lost["dependency"] == "web"
    assert lost["doing"] == "does not restart it: autonomy"
    world.web.start()
    world.argus.wait_for("dependency_back")
    assert noted(session) == []


def test_a_service_that_is_explained_stands_under_its_root(argus: Argus, hook: Hook) -> None:
    root, leaf = WebServer(argus, "db").start(), WebServer(argus, "api").start()
    argus.configure([root.service(), leaf.service(dependsOn=["db"])], channels=[hook.url])
    argus.up()
    argus.wait_until("db", "up")
    argus.wait_until("api", "up")
    root.kill()
    leaf.kill()
    eventually(lambda: len(argus.journal("service_down")) == 2, "both are down")
    incident = argus.service("db")["incident"]
    explains = eventually(lambda: argus.get(f"/api/incidents/{incident}")["explains"], "what it explains")
    assert [(one["kind"], one["name"], one["incident"]) for one in explains] == [
        ("service", "api", argus.service("api")["incident"])
    ]
    assert [message.title for message in hook.messages] == ["SERVICE DOWN: db"]


def test_what_another_root_explains_later_stays_in_the_story_of_the_first(argus: Argus, tmp_path: Path) -> None:
    here = {name: tmp_path / name for name in ("db", "api", "front", "cache")}
    needs = {"api": ["db"], "front": ["api", "cache"]}
    checked = {"type": "command", "interval": "200ms", "failuresBeforeAction": 1}
    argus.configure(
        [
            {**checked, "name": name, "command": ["test", "-e", str(file)], "dependsOn": needs.get(name, [])}
            for name, file in here.items()
        ],
        correlatedFailureThreshold=9,
    )

    def turn(state: str, *names: str) -> None:
        for name in names:
            here[name].touch() if state == "up" else here[name].unlink()
            argus.wait_until(name, state)

    for file in here.values():
        file.touch()
    argus.up()
    for name in here:
        argus.wait_until(name, "up")
    turn("down", "db", "api", "front", "cache")
    roots = {name: str(argus.service(name)["incident"]) for name in here}
    turn("up", "api", "db")
    eventually(lambda: argus.service("front")["explainedBy"] == roots["cache"], "the other one explains it")
    turn("up", "cache", "front")
    eventually(lambda: not argus.get("/api/incidents?open=true")["incidents"], "all of it is over")

    def because_of(name: str) -> dict[str, str]:
        return {one["name"]: one["what"] for one in argus.get(f"/api/incidents/{roots[name]}")["explains"]}

    assert because_of("db") == {
        "api": "was down with it, and was not restarted for itself",
        "front": "was down with it, and then because of cache",
    }
    assert because_of("cache") == {"front": "was down already, and was not restarted for itself"}
    told = argus.cli("explain", roots["front"]).stdout
    assert f"because of another incident: argus explain {roots['cache']}" in told
    assert f"and before that of: argus explain {roots['db']}" in told
    assert "db is failing and explains this" in told
    assert "cache is failing and explains this" in told


@pytest.mark.parametrize("how", ["ends", "lasts too long"])
def test_a_restart_waits_for_the_turn_that_uses_the_service_up_to_a_limit(world: World, how: str) -> None:
    world.up("repair", waitForWork="60s" if how == "ends" else "2s")
    id = world.spawn("thinker")
    world.works(id)
    session = world.agent(id)["session"]
    turn = {"session_id": session, "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    world.web.kill()
    down = world.argus.wait_for("service_down").data
    assert down["gate"] == "in use"
    assert f"agent {id} is in a turn" in down["hint"]
    if how == "ends":
        assert world.web.runs == 0
        world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "Stop"})
    world.argus.wait_for("restart_started")
    world.argus.wait_for("service_recovered")
    assert world.web.runs == 1


def test_a_restart_that_somebody_asks_for_waits_as_well(world: World) -> None:
    world.up("repair", waitForWork="2s")
    id = world.spawn("thinker")
    world.works(id)
    turn = {"session_id": world.agent(id)["session"], "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    began = time.monotonic()
    assert world.argus.rest("POST", "/api/services/web/restart").status == 202
    assert time.monotonic() - began >= 2


def test_an_asked_restart_and_the_one_of_an_outage_that_begins_meanwhile_are_one(world: World) -> None:
    world.up("repair", waitForWork="60s")
    id = world.spawn("thinker")
    world.works(id)
    turn = {"session_id": world.agent(id)["session"], "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    with world.argus.background("services", "restart", "web") as asking:
        assert asking.stdout is not None
        assert "web: waiting" in asking.stdout.readline()
        world.web.kill()
        assert world.argus.wait_for("service_down").data["gate"] == "in use"
        world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "Stop"})
        assert asking.wait(10) == 0
    begun = world.argus.wait_for("restart_started").data
    assert (begun["by"], begun.get("askedBy")) in (("argus", "cli"), ("cli", None)), "whichever looked first"
    world.argus.wait_for("service_recovered")
    assert world.argus.journal("restart_withdrawn") == []
    assert world.web.runs == 1


def test_who_gives_up_an_asked_restart_that_waits_restarts_nothing(world: World) -> None:
    world.up("repair", waitForWork="60s")
    id = world.spawn("thinker")
    world.works(id)
    turn = {"session_id": world.agent(id)["session"], "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    with world.argus.background("services", "restart", "web") as asking:
        assert asking.stdout is not None
        assert f"web: waiting, agent {id} is in a turn" in asking.stdout.readline(), "what it prints beside its answer"
        shown = world.argus.service("web")
        assert (shown["gate"], shown["waitsFor"]) == ("in use", f"agent {id} is in a turn")
        assert f"agent {id} is in a turn" in world.argus.cli("status").stdout
        second = world.argus.rest("POST", "/api/services/web/restart")
        assert (second.status, second.json["error"]["code"]) == (409, "INVALID_STATE")
        asking.send_signal(signal.SIGINT)
        assert asking.wait(10) == 130
    world.argus.wait_for("restart_withdrawn")
    assert world.argus.service("web")["gate"] is None
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "Stop"})
    assert not world.argus.journal("restart_started")


def test_an_asked_restart_that_waits_when_argus_is_killed_is_withdrawn_by_the_next_one(world: World) -> None:
    world.up("repair", waitForWork="60s")
    id = world.spawn("thinker")
    world.works(id)
    turn = {"session_id": world.agent(id)["session"], "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    with world.argus.background("services", "restart", "web") as asking:
        assert asking.stdout is not None
        asking.stdout.readline()  # by then it waits
        world.argus.kill()
        said = asking.stdout.read()
        assert asking.wait(10) == 3
        assert "NO_DAEMON" in said
        assert "argus status" in said, "what to do"
    world.argus.up()
    assert world.argus.wait_for("restart_withdrawn").data["argusEnded"] is True
    assert not world.argus.journal("restart_started")


@pytest.mark.parametrize("how", ["ends", "lasts too long", "its agent died meanwhile"])
def test_an_argus_that_was_killed_goes_on_waiting_for_the_turn_of_an_agent(world: World, how: str) -> None:
    world.up("repair", waitForWork="6s" if how == "lasts too long" else "60s")
    id = world.spawn("thinker")
    pid = world.works(id)
    turn = {"session_id": world.agent(id)["session"], "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    world.web.kill()
    began = world.argus.wait_for("service_down").data["timestamp"]
    world.argus.kill()
    if how == "its agent died meanwhile":
        os.kill(pid, signal.SIGKILL)
    world.argus.up()
    if how == "ends":
        busy = f"agent {id} is in a turn"
        eventually(lambda: world.argus.service("web")["waitsFor"] == busy, "the next Argus waits for it")
        assert world.web.runs == 0
        world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "Stop"})
    started = world.argus.wait_for("restart_started").data
    waited = (started["timestamp"] - began) / 1000
    assert started.get("outwaited") == (f"agent {id} is in a turn" if how == "lasts too long" else None)
    assert how != "lasts too long" or waited >= 6
    world.argus.wait_for("service_recovered")


@pytest.mark.parametrize("killed", [False, True], ids=["", "killed"])
def test_the_turn_of_an_agent_is_known_from_its_transcript_alone(world: World, killed: bool) -> None:
    world.up("repair", waitForWork="60s")
    id = world.spawn("thinker")
    world.works(id)
    agent = world.agent(id)
    slug = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(world.project))
    transcript = Path(world.argus.env["HOME"]) / ".claude" / "projects" / slug / f"{agent['session']}.jsonl"
    transcript.parent.mkdir(parents=True)

    def says(type: str, content: Any, **more: Any) -> None:
        message = {"role": type, "content": content, **more}
        row = {"type": type, "sessionId": agent["session"], "timestamp": datetime.now(UTC).isoformat()}
        with transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "message": message}) + "\n")

    says("user", "mend it")
    says("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "sleep 600"}}])
    busy = f"agent {id} is in a turn"
    eventually(lambda: world.is_in_turn(id), "it was read")
    world.web.kill()
    assert busy in world.argus.wait_for("service_down").data["hint"]
    if killed:
        world.argus.kill()
        world.argus.up()
        eventually(lambda: world.argus.service("web")["waitsFor"] == busy, "the next Argus waits for it")
    assert world.web.runs == 0
    says("assistant", [{"type": "text", "text": "done"}], stop_reason="end_turn")
    world.argus.wait_for("restart_started")
    world.argus.wait_for("service_recovered")


def test_an_agent_that_asks_does_not_wait_for_its_own_turn(world: World) -> None:
    world.up("repair", waitForWork="60s")
    id = world.spawn("thinker")
    world.works(id)
    turn = {"session_id": world.agent(id)["session"], "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    made = world.argus.rest("POST", "/api/tokens", {"role": "agent", "agent": id, "project": str(world.project)})
    own = {"Authorization": f"Bearer {made.json['token']}"}
    began = time.monotonic()
    reply = world.argus.rest("POST", "/api/services/web/restart", token=False, headers=own)
    assert reply.status == 202, reply
    assert time.monotonic() - began < 10


def test_a_turn_that_began_after_the_failure_does_not_hold_the_repair_of_its_root_up(world: World) -> None:
    alive = world.project / "alive"
    alive.touch()
    root = {
        "name": "root", "type": "command", "command": ["test", "-e", str(alive)], "interval": "200ms",
        "restart": {"command": ["touch", str(alive)]}, "failuresBeforeAction": 1,
    }  # fmt: skip
    world.up(waitForWork="60s", also=[root])
    said = yaml.safe_load(world.argus.config.read_text())
    said["health"]["services"][0]["dependsOn"] = ["root"]
    world.argus.write(yaml.safe_dump(said, sort_keys=False))
    assert world.argus.cli("reload").code == 0
    id = world.spawn("thinker")
    world.works(id)
    turn = {"session_id": world.agent(id)["session"], "cwd": str(world.project), "prompt": "x"}
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "Stop"})
    world.web.kill()
    world.argus.wait_for("dependency_lost")
    # As our own word makes it begin one.
    world.argus.rest("POST", "/api/hooks/claude", {**turn, "hook_event_name": "UserPromptSubmit"})
    alive.unlink()
    down = world.argus.wait_for("restart_started").data
    assert (down["service"], down.get("outwaited")) == ("root", None)


def test_an_unknown_dependency_is_refused_with_its_line(argus: Argus) -> None:
    argus.write(
        "health: {services: [{name: web, type: tcp, port: 1}]}\n"
        "agents:\n  configs:\n    one:\n      command: [x]\n      dependsOn: [wep]\n"
        "sessions:\n  projects:\n    shop:\n      path: /tmp\n      dependsOn: ['room:x']\n"
    )
    error = argus.cli("check", "--json").json["error"]
    text = str(error)
    assert "environment:NAME" in text
    argus.write(argus.config.read_text().replace("'room:x'", "'environment:x'"))
    text = str(argus.cli("check", "--json").json["error"])
    assert "which is no service of health.services" in text
    assert 'did you mean "web"' in text


@pytest.fixture
def harbour(resting: Yard) -> Yard:
    """An agent that needs an environment, which needs a service that is there as long as a file is."""
    alive, folder = resting.folder / "alive", resting.folder / "project"
    folder.mkdir()
    alive.touch()
    db = {
        "name": "db", "type": "command", "command": ["test", "-e", str(alive)], "interval": "200ms",
        "restart": {"command": ["touch", str(alive)]}, "failuresBeforeAction": 1,
    }  # fmt: skip
    agent = {"command": ["sleep", "600"], "cwd": str(folder), "dependsOn": ["environment:shop"]}
    said = {
        "server": {"port": 0},
        "autonomy": "moderate",
        "health": {"verifyAfter": "200ms", "waitForWork": "60s", "services": [db]},
        "agents": {"configs": {"worker": agent}},
        "environments": [{"path": "project", "dependsOn": ["db"]}],
    }
    resting.write(yaml.safe_dump(said, sort_keys=False))
    resting.up()
    resting.rest("POST", "/api/agents/spawn", {"config_name": "worker", "task": "a task"})
    resting.wait_for("agent_spawned")
    return resting


def test_an_environment_that_is_ill_and_one_whose_service_is_down_are_told_by_their_root(harbour: Yard) -> None:
    # The guardian takes two seconds before it starts it again.
    project = harbour.project(services=[stays("one")])
    project.up()
    assert harbour.get("/api/agents")["agents"][0]["waits_for"] == []
    harbour.engine.ask("POST", "/containers/one/kill")
    lost = harbour.wait_for("dependency_lost").data
    assert (lost["agent_id"], lost["dependency"]) == ("team-worker001", "environment:shop")
    assert lost["why"].startswith("one: ")
    assert "anew" in lost["doing"]
    harbour.wait_for("dependency_back")

    assert harbour.cli("autonomy", "observe").code == 0
    (harbour.folder / "alive").unlink()
    lost = harbour.wait_for("dependency_lost", count=2).data
    assert lost["dependency"] == "db"
    harbour.wait_for("dependency_lost", count=3)  # of the environment
    assert harbour.get("/api/state")["environments"][0]["waitsFor"] == ["service db"]
    assert harbour.cli("status").stdout.count("waits for service db") == 2
    told = harbour.cli("context").stdout.splitlines()
    assert "- environment shop: UP (1/1 containers well); waits for service db" in told
    assert "- waits for service db: agent team-worker001" in told
    explains = harbour.get(f"/api/incidents/{lost['incident']}")["explains"]
    assert [(one["kind"], one["name"]) for one in explains] == [("agent", "team-worker001"), ("environment", "shop")]
    (harbour.folder / "alive").touch()
    harbour.wait_for("dependency_back", count=3)
    story = harbour.get(f"/api/incidents/{lost['incident']}")
    assert {one["what"] for one in story["explains"]} == {"waited until it was back"}
    assert "environment shop is told" not in str(story["story"])

    # What a person stops is missed by those who need it, though nobody starts it anew.
    harbour.engine.stop("one")
    lost = harbour.wait_for("dependency_lost", count=4).data
    assert (lost["dependency"], lost["why"]) == ("environment:shop", "one: somebody stopped it")
    # Nobody but a person starts it again: as long as somebody waits for it, it is not called well.
    state = harbour.get("/api/state")
    assert (state["notWell"], state["needsYou"]) == (["environment shop"], ["environment shop"])
    assert harbour.cli("status").code == 1
    harbour.engine.ask("POST", "/containers/one/start")
    harbour.wait_for("dependency_back", count=4)
    assert harbour.get("/api/state")["needsYou"] == []


def test_an_environment_that_is_cleaned_while_it_waits_waits_no_longer_until_it_is_set_up_again(harbour: Yard) -> None:
    project = harbour.project(services=[stays("one")])
    project.up()
    assert harbour.cli("autonomy", "observe").code == 0
    (harbour.folder / "alive").unlink()
    incident = told(harbour, "dependency_lost", "shop")["incident"]

    def said() -> dict[str, str]:
        explains = harbour.get(f"/api/incidents/{incident}")["explains"]
        return {one["name"]: one["what"] for one in explains if one["kind"] == "environment"}

    assert project.env("clean").code == 0
    ended = told(harbour, "dependency_wait_ended", "shop")
    assert (ended["outcome"], ended["dependency"], ended["incident"]) == ("cleaned", "db", incident)
    assert said() == {"shop": "waited, and was cleaned"}
    project.up()
    told(harbour, "dependency_lost", "shop", count=2)
    assert said() == {"shop": "waits until it is back"}
    (harbour.folder / "alive").touch()
    told(harbour, "dependency_back", "shop")
    assert said() == {"shop": "waited until it was back"}
    story = [one["text"] for one in harbour.get(f"/api/incidents/{incident}")["story"] if one["subject"] == "shop"]
    needs = "environment shop needs it, and waits"
    cleaned = "environment shop was cleaned, and waits no longer"
    assert story == [needs, cleaned, needs, "it is back: environment shop goes on"]


def test_in_a_crash_loop_nobody_is_told_back_every_time_and_the_last_story_has_all_restarts(harbour: Yard) -> None:
    slow = {"container": {"restartDelay": "1s", "backoff": "linear"}}
    harbour.project(services=[stays("one")], resilience=slow).up()

    def falls(event: str, count: int) -> dict[str, Any]:
        harbour.engine.ask("POST", "/containers/one/kill")
        return harbour.wait_for(event, count=count).data

    falls("dependency_lost", 1)
    harbour.wait_for("dependency_back")
    falls("dependency_lost", 2)
    harbour.rest("POST", "/api/agents/spawn", {"config_name": "worker", "task": "another"})
    harbour.wait_for("agent_spawned", count=2)  # whoever looks after those that wait has seen that it is back
    falls("restart_success", 3)
    given_up = falls("restart_exhausted", 1)
    heard = harbour.journal("dependency_lost", "dependency_back")
    told = [one.type for one in heard if one.data.get("agent_id") == "team-worker001"]
    assert told == ["dependency_lost", "dependency_back", "dependency_lost"]
    story = harbour.get(f"/api/incidents/{given_up['incident']}")["story"]
    earlier = [one["incident"] for one in given_up["earlier"]]
    assert len({*earlier, given_up["incident"]}) == 4
    assert all(id in str(story) for id in earlier)


def test_a_restart_waits_for_the_test_case_that_uses_the_service(harbour: Yard) -> None:
    project = harbour.project(
        services=[stays("one")], tests={"suites": [{"id": "long", "name": "long", "file": "long.yaml"}]}
    )
    waits = {"command": "while [ ! -e /go ]; do sleep 0.1; done", "container": "one", "timeout": "60s"}
    case = {"name": "long", "exec": waits}
    (project.folder / "long.yaml").write_text(yaml.safe_dump({"name": "long", "cases": [case]}), encoding="utf-8")
    project.up()
    # Another worktree of it, which argus.yaml does not name: newer, and called alike.
    harbour.project(folder="other", services=[stays("two")]).up()
    run = project.begin("run")
    eventually(lambda: "/go" in str(harbour.engine.ask("GET", "/containers/one/top")), "the case is under way")
    (harbour.folder / "alive").unlink()
    down = harbour.wait_for("service_down").data
    assert (down["gate"], "test case 'long'" in down["hint"]) == ("in use", True)
    assert not harbour.journal("restart_started")
    waits = {one["folder"]: one["waitsFor"] for one in harbour.get("/api/state")["environments"]}
    assert waits == {str(project.folder): ["service db"], str(harbour.folder / "other"): []}
    harbour.engine.execute("one", "touch", "/go")
    harbour.wait_for("service_recovered")
    assert ended(run).code == 0


def test_what_a_program_printed_is_told_without_its_secrets(world: World) -> None:
    file = world.project / "alive"
    file.touch()
    says = f"test -e {file} || {{ echo password=hunter2hunter2; exit 1; }}"
    prints = {"name": "prints", "type": "command", "command": ["sh", "-c", says], "interval": "200ms"}
    world.up(needs=["prints"], also=[prints])
    world.spawn("reader")
    file.unlink()
    (line,) = eventually(lambda: noted(world.lines), "it was told")
    assert line.startswith("[argus] service prints is down")
    assert "hunter2" not in line
    assert "hunter2" not in str(world.events("dependency_lost"))
