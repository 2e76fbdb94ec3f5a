"""The real programs of agents under Argus: killed in the middle of their work, they go on with it where they were.

Claude Code and Codex as npm brings them, with a home of their own, and a stand-in for their models (model_service.py).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
import yaml

from argus.agents.adapters import CONTINUE
from tests.acceptance.harness import Argus, eventually, is_alive
from tests.acceptance.model_service import ModelService

_PROGRAMS = Path(__file__).resolve().parents[2] / ".venv" / "agents"
_CODEX = """
model = "stand-in"
model_provider = "stand-in"
check_for_update_on_startup = false
[model_providers.stand-in]
name = "stand-in"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"
[projects."{project}"]
trust_level = "trusted"
"""
# 100 KB of what a shell, a terminal or tmux could read something into.
LARGE = "".join(
    f"{n}: say \"hi\" 'there' `touch x` $(touch x) \\ {{{{task}}}} ; #{{pid}} %1 é€ 😀\n" for n in range(1500)
)


def program(name: str) -> str:
    for found in _PROGRAMS.glob(f"{name}-*/node_modules/.bin/{name}"):
        return str(found)
    return missing(f"{name} is missing (make test TIERS=acceptance installs it, if there is npm)")


def missing(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(reason)
    pytest.skip(reason)


class Way(NamedTuple):
    """A program, and how it is run."""

    name: str
    arguments: tuple[str, ...]
    tmux: bool = False

    @property
    def config(self) -> str:
        return f"{self.name}-{'tmux' if self.tmux else 'headless'}"


_CLAUDE_MAY = ("--permission-mode", "acceptEdits")
_CODEX_MAY = ("--dangerously-bypass-approvals-and-sandbox",)
CLAUDE = Way("claude", ("-p", *_CLAUDE_MAY))
CLAUDE_IN_TMUX = Way("claude", _CLAUDE_MAY, tmux=True)
CODEX = Way("codex", ("exec", "--skip-git-repo-check", *_CODEX_MAY))
CODEX_IN_TMUX = Way("codex", _CODEX_MAY, tmux=True)


class Bench:
    """An Argus, a project, and the homes of both programs with their first questions answered."""

    def __init__(self, argus: Argus, sockets: str) -> None:
        self.argus = argus
        self.project = argus.folder / "project"
        self.project.mkdir()
        self.files = [self.project / "part-1", self.project / "part-2"]
        self.model = ModelService(self.files)
        self.home = Path(argus.env["HOME"])
        argus.env["TMUX_TMPDIR"] = sockets
        argus.env["SHELL"] = "/bin/sh"
        trusted = {str(self.project): {"hasTrustDialogAccepted": True}}
        key = "sk-ant-stand-in"
        answers = {"hasCompletedOnboarding": True, "theme": "dark", "projects": trusted}
        approved = {"customApiKeyResponses": {"approved": [key], "rejected": []}}
        (self.home / ".claude.json").write_text(json.dumps({**answers, **approved}))
        (self.home / ".codex").mkdir()
        (self.home / ".codex/config.toml").write_text(_CODEX.format(url=self.model.url, project=self.project))
        self.env = {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "STAND_IN_KEY": "none",
        }

    def up(self, way: Way, autonomy: str = "moderate") -> None:
        command = [program(way.name), *way.arguments, "{{task}}"]
        if way.tmux and not shutil.which("tmux"):
            missing("tmux is missing")
        config = {"command": command, "cwd": str(self.project), "env": self.env, "tmux": way.tmux}
        agents = {"respawn": {"backoff": "0s"}, "configs": {way.config: config}}
        self.argus.write(yaml.safe_dump({"server": {"port": 0}, "autonomy": autonomy, "agents": agents}))
        self.argus.up()

    def spawn(self, way: Way, task: str) -> str:
        reply = self.argus.rest("POST", "/api/agents/spawn", {"config_name": way.config, "task": task})
        assert reply.status == 201, reply
        return str(reply.json["agent_id"])

    def agents(self) -> dict[str, dict[str, Any]]:
        return {one["agent_id"]: one for one in self.argus.get("/api/agents")["agents"]}

    def kill(self, id: str) -> None:
        pid = self.agents()[id]["pid"]
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not is_alive(pid), f"{id} is dead")

    def written(self, file: Path) -> None:
        eventually(lambda: file.exists() and file.read_text() == file.name, f"{file.name} is written")

    def rows(self, way: Way) -> list[str]:
        """What the program has on disk of its conversations. It writes when it has time to."""
        places = {"claude": ".claude/projects/*/*.jsonl", "codex": ".codex/sessions/*/*/*/*.jsonl"}
        files = self.home.glob(places[way.name])
        return [row for file in files for row in file.read_text().splitlines(keepends=True)]

    def kept(self, way: Way, file: Path) -> None:
        """What is not on disk when it is killed, it cannot go on with."""
        call = {"claude": '"tool_use"', "codex": '"function_call"'}[way.name]
        eventually(
            lambda: any(call in row and str(file) in row for row in self.rows(way)), f"the call for {file.name} is kept"
        )


@pytest.fixture
def bench(argus: Argus) -> Iterator[Bench]:
    sockets = tempfile.mkdtemp(prefix="argus-t-")  # the path of a socket must be short
    one = Bench(argus, sockets)
    yield one
    argus.end()
    one.model.close()
    shutil.rmtree(sockets, ignore_errors=True)


@pytest.mark.req("HB-04", "HB-08")
@pytest.mark.parametrize("way", [CLAUDE, CLAUDE_IN_TMUX, CODEX, CODEX_IN_TMUX], ids=lambda way: way.config)
def test_a_real_agent_that_is_killed_goes_on_with_its_conversation_under_the_next_id(bench: Bench, way: Way) -> None:
    argus, model = bench.argus, bench.model
    bench.up(way)
    model.think_at(1)
    first = bench.spawn(way, LARGE)
    begun = model.wait_for(done=1)
    assert LARGE in begun.prompts, "byte for byte"
    bench.written(bench.files[0])
    bench.kept(way, bench.files[0])
    bench.kill(first)
    argus.wait_for("agent_respawned")
    second = f"team-{way.config}002"
    resumed = model.wait_for(done=1, count=2)
    assert resumed.session == begun.session
    assert resumed.prompts[: len(begun.prompts)] == begun.prompts
    assert CONTINUE + LARGE in resumed.prompts
    found = bench.agents()
    assert list(found) == [second]
    assert (found[second]["session"], found[second]["current_task"]) == (begun.session, LARGE)
    model.done_thinking()
    bench.written(bench.files[1])
    model.wait_for(done=2)
    if not way.tmux:
        eventually(lambda: not bench.agents(), "it finished, and is removed")
    assert sorted(path.name for path in bench.project.iterdir()) == ["part-1", "part-2"], "nothing ran out of the task"
    assert len(argus.journal("agent_respawned")) == 1
    assert {one.session for one in model.asked} == {begun.session}


@pytest.mark.req("HB-06")
@pytest.mark.parametrize("way", [CLAUDE, CODEX], ids=lambda way: way.config)
def test_a_real_agent_that_finished_is_removed_and_not_respawned(bench: Bench, way: Way) -> None:
    bench.up(way)
    bench.spawn(way, "- write both files")  # a task that a program could take for an option
    eventually(lambda: not bench.agents(), "it finished, and is removed")
    assert [file.exists() for file in bench.files] == [True, True]
    assert len(bench.argus.journal("spawn_started")) == 1
    assert "- write both files" in bench.model.asked[0].prompts


@pytest.mark.parametrize("left", ["nothing", "no message"])
def test_claude_that_was_killed_before_it_wrote_a_message_begins_anew_with_its_task(bench: Bench, left: str) -> None:
    """It would not resume such a conversation, and not begin another under the same id."""
    argus, model = bench.argus, bench.model
    bench.up(CLAUDE, autonomy="observe")
    model.think_at(0)
    first = bench.spawn(CLAUDE, "write both files")
    begun = model.wait_for(done=0)
    # Kept first, and then put back to what was there before: so that neither is left to chance.
    eventually(lambda: any('"type":"user"' in row for row in bench.rows(CLAUDE)), "its first message is on disk")
    bench.kill(first)
    argus.wait_for("respawn_held_back")
    (transcript,) = (bench.home / ".claude/projects").glob(f"*/{begun.session}.jsonl")
    if left == "nothing":
        transcript.unlink()
    else:
        unsaid = [row for row in bench.rows(CLAUDE) if '"type":"queue-operation"' in row]
        assert unsaid
        transcript.write_text("".join(unsaid))
    model.done_thinking()
    assert argus.rest("POST", f"/api/agents/{first}/respawn").status == 202
    eventually(lambda: not bench.agents(), "it finished, and is removed")
    assert [file.exists() for file in bench.files] == [True, True]
    assert model.asked[-1].session not in ("", begun.session)
    assert len(argus.journal("agent_died")) == 1
