"""The values the graph thinks in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from argus.core.depending import Thing


@dataclass(frozen=True, slots=True)
class Standing:
    """How something that others depend on stands."""

    is_down: bool
    since: float = 0.0
    why: str = ""
    doing: str = ""
    incident: str = ""
    depends_on: tuple[Thing, ...] = ()
    is_borne: bool = False
    """It falls with what it depends on: nobody looks whether it still works without that."""


class Role(StrEnum):
    AGENT = "agent"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Dependant:
    """An agent or a session that works, and what it needs for that."""

    role: Role
    name: str
    depends_on: tuple[Thing, ...]

    @property
    def key(self) -> str:
        return f"{self.role.value}:{self.name}"


@dataclass(frozen=True, slots=True)
class Told:
    """What one of them was told is broken. It stands until it was told that all of it is back."""

    key: str
    things: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By how `dependsOn` names them: since when, and the incident."""
    said: tuple[str, ...] = ()
    """Those of them that it really heard of."""
    is_back: bool = False
    """All of it is back, and that it has not heard yet."""

    @property
    def unsaid(self) -> tuple[str, ...]:
        return tuple(name for name in self.things if name not in self.said)

    def written(self) -> dict[str, Any]:
        things = {name: dict(one) for name, one in self.things.items()}
        return {"things": things, "said": [*self.said], "back": self.is_back}


def read(key: str, data: Mapping[str, Any]) -> Told:
    things = {str(name): dict(one) for name, one in dict(data["things"]).items()}
    return Told(key, things, tuple(str(one) for one in data["said"]), bool(data["back"]))
