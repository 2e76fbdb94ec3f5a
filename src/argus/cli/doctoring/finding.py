"""What an examination comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Not imported: what is lacking is found out before anything is imported that might need it.
    from argus.cli.client import Daemon
    from argus.config import Config


class State(StrEnum):
    OK = "ok"
    WARN = "warn"
    """Something will not work, or not for long; Argus itself does."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: State
    detail: str
    next: str = ""
    """What to do; there is always something where it is not well."""

    def public(self) -> dict[str, Any]:
        return {"name": self.name, "state": self.state.value, "detail": self.detail, "next": self.next}


def ok(name: str, detail: str, next: str = "") -> Finding:
    return Finding(name, State.OK, detail, next)


def warn(name: str, detail: str, next: str) -> Finding:
    return Finding(name, State.WARN, detail, next)


def bad(name: str, detail: str, next: str) -> Finding:
    return Finding(name, State.BAD, detail, next)


def depends(name: str) -> Finding:
    return warn(name, "not looked at: the state folder cannot be used", "see STATE_FOLDER")


def away(path: Path) -> str:
    """What to do with what lies where something of ours belongs: nobody knows what it is, so it is not removed."""
    return f"mv {quote(str(path))} {quote(f'{path}.away')}; the next start makes a new one"


@dataclass(frozen=True, slots=True)
class Case:
    """What all examinations start from."""

    home: Path
    config: Config
    """The defaults, where the file cannot be read."""
    daemon: Daemon | None = None
    state: dict[str, Any] | None = None
    """What the running daemon says of itself, if it answers."""
    silence: str = ""
    """Why it does not answer; and"""
    remedy: str = ""
    """what to do then."""

    def said(self) -> dict[str, Any]:
        found: dict[str, Any] = (self.state or {}).get("argus", {})
        return found
