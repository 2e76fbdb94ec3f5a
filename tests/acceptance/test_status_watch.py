"""`argus status --watch`: a live view in a real terminal, and lines where there is none."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import threading
from collections.abc import Iterator

import pytest

from tests.acceptance.harness import PROGRAM, Argus, WebServer, eventually, is_alive, never
from tests.acceptance.screen import Screen


@pytest.fixture
def running(argus: Argus, web: WebServer) -> Argus:
    argus.configure([web.service()], autonomy="observe")
    argus.up()
    argus.wait_until("web", "up")
    return argus


@pytest.fixture
def screen(running: Argus) -> Iterator[Screen]:
    """The live view in a terminal of its own."""
    shown = Screen([PROGRAM, "status", "--watch"], {**running.env, "TERM": "xterm-256color"}, running.folder)
    try:
        shown.shows("all is well")
        yield shown
    finally:
        shown.end()


def is_as_before(screen: Screen) -> bool:
    """The screen of before, with its cursor, and a keyboard that echoes."""
    return "\x1b[?1049l" in screen.text and "\x1b[?25h" in screen.text and screen.echoes


@contextlib.contextmanager
def lines_of(process: subprocess.Popen[str]) -> Iterator[list[str]]:
    """What it prints, as it comes, until it is interrupted."""
    assert process.stdout is not None
    lines: list[str] = []
    out = process.stdout
    reader = threading.Thread(target=lambda: lines.extend(iter(out.readline, "")))
    reader.start()
    try:
        yield lines
    finally:
        os.kill(process.pid, signal.SIGINT)
        process.wait(30)
        reader.join(30)


def test_the_view_follows_what_happens_and_ends_with_q(running: Argus, web: WebServer) -> None:
    env = {**running.env, "TERM": "xterm-256color"}
    screen = Screen([PROGRAM, "status", "--watch"], env, running.folder, columns=140)
    try:
        screen.shows("all is well")
        screen.shows("web")
        eventually(lambda: any(bar in screen.text for bar in "▁▂▃▄▅▆▇█"), "latencies are drawn")
        web.kill()
        screen.shows("1 of 1 services is down")
        screen.shows("✕")
        running.kill()
        screen.shows("Argus does not answer")
        running.up()
        screen.shows("1 of 1 services is down", times=2)
        screen.type("q")
        assert screen.process.wait(30) == 0
        assert "\x1b[?1049l" in screen.text, "the screen of before is back"
    finally:
        screen.end()


def test_a_session_that_waits_for_somebody_is_seen_with_what_it_asks(running: Argus) -> None:
    folder = running.folder / "shop"
    folder.mkdir()
    running.rest("POST", "/api/sessions", {"project": "shop", "session_type": "sdk", "path": str(folder)})
    env = {**running.env, "TERM": "xterm-256color"}
    screen = Screen([PROGRAM, "status", "--watch"], env, running.folder, columns=140)
    try:
        screen.shows("SESSION")
        asks = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
        told = {"hook_event_name": "PermissionRequest", "session_id": "shop-1", "cwd": str(folder), **asks}
        running.rest("POST", "/api/hooks/claude", told)
        screen.shows("needs you: session shop")
        screen.shows("git push --force")
    finally:
        screen.end()


def test_on_a_very_small_screen_what_needs_somebody_stands_there_and_how_to_leave(running: Argus) -> None:
    for name in ("docs", "shop", "till"):
        (running.folder / name).mkdir()
        known = {"project": name, "session_type": "sdk", "path": str(running.folder / name)}
        running.rest("POST", "/api/sessions", known)
    asks = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
    told = {"hook_event_name": "PermissionRequest", "session_id": "till-1", "cwd": str(running.folder / "till"), **asks}
    running.rest("POST", "/api/hooks/claude", told)
    env = {**running.env, "TERM": "xterm-256color"}
    screen = Screen([PROGRAM, "status", "--watch"], env, running.folder, rows=6, columns=40)
    try:
        screen.shows("needs you: session till")
        screen.shows("waiting_for")
        screen.shows("and 1 service, 1 session")
        screen.shows("q quits")
    finally:
        screen.end()


def test_an_argus_that_is_silent_is_said_and_keys_still_work(running: Argus, screen: Screen) -> None:
    os.kill(running.pid, signal.SIGSTOP)
    eventually(lambda: "Argus does not answer; as seen" in screen.text, "the silence is told", seconds=6.5)
    os.kill(running.pid, signal.SIGCONT)
    seen = len(screen.text)
    eventually(lambda: "all is well" in screen.text[seen:], "it is back")
    os.kill(running.pid, signal.SIGSTOP)
    screen.type("q")
    assert screen.process.wait(5) == 0


def test_keys_of_several_bytes_are_none_that_leave(screen: Screen) -> None:
    def goes_on(seen: int) -> bool:
        return screen.text.count("q quits", seen) > 3 or screen.process.poll() is not None

    for keys in ("\x1b[A", "\x1bOB", "\x1b[1;5C", "\x1b[15~", "\x1b[[A"):
        screen.type(keys)
        eventually(functools.partial(goes_on, len(screen.text)), "it goes on")
        assert screen.process.poll() is None, keys
    screen.type("q")
    assert screen.ended() == 0


def test_escape_alone_leaves(screen: Screen) -> None:
    screen.type("\x1b")
    assert screen.ended() == 0
    assert is_as_before(screen)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_who_ends_it_from_outside_finds_the_terminal_as_it_was(screen: Screen, sent: int, code: int) -> None:
    assert not screen.echoes
    os.kill(screen.process.pid, sent)
    assert screen.ended() == code
    eventually(lambda: is_as_before(screen), "the terminal is as before")


def test_in_the_background_it_waits_and_still_can_be_ended(running: Argus) -> None:
    """A script's `timeout` puts it into a group of its own, which the terminal does not belong to."""
    env = {**running.env, "TERM": "xterm-256color"}
    script = f"timeout 3 {PROGRAM} status --watch; echo ended with $?"
    screen = Screen(["sh", "-c", script], env, running.folder)
    try:
        screen.shows("ended with 124")
        assert "\x1b" not in screen.text, "the screen is not its own"
    finally:
        screen.end()


