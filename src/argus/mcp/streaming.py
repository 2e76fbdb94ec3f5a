"""Streamable HTTP: each request stands for itself, so agents do not notice a restart of Argus. What a client withdraws
it says in a request of its own, by a number that others count too: a name for each client tells them apart."""

from __future__ import annotations

import asyncio
import json
import secrets

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from argus.core.errors import ArgusError, Code

SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_CANCELLED = "notifications/cancelled"
_READ = 30.0
"""Seconds in which a body has to arrive."""
_TAKES = "POST, DELETE"
_ENDED = Response(status_code=204)


def session_of(scope: Scope) -> str:
    return Headers(scope=scope).get(SESSION, "")


async def answered(scope: Scope, receive: Receive, send: Send) -> bool:
    """What needs no MCP. Argus says nothing of its own accord, so there is no stream to get; and it keeps nothing of a
    session that would have to be ended, but work that somebody waits for."""
    if scope["method"] == "POST":
        return False
    if scope["method"] != "DELETE":
        raise ArgusError(
            Code.METHOD_NOT_ALLOWED, "MCP is asked with POST; there is no stream to get", allow="POST, DELETE"
        )
    await _ENDED(scope, receive, send)
    return True


def naming(scope: Scope, send: Send) -> Send:
    """Gives a client that has no name yet one with its first answer. The newest protocol has no such names: there a
    client withdraws by hanging up."""
    headers = Headers(scope=scope)
    if SESSION in headers or _VERSION in headers:
        return send

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            name = secrets.token_urlsafe(16).encode()
            message = {**message, "headers": [*message["headers"], (SESSION.encode(), name)]}
        await send(message)

    return named


async def body(receive: Receive) -> bytes:
    raw: bytes = b""
    try:
        async with asyncio.timeout(_READ):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ArgusError(Code.INVALID_REQUEST, "the client left before its body was whole")
                raw += message.get("body", b"")  # ASGI's own type is a dictionary of anything
                if not message.get("more_body", False):
                    return raw
    except TimeoutError:
        raise ArgusError(Code.INVALID_REQUEST, f"the body did not arrive within {_READ:g} s") from None


def again(raw: bytes, receive: Receive) -> Receive:
    """The body once more, for who reads it after us."""
    waiting: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


def cancelled(raw: bytes) -> str | None:
    """The number of the request that this one withdraws."""
    if _CANCELLED.encode() not in raw and b"\\" not in raw:
        return None
    try:
        said = json.loads(raw)
        return request_name(said["params"]["requestId"]) if said["method"] == _CANCELLED else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None  # it is answered with what is wrong with it


def request_name(id: str | int | None) -> str:
    return json.dumps(id)
