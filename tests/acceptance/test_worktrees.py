"""Agents in git worktrees of their own: they do not meet, and whoever goes on finds what was begun."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.acceptance.harness import PROGRAM, Argus, eventually
from tests.acceptance.screen import Screen

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

WORKER = """
import os, sys, time
with open("work", "a") as file:
    print(os.environ["ARGUS_AGENT_ID"], file=file)
with open(sys.argv[1], "a") as file:
    print(os.getpid(), os.environ["ARGUS_AGENT_ID"], os.getcwd(), sys.argv[2], sep="|", file=file)
time.sleep(600)
"""


class Yard:
    """An Argus, a repository with a folder in it, and one kind of agent that works in worktrees."""

    def __init__(self, argus: Argus) -> None:
        self.argus = argus
        self.repository = argus.folder / "repository"
        self.project = self.repository / "part"
        self.project.mkdir(parents=True)
        (self.project / "readme").write_text("hello\n")
        self.git("init", "--quiet", "--initial-branch", "trunk")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "begin")
        self.starts = argus.folder / "starts"
        worker = argus.folder / "worker.py"
        worker.write_text(WORKER)
        command = [sys.executable, "-I", "-S", str(worker), str(self.starts), "{{project_path}}"]
        settings = {
            "server": {"port": 0},
            "autonomy": "moderate",
            "agents": {
                "respawn": {"backoff": "0s"},
                "configs": {"Apart": {"command": command, "cwd": str(self.project), "worktree": True}},
            },
        }
        argus.write(yaml.safe_dump(settings, sort_keys=False))
        argus.up()

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        where = str(folder or self.repository)
        return subprocess.run(["git", "-C", where, *arguments], check=True, capture_output=True, text=True).stdout

    def started(self, id: str) -> tuple[int, Path, str]:
        def line() -> list[str]:
            text = self.starts.read_text() if self.starts.exists() else ""
            return next((words for one in text.splitlines() if (words := one.split("|"))[1] == id), [])

        pid, _, folder, said = eventually(line, f"{id} works")
        return int(pid), Path(folder), said


@pytest.fixture
def yard(argus: Argus) -> Yard:
    return Yard(argus)


def test_agents_of_one_project_work_apart_and_the_next_generation_goes_on_where_the_last_one_was(yard: Yard) -> None:
    argus = yard.argus
    for id in ("team-apart001", "team-apart002"):
        assert argus.cli("agents", "spawn", "Apart", "--task", "work apart").code == 0
        _, folder, said = yard.started(id)
        assert str(folder) == said, "{{project_path}} is where it works"
        assert (folder / "readme").read_text() == "hello\n"
        assert yard.git("branch", "--show-current", folder=folder) == f"argus/{id}\n"
    assert yard.git("status", "--porcelain") == "", "nobody works in the project itself"
    pid, folder, _ = yard.started("team-apart001")
    os.kill(pid, signal.SIGKILL)
    _, again, _ = yard.started("team-apart003")
    assert again == folder
    assert (folder / "work").read_text().split() == ["team-apart001", "team-apart003"]
    listed = {one["agent_id"]: one for one in argus.get("/api/agents")["agents"]}
    assert listed["team-apart003"]["worktree"] == str(folder)
    assert listed["team-apart003"]["project_path"] == str(yard.project)
    argus.cli("agents", "stop", "team-apart003")
    argus.wait_for("agent_removed", count=1)
    assert (folder / "work").exists(), "the work stays"


def test_a_worktree_in_a_terminal(yard: Yard) -> None:
    screen = Screen([PROGRAM, "agent", "run", "Apart", "--task", "work apart"], yard.argus.env, yard.argus.folder)
    try:
        pid, folder, _ = yard.started("team-apart001")
        assert yard.git("branch", "--show-current", folder=folder) == "argus/team-apart001\n"
        os.kill(pid, signal.SIGKILL)
        assert yard.started("team-apart002")[1] == folder
    finally:
        screen.end()


def test_a_project_without_a_repository_or_a_commit_is_said_so(yard: Yard) -> None:
    argus = yard.argus
    bare = argus.folder / "bare"
    bare.mkdir()
    refused = argus.rest("POST", "/api/agents/spawn", {"config_name": "Apart", "project_path": str(bare), "task": "x"})
    assert (refused.status, refused.error["code"]) == (400, "INVALID_REQUEST")
    assert "worktree" in refused.error["message"]
    yard.git("init", "--quiet", folder=bare)
    ran = argus.cli("agent", "run", "Apart", "--task", "x", "--project", str(bare))
    assert ran.code != 0
    assert "git worktree add" in ran.stderr
    argus.wait_for("agent_escalated", count=1)
    (last,) = argus.get("/api/agents")["agents"]
    assert (last["state"], last["gate"]) == ("dead", "too many respawns")
    assert "git worktree add" in last["reason"]
