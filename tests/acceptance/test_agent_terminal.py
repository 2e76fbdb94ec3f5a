"""An agent in a real terminal, under its launcher; and the companion of what was started elsewhere."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
import yaml

from argus.host import shim
from tests.acceptance.harness import DEADLINE, PROGRAM, Argus, eventually, is_alive, never, words_of
from tests.acceptance.screen import Screen
from tests.faults import Injection

WORKER = """
import os, signal, sys, termios
def tell(*words):
    with open(sys.argv[1], "a") as file:
        print(os.getpid(), os.environ["ARGUS_AGENT_ID"], *words, sep="|", file=file)
def size():
    return "x".join(map(str, os.get_terminal_size(0))) if os.isatty(0) else "none"
signal.signal(signal.SIGINT, lambda *_: tell("interrupted"))
signal.signal(signal.SIGWINCH, lambda *_: tell("size", size()))
signal.signal(signal.SIGCONT, lambda *_: tell("continued"))
front = os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
tell("started", sys.argv[2], size(), os.environ.get("TERM"), front, os.getcwd())
def lines():
    try:
        yield from sys.stdin
    except OSError:  # its launcher is gone, and a shell has the terminal
        signal.pause()
for line in lines():
    word, _, rest = line.strip().partition(" ")
    if word == "exit":
        sys.exit(int(rest))
    if word == "silence":
        modes = termios.tcgetattr(0)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(0, termios.TCSANOW, modes)
    if word == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    tell("heard", line.strip())
    print("heard", line.strip(), flush=True)
"""
TASK = "SEC-1 - make a key"


class Desk:
    """An Argus with one kind of agent that notes what it lives through, and screens to run it on."""

    def __init__(self, argus: Argus) -> None:
        self.argus = argus
        self.project = argus.folder / "project"
        self.project.mkdir()
        self.notes = argus.folder / "notes"
        self._worker = argus.folder / "worker.py"
        self._worker.write_text(WORKER)
        self.screens: list[Screen] = []

    def configure(self, *, interval: str = "1s", config: dict[str, Any] | None = None, **respawn: Any) -> None:
        command = [sys.executable, "-I", "-S", str(self._worker), str(self.notes), "{{task}}"]
        settings = {
            "server": {"port": 0},
            "autonomy": "moderate",
            "agents": {
                "heartbeat": {"interval": interval, "staleAfter": "2h", "checkEvery": "1h"},
                "respawn": {"backoff": "0s", **respawn},
                "configs": {"SNTGreen": {"command": command, "cwd": str(self.project), **(config or {})}},
            },
        }
        self.argus.write(yaml.safe_dump(settings, sort_keys=False))
        self.argus.up()

    def command(self, *more: str) -> list[str]:
        return [PROGRAM, "agent", "run", "SNTGreen", "--task", TASK, *more]

    def screen(self, *argv: str, **more: Any) -> Screen:
        env = {**self.argus.env, "TERM": "xterm-256color", "PS1": "ready> "}
        screen = Screen(list(argv) or self.command(), env, self.argus.folder, **more)
        self.screens.append(screen)
        return screen

    def noted(self, what: str, id: str = "team-sntgreen001", times: int = 1) -> list[str]:
        """The words of that note, once it is there that many times."""
        return eventually(lambda: self._noted(what, id, times), f"{id} noted {what}; screens: {self._shown()}")

    def _noted(self, what: str, id: str, times: int) -> list[str]:
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        found = [words for line in lines if (words := line.split("|"))[1:3] == [id, what]]
        return [found[-1][0], *found[-1][3:]] if len(found) >= times else []

    def _shown(self) -> list[str]:
        return [screen.text for screen in self.screens]

    def pid(self, id: str = "team-sntgreen001") -> int:
        return int(self.noted("started", id)[0])

    def alive(self, id: str = "team-sntgreen001") -> dict[str, Any]:
        return self.agent(lambda one: one["agent_id"] == id and one["state"] == "alive", f"{id} is alive")

    def agent(self, fits: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        return eventually(lambda: next(filter(fits, self.argus.get("/api/agents")["agents"]), {}), what)

    def starts(self) -> list[str]:
        return [line.split("|")[1] for line in self.notes.read_text().splitlines() if "|started|" in line]


@pytest.fixture
def desk(argus: Argus) -> Iterator[Desk]:
    one = Desk(argus)
    yield one
    for screen in one.screens:
        screen.end()


@contextlib.contextmanager
def ended_after(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Also when the test fails."""
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.req("HB-04")
def test_the_agent_has_the_real_terminal_and_its_exit_status_is_passed_on(desk: Desk) -> None:
    desk.configure(enabled=False)
    screen = desk.screen(rows=33, columns=111)
    pid, *seen = desk.noted("started")
    assert seen == [TASK, "111x33", "xterm-256color", "True", str(desk.project)]
    order = [event.type for event in desk.argus.journal("spawn_started", "agent_spawned")]
    assert order[0] == "spawn_started", "the intent is on record before it starts"
    assert desk.alive()["pid"] == int(pid)
    screen.resize(20, 70)
    assert desk.noted("size")[1:] == ["70x20"]
    screen.type("hello\n")
    screen.shows("heard hello")
    screen.type("exit 7\n")
    assert screen.ended() == 7
    assert "respawn disabled" in screen.text


