"""A route for every operation."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any

from pydantic_core import PydanticSerializationError
from starlette.datastructures import QueryParams
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from argus.api.answers import send_json
from argus.api.guard import CALLER
from argus.api.server import WHOLE
from argus.core.errors import ArgusError, Code
from argus.ops import OPERATIONS, Operation
from argus.ops.caller import Caller, Scope
from argus.ops.house import House
from argus.ops.operation import Answer

_CALLERS = 4096
_LARGE = 256 * 1024
"""Bytes from which an answer is packed for who can unpack it."""
_READ = 30.0
"""Seconds in which a body has to arrive: a client that drips holds nothing for longer."""


def routes(house: House) -> list[Route]:
    # A house is a value, so callers that come again find theirs standing.
    asked_by = lru_cache(maxsize=_CALLERS)(house.asked_by)
    # Starlette tries one route after the other: what agents report with every step comes first.
    return [_route(one, asked_by) for one in sorted(OPERATIONS, key=lambda one: one.scope is not Scope.REPORT)]


class _Endpoint:
    """One operation. A class's instance is taken as ASGI: a request and a response of Starlette's would be made for
    every heartbeat, and cost as much as all of the rest."""

    def __init__(self, one: Operation, asked_by: Callable[[Caller], House]) -> None:
        self._one = one
        self._asked_by = asked_by

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        one = self._one
        house = self._asked_by(scope[CALLER])
        given = dict(scope["path_params"])
        if one.method == "GET":
            answer = await one.call(house, _with_query(given, QueryParams(scope["query_string"])))
        else:
            raw = await _body(scope, receive)
            # Half a character can only be named, not sent: what is not escaped is read as UTF-8.
            work = one.call(house, _with_body(given, raw), encodable=b"\\u" not in raw)
            answer = await (_while_wanted(work, receive) if one.ends_with_caller else work)
        body = _written(answer)
        if len(body) < _LARGE or not _takes_gzip(scope):
            await send_json(send, body, one.status)
            return
        # Beside the loop, and quickly rather than well: a page far away gets ten thousand services in a fifth.
        body = await asyncio.to_thread(gzip.compress, body, 1)
        await send_json(send, body, one.status, packed=True)


def _takes_gzip(scope: Connection) -> bool:
    said = next((value for name, value in scope["headers"] if name == b"accept-encoding"), b"")
    return b"gzip" in said and b"gzip;q=0" not in said.replace(b" ", b"")


async def _while_wanted(work: Coroutine[Any, Any, Answer], receive: Receive) -> Answer:
    """Cancels it when the caller goes away, and waits until it has taken back what it began."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
        return await task
    finally:
        gone.cancel()
        task.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _route(one: Operation, asked_by: Callable[[Caller], House]) -> Route:
    return Route(one.path, _Endpoint(one, asked_by), methods=[one.method], name=one.name)


def _written(answer: Answer) -> bytes:
    try:
        return answer.model_dump_json(by_alias=True).encode()
    except PydanticSerializationError:  # half a character that no request named, such as in the name of a file
        said = answer.model_dump(mode="json", by_alias=True)
        return json.dumps(said, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


# Path, then query or body; a field that is given twice is an error, not a guess.


def _with_query(given: dict[str, Any], query: QueryParams) -> dict[str, Any]:
    for key in query:
        values = query.getlist(key)
        if len(values) > 1 or key in given:
            raise ArgusError(Code.INVALID_REQUEST, f"{key[:100]}: given more than once", field=key[:100])
        given[key] = values[0]
    return given


def _with_body(given: dict[str, Any], raw: bytes) -> dict[str, Any]:
    body = _json(raw)
    if not given:
        return body
    for key, value in body.items():
        if key in given:
            raise ArgusError(Code.INVALID_REQUEST, f"{key[:100]}: stands in the path already", field=key[:100])
        given[key] = value
    return given


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given more than once")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)


async def _body(scope: Connection, receive: Receive) -> bytes:
    if scope.get(WHOLE):
        return await _pieces(receive)
    try:
        async with asyncio.timeout(_READ):
            return await _pieces(receive)
    except TimeoutError:
        raise ArgusError(Code.INVALID_REQUEST, f"the body did not arrive within {_READ:g} s") from None


async def _pieces(receive: Receive) -> bytes:
    raw: bytes = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ArgusError(Code.INVALID_REQUEST, "the client left before its body was whole")
        raw += message.get("body", b"")  # ASGI's own type is a dictionary of anything
        if not message.get("more_body", False):
            return raw


def _json(raw: bytes) -> dict[str, Any]:
    if not raw:
        return {}
    try:
        # As bytes they would be read in the encodings that json guesses at: JSON over HTTP is UTF-8.
        body = _DECODER.decode(raw.decode())
    except (ValueError, RecursionError) as error:
        raise ArgusError(Code.INVALID_REQUEST, f"the body is not JSON: {str(error)[:200]}") from None
    if not isinstance(body, dict):
        raise ArgusError(Code.INVALID_REQUEST, "the body is a JSON object")
    return body
