"""What the real programs said, recorded: Claude Code 2.1.325 and Codex 0.166.0, their paths and ids made neutral."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from argus.core.clock import Stamp

_DATA = Path(__file__).with_name("data")
NOW = Stamp("boot", 100_000.0, 1_794_790_000.0)
"""After everything that was recorded."""


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def screen(name: str) -> str:
    return (_DATA / f"{name}.screen").read_text(encoding="utf-8")


def at(wall: float) -> Stamp:
    return Stamp(NOW.boot_id, NOW.boot + wall - NOW.wall, wall)


def hook(event: str, **where: Any) -> dict[str, Any]:
    """The recorded body of this event that has all of these."""
    for body in [*rows("claude_hooks"), *rows("codex_hooks")]:
        if body["hook_event_name"] == event and all(body.get(key) == value for key, value in where.items()):
            return body
    raise LookupError(event, where)
