"""`argus status --watch`: a live view in a real terminal, and lines where there is none."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from tests.acceptance.harness import PROGRAM, Argus, WebServer, eventually
from tests.acceptance.screen import Screen


@pytest.fixture
def running(argus: Argus, web: WebServer) -> Argus:
    argus.configure([web.service()], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    return argus


def test_the_view_follows_what_happens_and_ends_with_q(running: Argus, web: WebServer) -> None:
    env = {**running.env, "TERM": "xterm-256color"}
    screen = Screen([PROGRAM, "status", "--watch"], env, running.folder, columns=140)
    try:
        screen.shows("all is well")
        screen.shows("web")
        eventually(lambda: any(bar in screen.text for bar in "▁▂▃▄▅▆▇█"), "latencies are drawn")
        web.kill()
        screen.shows("1 of 1 services down")
        screen.shows("✕")
        running.kill()
        screen.shows("Argus does not answer")
        running.up()
        screen.shows("1 of 1 services down", times=2)
        screen.type("q")
        assert screen.process.wait(30) == 0
        assert "\x1b[?1049l" in screen.text, "the screen of before is back"
    finally:
        screen.end()


def test_without_a_terminal_every_change_is_lines(running: Argus, web: WebServer) -> None:
    with running.background("status", "--watch") as process:
        lines: list[str] = []
        assert process.stdout is not None
        out = process.stdout
        reader = threading.Thread(target=lambda: lines.extend(iter(out.readline, "")))
        reader.start()
        eventually(lambda: any("all is well" in line for line in lines), "the first state")
        web.kill()
        eventually(lambda: any("down: web" in line for line in lines), "the change")
        os.kill(process.pid, signal.SIGINT)
        process.wait(30)
        reader.join(30)
    assert not any("\x1b" in line for line in lines)


def test_watching_is_for_people(running: Argus) -> None:
    ran = running.cli("status", "--watch", "--json")
    assert (ran.code, ran.error["code"]) == (2, "INVALID_REQUEST")
