"""Expressions: `body.score >= 60 && body.type == "A"`. A small language of its own; nothing is ever given to Python.

    either   = both ("||" both)*              also `or`
    both     = one ("&&" one)*                also `and`
    one      = "!" one | operand (sign operand)?     also `not`
    sign     = == != > >= < <= in, not in
    operand  = number | "text" | true | false | null | [operand, …] | len(operand) | path | (either)
    path     = name (.name | .0 | [0] | ["name"])*   names may hold dashes; .length of text and lists

What is not there is null. What cannot be ordered is never more or less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from argus.environments.testing.comparing import is_number, same
from argus.environments.testing.operators import step
from argus.environments.testing.showing import MISSING

LONGEST = 2000
_DEEPEST = 30
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?)
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<path>[A-Za-z_$][\w$]*(?:\.[\w$-]+|\[(?:[0-9]+|"[^"\\\]]*"|'[^'\\\]]*')\])*)
      | (?P<sign>&&|\|\||===|!==|==|!=|>=|<=|>|<|!|\(|\)|\[|\]|,)
    )""",
    re.VERBOSE,
)
_PART = re.compile(r"\.([\w$-]+)|\[([0-9]+)\]|\[[\"']([^\"']*)[\"']\]")
_WORDS = {"and": "&&", "or": "||", "not": "!", "in": "in"}
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": same,
    "!=": lambda one, other: not same(one, other),
    ">": lambda one, other: _ordered(one, other) and one > other,
    ">=": lambda one, other: _ordered(one, other) and one >= other,
    "<": lambda one, other: _ordered(one, other) and one < other,
    "<=": lambda one, other: _ordered(one, other) and one <= other,
    "in": lambda one, other: _within(one, other),
    "not in": lambda one, other: not _within(one, other),
}

Values = Mapping[str, Any]
_Node = Callable[[Values], Any]


@dataclass(frozen=True, slots=True)
class Expression:
    text: str
    node: _Node
    paths: tuple[str, ...]

    def holds(self, values: Values) -> bool:
        return bool(self.node(values))

    def seen(self, values: Values) -> dict[str, Any]:
        """What stood at the places it names."""
        return {path: follow(values, path) for path in self.paths}


def parse(text: Any, roots: frozenset[str] | None = None) -> Expression:
    """Raises ValueError. `roots`: what a path may begin with."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError("an expression is expected, as text")
    if len(text) > LONGEST:
        raise ValueError(f"an expression has at most {LONGEST} characters")
    reader = _Reader(_tokens(text), roots)
    node = reader.either(0)
    if reader.next() is not None:
        raise ValueError(f"not an expression: {reader.rest()} is too much")
    return Expression(text.strip(), node, tuple(dict.fromkeys(reader.paths)))


def follow(values: Values, path: str) -> Any:
    """What stands there; None where nothing does."""
    name = re.match(r"[\w$]+", path)
    parts = [name[0] if name else path, *(one[1] or one[2] or one[3] or "" for one in _PART.finditer(path))]
    value: Any = dict(values)
    for place, part in enumerate(parts):
        before, value = value, step(value, part.lower() if parts[0] == "headers" and place == 1 else part)
        if value is MISSING and part == "length" and isinstance(before, str | list):
            value = len(before)
    return None if value is MISSING else value


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"not an expression: {text[at : at + 20].strip()!r} is not understood")
        kind, said = str(token.lastgroup), token[str(token.lastgroup)]
        word = _WORDS.get(said) if kind == "path" else None
        found.append(("sign", word) if word else (kind, {"===": "==", "!==": "!="}.get(said, said)))
        at = token.end()
    return found


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]], roots: frozenset[str] | None) -> None:
        self._tokens = tokens
        self._roots = roots
        self._at = 0
        self.paths: list[str] = []

    def next(self) -> tuple[str, str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def rest(self) -> str:
        found = self.next()
        return repr(found[1]) if found else "its end"

    def _takes(self, *signs: str) -> str:
        found = self.next()
        if found is None or found[0] != "sign" or found[1] not in signs:
            return ""
        self._at += 1
        return found[1]

    def _needs(self, sign: str) -> None:
        if not self._takes(sign):
            raise ValueError(f"not an expression: {sign!r} is expected before {self.rest()}")

    def either(self, depth: int) -> _Node:
        if depth > _DEEPEST:
            raise ValueError(f"an expression is nested at most {_DEEPEST} deep")
        several = [self._both(depth)]
        while self._takes("||"):
            several.append(self._both(depth))
        return several[0] if len(several) == 1 else lambda values: any(one(values) for one in several)

    def _both(self, depth: int) -> _Node:
        several = [self._one(depth)]
        while self._takes("&&"):
            several.append(self._one(depth))
        return several[0] if len(several) == 1 else lambda values: all(one(values) for one in several)

    def _one(self, depth: int) -> _Node:
        is_turned = False
        while self._takes("!"):
            is_turned = not is_turned
        node = self._compared(depth)
        return (lambda values: not node(values)) if is_turned else node

    def _compared(self, depth: int) -> _Node:
        left = self._operand(depth)
        sign = self._takes(*_COMPARED, "!")
        if sign == "!":
            self._needs("in")
            sign = "not in"
        if not sign:
            return left
        right, compare = self._operand(depth), _COMPARED[sign]
        return lambda values: compare(left(values), right(values))

    def _operand(self, depth: int) -> _Node:
        if self._takes("("):
            inner = self.either(depth + 1)
            self._needs(")")
            return inner
        if self._takes("["):
            return self._list(depth + 1)
        found = self.next()
        if found is None or found[0] == "sign":
            raise ValueError(f"not an expression: a value is expected before {self.rest()}")
        self._at += 1
        kind, text = found
        if kind == "path":
            return self._path(text, depth)
        value = _number(text) if kind == "number" else _text(text)
        return lambda values: value

    def _path(self, text: str, depth: int) -> _Node:
        if text in _CONSTANTS:
            constant = _CONSTANTS[text]
            return lambda values: constant
        if text in ("len", "size") and self._takes("("):
            inner = self.either(depth + 1)
            self._needs(")")
            return lambda values: _len(inner(values))
        root = re.split(r"[.\[]", text, maxsplit=1)[0]
        if self._roots is not None and root not in self._roots:
            raise ValueError(f"not an expression: there is no {root!r}; there are {', '.join(sorted(self._roots))}")
        self.paths.append(text)
        return lambda values: follow(values, text)

    def _list(self, depth: int) -> _Node:
        several: list[_Node] = []
        if depth > _DEEPEST:
            raise ValueError(f"an expression is nested at most {_DEEPEST} deep")
        while not self._takes("]"):
            if several:
                self._needs(",")
            several.append(self._operand(depth))
        return lambda values: [one(values) for one in several]


def _number(text: str) -> float | int:
    return int(text) if text.lstrip("-").isdigit() and len(text) < 30 else float(text)


def _text(text: str) -> str:
    if text.startswith("'"):
        text = '"' + text[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]  # an escape that JSON does not have: a backslash that stands for itself


def _len(value: Any) -> int | None:
    return len(value) if isinstance(value, str | list | dict) else None


def _ordered(one: Any, other: Any) -> bool:
    return (is_number(one) and is_number(other)) or (isinstance(one, str) and isinstance(other, str))


def _within(one: Any, other: Any) -> bool:
    if isinstance(other, str):
        return isinstance(one, str) and one in other
    if isinstance(other, dict):
        return isinstance(one, str) and one in other
    return isinstance(other, list) and any(same(one, each) for each in other)
