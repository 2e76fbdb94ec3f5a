"""What a body is expected to be: values, fields and operators, as deep as they are written. Pure.

A mapping is matched in part: what it does not name may be there. A list is matched whole. A key that is an operator
applies to the value itself, any other key to the field of that name.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from argus.core.errors import Code
from argus.environments.testing import patterns
from argus.environments.testing.comparing import comparison, is_number, number, same
from argus.environments.testing.results import Failure
from argus.environments.testing.showing import MISSING, brief, shown

Search = Callable[[str, str], bool]
"""Whether a regular expression is found in a text."""
Path = tuple[str | int, ...]

TYPES = ("string", "number", "boolean", "object", "array", "null")
_ORDER: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "gt": ("more than", lambda one, other: one > other),
    "gte": ("at least", lambda one, other: one >= other),
    "lt": ("less than", lambda one, other: one < other),
    "lte": ("at most", lambda one, other: one <= other),
}
_OF_TEXT = ("matches", "startsWith", "endsWith")
_NAMES = (*("type", "exists", "in", *_ORDER, "contains", "notContains", *_OF_TEXT), "length", "every", "some", "not")
OPERATORS = frozenset(_NAMES)
_ALSO = {
    "greaterThan": "gt", "greaterThanOrEqual": "gte", "lessThan": "lt", "lessThanOrEqual": "lte", "min": "gte",
    "max": "lte", "regex": "matches", "pattern": "matches", "includes": "contains", "size": "length", "oneOf": "in",
    "ne": "not", "neq": "not", "any": "some", "all": "every",
}  # fmt: skip
"""What other formats call them."""
_MISTAKE = Code.CONFIG_INVALID.value
_WITHOUT_FIELDS = frozenset((*_ORDER, *_OF_TEXT, "contains", "notContains"))
"""What only values without fields can fulfil: another key beside one of these was meant as an operator."""
_OF_LENGTH = frozenset((*_ORDER, "in", "not"))


def is_operator(key: str, argument: Any) -> bool:
    """Objects have a field `type` so often that one which is no type of JSON is taken for it."""
    return key in OPERATORS and (key != "type" or argument in TYPES)


def kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if is_number(value):
        return "number"
    kinds: dict[type, str] = {dict: "object", list: "array", str: "string"}
    return kinds.get(type(value), "nothing")


# --- what is wrong with an expectation, whatever comes


def mistakes(expected: Any, path: Path = (), *, only_operators: bool = False) -> Iterator[tuple[Path, str]]:
    """Where the expectation itself makes no sense. `only_operators`: the value has no fields."""
    if not isinstance(expected, dict):
        return
    used = {key for key, argument in expected.items() if is_operator(key, argument)}
    for key, argument in expected.items():
        here = (*path, key)
        if key in used:
            yield from _misused(key, argument, here)
        elif only_operators or used & _WITHOUT_FIELDS:
            yield here, unknown(key)
        else:
            yield from mistakes(argument, here)


def unknown(key: str) -> str:
    if key in ("eq", "equals", "equal", "is"):
        return "is no operator; did you mean the value itself?"
    close = [_ALSO[key]] if key in _ALSO else difflib.get_close_matches(key[:100], _NAMES, n=1)
    return "is no operator" + (f'; did you mean "{close[0]}"?' if close else "")


def _misused(key: str, argument: Any, path: Path) -> Iterator[tuple[Path, str]]:
    match key:
        case "exists" if not isinstance(argument, bool):
            yield path, "true or false is expected"
        case "in" if not isinstance(argument, list):
            yield path, "a list is expected"
        case "gt" | "gte" | "lt" | "lte" if number(argument) is None:
            yield path, "a number is expected"
        case "startsWith" | "endsWith" if not isinstance(argument, str):
            yield path, "text is expected"
        case "matches":
            problem = patterns.problem(argument)
            if problem:
                yield path, problem
        case "length":
            yield from _wrong_length(argument, path)
        case "every" | "some" | "not":
            yield from mistakes(argument, path)


def _wrong_length(argument: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(argument, dict):
        for key in argument.keys() - _OF_LENGTH:
            yield (*path, key), unknown(key) if key not in OPERATORS else "is not for a length"
        yield from mistakes({key: one for key, one in argument.items() if key in _OF_LENGTH}, path)
        return
    try:
        comparison(argument)
    except ValueError:
        yield path, 'a number is expected, or a comparison such as {gt: 0} or ">0"'


# --- what is wrong with a value


def check(actual: Any, expected: Any, path: str, search: Search) -> Iterator[Failure]:
    """`expected` has no mistakes."""
    if expected == {}:
        # Matched in part, as every mapping: any object.
        if not isinstance(actual, dict):
            yield _failed(f"an object is expected, got {_got(actual)}", path, expected, actual)
        return
    if not isinstance(expected, dict):
        if not same(actual, expected):
            yield _failed(f"expected {brief(expected)}, got {_got(actual)}", path, expected, actual)
        return
    fields = {key: one for key, one in expected.items() if not is_operator(key, one)}
    for key, argument in expected.items():
        if key not in fields:
            yield from _applied(key, actual, argument, path, search)
    if fields:
        yield from _fields(actual, fields, path, search)


def _fields(actual: Any, fields: dict[str, Any], path: str, search: Search) -> Iterator[Failure]:
    if not isinstance(actual, dict | list):
        failure = _failed(f"an object is expected, got {_got(actual)}", path, fields, actual)
        meant = [f"`{key}` {unknown(key)}" for key in list(fields)[:5] if "mean" in unknown(key)]
        # What has no fields, and is asked for something like an operator: then one was meant.
        yield replace(failure, message="; ".join(meant), code=_MISTAKE) if meant and actual is not MISSING else failure
        return
    for key, one in fields.items():
        yield from check(step(actual, key), one, f"{path}.{key}", search)


def step(value: Any, key: str) -> Any:
    """A field of an object, or what stands at that place of a list."""
    if isinstance(value, dict):
        return value.get(key, MISSING)
    if isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(value):
        return value[int(key)]
    return MISSING


def _applied(key: str, actual: Any, argument: Any, path: str, search: Search) -> Iterator[Failure]:
    match key:
        case "exists":
            if (actual is not MISSING and actual is not None) != argument:
                said = f"expected to exist, but is {_got(actual)}" if argument else f"exists: {_got(actual)}"
                yield _failed(said, path, {"exists": argument}, actual)
        case "not":
            wrong = list(check(actual, argument, path, search))
            mistaken = [one for one in wrong if one.code == _MISTAKE]
            yield from mistaken  # a mistake does not become right by being turned round
            if not wrong:
                yield _failed(f"is what it must not be: {_got(actual)}", path, {"not": argument}, actual)
        case "length":
            yield from _length(actual, argument, path, search)
        case "every":
            yield from _every(actual, argument, path, search)
        case "some":
            yield from _some(actual, argument, path, search)
        case _:
            said = "is missing" if actual is MISSING else _simple(key, actual, argument, search)
            if said:
                yield _failed(said, path, {key: argument}, actual)


def _simple(key: str, actual: Any, argument: Any, search: Search) -> str:
    """What is not as the operator wants it; empty where it is."""
    got = _got(actual)
    if key == "type":
        return "" if kind(actual) == argument else f"expected the type {argument}, got {kind(actual)}: {got}"
    if key == "in":
        return "" if any(same(actual, one) for one in argument) else f"expected one of {brief(argument)}, got {got}"
    if key in _ORDER:
        words, holds = _ORDER[key]
        value, bound = number(actual), number(argument)
        if value is None or bound is None:
            return f"a number is expected, got {got}"
        return "" if holds(value, bound) else f"expected {words} {brief(argument)}, got {got}"
    if key in ("contains", "notContains"):
        found = contains(actual, argument, search)
        if found is None:
            return f"text or a list is expected, got {got}"
        words = "expected to contain" if key == "contains" else "expected not to contain"
        return "" if found == (key == "contains") else f"{words} {brief(argument)}, got {got}"
    if not isinstance(actual, str):
        return f"text is expected, got {got}"
    holds_ = {"startsWith": str.startswith, "endsWith": str.endswith}.get(key)
    good = holds_(actual, argument) if holds_ else search(argument, actual)
    words = {"startsWith": "start with", "endsWith": "end with"}.get(key, "match")
    return "" if good else f"expected to {words} {brief(argument)}, got {got}"


def contains(actual: Any, wanted: Any, search: Search) -> bool | None:
    """None where nothing can be contained. An object in a list need only match in part."""
    if isinstance(actual, str):
        text = wanted if isinstance(wanted, str) else brief(wanted, len(actual) + 1)
        return text in actual
    if isinstance(actual, list):
        return any(not any(True for _ in check(one, wanted, "", search)) for one in actual)
    return None


def _length(actual: Any, argument: Any, path: str, search: Search) -> Iterator[Failure]:
    if not isinstance(actual, str | list | dict):
        yield _failed(f"text, a list or an object is expected, got {_got(actual)}", path, {"length": argument}, actual)
    elif isinstance(argument, dict):
        yield from check(len(actual), argument, f"{path}.length", search)
    elif not comparison(argument).holds(len(actual)):
        said = f"expected {brief(argument)}, got {len(actual)}"
        yield _failed(said, f"{path}.length", argument, len(actual))


def _every(actual: Any, argument: Any, path: str, search: Search) -> Iterator[Failure]:
    if not isinstance(actual, list):
        yield _failed(f"a list is expected, got {_got(actual)}", path, {"every": argument}, actual)
        return
    for place, one in enumerate(actual):
        wrong = list(check(one, argument, f"{path}.{place}", search))
        if wrong:
            # One element says it; thousands of them would say the same.
            yield from wrong
            return


def _some(actual: Any, argument: Any, path: str, search: Search) -> Iterator[Failure]:
    if not isinstance(actual, list):
        yield _failed(f"a list is expected, got {_got(actual)}", path, {"some": argument}, actual)
    elif not contains(actual, argument, search):
        yield _failed(f"none of {len(actual)} is as expected", path, {"some": argument}, actual)


def _got(value: Any) -> str:
    return brief(value)


def _failed(message: str, path: str, expected: Any, actual: Any) -> Failure:
    return Failure(message, path, shown(expected), shown(actual))
