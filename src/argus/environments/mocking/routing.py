"""Which of a mock's routes answers a request. Pure.

Overrides go before routes; among each, those whose `when` fits go before those without one; else the file's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argus.environments.mocking.definition import Rule, Served, When
from argus.environments.mocking.reading import Request

_ANY = ("*", "ANY", "ALL")


@dataclass(frozen=True, slots=True)
class Found:
    rule: Rule
    params: Mapping[str, str]


def find(mock: Served, request: Request) -> Found | None:
    found = _find(mock, request, request.method)
    # Whoever answers GET can say how that answer begins.
    return found or (_find(mock, request, "GET") if request.method == "HEAD" else None)


def _find(mock: Served, request: Request, method: str) -> Found | None:
    segments = request.segments
    for several in (mock.overrides, mock.rules):
        plain: Found | None = None
        for rule in several:
            params = _params(rule, method, segments)
            if params is None:
                continue
            if rule.when is None or rule.when.is_anything:
                plain = plain or Found(rule, params)
            elif _fits(rule.when, request):
                return Found(rule, params)
        if plain is not None:
            return plain
    return None


def _params(rule: Rule, method: str, segments: list[str]) -> dict[str, str] | None:
    """What stands for `:id` and the like; None where the rule is about something else."""
    if rule.method != method and rule.method not in _ANY:
        return None
    wanted = rule.path.split("?")[0].split("/")[1:]
    params: dict[str, str] = {}
    if wanted and wanted[-1] == "*":
        wanted = wanted[:-1]
        params["*"] = "/".join(segments[len(wanted) :])
        segments = segments[: len(wanted)]
    if len(wanted) != len(segments):
        return None
    for one, segment in zip(wanted, segments, strict=True):
        if one.startswith(":") and len(one) > 1:
            if not segment:
                return None
            params[one[1:]] = segment
        elif one != segment:
            return None
    return params


def _fits(when: When, request: Request) -> bool:
    if any(request.headers.get(name.lower()) != value for name, value in when.headers.items()):
        return False
    if any(value not in request.query.get(name, ()) for name, value in when.query.items()):
        return False
    return not when.body or has(request.body, dict(when.body))


def has(actual: Any, expected: Any) -> bool:
    """Whether it is all there; what is there beside is no harm. Lists are as long as they are expected to be."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and has(actual[key], one) for key, one in expected.items()
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list)
            and len(actual) == len(expected)
            and all(has(*pair) for pair in zip(actual, expected, strict=True))
        )
    # `true` is not 1.
    return isinstance(actual, bool) == isinstance(expected, bool) and bool(actual == expected)
