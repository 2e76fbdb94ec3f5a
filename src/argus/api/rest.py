"""A route for every operation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from argus.api.answers import json_response
from argus.api.guard import CALLER
from argus.core.errors import ArgusError, Code
from argus.ops import OPERATIONS, Operation
from argus.ops.caller import Caller, Scope
from argus.ops.house import House

_CALLERS = 256
_READ = 30.0
"""Seconds in which a body has to arrive: a client that drips holds nothing for longer."""


def routes(house: House) -> list[Route]:
    # A house is a value, so callers that come again find theirs standing.
    asked_by = lru_cache(maxsize=_CALLERS)(house.asked_by)
    # Starlette tries one route after the other: what agents report with every step comes first.
    return [_route(one, asked_by) for one in sorted(OPERATIONS, key=lambda one: one.scope is not Scope.REPORT)]


def _route(one: Operation, asked_by: Callable[[Caller], House]) -> Route:
    async def endpoint(request: Request) -> Response:
        values = await _values(one, request)
        answer = await one.call(asked_by(request.scope[CALLER]), values)
        return json_response(answer.model_dump(mode="json", by_alias=True), one.status)

    return Route(one.path, endpoint, methods=[one.method], name=one.name)


async def _values(one: Operation, request: Request) -> dict[str, Any]:
    """Path, then query or body; a field that is given twice is an error, not a guess."""
    given = dict(request.path_params)
    if one.method == "GET":
        for key in request.query_params:
            values = request.query_params.getlist(key)
            if len(values) > 1 or key in given:
                raise ArgusError(Code.INVALID_REQUEST, f"{key[:100]}: given more than once", field=key[:100])
            given[key] = values[0]
        return given
    for key, value in (await _body(request)).items():
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


async def _body(request: Request) -> dict[str, Any]:
    try:
        async with asyncio.timeout(_READ):
            raw = await request.body()
    except TimeoutError:
        raise ArgusError(Code.INVALID_REQUEST, f"the body did not arrive within {_READ:g} s") from None
    except ClientDisconnect:
        raise ArgusError(Code.INVALID_REQUEST, "the client left before its body was whole") from None
    if not raw:
        return {}
    try:
        # As bytes they would be read in the encodings that json guesses at: JSON over HTTP is UTF-8.
        body = json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ArgusError(Code.INVALID_REQUEST, f"the body is not JSON: {str(error)[:200]}") from None
    if not isinstance(body, dict):
        raise ArgusError(Code.INVALID_REQUEST, "the body is a JSON object")
    return body
