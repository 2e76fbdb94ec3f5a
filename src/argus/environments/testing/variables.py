"""`{{…}}` in test files: what a case may refer to when its turn comes. Pure: time and chance are handed in.

`{{env.X}}`, `{{config.x}}`, `{{runtime.x}}` or shorter `{{x}}`, `{{timestamp}}`, `{{uuid}}`, `{{date}}`. A value that
is one reference and nothing else keeps its type. What cannot be resolved stays as it is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from argus.environments.e2e.variables import resolve
from argus.environments.testing.operators import step
from argus.environments.testing.showing import MISSING

_ALONE = re.compile(r"\{\{([^{}\n]{1,200})\}\}")
_LARGEST = 16 * 1024 * 1024
"""Characters that one case may become."""


_BUILT_IN = frozenset(("timestamp", "date", "uuid", "env", "config", "runtime"))


def unfit(name: str) -> str:
    """Why nothing can be saved under a name: `{{…}}` would not find it there. Empty where it can."""
    if not name.strip():
        return "a name is expected"
    if name in _BUILT_IN:
        return "has a meaning of its own already; another name is needed"
    if name != name.strip() or any(one in name for one in ".{}\n"):
        return "a name has no dots, braces or spaces around it"
    return ""


class TooLarge(Exception):
    """What variables made of variables grow to."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the environment gives to every test file."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    runtime: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class Scope:
    """The variables of one run of one file. What is saved is seen by every case that begins later."""

    given: Given = field(repr=False)
    now: Callable[[], float]
    """Epoch seconds."""
    new_id: Callable[[], str]
    """A new UUID each time."""
    saved: dict[str, Any] = field(default_factory=dict, repr=False)

    def define(self, variables: Mapping[str, Any]) -> None:
        """The file's own. Each may refer to those before it, and is resolved once: `{{uuid}}` stays the same."""
        for name, value in variables.items():
            self.saved[name] = self.resolved(value).value

    def look_up(self, name: str) -> Any:
        """MISSING where there is none."""
        match name:
            case "timestamp":
                return str(int(self.now() * 1000))
            case "date":
                return datetime.fromtimestamp(self.now(), UTC).strftime("%Y-%m-%d")
            case "uuid":
                return self.new_id()
        if name.startswith("env."):
            return self.given.env.get(name.removeprefix("env."), MISSING)
        if name.startswith("config."):
            return self.given.config.get(name.removeprefix("config."), MISSING)
        name = name.removeprefix("runtime.")
        found = _inside(self.saved, name)
        return _inside(self.given.runtime, name) if found is MISSING else found

    def resolved(self, tree: Any) -> Resolved:
        """Values alone: keys stay as they are. Raises TooLarge."""
        made = Resolved()
        made.value = self._tree(tree, made)
        return made

    def _tree(self, value: Any, made: Resolved) -> Any:
        if isinstance(value, dict):
            return {key: self._tree(one, made) for key, one in value.items()}
        if isinstance(value, list):
            return [self._tree(one, made) for one in value]
        if not isinstance(value, str) or "{{" not in value:
            return value
        alone = _ALONE.fullmatch(value.strip())
        if alone is not None:
            found = self.look_up(alone[1].strip())
            if found is not MISSING:
                made.left -= len(found) if isinstance(found, str) else 1
                if made.left < 0:
                    raise TooLarge
                return found
        text = resolve(value, lambda name, _: self._text(name, made), most=made.left)
        if text is None:
            raise TooLarge
        made.left -= len(text)
        return text

    def _text(self, name: str, made: Resolved) -> str | None:
        found = self.look_up(name)
        if found is MISSING:
            made.unresolved.append(name)
            return None
        return written(found)


@dataclass(slots=True)
class Resolved:
    value: Any = None
    unresolved: list[str] = field(default_factory=list)
    left: int = _LARGEST


def written(value: Any) -> str:
    """A value within a text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _inside(values: Mapping[str, Any], name: str) -> Any:
    """Under its name, or inside of what is: `{{user.id}}`."""
    if name in values:
        return values[name]
    first, *more = name.split(".")
    value = values.get(first, MISSING)
    for part in more:
        value = step(value, part)
    return value
