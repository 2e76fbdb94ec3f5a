"""What a step saw, whatever kind of step it was, and what may be saved of it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from argus.environments.testing.operators import step
from argus.environments.testing.results import Failure
from argus.environments.testing.showing import MISSING, shown

_WHOLE = ("status", "headers", "responseTime", "exitCode", "file", "eventCount", "firstEvent")
"""What is known whole also of an answer that was cut."""


class Failed(Exception):
    """A step that could not be taken."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Event:
    """One of a stream of events."""

    type: str
    data: str
    id: str | None = None

    @property
    def value(self) -> Any:
        return parsed(self.data)

    def public(self) -> dict[str, Any]:
        return {"type": self.type, "data": self.value, "id": self.id}


@dataclass(frozen=True, slots=True)
class Seen:
    """None, and MISSING, is what this kind of step does not have."""

    status: int | None = None
    headers: Mapping[str, str] | None = None
    """By their names in small letters."""
    body: Any = MISSING
    milliseconds: float | None = None
    output: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    events: tuple[Event, ...] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else can be saved and asked about, by name."""
    cut: str = ""
    """What of it was cut, and is not all there was."""
    notes: tuple[str, ...] = ()
    """Where a deadline ended it."""

    def values(self) -> dict[str, Any]:
        """All of it by name, for expressions and for saving."""
        found: dict[str, Any] = {
            "status": self.status,
            "headers": None if self.headers is None else dict(self.headers),
            "responseTime": self.milliseconds,
            "output": self.output,
            "stderr": self.stderr,
            "exitCode": self.exit_code,
            **self.more,
        }
        found = {name: value for name, value in found.items() if value is not None}
        if self.body is not MISSING:
            found["body"] = self.body
        if self.events is not None:
            several = [one.public() for one in self.events]
            found |= {"events": several, "eventCount": len(several), "types": list(dict.fromkeys(self.types))}
            found |= {"firstEvent": several[0], "lastEvent": several[-1]} if several else {}
        return found

    @property
    def types(self) -> list[str]:
        return [one.type for one in self.events or ()]

    @property
    def text(self) -> str:
        """What helps to understand a failure."""
        if self.output is not None and self.stderr:
            return f"{self.output}\n{self.stderr}".strip()
        return self.output or ""


def parsed(text: str) -> Any:
    """The JSON that it is, and else the text itself."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def take(seen: Seen, wanted: Mapping[str, str]) -> tuple[dict[str, Any], list[Failure]]:
    """What is to be saved: `user.id` of the body, or `headers.x-id`, `status`, `output`, `lastEvent.data`."""
    values, saved, failures = seen.values(), {}, []
    for name, path in wanted.items():
        found = _at(seen, values, path)
        if seen.cut and re.split(r"[.\[]", path.removeprefix("$").lstrip("."))[0] not in _WHOLE:
            said = f"cannot be saved as {name}: {seen.cut}, and this may be a part of it"
            failures.append(Failure(said, f"save.{name}", path))
        elif found is MISSING:
            shape = shown(values.get("body", sorted(values)), 500)
            said = f"cannot be saved as {name}: there is nothing at {path!r}"
            failures.append(Failure(said, f"save.{name}", path, shape))
        else:
            saved[name] = found
    return saved, failures


def _at(seen: Seen, values: dict[str, Any], path: str) -> Any:
    """In the body first: that is what most paths mean, and a body may have a field of any name."""
    parts = [part for part in re.sub(r"\[(\w+)\]", r".\1", path.removeprefix("$")).split(".") if part]
    if not parts:
        return seen.body
    found = _walk(seen.body, parts)
    if found is MISSING:
        if parts[0] == "headers":
            parts = [one.lower() for one in parts]
        found = _walk(values, parts)
    return found


def _walk(value: Any, parts: list[str]) -> Any:
    for place, part in enumerate(parts):
        before, value = value, step(value, part)
        if value is MISSING and part == "length" and place == len(parts) - 1 and isinstance(before, str | list):
            return len(before)
    return value
