"""What pydantic says, in the words and with the places of the file."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from argus import yaml_lines
from argus.environments.e2e import places
from argus.environments.e2e.places import Path
from argus.yaml_lines import Document, Problem

_SERVICES = "a list of services is expected, or a mapping of names to services"


def of(invalid: ValidationError, tree: Any, document: Document) -> list[Problem]:
    found: dict[Path, Problem] = {}
    for one in invalid.errors(include_url=False, include_input=False):
        path = _place(one["loc"], tree, missing=one["type"] == "missing")
        found.setdefault(path, at(path, _message(one), document))
    return list(found.values())


def at(path: Path, message: str, document: Document) -> Problem:
    """With the value as the file has it: what its variables stand for may be a secret."""
    written = places.at(document.value, path)
    if isinstance(written, str | int | float) and path:
        shown = f'"{written}"' if isinstance(written, str) else str(written).lower()
        message = f"{shown[:80]}: {message}"
    return Problem(path, document.line(path), message)


def _place(location: tuple[int | str, ...], value: Any, *, missing: bool) -> Path:
    """pydantic's location without the forms of `services`, which the file does not have."""
    path: list[str | int] = []
    for place, part in enumerate(location):
        if isinstance(value, dict):
            if part not in value and not (missing and place == len(location) - 1):
                continue
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part] if part < len(value) else None
        else:
            continue
        path.append(part)
    return tuple(path)


def _message(one: ErrorDetails) -> str:
    if one["type"] in ("union_tag_not_found", "union_tag_invalid"):
        return _SERVICES
    return yaml_lines.in_words(one["type"], str(one["msg"]), one.get("ctx", {}))
