"""Keys that the format does not have: left out, and told of. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from argus.environments.e2e import model
from argus.environments.e2e.places import Path

_MOST = 500
"""Looking for the key that was meant takes time, and nobody reads more."""


def find(tree: Any) -> list[tuple[Path, str]]:
    """Each with what is to be said of it, the first hundreds."""
    return list(islice(_walk(tree, (), [_schema()]), _MOST))


@cache
def _schema() -> dict[str, Any]:
    return model.bare_schema()


def _walk(value: Any, path: Path, schemas: list[dict[str, Any]]) -> Iterator[tuple[Path, str]]:
    forms = [form for schema in schemas for form in _forms(schema)]
    if isinstance(value, list):
        items = [form["items"] for form in forms if isinstance(form.get("items"), dict)]
        for place, one in enumerate(value if items else ()):
            yield from _walk(one, (*path, place), items)
    if not isinstance(value, dict):
        return
    objects = [form for form in forms if form.get("type") == "object"]
    known: dict[str, list[dict[str, Any]]] = {}
    for form in objects:
        for key, schema in form.get("properties", {}).items():
            known.setdefault(key, []).append(schema)
    others = [form.get("additionalProperties") for form in objects if "additionalProperties" in form]
    for key, one in value.items():
        if key in known:
            yield from _walk(one, (*path, key), known[key])
        elif others:
            yield from _walk(one, (*path, key), [schema for schema in others if isinstance(schema, dict)])
        elif known:
            yield (*path, key), _said(key, known)


def _forms(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema may stand elsewhere, and may be one of several."""
    if "$ref" in schema:
        schema = _schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    several = schema.get("anyOf") or schema.get("oneOf")
    if several is None:
        yield schema
    for one in several or ():
        yield from _forms(one)


def _said(key: str, known: dict[str, Any]) -> str:
    close = difflib.get_close_matches(key[:100], list(known), n=1, cutoff=0.7)
    return "unknown key, left out" + (f'; did you mean "{close[0]}"?' if close else "")
