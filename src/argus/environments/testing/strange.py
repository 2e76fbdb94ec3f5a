"""What is strange about a test file beyond the shape of its values: keys that nobody knows, cases with no step or two,
expectations that make no sense. Pure."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator
from itertools import islice
from typing import Any, Union, get_args, get_origin

from argus.environments.e2e.places import Path
from argus.environments.e2e.values import Part
from argus.environments.testing import expressions, operators, patterns, variables
from argus.environments.testing.model import STEPS, Case, Preparing, Suite

_MOST = 200
_WAITS = ("waitHealthy", "waitForPort")
ROOTS = frozenset(
    ("status", "body", "headers", "responseTime", "output", "stderr", "exitCode", "events", "vars", "file", "processes")
)
"""What an expression may ask about."""

Said = tuple[Path, str]


def find(tree: dict[str, Any]) -> list[Said]:
    """Keys that the format does not have, the first hundreds."""
    return list(islice(_unknown_of_file(tree), _MOST))


def _unknown_of_file(tree: dict[str, Any]) -> Iterator[Said]:
    yield from _unknown(tree, Suite, ())
    for key, model in (("setup", Preparing), ("cases", Case), ("teardown", Preparing)):
        several = tree.get(key)
        for place, one in enumerate(several if isinstance(several, list) else ()):
            yield from _unknown(one, model, (key, place))


def _unknown(value: Any, model: type[Part], path: Path) -> Iterator[Said]:
    if not isinstance(value, dict):
        return
    known = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    for key, one in value.items():
        inner = _part(known[key]) if key in known else None
        if inner is not None:
            yield from _unknown(one, inner, (*path, key))
        elif key not in known:
            yield (*path, key), "unknown key, left out" + _hint(key, list(known))


def _part(annotation: Any) -> type[Part] | None:
    several = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return next((one for one in several if isinstance(one, type) and issubclass(one, Part)), None)


def _hint(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key[:100], known, n=1, cutoff=0.7)
    return f'; did you mean "{close[0]}"?' if close else ""


def mistakes(tree: dict[str, Any], case: Preparing | None, *, is_case: bool) -> Iterator[Said]:
    """Of one case. `case` is None where its shape is wrong already."""
    yield from _steps(tree, is_case=is_case)
    if case is None:
        return
    if is_case and not case.name.strip():
        yield ("name",), "is required"
    if case.request is not None and not (case.request.url or case.request.path):
        yield ("request",), "path or url is required"
    if case.file is not None:
        yield from _pattern(case.file.matches, ("file", "matches"))
        yield from operators.mistakes(case.file.json_, ("file", "json"))
    yield from _expectations(case)
    for name in case.save:
        said = variables.unfit(name)
        if said:
            yield ("save", name), said


def _steps(tree: dict[str, Any], *, is_case: bool) -> Iterator[Said]:
    possible = STEPS if is_case else (*STEPS, *_WAITS)
    there = [key for key in possible if tree.get(key) is not None]
    if len(there) > 1:
        yield (there[1],), f"a case has one step, and this one has {' and '.join(there)}"
    if there or (not is_case and tree.get("delay") is not None):
        return
    empty = [key for key in possible if key in tree]
    known = {field.alias or name for name, field in Preparing.model_fields.items()}
    others = [key for key in tree if key not in known]
    hints = [f'; "{key[:40]}" is no step{_hint(key, list(possible))}' for key in others[:3]]
    said = f"there is no step: one of {', '.join(possible)} is expected"
    yield (empty[0] if empty else others[0],) if empty or others else (), said + "".join(hints)


def _expectations(case: Preparing) -> Iterator[Said]:
    expect = case.expect
    if expect is None:
        return
    at: Path = ("expect",)
    for name, wanted in expect.headers.items():
        yield from operators.mistakes(wanted, (*at, "headers", name), only_operators=True)
    yield from operators.mistakes(expect.body, (*at, "body"))
    for key, several in (("all", expect.all), ("any", expect.any)):
        if key in expect.model_fields_set and not several:
            yield (*at, key), "the list is empty: there is nothing to expect"
        for place, one in enumerate(several):
            yield from operators.mistakes(one, (*at, key, place))
    for place, text in enumerate(expect.expr):
        try:
            expressions.parse(text, ROOTS)
        except ValueError as wrong:
            yield (*at, "expr", *([place] if len(expect.expr) > 1 else [])), str(wrong)
    if expect.output is not None:
        yield from _pattern(expect.output.matches, (*at, "output", "matches"))
        yield from operators.mistakes(expect.output.json_, (*at, "output", "json"))
    if expect.events is not None:
        yield from operators.mistakes(expect.events.first, (*at, "events", "first"))
        yield from operators.mistakes(expect.events.last, (*at, "events", "last"))


def _pattern(pattern: Any, path: Path) -> Iterator[Said]:
    said = "" if pattern is None else patterns.problem(pattern)
    if said:
        yield path, said
