"""The daemon's life under a hostile hand: files taken away, a second one beside it, locks held, kills at a bad time."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.acceptance.harness import DEADLINE, Argus, WebServer, eventually, is_alive, never
from tests.faults import Injection

_ALONE = {"ARGUS_NO_AUTOSTART": "1"}


def test_the_file_s_autonomy_counts_again_as_soon_as_the_file_changed(argus: Argus) -> None:
    argus.configure(autonomy="observe")
    argus.up()
    assert argus.cli("autonomy", "moderate", "--json").json == {"level": "moderate"}
    argus.down()
    argus.configure(autonomy="cautious")
    assert argus.up()["autonomy"] == "cautious"
    argus.down()
    argus.configure(autonomy="observe")
    assert argus.up()["autonomy"] == "observe", "what was said before the file changed is over"
    assert argus.cli("autonomy").stdout.strip() == "observe"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Argus]:
    one = Argus(tmp_path / "other")
    yield one
    one.end()


@pytest.mark.fault("ST5")
def test_two_state_folders_on_one_store_are_two_daemons_too_many(
    argus: Argus, other: Argus, tmp_path: Path, injected: Injection
) -> None:
    for one in (argus, other):
        one.write(f"server: {{port: 0}}\nautonomy: observe\nstore: {{url: 'sqlite://{tmp_path}/shared.db'}}\n")
    argus.up()
    for words in (("up", "--detach", "--json"), ("up", "--json")):
        with injected:
            refused = other.cli(*words, timeout=DEADLINE)
        assert (refused.code, refused.error["code"]) == (1, "ALREADY_RUNNING")
        assert refused.error["details"]["pid"] == argus.pid, "it says who holds it"
    assert other.find() is None
    assert is_alive(argus.pid)
    assert argus.cli("autonomy", "cautious", "--json").json == {"level": "cautious"}
    assert len(argus.journal("argus_started")) == 1
    argus.down()
    assert other.up()["autonomy"], "the store is free again"


def test_without_its_lock_file_a_daemon_is_still_the_only_one(argus: Argus) -> None:
    argus.configure()
    argus.up()
    (argus.home / "argus.lock").unlink()
    for words in (("up", "--detach", "--json"), ("up", "--json")):
        refused = argus.cli(*words, timeout=DEADLINE)
        assert (refused.code, refused.error["code"]) == (1, "ALREADY_RUNNING")
    assert is_alive(argus.pid)
    assert argus.cli("status", env=_ALONE).code == 0
    assert len(argus.journal("argus_started")) == 1


def test_without_daemon_json_it_is_found_and_stopped(argus: Argus) -> None:
    argus.configure()
    argus.up()
    (argus.home / "daemon.json").unlink()
    ran = argus.cli("status", "--json", env=_ALONE)
    assert ran.code == 0, ran
    assert ran.json["argus"]["pid"] == argus.pid
    (argus.home / "daemon.json").unlink(missing_ok=True)
    assert argus.down().json == {"stopped": True}


def test_on_another_address_of_loopback_it_is_found_and_answers(argus: Argus) -> None:
    argus.configure()
    assert "127.0.0.2" in argus.up("--host", "127.0.0.2", "--port", "0")["url"]
    ran = argus.cli("status", "--json", env=_ALONE)
    assert ran.code == 0, ran
    assert ran.json["argus"]["pid"] == argus.pid
    argus.down()


class Follower:
    """`argus events --follow`, killed at the deadline at the latest: then its output ends."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def read_until(self, *texts: str) -> None:
        assert self.process.stdout is not None
        said = ""
        for line in self.process.stdout:
            said += line
            if all(text in line for text in texts):
                return
        raise AssertionError(f"{texts} was not said: {said}")

    @property
    def connected(self) -> bool:
        return bool(psutil.Process(self.process.pid).net_connections("inet"))


@contextlib.contextmanager
def following(argus: Argus) -> Iterator[Follower]:
    with argus.background("events", "--follow", "--last", "10000", "--json") as process:
        guard = threading.Timer(2 * DEADLINE, os.killpg, (process.pid, signal.SIGKILL))
        guard.start()
        try:
            yield Follower(process)
        finally:
            guard.cancel()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


async def test_who_follows_the_events_does_not_bring_back_a_daemon_that_was_stopped(argus: Argus) -> None:
    argus.configure()
    argus.up()
    with following(argus) as follower:
        follower.read_until("argus_started", str(argus.pid))
        assert follower.connected
        argus.down()
        eventually(lambda: not follower.connected, "the follower noticed")
        await never(
            lambda: {one.pid for one in argus.marked()} - {follower.process.pid} or argus.find(),
            "the follower started a daemon",
            1.5,
        )
        assert follower.process.poll() is None, "it waits for the next one"
        argus.up()
        follower.read_until("argus_started", str(argus.pid))
        assert argus.cli("autonomy", "cautious").code == 0
        follower.read_until("autonomy_changed")
    assert len(argus.journal("argus_started")) == 2


def test_sigterm_ends_it_within_five_seconds_while_another_process_holds_the_store(
    argus: Argus, web: WebServer
) -> None:
    argus.configure([web.service()], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    parts = urlsplit(argus.url)
    holder = sqlite3.connect(argus.home / "argus.db", isolation_level=None)
    asking = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=DEADLINE)
    with contextlib.closing(holder), asking:
        holder.execute("BEGIN IMMEDIATE")
        body = json.dumps({"level": "full"})
        asking.sendall(
            f"PUT /api/autonomy HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {argus.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        # Its answer shows that the one before was taken, and now waits for the store.
        assert argus.rest("GET", "/healthz", token=False).status == 200
        began = time.monotonic()
        os.kill(argus.pid, signal.SIGTERM)
        eventually(lambda: not is_alive(argus.pid), "it has ended")
        assert time.monotonic() - began < 5.0
    assert argus.find() is None
    argus.up()
    argus.wait_until("web", "up")


@pytest.mark.req("INFRA-02.4")
async def test_a_restart_command_that_outlives_a_killed_argus_never_runs_twice_at_once(
    argus: Argus, web: WebServer
) -> None:
    lines = argus.folder / "lines"
    script = argus.folder / "slow.sh"
    script.write_text(
        f"#!/bin/sh\necho begin >> {shlex.quote(str(lines))}\ntouch {shlex.quote(str(web.blocked))}\n"
        f"while [ ! -e {shlex.quote(str(web.gate))} ]; do sleep 0.05; done\necho end >> {shlex.quote(str(lines))}\n"
    )
    script.chmod(0o700)
    entry = web.service(interval="100ms", restart={"command": [str(script)], "timeout": "20s"})
    argus.configure([entry], autonomy="full", restartBudget={"maxPerHour": 10})
    argus.up()
    argus.wait_until("web", "up")
    web.kill()
    eventually(web.blocked.exists, "the command runs")
    argus.kill()
    argus.up()
    # Twice what it takes to verify and to decide again; the first command still runs all that time.
    await never(lambda: lines.read_text().count("begin") > 1, "the command runs a second time", 2.0)
    web.let_go()
    argus.wait_for("service_escalated", "web")
    said = lines.read_text().split()
    assert said[::2] == ["begin"] * len(said[::2])
    assert said[1::2] == ["end"] * len(said[1::2])
    assert 2 <= len(said) <= 4
