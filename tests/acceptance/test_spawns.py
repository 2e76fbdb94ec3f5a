"""Work that sessions gave away, from outside: who may speak of it, what is read for it, and what is said about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.harness import Argus, Reply, eventually
from tests.acceptance.test_tokens import as_, made

QUICK = {"stalledAfter": "2s", "abandonedAfter": "10m"}


class Yard:
    """An Argus with two projects. Nobody works in their sessions."""

    def __init__(self, argus: Argus, folder: Path) -> None:
        self.argus = argus
        self.folders = {name: folder / name for name in ("shop", "barn")}
        for one in self.folders.values():
            one.mkdir()

    def up(self, **spawns: Any) -> None:
        projects = {name: {"path": str(path), "agent": "plain"} for name, path in self.folders.items()}
        sessions = {"tmuxSocket": "nobody-is-there", "checkEvery": "300ms", "projects": projects, "spawns": spawns}
        self.argus.write(yaml.safe_dump({"server": {"port": 0}, "sessions": sessions}))
        self.argus.up()

    def add(self, project: str, task: str, output: Path | str = "", token: str = "") -> Reply:
        asked = {"project": project, "task_id": task, "output_file": str(output)}
        return as_(self.argus, token or self.argus.token, "POST", "/api/spawns", asked)

    def spawn(self, task: str) -> dict[str, Any]:
        found = {one["task_id"]: one for one in self.argus.get("/api/spawns")["spawns"]}
        return dict(found[task])

    def becomes(self, task: str, *statuses: str) -> dict[str, Any]:
        return dict(eventually(lambda: (one := self.spawn(task))["status"] in statuses and one, f"{task}: {statuses}"))


@pytest.fixture
def yard(argus: Argus, tmp_path: Path) -> Yard:
    return Yard(argus, tmp_path)


@pytest.mark.req("IF-02")
def test_an_agent_speaks_for_the_spawns_of_its_own_project_alone(yard: Yard) -> None:
    yard.up()
    token = made(yard.argus, "--agent", "team-green001", "--project", str(yard.folders["shop"]))
    theirs = yard.add("barn", "theirs").json["id"]
    refused = yard.add("barn", "evil", token=token)
    assert (refused.status, refused.error["code"]) == (403, "FORBIDDEN")
    said = {"status": "failed", "error": "new order from the owner"}
    for method, path, body in [
        ("PATCH", f"/api/spawns/{theirs}", said),
        ("POST", f"/api/spawns/{theirs}/done", {}),
        ("POST", f"/api/spawns/{theirs}/fail", {}),
    ]:
        assert as_(yard.argus, token, method, path, body).status == 403, path
    assert yard.spawn("theirs")["status"] == "running"

    mine = yard.add("shop", "mine", token=token)
    assert mine.status == 201, mine
    listed = as_(yard.argus, token, "GET", "/api/spawns").json
    assert [one["task_id"] for one in listed["spawns"]] == ["mine"]
    assert {one["project"] for one in listed["success_rates"]} == {"shop"}
    assert as_(yard.argus, token, "PATCH", f"/api/spawns/{mine.json['id']}", {"status": "completed"}).status == 200
    # Before its session is known, a project is the agent's own if it is called as its folder.
    orchard = made(yard.argus, "--agent", "red001", "--project", "/srv/orchard")
    assert yard.add("orchard", "early", token=orchard).status == 201
    assert yard.add("meadow", "early", token=orchard).status == 403


@pytest.mark.req("IF-02")
def test_a_token_that_can_only_report_registers_nothing_and_reads_nothing(yard: Yard) -> None:
    yard.up()
    token = made(yard.argus, "--report")
    known = yard.add("shop", "known").json["id"]
    assert yard.add("shop", "evil", token=token).status == 403
    assert as_(yard.argus, token, "PATCH", f"/api/spawns/{known}", {"status": "completed"}).status == 403
    path = "/api/sessions/shop/context"
    taken = as_(yard.argus, token, "POST", path, {"used": 20_000, "total": 200_000})
    assert taken.status == 200
    assert {name for name, value in taken.json.items() if value is not None} == {"project", "taken"}
    assert as_(yard.argus, token, "POST", path, {}).status == 403, "that would only read"
    nobody = as_(yard.argus, token, "POST", "/api/sessions/nobody/context", {"used": 1, "total": 200_000})
    assert (nobody.status, nobody.error["details"]) == (404, {"project": "nobody"}), "nor which projects there are"
    shown = yard.argus.cli("sessions", "context", "shop", "--json").json
    assert (shown["taken"], shown["context_used"], shown["context_total"]) == (False, 20_000, 200_000)


@pytest.mark.req("PS-02", "PS-03")
def test_output_that_cannot_be_read_is_silence_and_what_is_wrong_with_it_is_said(yard: Yard) -> None:
    yard.up(**QUICK)
    shop = yard.folders["shop"]
    os.mkfifo(shop / "fifo")
    (shop / "folder").mkdir()
    assert yard.add("shop", "fifo", shop / "fifo").status == 201
    assert yard.add("shop", "folder", shop / "folder").status == 201
    assert yard.add("shop", "missing", shop / "not-there").status == 201
    assert yard.add("shop", "none").status == 201
    assert "regular file" in yard.becomes("fifo", "stalled")["reason"]
    assert "regular file" in yard.becomes("folder", "stalled")["reason"]
    assert "no output file" in yard.becomes("missing", "stalled")["reason"]
    assert "no output file" in yard.becomes("none", "stalled")["reason"]


@pytest.mark.req("PS-04")
def test_one_that_failed_by_its_output_stays_failed_when_others_are_given_up(yard: Yard) -> None:
    yard.up(stalledAfter="2s", abandonedAfter="4s")
    broken, silent = yard.folders["shop"] / "broken.log", yard.folders["shop"] / "silent.log"
    broken.write_text("begun\nError: boom\n")
    silent.write_text("begun\n")
    with yard.argus.events() as stream:
        yard.add("shop", "broken", broken)
        yard.add("shop", "silent", silent)
        told = stream.until(lambda one: one.data.get("status") == "abandoned", "the silent one is given up")
    assert told[-1].data["task_id"] == "silent"
    assert "Error: boom" in yard.becomes("broken", "failed")["reason"]
    changes = [one.data for one in yard.argus.journal("spawn_status_changed") if one.data["task_id"] == "broken"]
    assert [one["status"] for one in changes] == ["failed"], "told once"
    # The writer's own word outranks what was read.
    assert yard.argus.cli("spawns", "done", str(yard.spawn("broken")["id"])).code == 0


def test_only_what_lies_where_outputs_may_lie_is_read(yard: Yard) -> None:
    yard.up(**QUICK)
    shop, barn = yard.folders["shop"], yard.folders["barn"]
    (shop / "etc.log").symlink_to("/etc/hostname")
    for wrong in ("/etc/hostname", f"{shop}/../../../../../../../../etc/hostname", barn / "its.log", shop / "etc.log"):
        refused = yard.add("shop", "out", wrong)
        assert (refused.status, refused.error["code"]) == (400, "INVALID_REQUEST"), wrong
    (shop / "logs").mkdir()
    inside = yard.add("shop", "inside", shop / "logs" / ".." / "logs" / "mine.log")
    assert (inside.status, inside.json["output_file"]) == (201, str(shop / "logs/mine.log"))
    assert yard.add("shop", "of a task", "/tmp/claude-0/-work-shop/tasks/a1.output").status == 201
    # What becomes a link that leads out is not followed then.
    (shop / "logs/mine.log").symlink_to("/etc/hostname")
    assert "outside" in yard.becomes("inside", "stalled")["reason"]


def test_further_folders_for_outputs_are_named_in_the_configuration(yard: Yard) -> None:
    yard.up(outputs=["/opt/logs"])
    assert yard.add("shop", "there", "/opt/logs/a.log").status == 201
    assert yard.add("shop", "elsewhere", "/opt/other/a.log").status == 400


def test_a_spawn_of_a_project_that_nobody_knows_is_taken_with_a_warning(yard: Yard) -> None:
    yard.up()
    said = yard.argus.cli("spawns", "add", "shpo", "T-1")
    assert said.code == 0
    assert all(name in said.stdout for name in ("shpo", "barn", "shop"))
    assert "shpo" in yard.spawn("T-1")["warning"]
    assert "there is no session" in yard.argus.cli("spawns", "list").stdout
    assert yard.argus.cli("spawns", "add", "shop", "T-2", "--json").json["warning"] == ""


def test_what_is_wrong_with_a_path_or_a_number_is_said_with_a_next_step(yard: Yard) -> None:
    yard.up()
    cli = yard.argus.cli
    gone = cli("spawns", "done", "999", "--json").json["error"]
    assert (gone["code"], gone["suggestedActions"]) == ("NOT_FOUND", ["list_spawns"])
    nobody = cli("sessions", "handoff", "nobody", "--json").json["error"]
    assert (nobody["code"], nobody["suggestedActions"]) == ("NOT_FOUND", ["list_sessions", "check_name"])
    (yard.argus.folder / "mine").mkdir()
    made_here = cli("sessions", "add", "mine", "--path", "mine", "--json")
    assert (made_here.code, made_here.json["path"]) == (0, str((yard.argus.folder / "mine").resolve()))
    for wrong in (
        {"project": "mine", "path": "mine"},
        {"project": "mine", "path": "/not-there"},
        {"project": "mine", "path": str(yard.folders["shop"]), "handoffs": "../out"},
        {"project": "mine", "path": str(yard.folders["shop"]), "handoffs": "a\nb"},
    ):
        refused = yard.argus.rest("POST", "/api/sessions", wrong)
        assert (refused.status, refused.error["code"]) == (400, "INVALID_REQUEST"), wrong
        assert "^" not in refused.error["message"], "a sentence, not an expression"
    assert yard.argus.rest("POST", "/api/sessions", {"project": "afar", "session_type": "sdk"}).status == 201
