"""The values the graph thinks in."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
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
    is_unsettled: bool = False
    """It goes up and down: nobody is told that it is back before it has settled."""
    is_borne: bool = False
    """It falls with what it depends on: nobody looks whether it still works without that."""
    is_open: bool = False
    """In a moment another may be known to be the root, or this one to be back: nobody is told of it yet."""
    changed: float = -math.inf
    """Since when it answers or does not, by the monotonic clock; infinite while that is being found out."""
    looked: float = math.inf
    """When it was last looked at in a way that says which."""


class Role(StrEnum):
    AGENT = "agent"
    SESSION = "session"
    ENVIRONMENT = "environment"
    """Nobody there hears anything: it stands in the story of what it needs."""


@dataclass(frozen=True, slots=True)
class Dependant:
    """An agent, a session or an environment that works, and what it needs for that."""

    role: Role
    name: str
    depends_on: tuple[Thing, ...]

    @property
    def key(self) -> str:
        return f"{self.role.value}:{self.name}"

    @classmethod
    def called(cls, key: str) -> Dependant:
        """One of whom no more is known."""
        role, _, name = key.partition(":")
        return cls(Role(role), name, ())


@dataclass(frozen=True, slots=True)
class Gone:
    """How one of them came to be there no longer: a word that the story knows, and who wanted it, if anybody did."""

    outcome: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What one of them was told is broken. Each thing stands until it was told that it is back."""

    key: str
    things: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By how `dependsOn` names them: since when, and the incident."""
    said: tuple[str, ...] = ()
    """Those of them that it really heard of."""
    back: tuple[str, ...] = ()
    """What it heard of and is over, and that it has not heard yet."""
    story: str = ""
    """The incident of the first of those."""

    @property
    def unsaid(self) -> tuple[str, ...]:
        return tuple(name for name in self.things if name not in self.said)

    def losing(self, things: Mapping[str, Mapping[str, Any]]) -> Told:
        """These are down as well, or again."""
        back = _without(self.back, things)
        others = replace(self, said=_without(self.said, things), back=back, story=self.story if back else "")
        return replace(others, things={**others.things, **things})

    def ending(self, names: Iterable[str]) -> Told | None:
        """These are over. Of what it never heard of it is not told that it is over; None: nothing is left to tell."""
        over = [*names]
        things = {name: one for name, one in self.things.items() if name not in over}
        heard = tuple(name for name in over if name in self.said)
        story = self.story or next((found for name in heard if (found := self.incident(name))), "")
        said, back = _without(self.said, over), (*self.back, *heard)
        return replace(self, things=things, said=said, back=back, story=story)._or_nothing()

    def incident(self, name: str) -> str:
        return str(self.things.get(name, {}).get("incident", ""))

    def hearing(self, names: Collection[str]) -> Told:
        """It heard that these are down."""
        return replace(self, said=tuple(name for name in self.things if name in self.said or name in names))

    def hearing_back(self, names: Collection[str]) -> Told | None:
        """It heard that these are back, or that it need not wait for them."""
        left = _without(self.back, names)
        return replace(self, back=left, story=self.story if left else "")._or_nothing()

    def _or_nothing(self) -> Told | None:
        return self if self.things or self.back else None

    def written(self) -> dict[str, Any]:
        things = {name: dict(one) for name, one in self.things.items()}
        return {"things": things, "said": [*self.said], "back": [*self.back], "story": self.story}


def _without(names: Iterable[str], some: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in some)


def read(key: str, data: Mapping[str, Any]) -> Told | None:
    things = {str(name): dict(one) for name, one in dict(data["things"]).items()}
    said, back = tuple(str(one) for one in data["said"]), data["back"]
    if isinstance(back, bool):  # of an Argus that told of all at once
        return Told(key, things, said).ending(things) if back else Told(key, things, said)
    return Told(key, things, said, tuple(str(one) for one in back), str(data.get("story", "")))
