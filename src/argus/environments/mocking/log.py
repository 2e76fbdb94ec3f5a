"""What was asked of a mock: the newest requests, in bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argus.core.cutting import beginning
from argus.core.redact import MASK, is_named_like_one
from argus.environments.mocking.reading import Request, text

KEPT = 500
"""Requests of one mock."""
_BODY = 16 * 1024
"""Bytes of a body; of a longer one the beginning is kept, as text."""
_VALUE = 1024
_HEADERS = 64


@dataclass(frozen=True, slots=True)
class Seen:
    mock: str
    at: float
    method: str
    path: str
    query: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Any
    body_bytes: int
    body_cut: bool
    route: str | None
    """Which answered; None where none did."""
    status: int
    seconds: float


def seen(mock: str, at: float, request: Request, body: bytes, route: str | None, status: int, seconds: float) -> Seen:
    is_cut = len(body) > _BODY
    return Seen(
        mock=mock,
        at=at,
        method=request.method[:_VALUE],
        path=text(beginning(request.path, _VALUE)),
        query={
            name[:_VALUE]: beginning(several[0], _VALUE)
            if len(several) == 1
            else [beginning(one, _VALUE) for one in several[:_HEADERS]]
            for name, several in list(request.query.items())[:_HEADERS]
        },
        headers={
            text(name[:_VALUE]): MASK if is_named_like_one(name) else text(beginning(value, _VALUE))
            for name, value in list(request.headers.items())[:_HEADERS]
        },
        body=beginning(body[: 2 * _BODY].decode("utf-8", "replace"), _BODY) if is_cut else request.body,
        body_bytes=len(body),
        body_cut=is_cut,
        route=route,
        status=status,
        seconds=seconds,
    )


class RequestLog:
    def __init__(self) -> None:
        self._kept: deque[Seen] = deque(maxlen=KEPT)
        self.total = 0
        """Since it was last cleared, also those that are not kept any more."""

    def add(self, one: Seen) -> None:
        self.total += 1
        self._kept.append(one)

    def clear(self) -> None:
        self.total = 0
        self._kept.clear()

    def all(self) -> list[Seen]:
        """The oldest first."""
        return list(self._kept)
