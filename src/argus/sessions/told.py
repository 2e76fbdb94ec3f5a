"""What an agent posts of itself, whatever kind of agent it is: as a sign, or why it tells nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argus.core.clock import Stamp
from argus.sessions import claude, codex
from argus.sessions.signals import NAME, Sign, inner, words

CHECK = "ArgusCheck"
"""What `argus hooks doctor` posts, to see whether its token is accepted."""


@dataclass(frozen=True, slots=True)
class Told:
    sign: Sign | None
    folder: str
    """Where the agent works, as it says."""
    event: str = ""
    """What happened, also where that tells nothing."""
    ignored: str = ""
    """Why there is no sign."""


def read(kind: str, body: Mapping[str, Any], at: Stamp) -> Told:
    folder = words(inner(body, "workspace", "project_dir"), 4096) or words(body.get("cwd"), 4096)
    event = body.get("hook_event_name")
    if kind == "codex":
        sign = codex.hook(body, at)
    elif event is None:
        sign = claude.status_line(body, at)
    else:
        sign = claude.hook(body, at)
    if sign is not None:
        return Told(sign, folder, sign.event)
    named = words(event, NAME)
    if named == CHECK:
        return Told(None, folder, ignored="a check")
    ignored = f"{named} tells nothing about a session" if named else "it names no event that is known"
    return Told(None, folder, named, ignored)
