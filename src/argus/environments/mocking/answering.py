"""From a request to its answer. Pure: time and chance are handed in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from argus.environments.mocking import routing
from argus.environments.mocking.definition import Rule, Served
from argus.environments.mocking.reading import Request
from argus.environments.mocking.templates import Filling, TooLarge

_NAMED = 100
"""Routes that a 404 names."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = frozenset(("content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "trailer"))
"""What holds the answer together on the wire is not the file's to say."""
_BREAKS = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    delay: float = 0.0
    route: str | None = None


def answer(mock: Served, request: Request, timestamp: str, new_uuid: Callable[[], str]) -> Reply:
    found = routing.find(mock, request)
    if found is None:
        return _nobody(mock, request)
    rule = found.rule
    if rule.status < 200:
        return said(500, error=f"{rule.status} cannot be the end of an answer", mock=mock.name, route=str(rule))
    try:
        body = Filling(request, found.params, timestamp, new_uuid).fill(rule.body)
    except TooLarge:
        return said(500, error="the answer is too large once it is filled in", mock=mock.name, route=str(rule))
    data, kind = _written(body)
    headers = _headers(rule)
    if kind and not any(name.lower() == "content-type" for name, _ in headers):
        headers = (*headers, ("content-type", kind))
    return Reply(rule.status, headers, data, rule.delay, str(rule))


def _written(body: Any) -> tuple[bytes, str]:
    if body is None:
        return b"", ""
    if isinstance(body, str):
        return body.encode("utf-8", "replace"), "text/plain; charset=utf-8"
    return json.dumps(body, ensure_ascii=True, default=str).encode(), "application/json"


def _headers(rule: Rule) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, _BREAKS.sub(" ", value))
        for name, value in rule.headers.items()
        if _TOKEN.fullmatch(name) and name.lower() not in _OURS
    )


def _nobody(mock: Served, request: Request) -> Reply:
    routes = [str(one) for one in mock.all_rules]
    return said(
        404,
        error=f"the mock {mock.name} has no route for this",
        mock=mock.name,
        method=request.method,
        path=request.path[:1000],
        routes=list(dict.fromkeys(routes))[:_NAMED],
    )


def said(status: int, /, **what: Any) -> Reply:
    """What Argus itself has to say in a mock's place."""
    return Reply(status, (("content-type", "application/json"),), json.dumps(what).encode())
