"""Services that do not simply die: frozen, dripping, crashing for ever, without a name, with a restart that hangs."""

from __future__ import annotations

import gzip
import os
import random
import shlex
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.acceptance.harness import PROGRAM, Argus, Hook, WebServer, eventually, is_alive, watched
from tests.acceptance.test_hostile_repair import with_script
from tests.faults import Injection

_MEBIBYTE = 1024 * 1024
_STORY = ("service_down", "restart_started", "restart_finished", "service_escalated", "service_recovered")


def story(argus: Argus) -> list[str]:
    return [event.type for event in argus.journal(*_STORY)]


@pytest.mark.fault("SV2")
def test_a_stopped_server_times_out_and_is_restarted_once(argus: Argus, web: WebServer, injected: Injection) -> None:
    entry = with_script(web, argus, f"kill -9 {web.pid}", "repair")
    argus.configure([{**entry, "timeout": "1s"}])
    argus.up()
    argus.wait_until("web", "up")
    with injected:
        os.kill(web.pid, signal.SIGSTOP)
        argus.wait_for("service_recovered", "web")
    assert story(argus) == ["service_down", "restart_started", "restart_finished", "service_recovered"]
    (down,) = argus.journal("service_down")
    assert down.data["code"] == "HEALTH_CHECK_TIMEOUT"
    assert web.runs == 1
    argus.wait_until("web", "up")


class Hostile:
    """A web server that drips its body, or sends one that is far larger than it looks."""

    def __init__(self) -> None:
        self.bombs = 0
        self._over = threading.Event()
        bomb, hostile = gzip.compress(b"\0" * 100 * _MEBIBYTE), self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                if self.path == "/bomb":
                    self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(bomb)))
                self.end_headers()
                if self.path == "/bomb":
                    hostile.bombs += 1
                    self.wfile.write(bomb)
                while self.path == "/drip" and not hostile._over.wait(0.4):
                    self.wfile.write(b"x")

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # who asked has gone

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    one = Hostile()
    yield one
    one.close()


