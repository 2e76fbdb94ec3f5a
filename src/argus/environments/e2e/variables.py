"""`{{…}}`: what a file may refer to, and what becomes of it. Pure: time and chance are handed in.

`{{env.X}}`, `{{config.x}}`, `{{runtime.x}}` or shorter `{{x}}`, `{{timestamp}}`, `{{uuid}}`, `{{date}}`. What cannot be
resolved stays as it is written. A value is never read for variables again, except that of `vars`, which are written
with variables themselves.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from argus.environments.e2e.places import Path

# No braces inside and a bounded length: a long row of opening braces is passed over in one go.
_REFERENCE = re.compile(r"\{\{([^{}\n]{1,200})\}\}")
_LONGEST_VALUE = 64 * 1024
_LARGEST_TREE = 16 * 1024 * 1024
"""Characters that substitution may produce: variables made of variables grow without end otherwise."""


@dataclass(frozen=True, slots=True)
class Variables:
    env: Mapping[str, str] = field(repr=False)
    """The caller's, with what `.env` adds. It holds secrets."""
    config: Mapping[str, str] = field(default_factory=dict, repr=False)
    runtime: Mapping[str, str] = field(default_factory=dict, repr=False)
    now: float = 0.0
    """Epoch seconds: one moment for the whole file, so that an image is built and run under the same name."""
    seed: str = ""
    """Every `{{uuid}}` comes from it and from its place: the same file loaded again for the same run has the same."""

    def look_up(self, name: str, place: str = "") -> str | None:
        match name:
            case "timestamp":
                return str(int(self.now * 1000))
            case "date":
                return datetime.fromtimestamp(self.now, UTC).strftime("%Y-%m-%d")
            case "uuid":
                made = hashlib.sha256(f"{self.seed}\0{place}".encode("utf-8", "surrogatepass")).digest()
                return str(uuid.UUID(bytes=made[:16], version=4))
        if name.startswith("env."):
            return self.env.get(name.removeprefix("env."))
        if name.startswith("config."):
            return self.config.get(name.removeprefix("config."))
        return self.runtime.get(name.removeprefix("runtime."))


def references(text: str) -> list[str]:
    return [name.strip() for name in _REFERENCE.findall(text)] if "{{" in text else []


def resolve(
    text: str,
    look_up: Callable[[str, str], str | None],
    *,
    place: str = "",
    most: int = _LONGEST_VALUE,
) -> str | None:
    """None where the result would be longer than `most`."""
    if "{{" not in text:
        return text
    parts: list[str] = []
    size = end = 0
    for count, found in enumerate(_REFERENCE.finditer(text)):
        value = look_up(found[1].strip(), f"{place}#{count}")
        parts += [text[end : found.start()], found[0] if value is None else value]
        size += len(parts[-1])
        end = found.end()
        if size > max(0, most):
            return None
    return "".join([*parts, text[end:]])


def settled(written: Mapping[str, tuple[Path, str]], variables: Variables) -> dict[str, str]:
    """The values of `vars`, which may refer to each other. Those that do so in a circle, or that
    grow without end, have none."""
    waiting = {name: set(_config_names(text)) & written.keys() for name, (_, text) in written.items()}
    users: dict[str, list[str]] = {}
    for name, others in waiting.items():
        for other in others:
            users.setdefault(other, []).append(name)
    ready = deque(name for name, others in waiting.items() if not others)
    done: dict[str, str] = {}

    def look_up(name: str, place: str) -> str | None:
        key = name.removeprefix("config.")
        return done[key] if key != name and key in done else variables.look_up(name, place)

    while ready:
        name = ready.popleft()
        path, text = written[name]
        value = resolve(text, look_up, place=repr(path))
        if value is not None:
            done[name] = value
        for user in users.get(name, ()):
            waiting[user].discard(name)
            if not waiting[user]:
                ready.append(user)
    return done


def _config_names(text: str) -> Iterator[str]:
    return (name.removeprefix("config.") for name in references(text) if name.startswith("config."))


@dataclass(slots=True)
class Substituted:
    value: Any = None
    used: dict[str, list[Path]] = field(default_factory=dict)
    """Every reference, and where it stands."""
    unresolved: dict[Path, list[str]] = field(default_factory=dict)
    left: int = _LARGEST_TREE
    too_large: Path | None = None


def substitute(tree: Any, variables: Variables) -> Substituted:
    """Over the whole tree, values alone: keys stay as they are."""
    made = Substituted()
    made.value = _tree(tree, (), variables, made)
    return made


def _tree(value: Any, path: Path, variables: Variables, made: Substituted) -> Any:
    if isinstance(value, dict):
        return {key: _tree(one, (*path, key), variables, made) for key, one in value.items()}
    if isinstance(value, list):
        return [_tree(one, (*path, place), variables, made) for place, one in enumerate(value)]
    if not isinstance(value, str) or "{{" not in value:
        return value
    later = per_request(path)

    def look_up(name: str, place: str) -> str | None:
        if later and (name in ("timestamp", "uuid") or name.startswith("request.")):
            return None
        made.used.setdefault(name, []).append(path)
        found = variables.look_up(name, place)
        if found is None:
            made.unresolved.setdefault(path, []).append(name)
        return found

    text = resolve(value, look_up, place=repr(path), most=made.left)
    if text is None:
        made.too_large = made.too_large or path
        return value
    made.left -= len(text)
    return text


def per_request(path: Path) -> bool:
    """In the body of a mock's answer, time and chance are those of the request."""
    return len(path) >= 6 and path[0] == "mocks" and path[2] in ("routes", "overrides") and path[4:6] == _BODY


_BODY = ("response", "body")