def test_a_window_that_is_closed_ends_it(screen: Screen) -> None:
    screen.close()
    assert screen.ended() == 129


@pytest.mark.parametrize("stopped_by", ["ctrl-z", "ctrl-z, and then in the background", "a signal nobody can handle"])
def test_stopped_and_in_front_again_it_has_its_screen_and_keys(running: Argus, stopped_by: str) -> None:
    env = {**running.env, "TERM": "xterm-256color", "PS1": "here> ", "HISTFILE": ""}
    screen = Screen(["bash", "--norc", "--noprofile", "-i"], env, running.folder)
    try:
        screen.shows("here> ")
        screen.type(f"{PROGRAM} status --watch\n")
        screen.shows("all is well")
        if stopped_by.startswith("ctrl-z"):
            screen.type("\x1a")
        else:
            os.killpg(screen.foreground, signal.SIGSTOP)
        screen.shows("Stopped")
        if stopped_by.startswith("ctrl-z"):
            assert "\x1b[?1049l" in screen.text, "the shell has its own screen"
            assert "\x1b[?25h" in screen.text, "and a cursor"
        if stopped_by.endswith("background"):
            screen.type("bg\njobs\n")
            screen.shows("Running")
        seen = len(screen.text)
        screen.type("fg\n")
        eventually(lambda: "\x1b[?1049h" in screen.text[seen:], "the screen is its own again")
        eventually(lambda: "all is well" in screen.text[seen:], "it goes on")
        screen.type("q")
        eventually(lambda: "\x1b[?1049l" in screen.text[seen:].rpartition("\x1b[?1049h")[2], "it ends with q")
        screen.type("echo left with $?\n")
        screen.shows("left with 0")
    finally:
        screen.end()


def test_without_a_terminal_every_change_is_lines(running: Argus, web: WebServer) -> None:
    with running.background("status", "--watch") as process, lines_of(process) as lines:
        eventually(lambda: any("all is well" in line for line in lines), "the first state")
        web.kill()
        eventually(lambda: any("down (web)" in line for line in lines), "the change")
    assert not any("\x1b" in line for line in lines)


async def test_without_a_terminal_it_waits_for_an_argus_that_somebody_stopped(running: Argus) -> None:
    def often(text: str) -> int:
        return sum(text in line for line in lines)

    with running.background("status", "--watch") as process, lines_of(process) as lines:
        eventually(lambda: often("all is well"), "the first state")
        running.down()
        eventually(lambda: often("Argus does not answer"), "that nobody answers")
        await never(lambda: running.find() and is_alive(running.pid), "somebody started it again", seconds=5)
        running.up()
        eventually(lambda: often("all is well") > 1, "it is back")
    assert (often("does not answer"), often("starting one")) == (1, 0)


@pytest.mark.parametrize("without", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_are_left_out_where_they_are_not_wanted(running: Argus, without: dict[str, str]) -> None:
    for more in ({}, without):
        env = {**running.env, "TERM": "xterm-256color", **more}
        screen = Screen([PROGRAM, "status"], env, running.folder)
        try:
            assert screen.ended() == 0
            screen.shows("all is well")
            assert ("\x1b[" in screen.text) == (not more)
        finally:
            screen.end()


def test_watching_is_for_people(running: Argus) -> None:
    ran = running.cli("status", "--watch", "--json")
    assert (ran.code, ran.error["code"]) == (2, "INVALID_REQUEST")
