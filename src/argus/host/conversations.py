"""What the programs of agents keep of their conversations, read from their own files.

Claude Code is told the id of its conversation; whether it can be resumed, its transcript says. Codex chooses the id
itself; which one is an agent's is told by where and when it began, and with what.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import glob
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
_DEADLINE = 2.0
_ROWS = 500
"""Of a file; what is looked for stands at its beginning."""
_FILES = 5000
_CLOCKS = 2.0
"""Seconds by which a program may date its beginning before us."""


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    began: float
    prompts: tuple[str, ...]
    """What it was asked before it first answered."""


class Conversations(Protocol):
    async def can_resume(self, kind: str, id: str, env: Mapping[str, str]) -> bool:
        """Whether the program has that conversation and would go on with it. `env`: what is added to ours."""
        ...

    async def begun(self, kind: str, project: str, since: float, env: Mapping[str, str]) -> tuple[Conversation, ...]:
        """Those that somebody began in that folder from then on, within about a day; none for programs that are told
        the id."""
        ...


class MachineConversations:
    """Read in a thread, with a deadline: a home folder can be on a disk that hangs. What cannot be read is not there:
    the agent then begins anew, which is always right, if not always best."""

    def __init__(self) -> None:
        self._reader = concurrent.futures.ThreadPoolExecutor(2, "argus-conversations")

    async def can_resume(self, kind: str, id: str, env: Mapping[str, str]) -> bool:
        if not _ID.fullmatch(id):
            return False
        look = _claude_has if kind == "claude" else _codex_has
        return await self._read(lambda: look(id, {**os.environ, **env}), False)

    async def begun(self, kind: str, project: str, since: float, env: Mapping[str, str]) -> tuple[Conversation, ...]:
        if kind != "codex":
            return ()
        return await self._read(lambda: tuple(_codex_begun(project, since, {**os.environ, **env})), ())

    async def _read(self, look: Callable[[], T], otherwise: T) -> T:
        reading = asyncio.get_running_loop().run_in_executor(self._reader, look)
        try:
            return await asyncio.wait_for(asyncio.shield(reading), _DEADLINE)
        except (TimeoutError, OSError):
            return otherwise


def _claude_has(id: str, env: Mapping[str, str]) -> bool:
    """A transcript exists as soon as the program does; it can be resumed from the first message in it on."""
    folder = _folder("CLAUDE_CONFIG_DIR", ".claude", env)
    found = glob.iglob(f"projects/*/{glob.escape(id)}.jsonl", root_dir=folder)
    return any(row.get("type") in ("user", "assistant") for file in found for row in _rows(folder / file))


def _codex_has(id: str, env: Mapping[str, str]) -> bool:
    folder = _folder("CODEX_HOME", ".codex", env)
    return any(glob.iglob(f"sessions/*/*/*/rollout-*-{glob.escape(id)}.jsonl", root_dir=folder))


def _codex_begun(project: str, since: float, env: Mapping[str, str]) -> Iterator[Conversation]:
    folder = _folder("CODEX_HOME", ".codex", env) / "sessions"
    first = datetime.fromtimestamp(since, UTC)
    days = [(first + timedelta(days=n)).strftime("%Y/%m/%d") for n in (-1, 0, 1)]  # by its clock, in whatever zone
    files = (file for day in days for file in (folder / day).glob("rollout-*.jsonl"))
    for file in islice(files, _FILES):
        try:
            found = _rollout(file, project, since) if file.stat().st_mtime >= since - _CLOCKS else None
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            continue  # gone while we looked, or written by a version that we do not know
        if found is not None:
            yield found


def _rollout(file: Path, project: str, since: float) -> Conversation | None:
    rows = _rows(file)
    head = next(rows, {})
    meta = head.get("payload", {})
    if head.get("type") != "session_meta" or meta.get("thread_source", "user") != "user" or meta.get("forked_from_id"):
        return None
    began = datetime.fromisoformat(meta["timestamp"]).timestamp()
    is_there = os.path.realpath(meta["cwd"]) == os.path.realpath(project)
    if not is_there or not isinstance(meta.get("source", ""), str) or began < since - _CLOCKS:
        return None  # a source that is more than a word: begun by another conversation
    return Conversation(str(meta["id"]), began, tuple(_prompts(rows)))


def _prompts(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        item = row["payload"] if row.get("type") == "response_item" else {}
        if item and item.get("role") not in ("user", "developer", "system"):
            return  # it has begun to answer
        if item.get("role") == "user":
            yield from (str(part.get("text", "")) for part in item["content"])


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    """The whole rows at the beginning of a file: whoever wrote it may have been killed in the middle of one."""
    with file.open("rb") as lines:
        for line in islice(lines, _ROWS):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def _folder(variable: str, name: str, env: Mapping[str, str]) -> Path:
    return Path(env.get(variable) or Path(env.get("HOME") or os.path.expanduser("~"), name))
