"""Terminals in which something is in the way, documents that come in pieces, and an Argus that is killed meanwhile."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.acceptance.harness import Argus, eventually, is_alive
from tests.faults import Injection
from tests.tmux_server import TmuxServer, noted


class Desk:
    """An Argus, and agents in tmux that read lines and note them."""

    def __init__(self, argus: Argus, folder: Path) -> None:
        self.argus = argus
        self.tmux = TmuxServer(folder)
        self.project = folder / "project"
        self.project.mkdir()

    def up(self, **sessions: Any) -> None:
        projects = {"shop": {"path": str(self.project), "agent": "plain"}}
        made = {"tmuxSocket": self.tmux.socket, "lookEvery": "300ms", "projects": projects, **sessions}
        self.argus.write(yaml.safe_dump({"server": {"port": 0}, "autonomy": "moderate", "sessions": made}))
        self.argus.up()

    def tell(self, text: str) -> Any:
        return self.argus.rest("POST", "/api/sessions/shop/tell", {"text": text})

    def hand_off(self) -> None:
        assert self.argus.rest("POST", "/api/sessions/shop/handoff", {}).status == 202

    @property
    def session(self) -> dict[str, Any]:
        return dict(self.argus.get("/api/sessions/shop"))

    @property
    def handoff(self) -> dict[str, Any]:
        return dict(self.argus.get("/api/sessions/shop")["handoff"] or {"step": ""})

    def reaches(self, *steps: str) -> dict[str, Any]:
        return dict(eventually(lambda: (one := self.handoff)["step"] in steps and one, f"the handoff is {steps}"))


@pytest.fixture
def desk(argus: Argus, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(argus, tmp_path)
    yield made
    made.tmux.end()


@pytest.mark.fault("AG9")
def test_a_session_whose_name_only_begins_alike_is_never_typed_into(desk: Desk, injected: Injection) -> None:
    file = desk.tmux.agent("shop-ps2")
    desk.up()
    with injected:
        refused = desk.tell("hello")
    assert (refused.status, refused.json["error"]["code"]) == (404, "PANE_NOT_FOUND")
    refused = desk.argus.rest("POST", "/api/sessions/shop/handoff", {})
    assert (refused.status, refused.json["error"]["code"]) == (404, "PANE_NOT_FOUND")
    assert noted(file) == []


@pytest.mark.fault("AG11")
def test_a_half_typed_line_of_a_person_is_waited_for_and_stays_as_it_is(desk: Desk, injected: Injection) -> None:
    file = desk.tmux.agent("shop-ps")
    desk.up()
    desk.tmux.keys("shop-ps", "-l", "my own wor")
    desk.tmux.shows("shop-ps", "> my own wor")
    with injected:
        refused = desk.tell("hello")
        assert (refused.status, refused.json["error"]["code"]) == (409, "PANE_NOT_READY")
        desk.hand_off()
        eventually(lambda: "begun to type" in desk.handoff["reason"], "it is waited for")
    assert "> my own wor" in desk.tmux.screen("shop-ps")
    desk.tmux.keys("shop-ps", "-l", "ds")
    desk.tmux.keys("shop-ps", "Enter")
    desk.reaches("writing")
    lines = noted(file)
    assert lines[0] == "my own words"
    assert lines[1].startswith("Create handoff document now")


@pytest.mark.fault("AG12")
def test_an_agent_that_is_gone_is_not_typed_at_and_its_shell_runs_nothing(desk: Desk, injected: Injection) -> None:
    made = desk.project / "made"
    desk.tmux.agent("shop-ps", around="{}; exec sh")
    desk.up()
    eventually(lambda: desk.argus.get("/api/sessions/shop")["state"] != "unknown", "it was seen")
    with injected:
        desk.tmux.keys("shop-ps", "C-c")
        desk.tmux.shows("shop-ps", "#" if os.geteuid() == 0 else "$")
        refused = desk.tell(f"touch {made}")
    assert (refused.status, refused.json["error"]["code"]) == (404, "PANE_NOT_FOUND")
    eventually(lambda: desk.argus.get("/api/sessions/shop")["state"] == "dead", "that it is gone is seen")
    assert not made.exists()


@pytest.mark.fault("AG13")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 39_990 + " the end", id="40-KB"),
        pytest.param("-l Enter", id="leading-dash"),
        pytest.param("trailing;", id="trailing-semicolon"),
        pytest.param("$(touch x) `id` #{pane_id} %1 ü \u4e16", id="what-shells-and-tmux-would-read"),
    ],
)
def test_what_is_typed_arrives_byte_for_byte_and_once(desk: Desk, injected: Injection, text: str) -> None:
    file = desk.tmux.agent("shop-ps")
    desk.up()
    with injected:
        assert desk.tell(text).json["typed"]
        eventually(lambda: noted(file), "it arrives")
    assert noted(file) == [text]


@pytest.mark.fault("AG15")
def test_only_the_document_that_was_asked_for_counts_and_only_when_it_is_whole(desk: Desk, injected: Injection) -> None:
    file = desk.tmux.agent("shop-ps")
    folder = desk.project / ".bmad/handoffs"
    folder.mkdir(parents=True)
    (folder / "handoff-2026-01-01-00-00.md").write_text("an old one")
    desk.up(handoff={"settle": "1s"})
    with injected:
        desk.hand_off()
        path = Path(desk.reaches("writing")["path"])
        assert not path.exists()
        path.write_text("")
        for piece in ("one\n", "two\n", "three\n"):
            before = noted(file)
            with path.open("a") as paper:
                paper.write(piece)
            assert before == noted(file)[:1] == before[:1], "nothing is cleared while it is written"
            assert desk.handoff["step"] == "writing"
        desk.reaches("done")
    asked, cleared, resumed = noted(file)
    assert asked.endswith(f"Write it to {path}")
    assert cleared == "/clear"
    assert resumed == f"Read handoff from {path} and resume work"


@pytest.mark.parametrize("step", ["writing", "clearing", "resuming"])
def test_killed_at_a_step_the_next_argus_goes_on_with_it_and_types_nothing_twice(desk: Desk, step: str) -> None:
    file = desk.tmux.agent("shop-ps")
    desk.up(handoff={"settle": "1s"})
    desk.hand_off()
    path = Path(desk.reaches("writing")["path"])
    if step != "writing":
        path.write_text("what was done, and what is next")
        with desk.argus.events() as stream:
            stream.until(lambda one: one.type == "handoff_step" and one.data["step"] == step, f"it is {step}")
    desk.argus.kill()
    path.write_text("what was done, and what is next")
    desk.argus.up()
    desk.reaches("done")
    lines = noted(file)
    assert len(lines) == 3, lines
    assert lines[1:] == ["/clear", f"Read handoff from {path} and resume work"]


@pytest.mark.parametrize(("nth", "step"), [(1, "asking"), (2, "clearing"), (3, "resuming")])
def test_killed_before_enter_the_next_argus_presses_it_and_types_nothing_twice(desk: Desk, nth: int, step: str) -> None:
    file = desk.tmux.agent("shop-ps")
    # Of a program that nothing is known of, only the cursor's row counts as its prompt.
    desk.tmux.run("resize-window", "-t", "=shop-ps:", "-x", "300")
    desk.argus.env["ARGUS_FAILPOINT"] = f"typing-pasted:{nth}"
    desk.up(handoff={"settle": "1s"})
    del desk.argus.env["ARGUS_FAILPOINT"]
    desk.hand_off()
    if nth > 1:
        path = Path(desk.reaches("writing")["path"])
        path.write_text("what was done, and what is next")
    eventually(lambda: not is_alive(desk.argus.pid), "Argus dies")
    assert len(noted(file)) == nth - 1, "it was killed before Enter"
    desk.argus.up()
    path = Path(desk.handoff["path"])
    if nth == 1:
        desk.reaches("writing")
        path.write_text("what was done, and what is next")
    desk.reaches("done")
    lines = noted(file)
    assert lines[0].endswith(f"Write it to {path}")
    assert lines[1:] == ["/clear", f"Read handoff from {path} and resume work"]


def test_a_message_that_was_pasted_by_an_argus_that_was_killed_is_sent_by_the_next(desk: Desk) -> None:
    file = desk.tmux.agent("shop-ps")
    desk.argus.env["ARGUS_FAILPOINT"] = "typing-pasted"
    desk.up()
    del desk.argus.env["ARGUS_FAILPOINT"]
    with contextlib.suppress(OSError, httpx.HTTPError):
        desk.tell("look at the build, please")
    eventually(lambda: not is_alive(desk.argus.pid), "Argus dies")
    assert noted(file) == []
    desk.argus.up()
    eventually(lambda: noted(file) == ["look at the build, please"], "Enter was pressed")
    assert desk.tell("and now at the tests").status == 200
    assert noted(file) == ["look at the build, please", "and now at the tests"]


def test_a_project_that_is_taken_out_in_the_middle_has_its_outcome_and_is_known_when_it_comes_back(desk: Desk) -> None:
    desk.tmux.agent("shop-ps")
    desk.up()
    whole = desk.argus.config.read_text()
    desk.hand_off()
    desk.reaches("writing")
    with desk.argus.events() as stream:
        desk.argus.write(yaml.safe_dump({"server": {"port": 0}, "autonomy": "moderate"}))
        assert desk.argus.cli("reload").code == 0
        told = stream.until(lambda one: one.type == "handoff_failed", "it has its outcome")[-1]
    assert "taken out" in told.data["reason"]
    desk.argus.write(whole)
    assert desk.argus.cli("reload").code == 0
    assert desk.handoff["step"] == "failed"


def test_an_agent_in_a_terminal_that_was_renamed_is_not_dead(desk: Desk) -> None:
    desk.tmux.agent("shop-ps")
    desk.up()
    eventually(lambda: desk.session["state"] == "idle", "it is seen")
    desk.tmux.run("rename-session", "-t", "=shop-ps", "other")
    eventually(lambda: desk.session["age_seconds"] is None or desk.session["age_seconds"] > 1, "it was looked at again")
    assert desk.session["state"] != "dead"
    refused = desk.argus.rest("POST", "/api/sessions/shop/handoff", {})
    assert refused.json["error"]["code"] == "PANE_NOT_FOUND"
    desk.tmux.run("kill-session", "-t", "=other")
    eventually(lambda: desk.session["state"] == "dead", "its process is gone")
    assert desk.argus.get("/api/sessions/shop/admission?size=tiny")["accept"] is False


def test_a_document_of_spaces_is_not_one(desk: Desk) -> None:
    file = desk.tmux.agent("shop-ps")
    desk.up(handoff={"settle": "1s", "timeout": "5s"})
    desk.hand_off()
    path = Path(desk.reaches("writing")["path"])
    path.write_text(" \n\n\t ")
    assert "is empty" in desk.reaches("failed")["reason"]
    assert "/clear" not in noted(file)


def test_a_document_that_is_a_link_and_a_folder_that_leads_out_are_refused_and_nothing_is_cleared(desk: Desk) -> None:
    file = desk.tmux.agent("shop-ps")
    outside = desk.argus.folder / "outside"
    outside.mkdir()
    (outside / "notes.md").write_text("somebody else's")
    desk.up(handoff={"settle": "1s"})
    desk.hand_off()
    path = Path(desk.reaches("writing")["path"])
    path.symlink_to(outside / "notes.md")
    assert "link" in desk.reaches("failed")["reason"]
    assert len(noted(file)) == 1
    (desk.project / ".bmad/handoffs").rename(desk.project / "kept")
    (desk.project / ".bmad/handoffs").symlink_to(outside)
    reply = desk.argus.rest("POST", "/api/sessions/shop/handoff", {})
    assert (reply.status, reply.json["error"]["code"]) == (409, "INVALID_STATE")
    assert sorted(one.name for one in outside.iterdir()) == ["notes.md"]


@pytest.mark.req("PS-01", "PS-02", "PS-08")
@pytest.mark.fault("AG16")
def test_a_spawn_that_stalls_is_found_and_told_once_and_one_that_only_rotates_its_log_is_left_alone(
    desk: Desk, injected: Injection
) -> None:
    file = desk.tmux.agent("shop-ps")
    desk.up(checkEvery="500ms", spawns={"stalledAfter": "3s", "abandonedAfter": "10m"})
    quiet, loud = desk.project / "quiet.log", desk.project / "loud.log"
    quiet.write_text("begun: $(touch x)\n")
    ids = {}
    for name, path in (("T-1; quiet", quiet), ("T-2", loud)):
        asked = {"project": "shop", "task_id": name, "output_file": str(path)}
        reply = desk.argus.rest("POST", "/api/spawns", asked)
        assert reply.status == 201, reply
        ids[name] = reply.json["id"]

    def statuses() -> dict[str, str]:
        for number in range(3):
            loud.unlink(missing_ok=True)
            loud.write_text(f"Failed: 0\nround {number}\n")
        return {one["task_id"]: one["status"] for one in desk.argus.get("/api/spawns")["spawns"]}

    with injected:
        eventually(lambda: statuses()["T-1; quiet"] == "stalled", "the silent one is found")
        eventually(lambda: noted(file), "its session is told")
    assert statuses()["T-2"] == "running"
    assert desk.argus.rest("PATCH", f"/api/spawns/{ids['T-2']}", {"status": "completed"}).status == 200
    assert desk.argus.rest("PATCH", f"/api/spawns/{ids['T-2']}", {"status": "failed"}).status == 409
    again = desk.argus.rest("POST", "/api/spawns", {"project": "shop", "task_id": "T-2"})
    assert (again.status, again.json["id"]) == (201, ids["T-2"])
    assert desk.argus.cli("spawns", "fail", str(ids["T-2"]), "--error", 'said "$(touch x)"').code == 0
    eventually(lambda: len(noted(file)) == 2, "its failure is told")
    told = noted(file)
    assert told[0] == 'Spawn "T-1; quiet" has not produced output for more than 3s. Investigate and report.'
    assert told[1] == 'Spawn "T-2" failed ("said $(touch x)"). Investigate and report.'
    rows = desk.argus.get("/api/audit?project=shop&type=spawn&status=warning")["checks"]
    assert {row["details"].get("task_id") for row in rows} >= {"T-1; quiet"}
    assert not (desk.project / "x").exists()
