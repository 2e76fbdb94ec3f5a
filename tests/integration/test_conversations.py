"""What Claude Code and Codex leave behind, read from files as they write them."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from argus.host.conversations import MachineConversations
from argus.host.programs import LONGEST, problem

ID = "11111111-2222-4333-8444-555555555551"
USER = {"parentUuid": None, "isSidechain": False, "type": "user", "message": {"role": "user", "content": "mend it"}}
QUEUED = [{"type": "queue-operation", "operation": one, "sessionId": ID} for one in ("enqueue", "dequeue")]
NOON = datetime(2020, 3, 1, 12, tzinfo=UTC)


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("written", "can"),
    [
        (None, False),
        ("", False),
        (lines(*QUEUED), False),
        (lines(*QUEUED) + lines(USER)[:60], False),
        (lines(*QUEUED, USER), True),
        (lines(*QUEUED, USER) + '{"type": "assis', True),
        (lines({"type": "assistant"}), True),
        ("[]\n\0\n" + lines(USER), True),
    ],
    ids=[
        "no-transcript",
        "empty",
        "nothing-said-yet",
        "killed-in-the-first-row",
        "a-question",
        "killed-in-the-second-row",
        "an-answer",
        "other-rows",
    ],
)
async def test_claude_can_resume_what_has_a_message_in_it(tmp_path: Path, written: str | None, can: bool) -> None:
    """As the real one does: it refuses the rest with "No conversation found"."""
    if written is not None:
        file = tmp_path / ".claude/projects/-work-green" / f"{ID}.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(written)
    here = MachineConversations()
    assert await here.can_resume("claude", ID, {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": ""}) is can
    elsewhere = {"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    assert await here.can_resume("claude", ID, elsewhere) is can
    assert not await here.can_resume("claude", "*", elsewhere)
    assert not await here.can_resume("claude", "../-work-green/" + ID, elsewhere)


def said(role: str, *texts: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}


class Rollouts:
    """A home of Codex, with what it wrote."""

    def __init__(self, home: Path, project: Path) -> None:
        self.env = {"HOME": str(home), "CODEX_HOME": ""}
        self._folder = home / ".codex/sessions"
        self._project = project

    def add(self, id: str, *, seconds: float = 0.0, rows: str | None = None, **meta: Any) -> Path:
        when = datetime.fromtimestamp(NOON.timestamp() + seconds, UTC)
        head = {"id": id, "timestamp": when.isoformat().replace("+00:00", "Z"), "cwd": str(self._project), **meta}
        prompts = [said("developer", "rules"), said("user", "<context>"), said("user", "mend it")]
        answer = {"type": "response_item", "payload": {"type": "function_call", "name": "exec_command"}}
        file = self._folder / f"{when:%Y/%m/%d}" / f"rollout-{when:%Y-%m-%dT%H-%M-%S}-{id}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = lines({"type": "session_meta", "payload": head}, *prompts, answer, said("user", "later"))
        file.write_text(whole if rows is None else rows)
        return file


@pytest.fixture
def rollouts(tmp_path: Path) -> Rollouts:
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "project")
    return Rollouts(tmp_path, tmp_path / "project")


async def test_codex_is_asked_what_was_begun_in_a_folder_since_then(rollouts: Rollouts, tmp_path: Path) -> None:
    rollouts.add("own", seconds=1.0, source="exec", thread_source="user")
    rollouts.add("of-an-older-version", seconds=2.0)
    rollouts.add("before", seconds=-60.0)
    rollouts.add("elsewhere", cwd="/somewhere/else")
    rollouts.add("helper", source={"subagent": {"thread_spawn": {}}})
    rollouts.add("newer-helper", thread_source="subagent")
    rollouts.add("fork", forked_from_id="own")
    rollouts.add("torn", rows='{"type": "session_meta", "payl')
    rollouts.add("empty", rows="")
    rollouts.add("strange", rows=lines({"type": "session_meta", "payload": {"id": 1, "timestamp": 5, "cwd": []}}))
    here = MachineConversations()
    found = await here.begun("codex", str(tmp_path / "link"), NOON.timestamp(), rollouts.env)
    assert {one.id for one in found} == {"own", "of-an-older-version"}
    own = next(one for one in found if one.id == "own")
    assert (own.began, own.prompts) == (NOON.timestamp() + 1, ("<context>", "mend it"))
    assert await here.begun("claude", str(tmp_path / "link"), NOON.timestamp(), rollouts.env) == ()
    assert await here.begun("codex", str(tmp_path / "link"), NOON.timestamp(), {"HOME": "/nowhere"}) == ()


async def test_a_conversation_of_the_other_day_is_found_across_midnight(rollouts: Rollouts, tmp_path: Path) -> None:
    rollouts.add("own", seconds=12 * 3600 + 1.0)
    found = await MachineConversations().begun(
        "codex", str(tmp_path / "project"), NOON.timestamp() + 43199, rollouts.env
    )
    assert [one.id for one in found] == ["own"]


async def test_codex_can_resume_what_it_has_a_rollout_of(rollouts: Rollouts) -> None:
    rollouts.add(ID)
    here = MachineConversations()
    assert await here.can_resume("codex", ID, rollouts.env)
    assert not await here.can_resume("codex", ID[:-1] + "2", rollouts.env)
    assert not await here.can_resume("codex", "*", rollouts.env)


@pytest.mark.parametrize("size", [LONGEST, LONGEST + 1], ids=["fits", "is-too-long"])
@pytest.mark.parametrize("where", ["argument", "variable"])
def test_what_is_said_to_fit_is_what_this_machine_takes(where: str, size: int) -> None:
    argv = ["/bin/true", *(["x" * size] if where == "argument" else [])]
    env = {"PATH": os.defpath, **({"X": "x" * (size - 2)} if where == "variable" else {})}
    try:
        subprocess.run(argv, env=env, check=True, timeout=30)
        takes = True
    except OSError:
        takes = False
    assert (problem(argv, "/", env, {}) == "") is takes is (size == LONGEST)