def test_an_agent_that_finished_is_not_started_again(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen()
    desk.alive()
    screen.type("exit 0\n")
    assert screen.ended() == 0
    assert desk.argus.wait_for("agent_removed").data["reason"] == "finished"
    assert desk.starts() == ["team-sntgreen001"]


def test_ctrl_c_goes_to_the_agent_and_not_to_its_launcher(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen()
    desk.noted("started")
    screen.type("\x03")
    desk.noted("interrupted")
    screen.type("hello\n")
    screen.shows("heard hello")


def test_ctrl_z_gives_the_shell_back_and_fg_goes_on(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen("/bin/bash", "--norc", "--noprofile", "-i")
    screen.type(f"{shlex.join(desk.command())}\n")
    pid = desk.pid()
    desk.alive()
    screen.type("\x1a")
    eventually(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, "the agent is stopped")
    screen.type("echo the $((6 * 7)) shell\n")
    screen.shows("the 42 shell")
    screen.type("fg\n")
    desk.noted("continued")
    screen.type("hello\n")
    screen.shows("heard hello")
    assert screen.foreground == os.getpgid(pid)
    screen.type("stop\n")  # also when it stops itself alone
    screen.type("echo the $((6 * 8)) shell\n")
    screen.shows("the 48 shell")
    screen.type("fg\n")
    desk.noted("continued", times=2)
    screen.type("exit 0\n")
    screen.type("echo it ended with $?\n")
    screen.shows("it ended with 0")
    assert desk.starts() == ["team-sntgreen001"]


def test_a_terminal_that_no_shell_waits_at_lets_a_stopped_agent_go_on(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen()
    desk.noted("started")  # stopped before, it could not note that it goes on
    desk.alive()
    screen.type("\x1a")
    desk.noted("continued")
    screen.type("hello\n")
    screen.shows("heard hello")


@pytest.mark.req("HB-08")
@pytest.mark.fault("AG1")
def test_a_killed_agent_goes_on_in_the_same_terminal_under_its_next_id(desk: Desk, injected: Injection) -> None:
    desk.configure()
    screen = desk.screen()
    desk.alive()
    screen.type("silence\n")
    desk.noted("heard")
    with injected:
        os.kill(desk.pid(), signal.SIGKILL)
        pid, *seen = desk.noted("started", "team-sntgreen002")
    assert seen == [TASK, "111x33", "xterm-256color", "True", str(desk.project)]
    assert screen.echoes, "what the killed one did to the terminal was undone"
    event = desk.argus.wait_for("agent_respawned")
    assert event.data["message"] == "Agent team-sntgreen001 died, respawned as team-sntgreen002 to continue task"
    assert desk.alive("team-sntgreen002")["generation"] == 2
    screen.type("hello\n")
    screen.shows("heard hello")
    assert screen.foreground == os.getpgid(int(pid))
    screen.type("exit 0\n")
    assert screen.ended() == 0
    assert desk.starts() == ["team-sntgreen001", "team-sntgreen002"]


@pytest.mark.fault("AG8")
def test_a_killed_daemon_does_not_disturb_it_and_takes_it_over_again(desk: Desk, injected: Injection) -> None:
    desk.configure()
    screen = desk.screen()
    pid = desk.alive()["pid"]
    with injected:
        desk.argus.kill()
        screen.type("hello\n")
        screen.shows("heard hello")
        desk.argus.up()
        assert desk.alive()["pid"] == pid
        before = desk.alive()["last_seen"]
        desk.agent(lambda one: one["last_seen"] > before, "it is seen again")
    os.kill(pid, signal.SIGKILL)
    desk.noted("started", "team-sntgreen002")
    assert desk.starts() == ["team-sntgreen001", "team-sntgreen002"]


def test_one_that_ended_while_the_daemon_was_dead_goes_on_in_its_terminal_when_it_is_back(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen()
    desk.alive()
    desk.argus.kill()
    screen.type("exit 7\n")
    screen.shows("no daemon answers")
    desk.argus.up()
    assert desk.noted("started", "team-sntgreen002")[3:] == ["xterm-256color", "True", str(desk.project)]


@pytest.mark.req("HB-06")
def test_one_that_finished_while_the_daemon_was_dead_is_not_started_again(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen()
    desk.alive()
    desk.argus.kill()
    screen.type("exit 0\n")
    assert screen.ended() == 0
    desk.argus.up()
    assert desk.argus.wait_for("agent_removed").data["reason"] == "finished"
    assert desk.starts() == ["team-sntgreen001"]


@pytest.mark.req("HB-06")
async def test_a_person_stops_it_and_it_stays_stopped(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen()
    pid = desk.alive()["pid"]
    said = desk.argus.cli("agents", "stop", "team-sntgreen001")
    assert (said.code, said.stdout.partition(":")[0]) == (0, "team-sntgreen001")
    assert screen.ended() == 128 + signal.SIGTERM
    assert not is_alive(pid)
    assert desk.argus.wait_for("agent_removed").data["reason"] == "shutdown_requested"
    await never(lambda: len(desk.starts()) > 1, "a respawn of what was stopped", 2.0)


@pytest.mark.req("HB-06")
def test_an_approved_wish_to_end_is_passed_on_by_the_launcher(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen()
    desk.alive()
    asked = desk.argus.rest("POST", "/api/stop-requests", {"agent_id": "team-sntgreen001", "reason": "done"})
    desk.argus.rest("POST", f"/api/stop-requests/{asked.json['id']}/respond", {"approved": True})
    assert screen.ended() == 128 + signal.SIGTERM
    assert desk.starts() == ["team-sntgreen001"]


def test_ctrl_c_while_the_launcher_waits_means_that_nothing_follows(desk: Desk) -> None:
    desk.configure(backoff="1h", maxBackoff="1h")
    screen = desk.screen()
    desk.alive()
    screen.type("exit 7\n")
    screen.shows("waiting: backoff")
    screen.type("\x03")
    assert screen.ended() == 128 + signal.SIGINT
    assert desk.argus.wait_for("agent_removed").data["reason"] == "shutdown_requested"


def test_what_keeps_ending_is_escalated_and_the_launcher_says_why(desk: Desk) -> None:
    desk.configure(config={"command": ["/bin/sh", "-c", "exit 9"]}, maxPerHour=2)
    screen = desk.screen()
    assert screen.ended() == 9
    assert "too many respawns" in screen.text
    assert desk.argus.wait_for("agent_escalated").data["agent_id"] == "team-sntgreen003"


def test_a_program_that_does_not_exist_is_said_and_escalated(desk: Desk) -> None:
    desk.configure(config={"command": ["/no/such/program"]}, maxPerHour=0)
    screen = desk.screen()
    assert screen.ended() == 127
    assert "no such program" in screen.text
    assert "no such program" in desk.argus.wait_for("spawn_failed").data["reason"]


def test_when_its_terminal_is_closed_the_daemon_goes_on_with_the_task(desk: Desk) -> None:
    desk.configure(backoff="1s")
    screen = desk.screen("/bin/bash", "--norc", "--noprofile", "-i")
    screen.type(f"{shlex.join(desk.command())}\n")
    pid = desk.alive()["pid"]
    screen.close()
    eventually(lambda: not is_alive(pid), "the agent ended with its terminal")
    desk.argus.wait_for("agent_respawned")
    # Without a terminal it finds the end of its input and finishes.
    assert desk.noted("started", "team-sntgreen002")[2] == "none"
    assert desk.starts() == ["team-sntgreen001", "team-sntgreen002"]


async def test_a_killed_launcher_leaves_the_agent_to_the_daemon(desk: Desk) -> None:
    desk.configure()
    screen = desk.screen("/bin/bash", "--norc", "--noprofile", "-i")
    screen.type(f"{shlex.join(desk.command())}\n")
    pid = desk.alive()["pid"]
    (launcher,) = [one for one in desk.argus.marked() if words_of(one)[1:4] == [PROGRAM, "agent", "run"]]
    launcher.kill()
    await never(lambda: desk.argus.journal("agent_silent", "agent_died"), "taken for silent or dead", 5.0)
    assert desk.alive()["pid"] == pid
    os.kill(pid, signal.SIGKILL)
    desk.argus.wait_for("agent_respawned")
    assert desk.noted("started", "team-sntgreen002")[2] == "none"


def test_a_launcher_that_dies_before_it_starts_its_agent_is_not_waited_for(
    desk: Desk, sleeper: subprocess.Popen[bytes]
) -> None:
    desk.configure()
    asked = {"config_name": "SNTGreen", "task": TASK, "pid": sleeper.pid}
    reply = desk.argus.rest("POST", "/api/agents/launch", asked)
    assert (reply.status, reply.json["agent"]["state"]) == (201, "spawning")
    sleeper.kill()
    sleeper.wait()
    assert desk.argus.wait_for("agent_respawned").data["previous"] == "team-sntgreen001"
    desk.noted("started", "team-sntgreen002")
    start = reply.json["start"]
    late = shim.command(
        folder=start["folder"], attempt=start["attempt"], umask=0o22, cwd=start["cwd"], nonce=start["nonce"]
    )
    done = subprocess.run([*late, *start["argv"]], env={**desk.argus.env, **start["env"]}, timeout=DEADLINE)
    assert done.returncode == 1
    assert desk.starts() == ["team-sntgreen002"], "what comes too late does not begin"
    nobody = desk.argus.rest("POST", "/api/agents/launch", asked)
    assert (nobody.status, nobody.error["code"]) == (409, "INVALID_STATE")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")
def test_an_agent_with_a_tmux_session_is_started_there_and_looked_at_here(desk: Desk) -> None:
    with tempfile.TemporaryDirectory(prefix="argus-") as short:  # a socket's path has little room
        desk.argus.env |= {"TMUX_TMPDIR": short}
        desk.argus.env.pop("TMUX", None)
        desk.configure(config={"tmux": True})
        screen = desk.screen()
        desk.alive()
        screen.type("hello\n")
        screen.shows("heard hello")
        screen.type("\x02d")
        assert screen.ended() == 0
        assert desk.alive()["pid"] == desk.pid()
        again = desk.argus.cli("agent", "run", "SNTGreen", "--task", TASK)
        assert (again.code, "attach-session -t =team-sntgreen002" in again.stderr) == (0, True)
        desk.argus.end()


def test_without_a_terminal_it_has_the_launchers_own_input_and_output(desk: Desk) -> None:
    desk.configure()
    done = subprocess.run(
        desk.command("--project", str(desk.argus.folder)),
        input="hello\nexit 0\n",
        env=desk.argus.env,
        cwd=desk.argus.folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        start_new_session=True,
    )
    assert (done.returncode, done.stdout) == (0, "heard hello\n")
    assert desk.noted("started")[-1] == str(desk.argus.folder)


def test_a_launcher_that_is_asked_to_end_asks_its_agent(desk: Desk) -> None:
    desk.configure(enabled=False)
    process = subprocess.Popen(
        desk.command(),
        stdin=subprocess.PIPE,
        env=desk.argus.env,
        cwd=desk.argus.folder,
        text=True,
        start_new_session=True,
    )
    with ended_after(process) as launcher:
        pid = desk.alive()["pid"]
        launcher.terminate()
        assert launcher.wait(DEADLINE) == 128 + signal.SIGTERM
        assert not is_alive(pid)


def test_a_config_that_does_not_exist_is_refused(desk: Desk) -> None:
    desk.configure()
    ran = desk.argus.cli("agent", "run", "Nobody", "--task", "t")
    assert ran.code == 2
    assert "CONFIG_NOT_FOUND" in ran.stderr


@pytest.fixture
def sleeper(argus: Argus) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"], env=argus.env) as process:
        yield process
        process.kill()


@pytest.mark.req("HB-03")
def test_the_companion_beats_while_the_process_lives_and_ends_with_it(
    desk: Desk, sleeper: subprocess.Popen[bytes]
) -> None:
    desk.configure(enabled=False)
    words = ["agent", "heartbeat", "--agent-id", "foreign001", "--pid", str(sleeper.pid), "--task", "t"]
    words += ["--config", "SNTGreen", "--project", str(desk.project)]
    with ended_after(desk.argus.background(*words)) as companion:
        _accompanied(desk, sleeper)
        assert companion.wait(DEADLINE) == 0
        assert companion.stdout is not None
        assert companion.stdout.read() == ""
    assert desk.argus.wait_for("agent_died").data["agent_id"] == "foreign001"


@pytest.mark.req("HB-03")
def test_the_companion_says_at_once_that_the_process_has_ended(desk: Desk, sleeper: subprocess.Popen[bytes]) -> None:
    desk.configure(interval="1h")
    words = ["agent", "heartbeat", "--agent-id", "green007", "--pid", str(sleeper.pid), "--task", TASK]
    words += ["--config", "SNTGreen", "--project", str(desk.project)]
    with ended_after(desk.argus.background(*words)) as companion:
        desk.alive("green007")
        sleeper.kill()
        sleeper.wait()
        assert companion.wait(DEADLINE) == 0
    assert desk.argus.wait_for("agent_died").data["agent_id"] == "green007"
    assert desk.noted("started", "green008")[1] == TASK


def _accompanied(desk: Desk, sleeper: subprocess.Popen[bytes]) -> None:
    first = desk.alive("foreign001")
    assert (first["pid"], first["current_task"], first["config_name"]) == (sleeper.pid, "t", "SNTGreen")
    second = desk.agent(lambda one: one["last_seen"] > first["last_seen"], "a second beat")
    desk.agent(lambda one: one["last_seen"] > second["last_seen"], "a third beat")
    desk.argus.kill()
    desk.argus.up()
    desk.agent(lambda one: one["last_seen"] > second["last_seen"], "a beat to the new daemon")
    sleeper.kill()
    sleeper.wait()


def test_a_companion_of_nobody_is_refused(desk: Desk, sleeper: subprocess.Popen[bytes]) -> None:
    desk.configure()
    sleeper.kill()
    sleeper.wait()
    ran = desk.argus.cli("agent", "heartbeat", "--agent-id", "a1", "--pid", str(sleeper.pid), "--json")
    assert (ran.code, ran.error["code"]) == (2, "INVALID_REQUEST")
    assert desk.argus.get("/api/agents")["agents"] == []


def test_an_end_that_did_not_happen_is_not_believed(desk: Desk) -> None:
    desk.configure()
    desk.argus.rest("POST", "/api/heartbeat", {"agent_id": "a1", "pid": os.getpid()})
    refused = desk.argus.rest("POST", "/api/agents/a1/exited", {"exit_status": 1})
    assert (refused.status, refused.error["code"]) == (409, "INVALID_STATE")
    assert desk.alive("a1")["pid"] == os.getpid()
