"""One thing that an agent's own signal told, as a value; and how it is made out of what came from outside."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from argus.core.clock import Stamp
from argus.core.cutting import beginning
from argus.sessions.model import Activity, ContextReading, Limit, Source

TEXT = 400
"""Characters of what an agent says that are kept."""
NAME = 200
TOKENS = 100_000_000
"""No window is larger; a greater number is nonsense."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.S)
# Controls, halves of characters, and what turns the direction of a text around.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


PROMPTS = frozenset({"UserPromptSubmit", "prompt"})
"""Events of signs that tell that somebody gave the agent something to do."""


@dataclass(frozen=True, slots=True)
class Sign:
    activity: Activity | None
    """None: it says nothing of it."""
    source: Source
    at: Stamp
    session: str = ""
    event: str = ""
    """What its own program calls it."""
    tool: str = ""
    """The tool that runs, ended, or wants to run."""
    call: str = ""
    """Which use of the tool, where it is told."""
    ended: bool = False
    """The tool's use is over."""
    question: str = ""
    """What it asks, bounded, without control characters."""
    resets_at: float | None = None
    """Of a rate limit, wall time."""
    context: ContextReading | None = None
    starts: bool = False
    ends: bool = False
    clears: bool = False
    compacts: bool = False
    interrupts: bool = False
    """A person broke it off: hooks do not tell that."""
    subagent: str = ""
    """Which of its subagents this is about; empty: the agent itself."""
    subagents: tuple[str, ...] | None = None
    """Those that run, where that is told."""
    limits: tuple[Limit, ...] = ()
    cost: float | None = None
    """US dollars, as its program counts."""
    pid: int = 0
    """Of the agent's process, where that is told."""
    transcript: str = ""
    """Where it says that its transcript is. Not to be believed without looking."""


def words(value: Any, limit: int = TEXT) -> str:
    """Text from outside as one bounded line: no escape sequences, no control characters."""
    if not isinstance(value, str):
        return ""
    if len(value) <= limit and value.isprintable() and "  " not in value and value.strip() == value:
        return value  # as most are, and some come with every step of every agent
    fit = _UNFIT.sub(" ", _ESCAPES.sub("", beginning(value, 8 * limit)))
    return beginning(" ".join(fit.split()), limit)


def number(value: Any) -> float | None:
    """A number that can be counted with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        counted = float(value)
    except OverflowError:
        return None
    return counted if math.isfinite(counted) else None


def tokens(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and 0 <= found <= TOKENS else None


def inner(value: Any, *keys: str) -> Any:
    """What stands under these keys, one in the other; None where there is no such thing."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def told_by(body: Mapping[str, Any]) -> int:
    """The process that had it told: our own program adds it."""
    found = body.get("argus_pid")
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 1 << 31 else 0


def told_at(wall: Any, now: Stamp) -> Stamp:
    """The moment that a program wrote down by the wall clock, as a stamp; never later than now."""
    seconds = number(wall) if not isinstance(wall, str) else _parsed(wall)
    if seconds is None:
        return now
    ago = max(0.0, now.wall - seconds)
    return Stamp(now.boot_id, now.boot - ago, now.wall - ago)


def _parsed(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text[:40]).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
