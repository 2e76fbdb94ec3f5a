"""A session in a terminal, with the real Claude Code in it: read, handed on, and resumed, with nobody touching it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.growing_model import SMALL, GrowingModel
from tests.acceptance.harness import eventually
from tests.acceptance.test_agent_programs import Bench, bench, missing, program

__all__ = ["bench"]
SOCKET = "sessions"


class Desk:
    """An Argus, and a session of one project in tmux."""

    def __init__(self, bench: Bench) -> None:
        if not shutil.which("tmux"):
            missing("tmux is missing")
        self.bench = bench
        self.argus = bench.argus
        self.model = GrowingModel()
        self.env = {**self.argus.env, **bench.env, "ANTHROPIC_BASE_URL": self.model.url}

    def up(self, autonomy: str = "moderate", **sessions: Any) -> None:
        projects = {"shop": {"path": str(self.bench.project)}}
        made = {"tmuxSocket": SOCKET, "lookEvery": "500ms", "projects": projects, **sessions}
        self.argus.write(yaml.safe_dump({"server": {"port": 0}, "autonomy": autonomy, "sessions": made}))
        self.argus.up()

    def begin(self) -> None:
        command = [program("claude"), "--permission-mode", "acceptEdits"]
        size = ("-x", "150", "-y", "50")
        self.tmux("new-session", "-d", "-s", "shop-ps", *size, "-c", str(self.bench.project), *command)
        self.shows("❯")

    def tmux(self, *words: str) -> str:
        argv = ["tmux", "-L", SOCKET, "-f", "/dev/null", *words]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "=shop-ps:")

    def shows(self, text: str) -> None:
        eventually(lambda: text in self.screen(), f"the screen shows {text!r}")

    def enter(self, text: str) -> None:
        self.tmux("send-keys", "-t", "=shop-ps:", "-l", text)
        self.shows(text)
        self.tmux("send-keys", "-t", "=shop-ps:", "Enter")

    def say(self, text: str) -> None:
        self.enter(text)
        eventually(lambda: text in self.model.typed(), f"{text!r} is asked")

    @property
    def session(self) -> dict[str, Any]:
        return dict(self.argus.get("/api/sessions/shop"))

    def becomes(self, **expected: Any) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            now = self.session
            return now if all(now[key] == value for key, value in expected.items()) else None

        return dict(eventually(found, f"{expected}; it is {self.session}"))

    def close(self) -> None:
        subprocess.run(["tmux", "-L", SOCKET, "kill-server"], env=self.env, capture_output=True, timeout=60)
        self.model.close()


@pytest.fixture
def desk(bench: Bench) -> Iterator[Desk]:
    made = Desk(bench)
    yield made
    made.close()


@pytest.mark.req("PS-05", "PS-07", "PS-08")
@pytest.mark.parametrize("by", ["hooks", "transcripts"])
def test_a_full_context_is_handed_on_and_the_work_resumed_with_nobody_touching_anything(desk: Desk, by: str) -> None:
    desk.up()
    if by == "hooks":
        assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.model.tokens = 100_000
    desk.say("begin the work")
    # Its status line knows how large the window is; a transcript does not tell.
    source = {"hooks": "status_line", "transcripts": "transcript"}[by]
    window = desk.becomes(state="idle", context_used=100_000, context_source=source)["context_total"]
    desk.model.tokens = window * 86 // 100
    with desk.argus.events() as stream:
        desk.say("go on with it")
        told = stream.until(lambda one: one.type in ("handoff_done", "handoff_failed"), "it is handed on")
    assert told[-1].type == "handoff_done", told[-1]
    path = Path(told[-1].data["path"])
    assert path.parent == desk.bench.project / ".bmad/handoffs"
    assert path.read_text()
    now = desk.becomes(state="idle", context_used=SMALL)
    assert now["handoff"]["step"] == "done"
    asked = f"Create handoff document now - context at 86%. Write it to {path}"
    resumed = f"Read handoff from {path} and resume work"
    typed = [text for text in desk.model.typed() if not text.startswith("#")]
    assert typed == ["begin the work", "go on with it", asked, resumed], "no token is spent on watching"
    assert desk.model.asked[-1].prompts[-1] == resumed
    assert len(desk.model.asked[-1].prompts) == 1, "the context was cleared"
    rows = desk.argus.get("/api/audit?project=shop&type=handoff")["checks"]
    steps = [row["details"]["step"] for row in reversed(rows)]
    assert steps[-1] == "done"
    assert {"writing", "clearing", "resuming"} <= set(steps)


def test_what_a_person_asks_for_after_the_document_was_written_is_not_cleared_away(desk: Desk) -> None:
    desk.up(handoff={"settle": "20s"})
    assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.say("begin the work")
    desk.becomes(state="idle")
    with desk.argus.events() as stream:
        assert desk.argus.cli("sessions", "handoff", "shop").code == 0
        path = eventually(lambda: (one := desk.session["handoff"]) and one["path"], "it is begun")
        eventually(lambda: Path(path).is_file(), "it is written")
        desk.say("one thing more")
        told = stream.until(lambda one: one.type in ("handoff_done", "handoff_called_off"), "it ends")[-1]
    assert told.type == "handoff_called_off"
    assert desk.model.asked[-1].prompts[0] == "begin the work", "nothing was cleared"


def test_where_it_may_not_act_it_says_so_once_and_types_nothing(desk: Desk) -> None:
    desk.up("cautious")
    desk.begin()
    desk.model.tokens = 172_000
    with desk.argus.events() as stream:
        desk.say("begin the work")
        held = stream.until(lambda one: one.type == "handoff_held_back", "it is said")[-1]
    assert held.data["gate"] == "autonomy"
    assert desk.argus.get("/api/sessions/shop/admission?size=tiny") == {
        "accept": False, "band": "full", "reason": "a handoff comes first: no new work (86 %)",
    }  # fmt: skip
    assert desk.model.typed() == ["begin the work"]
    assert desk.argus.cli("sessions", "handoff", "shop").code == 0
    desk.becomes(context_used=SMALL)


def test_what_somebody_reports_does_not_outweigh_what_can_be_read(desk: Desk) -> None:
    desk.up()
    assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.model.tokens = 60_000
    desk.say("begin the work")
    window = desk.becomes(state="idle", context_used=60_000, context_source="status_line")["context_total"]
    assert desk.argus.rest("POST", "/api/sessions/shop/context", {"used": window, "total": window}).status == 200
    desk.say("go on")
    now = desk.becomes(state="idle", context_used=60_000)
    assert now["handoff"] is None


def test_how_large_the_window_is_outlives_a_clear_and_argus(desk: Desk) -> None:
    desk.up()
    assert desk.argus.cli("hooks", "install").code == 0
    desk.begin()
    desk.say("begin the work")
    window = desk.becomes(state="idle", context_source="status_line")["context_total"]
    assert window > 200_000, "larger than what is assumed: else this proves nothing"
    desk.argus.down()
    desk.enter("/clear")
    eventually(lambda: "begin the work" not in desk.screen(), "it is cleared")
    desk.model.tokens = 190_000
    desk.say("begin anew")
    desk.shows("done")
    desk.argus.up()
    now = desk.becomes(context_used=190_000)
    assert (now["context_total"], now["handoff"]) == (window, None)