def most_memory(pid: int) -> int:
    """Bytes that it ever had."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel does not say how much memory it had")


@pytest.mark.fault("SV3")
def test_a_body_that_drips_does_not_move_the_deadline(argus: Argus, hostile: Hostile, injected: Injection) -> None:
    argus.configure(autonomy="observe")
    argus.up()
    argus.configure([watched("drips", f"{hostile.url}/drip", timeout="500ms", expectBody="y")], autonomy="observe")
    with injected:
        assert argus.cli("reload").code == 0
        down = argus.wait_for("service_down", "drips").data
    # Without a deadline of its own, the first check alone would wait for hours.
    assert (down["failures"], down["code"]) == (3, "HEALTH_CHECK_TIMEOUT")


@pytest.mark.fault("SV3")
def test_a_body_that_is_a_bomb_takes_no_memory(argus: Argus, hostile: Hostile, injected: Injection) -> None:
    argus.configure(autonomy="observe")
    argus.up()
    before = most_memory(argus.pid)
    argus.configure([watched("bomb", f"{hostile.url}/bomb", expectBody="y")], autonomy="observe")
    with injected:
        assert argus.cli("reload").code == 0
        assert argus.wait_for("service_down", "bomb").data["code"] == "SERVICE_DOWN"
    assert hostile.bombs >= 3
    assert most_memory(argus.pid) - before < 32 * _MEBIBYTE, "the 64 KiB that are read would be 64 MiB unpacked"


@pytest.mark.fault("SV4")
def test_a_service_that_fails_twice_and_answers_again_and_again_is_flapping_and_not_restarted(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection
) -> None:
    argus.configure([web.service("repair", interval="1h")], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")

    def check() -> int:
        return int(argus.rest("POST", "/api/services/web/check").json["failures"])

    with injected:
        for _ in range(20):
            web.kill()
            assert [check(), check()] == [1, 2]
            web.start()
            assert check() == 0
        eventually(lambda: hook.messages, "a person is told")
    (announced,) = argus.journal("service_flapping")
    assert announced.data["service"] == "web"
    assert story(argus) == []
    assert web.runs == 0
    assert len(hook.messages) == 1


@pytest.mark.fault("SV7")
def test_a_service_that_crashes_again_and_again_spends_the_budget_and_then_a_person_is_told(
    argus: Argus, web: WebServer, hook: Hook, injected: Injection
) -> None:
    argus.configure([web.service("repair", interval="100ms")], channels=[hook.url])
    argus.up()
    argus.wait_until("web", "up")
    with injected:
        for crash in (1, 2):
            web.kill()
            argus.wait_for("service_recovered", "web", count=crash)
        web.kill()
        third = argus.wait_for("service_down", "web", count=3)
        eventually(lambda: "budget" in str(hook.titled("SERVICE DOWN: web")[2:]), "a person is told why")
    assert (third.data["action"], third.data["gate"]) == ("none", "budget")
    failures = argus.service("web")["failures"]
    eventually(lambda: argus.service("web")["failures"] >= failures + 5, "it goes on failing")
    assert web.runs == 2
    assert len(hook.titled("SERVICE DOWN: web")) == 3
    assert argus.get("/api/state")["budget"] == {"left": 0, "most": 2}


@pytest.mark.fault("SV9")
def test_a_restart_that_hangs_ends_at_its_deadline_with_all_that_it_started(
    argus: Argus, web: WebServer, injected: Injection
) -> None:
    pids = argus.folder / "pids"
    note = f"echo $$ >>{shlex.quote(str(pids))}"
    grandchild = argus.folder / "grandchild.sh"
    grandchild.write_text(f"trap '' TERM HUP INT\n{note}\nwhile :; do sleep 1; done\n")
    child = argus.folder / "child.sh"
    child.write_text(f"{note}\nsh {shlex.quote(str(grandchild))} &\nwait\n")
    entry = with_script(web, argus, f"{note}\nsh {shlex.quote(str(child))} &\nwait")
    entry["restart"]["timeout"] = "1s"
    argus.configure([entry])
    argus.up()
    argus.wait_until("web", "up")
    with injected:
        web.kill()
        argus.wait_for("service_escalated", "web")
        group = [int(pid) for pid in pids.read_text().split()]
        eventually(lambda: not any(map(is_alive, group)), "the whole group is dead")
    assert len(group) == 3
    (finished,) = argus.journal("restart_finished")
    assert finished.data["outcome"] == "failed"
    failures = argus.service("web")["failures"]
    eventually(lambda: argus.service("web")["failures"] >= failures + 5, "it goes on failing")
    assert len(pids.read_text().split()) == 3, "it was run once"
    assert story(argus) == ["service_down", "restart_started", "restart_finished", "service_escalated"]


@pytest.fixture
def silent_dns(argus: Argus) -> Iterator[list[str]]:
    """The words before a command in whose world the name `known` is in a file, and nobody answers about any other."""
    server, known = argus.folder / "resolv.conf", argus.folder / "hosts"
    nowhere = f"127.53.{random.randint(1, 254)}.{random.randint(1, 254)}"  # others may play the same on this machine
    server.write_text(f"nameserver {nowhere}\n")
    known.write_text("127.0.0.1 known.example\n")
    mounts = 'mount --bind "$0" /etc/resolv.conf && mount --bind "$1" /etc/hosts && shift && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", mounts, str(server), str(known)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        try:
            nobody.bind((nowhere, 53))
            subprocess.run([*words, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"a name server of its own needs the right to be one: {error}")
        yield words


class Looks:
    """What the services were seen to be, and when each was checked."""

    def __init__(self, argus: Argus) -> None:
        self._argus = argus
        self.down: dict[str, str] = {}
        self.checks: dict[str, set[str]] = {"web": set(), "known": set()}

    def are_down(self, count: int) -> bool:
        services = {one["name"]: one for one in self._argus.get("/api/services")["services"]}
        self.down = {name: one["code"] for name, one in services.items() if one["state"] == "down"}
        for name, seen in self.checks.items():
            seen.add(services[name]["lastCheck"])
        return len(self.down) == count


@pytest.mark.fault("SV10")
def test_a_silent_name_server_takes_down_what_needs_it_and_delays_no_other(
    argus: Argus, web: WebServer, silent_dns: list[str], injected: Injection
) -> None:
    nameless = [f"name{number:02d}" for number in range(50)]
    services = [watched(name, f"http://{name}.example/", interval="500ms", timeout="800ms") for name in nameless]
    known = watched("known", f"http://known.example:{web.port}/")
    argus.configure([*services, known, web.service()], autonomy="observe")
    up = [*silent_dns, PROGRAM, "up", "--detach"]
    with injected:
        subprocess.run(up, cwd=argus.folder, env=argus.env, check=True, capture_output=True, timeout=60)
        assert argus.find()
        looks = Looks(argus)
        eventually(lambda: looks.are_down(50), "all of them are down")
    assert looks.down == dict.fromkeys(nameless, "DNS_RESOLUTION_FAILED")
    # Three checks of nearly a second each were waited for: who stood behind them in a queue was checked less often.
    assert all(len(seen) >= 5 for seen in looks.checks.values()), looks.checks
    assert [argus.service(name)["state"] for name in ("web", "known")] == ["up", "up"]
    assert argus.journal("restart_started") == []
