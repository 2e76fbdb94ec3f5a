"""JSON answers, and errors in their one form."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response
from starlette.types import Send

from argus.core.clock import Clock, milliseconds
from argus.core.errors import ArgusError, Code
from argus.core.redact import Redactor


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, {"cache-control": "no-store", **(headers or {})}, "application/json")


_HEADERS = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]


async def send_json(send: Send, body: bytes, status: int, *, packed: bool = False) -> None:
    """The same without a response made for it: most requests are heartbeats. `packed`: by gzip."""
    headers = [*_HEADERS, (b"content-length", b"%d" % len(body))]
    if packed:
        headers.append((b"content-encoding", b"gzip"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Errors:
    """Every way out for an error passes here, so that no secret leaves with one."""

    def __init__(self, clock: Clock, redactor: Redactor) -> None:
        self._clock = clock
        self._redactor = redactor

    def structured(self, error: ArgusError) -> dict[str, Any]:
        made: dict[str, Any] = self._redactor.value(error.structured(milliseconds(self._clock.wall())))
        return made

    def response(self, error: ArgusError) -> Response:
        headers = {"www-authenticate": "Bearer"} if error.code is Code.UNAUTHORIZED else {}
        if error.code is Code.METHOD_NOT_ALLOWED:
            headers = {"allow": str(error.details["allow"])}
        return json_response({"error": self.structured(error)}, error.status, headers)
