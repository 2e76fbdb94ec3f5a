"""YAML as people mean it: every value remembers its line, no key stands twice, and `on`, `no` and `22:22` stay text.

Anchors and merge keys (`<<: *base`) work; what came by a merge has the line where it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from argus.core import patterns
from argus.core.errors import ArgusError, Code

Path = tuple[str | int, ...]
_NODES = 500_000
_DEPTH = 100
_DIGITS = 100
"""An alias can make a small file enormous; no honest file comes near this."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader with YAML 1.2's idea of what is not text."""


_PATTERNS = {
    "bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
    "null": re.compile(r"~|null|Null|NULL|"),
    "int": re.compile(r"[-+]?(0|[1-9][0-9]*)"),
    "float": re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,3})?"),
}
_FIRST = {"bool": "tTfF", "null": ["~", "n", "N", ""], "int": "-+0123456789", "float": "-+.0123456789"}
_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern in _PATTERNS.items():
    _whole = re.compile(rf"^(?:{_pattern.pattern})$")
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _whole, list(_FIRST[_tag]))


@dataclass(frozen=True, slots=True)
class Problem:
    path: Path
    line: int | None
    message: str

    def public(self) -> dict[str, Any]:
        return {"path": dotted(self.path), "line": self.line, "message": self.message}


@dataclass(slots=True)
class Document:
    value: Any
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    """What is wrong although the rest could be read, so that all of it is reported at once."""

    def line(self, path: Path) -> int | None:
        """The line of the value, or of the nearest thing around it that the file has."""
        while path not in self.lines:
            if not path:
                return None
            path = path[:-1]
        return self.lines[path]


def dotted(path: Path) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


_EXPECTED = {
    "missing": "is required",
    "string_type": "text is expected",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false is expected"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number is expected"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number is expected"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping is expected"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "a list is expected"),
}


def in_words(kind: str, text: str, context: Mapping[str, Any]) -> str:
    """What pydantic says of a value, in the words of YAML: who writes a file knows lists, and no tuples."""
    if kind in ("literal_error", "enum"):
        return f"must be {context['expected']}"
    if kind in ("too_long", "too_short"):
        bound = f"at most {context['max_length']}" if kind == "too_long" else f"at least {context['min_length']}"
        return f"has {bound} entries"
    if kind == "value_error":
        return text.removeprefix("Value error, ")
    if kind == "string_pattern_mismatch":
        return patterns.in_words(context["pattern"])
    for begins in ("Input should ", "String should ", "Value should "):
        text = text.replace(begins, "must ", 1) if text.startswith(begins) else text
    return _EXPECTED.get(kind, text[0].lower() + text[1:])


class Broken(Exception):
    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(f"{len(problems)} problems")
        self.problems = problems


