"""A request as its mock sees it, whatever came. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

_DEEPEST = 64
_MOST_FIELDS = 1000


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    """As it was sent, without the query: `%2F` stays what it is until a segment is looked at."""
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """By names in small letters; several of one name stand behind each other."""
    body: Any = None
    """What the JSON or the form says; else text; None where there was none."""

    @property
    def segments(self) -> list[str]:
        return [text(unquote(one, errors="replace")) for one in self.path.split("/")[1:]]


def request(method: str, target: str, query: str, headers: list[tuple[str, str]], body: bytes) -> Request:
    found: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return Request(method.upper(), target, _fields(query), found, _body(body, found.get("content-type", "")))


def _fields(said: str) -> dict[str, tuple[str, ...]]:
    several: dict[str, tuple[str, ...]] = {}
    try:
        pairs = parse_qsl(said, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError:  # more fields than anybody needs
        return several
    for name, value in pairs:
        several[name] = (*several.get(name, ()), value)
    return several


def _body(body: bytes, kind: str) -> Any:
    if not body:
        return None
    plain = body.decode("utf-8", "replace")
    if kind.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
        return {name: several[0] if len(several) == 1 else list(several) for name, several in _fields(plain).items()}
    try:
        # Many clients send JSON and do not say so.
        return tame(json.loads(plain, parse_constant=_no_number))
    except (ValueError, RecursionError):
        return text(plain)


def _no_number(said: str) -> Any:
    raise ValueError(said)


def tame(value: Any, depth: int = 0) -> Any:
    """The same, of which everything can be written again. Raises ValueError where it is deeper than anybody means."""
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(key): tame(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [tame(one, depth + 1) for one in value]
    return value


def text(said: str) -> str:
    """Half a character can be written in JSON, and nowhere else."""
    return said.encode("utf-8", "replace").decode("utf-8")
