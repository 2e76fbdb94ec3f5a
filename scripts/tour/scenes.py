"""The scenes of the tour, one after the other: something is broken, and Argus does something about it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from tour.claude import Claude
from tour.stage import Stage

TASK = "keep the tests of the shop green"
_GO_ON = "Go on with your work."
"""What ends the line that says that something is back; that it will be is said when it is lost, too."""


def opening(stage: Stage, *, shop: bool, claude: bool) -> None:
    played = [
        "two services",
        "a scripted agent",
        *(["the real Claude Code"] if claude else []),
        *(["a shop on Docker"] if shop else []),
    ]
    stage.say(
        "A day with Argus, in a few minutes.", f"On the stage: {', '.join(played)}. All of it gets broken on purpose."
    )
    stage.start_services()
    stage.argus("up", "--detach")
    stage.until(lambda: json.loads(stage.quietly("status", "--json"))["well"], "all is well")
    stage.say("The page shows the same, as it happens.", "Open the link behind `Log in` in a browser, if you like.")


def a_taken_port(stage: Stage) -> None:
    stage.say(
        "A port that the shop wants is taken by somebody else.", "The preflight finds it, and moves the shop aside."
    )
    with _taken(18080):
        stage.argus_read("env", "build")
        stage.argus("env", "setup")


def a_killed_database(stage: Stage) -> None:
    stage.say(
        "The tests run. In the middle of them the database is killed.",
        "The case that needs it just then is played anew once it is back; the run ends green.",
    )

    def kill() -> None:
        stage.breaks(f"docker kill {stage.name}-db", "the database")
        stage.docker("kill", f"{stage.name}-db")

    stage.argus_read("env", "run", "--junit", "results.xml", seen="the database runs one server", then=kill)
    # A case that passed in the end says only there that it was played twice.
    stage.show("\n".join(["results.xml says:", *reasons(stage.shop / "results.xml")]))
    stage.say("What the payment service, which is only played, was asked.")
    stage.argus("env", "mock-requests")


def an_agent_at_work(stage: Stage) -> str:
    stage.say("An agent is given a task.", "It is scripted, and lives in a tmux session of its own; any command does.")
    stage.argus("agents", "spawn", "worker", "--task", TASK)
    id = str(stage.event("agent_spawned")["data"]["agent_id"])
    stage.until(lambda: "step 1" in _screen(stage, id), "it works")
    return id


def a_killed_agent(stage: Stage, id: str) -> str:
    stage.say(
        "The agent is killed, as by a machine that runs out of memory.",
        "It comes back once, with the same task, under the next number.",
    )
    agents = json.loads(stage.quietly("agents", "list", "--json"))["agents"]
    pid = next(one["pid"] for one in agents if one["agent_id"] == id)
    stage.breaks(f"kill -9 {pid}", "the agent")
    os.kill(pid, 9)
    told = stage.event("agent_respawned")["data"]
    stage.show(str(told["message"]))
    stage.argus("agents", "list")
    return str(told["agent_id"])


def a_killed_service(stage: Stage, id: str, claude: Claude | None) -> None:
    stage.say(
        "The service accounts is killed. Whoever works here needs it.",
        "One alert. Who needs it is told once that it is down, and once that it is back.",
    )
    stage.breaks(f"kill -9 {stage.pid('accounts')}", "the accounts")
    stage.kill_service("accounts")
    told = stage.event("service_recovered")["data"]
    heard = stage.until(lambda: (found := _heard(stage, id)) and _GO_ON in found[-1] and found, "the agent was told")
    stage.show("\n".join(heard))
    if claude is not None:
        stage.until(lambda: any(_GO_ON in text for text in claude.model.prompts), "Claude Code was told")
    stage.argus("explain", str(told["incident"]))


def a_full_context(stage: Stage, claude: Claude) -> None:
    stage.say(
        "Claude Code's context runs full.",
        "Argus asks it for a handoff document, waits for the whole of it, clears the context, and lets it go on.",
    )
    claude.work("begin with the orders")
    (session,) = json.loads(stage.quietly("sessions", "list", "--json"))["sessions"]
    claude.model.tokens = session["context_total"] * 88 // 100
    claude.work("go on with the payments")
    done = stage.event("handoff_done")["data"]
    stage.until(lambda: claude.documents(), "there is a document")
    stage.show(f"the document: {done['path']}")
    before = float(stage.event("handoff_started")["data"]["context_usage"])
    # It says how full it is when it goes on.
    after = stage.until(lambda: _context(stage), "Claude Code goes on with an empty context")
    stage.show(f"its context: from {100 * before:.0f} % to {100 * after:.0f} %")
    stage.argus("sessions", "list")


def what_is_left(stage: Stage) -> None:
    stage.say("What happened today, and how everything stands.")
    stage.argus("incidents")
    stage.argus("status")


def _context(stage: Stage) -> float:
    (session,) = json.loads(stage.quietly("sessions", "list", "--json"))["sessions"]
    return float(session["context_usage"] or 0.0)


def reasons(results: Path) -> list[str]:
    """Of the cases of a JUnit file that say something about themselves."""
    cases = ElementTree.parse(results).iter("testcase")
    return [f"{case.get('name')}: {text}" for case in cases if (text := case.findtext("system-out"))]


def _heard(stage: Stage, session: str) -> list[str]:
    return [line for line in _screen(stage, session).splitlines() if line.startswith("I was told: ")]


def _screen(stage: Stage, session: str) -> str:
    return stage.tmux("capture-pane", "-p", "-J", "-t", f"={session}:")


@contextlib.contextmanager
def _taken(port: int) -> Iterator[None]:
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody has it already: all the better
            held.bind(("0.0.0.0", port))
            held.listen()
        yield
