"""What depends on what, over all parts: who is named, what is broken, and since when. Values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    SERVICE = "service"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True, order=True)
class Thing:
    """Something that others depend on."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.kind.value} {self.name}"

    @property
    def written(self) -> str:
        """As `dependsOn` names it."""
        return self.name if self.kind is Kind.SERVICE else f"{self.kind.value}:{self.name}"


def thing(written: str) -> Thing:
    """`api`, `service:api` and `web:8080` are services, `environment:shop` an environment. Raises ValueError."""
    kind, _, name = written.partition(":")
    if kind not in Kind.__members__.values() or kind == written:
        kind, name = Kind.SERVICE.value, written
    if not name or name != name.strip():
        raise ValueError(f"{written!r} names nothing")
    return Thing(Kind(kind), name)


@dataclass(frozen=True, slots=True)
class Broken:
    """A root: it is down, and nothing that it depends on explains that."""

    thing: Thing
    since: float
    """By the wall clock."""
    why: str = ""
    doing: str = ""
    """What Argus does about it, in words."""
    incident: str = ""


Broke = tuple[Broken, ...]