def _check_depth(text: str) -> None:
    """The composer recurses in C and would take the process with it on a file of nothing but brackets."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEPTH:
                line = event.start_mark.line + 1 if event.start_mark else None
                raise Broken([Problem((), line, f"nested more than {_DEPTH} deep")])
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def parse(text: str) -> Document:
    """Raises Broken when it cannot be read at all."""
    try:
        _check_depth(text)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(part for part in (error.context, error.problem) if part)
        raise Broken([Problem((), mark.line + 1 if mark else None, f"not YAML: {message}")]) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Broken([Problem((), None, f"not YAML: {error}")]) from None
    document = Document(None)
    if node is not None:
        document.value = _Build(document.lines, document.problems).value(node, (), 0)
    return document


_VALUES: dict[str, Callable[[str], Any]] = {
    "bool": lambda text: text.lower() == "true",
    "null": lambda text: None,
    "int": int,
    "float": float,
}


_Keys = dict[str, tuple[yaml.ScalarNode, yaml.Node]]


class _Build:
    def __init__(self, lines: dict[Path, int], problems: list[Problem]) -> None:
        self._lines = lines
        self._problems = problems
        self._nodes = 0
        self._told: set[int] = set()

    def value(self, node: yaml.Node, path: Path, depth: int) -> Any:
        line = node.start_mark.line + 1
        self._lines.setdefault(path, line)
        self._count(path, line, depth)
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, path, depth))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, place), depth + 1) for place, item in enumerate(node.value)]
        return self._scalar(node, path, line)

    def _count(self, path: Path, line: int, depth: int) -> None:
        self._nodes += 1
        if self._nodes > _NODES or depth > _DEPTH:
            raise Broken([Problem(path, line, "the file is too large or too deep once its aliases are resolved")])

    def _pairs(self, node: yaml.MappingNode, path: Path, depth: int) -> Iterator[tuple[str, Any]]:
        for key_node, value_node in self._keys(node, path, depth, ()).values():
            here = (*path, str(key_node.value))
            self._lines[here] = key_node.start_mark.line + 1
            yield str(key_node.value), self.value(value_node, here, depth + 1)

    def _keys(self, node: yaml.MappingNode, path: Path, depth: int, within: tuple[int, ...]) -> _Keys:
        """Each key once, with the nodes it comes from. A mapping's own keys go before what it merges."""
        # What is wrong in a mapping that many merge is wrong once.
        problems = [] if id(node) in self._told else self._problems
        self._told.add(id(node))
        seen: dict[str, int] = {}
        own: _Keys = {}
        merged: _Keys = {}
        order: list[str] = []
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                problems.append(Problem(path, line, "a key is text, not a list or a mapping"))
                continue
            key = str(key_node.value)
            if key in seen:
                message = f"the key stands twice, first in line {seen[key]}; keep one of them"
                problems.append(Problem((*path, key), line, message))
                continue
            seen[key] = line
            if key == "<<" and not key_node.style:
                merged = self._merged(value_node, path, depth, (*within, id(node)))
                order += merged
            else:
                own[key] = (key_node, value_node)
                order.append(key)
        return {key: own[key] if key in own else merged[key] for key in order}

    def _merged(self, node: yaml.Node, path: Path, depth: int, within: tuple[int, ...]) -> _Keys:
        several = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found: _Keys = {}
        for one in several:
            line = one.start_mark.line + 1
            if not isinstance(one, yaml.MappingNode):
                message = "only a mapping can be merged, or a list of mappings"
                self._problems.append(Problem((*path, "<<"), line, message))
                continue
            if id(one) in within or depth + len(within) > _DEPTH:
                raise Broken([Problem((*path, "<<"), line, "a mapping is merged into itself, or merges are too deep")])
            for key, nodes in self._keys(one, path, depth, within).items():
                # What is merged and merged again costs time without being a value of its own.
                self._count(path, line, depth)
                found.setdefault(key, nodes)
        return found

    def _scalar(self, node: yaml.Node, path: Path, line: int) -> Any:
        text, tag = str(node.value), node.tag.removeprefix("tag:yaml.org,2002:")
        if tag == "str":
            return text
        # An explicit tag may promise what the text does not hold: `!!int abc`.
        if tag in _PATTERNS and len(text) <= _DIGITS and _PATTERNS[tag].fullmatch(text):
            return _VALUES[tag](text)
        if tag in _PATTERNS:
            self._problems.append(Problem(path, line, f"{text[:40]!r} is no {tag}"))
            return None
        self._problems.append(Problem(path, line, f"values of the kind {node.tag[:60]} are not read"))
        return None


def error(problems: list[Problem], file: str) -> ArgusError:
    """All of them at once, with their places."""
    first = problems[0]
    where = f"{file}:{first.line}" if first.line else file
    place = f"{dotted(first.path)}: " if first.path else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return ArgusError(
        Code.CONFIG_INVALID,
        f"{where}: {place}{first.message}{more}",
        file=file,
        errors=[problem.public() for problem in problems[:100]],
    )
