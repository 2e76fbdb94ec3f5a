"""What agents that are no sessions say in their transcripts: each by its own, and only what is new of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from argus.host.transcript_places import slug
from argus.host.transcripts import MachineTranscripts
from argus.sessions.model import Activity
from argus.sessions.overhearing import Overhearing, Speaker
from argus.testing import FakeClock


class Agents:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "project"
        self.project.mkdir()
        self.here = [self.speaker("s1"), self.speaker("s2")]
        self.overhearing = Overhearing(MachineTranscripts(), FakeClock(), lambda: self.here)

    def speaker(self, conversation: str, kind: str = "claude") -> Speaker:
        homes = {"HOME": str(self.home), "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": ""}
        return Speaker(kind, conversation, str(self.project), homes)

    def transcript(self, conversation: str) -> Path:
        file = self.home / ".claude" / "projects" / slug(str(self.project.resolve())) / f"{conversation}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def says(self, conversation: str, type: str, **message: Any) -> None:
        row = {"type": type, "sessionId": conversation, "message": {"role": type, "content": "x", **message}}
        with self.transcript(conversation).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def look(self) -> list[str]:
        return [one.conversation for one in asyncio.run(self.overhearing.look())]

    def heard(self, conversation: str, kind: str = "claude") -> list[Activity | None]:
        return [one.activity for one in self.overhearing.signs(kind, conversation)]


@pytest.fixture
def agents(tmp_path: Path) -> Agents:
    return Agents(tmp_path)


W, IDLE = Activity.WORKING, Activity.IDLE


def test_only_what_is_new_of_it_is_said(agents: Agents) -> None:
    agents.says("s1", "user")
    assert agents.look() == ["s1"]
    assert agents.look() == []
    agents.says("s1", "assistant", stop_reason="end_turn")
    assert agents.look() == ["s1"]
    assert agents.heard("s1") == [W, IDLE]


def test_the_newest_of_the_same_folder_is_another_conversation(agents: Agents) -> None:
    agents.says("s1", "user")
    agents.look()
    assert agents.heard("s2") == []


def test_of_one_that_was_written_anew_nothing_of_before_counts(agents: Agents) -> None:
    agents.says("s1", "user")
    agents.look()
    agents.transcript("s1").unlink()
    agents.says("s1", "assistant", stop_reason="end_turn")
    agents.look()
    assert agents.heard("s1") == [IDLE]


def test_who_is_gone_is_forgotten(agents: Agents) -> None:
    agents.says("s1", "user")
    agents.look()
    agents.here = []
    agents.look()
    assert agents.heard("s1") == []


def test_it_is_bounded(agents: Agents) -> None:
    for _ in range(500):
        agents.says("s1", "user")
    agents.look()
    assert len(agents.heard("s1")) <= 120


def test_a_rollout_of_codex_is_read_as_one(agents: Agents) -> None:
    id = "019a-codex"
    agents.here = [agents.speaker(id, "codex")]
    folder = agents.home / ".codex" / "sessions" / "2026" / "01" / "02"
    folder.mkdir(parents=True)
    row = {"type": "event_msg", "payload": {"type": "task_started"}}
    (folder / f"rollout-2026-01-02T03-04-05-{id}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert agents.look() == [id]
    assert agents.heard(id, "codex") == [W]
