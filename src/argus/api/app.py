"""The application: routes, and the door in front of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from argus.api import metrics, openapi, rest
from argus.api.answers import Errors, json_response
from argus.api.docs import page as docs_page
from argus.api.guard import CALLER, COOKIE, SESSION_SECONDS, Guard, Keys
from argus.api.mcp_door import McpDoor
from argus.api.paths import Segments
from argus.api.sse import EventStream
from argus.core.errors import ArgusError, Code
from argus.loops import log
from argus.ops.caller import Scope
from argus.ops.house import House

_STATIC = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/favicon.svg": ("favicon.svg", "image/svg+xml"),
}
_PAGE_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    # No text can become markup or a program, not even by a mistake of the page itself.
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class Api:
    app: ASGIApp
    mcp: McpDoor


class _Reading:
    """An endpoint that is no operation: whoever uses it may read. Starlette takes a class's instance as ASGI."""

    def __init__(self, handle: Callable[[Connection, Receive, Send], Any]) -> None:
        self._handle = handle

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        scope[CALLER].require(Scope.READ)
        await self._handle(scope, receive, send)


def build(house: House, keys: Keys, errors: Errors, stopping: asyncio.Event, host: str) -> Api:
    door = McpDoor(house, errors, stopping)
    routes: list[BaseRoute] = [
        *rest.routes(house),
        *(_static(path, name, kind) for path, (name, kind) in _STATIC.items()),
        Route("/healthz", _health(house)),
        Route("/login", _login(keys, errors)),
        Route("/openapi.json", _Reading(_answer(lambda: json_response(openapi.document()))), methods=["GET"]),
        Route("/docs", _Reading(_answer(lambda: HTMLResponse(docs_page(), headers=_PAGE_HEADERS))), methods=["GET"]),
        Route(
            "/metrics",
            _Reading(_answer(lambda: Response(metrics.text(house), media_type=metrics.TYPE))),
            methods=["GET"],
        ),
        Route("/api/events", _Reading(EventStream(house.store, house.live, house.clock, errors, stopping))),
        Route("/mcp", _Reading(door.http)),
        Route("/mcp/stdio", _Reading(door.stdio), methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers=_handlers(errors))
    app.router.redirect_slashes = False
    return Api(Segments(Guard(app, keys=keys, errors=errors, host=host)), door)


def _answer(make: Callable[[], Response]) -> Callable[[Connection, Receive, Send], Any]:
    async def endpoint(scope: Connection, receive: Receive, send: Send) -> None:
        await make()(scope, receive, send)

    return endpoint


def _static(path: str, name: str, kind: str) -> Route:
    body = resources.files("argus.api").joinpath("static", name).read_bytes()

    def endpoint(request: Request) -> Response:
        return Response(body, headers=_PAGE_HEADERS, media_type=kind)

    return Route(path, endpoint)


def _health(house: House) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return json_response({"status": "ok", "version": house.facts.version})

    return endpoint


def _login(keys: Keys, errors: Errors) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        if request.method != "GET":
            # Whoever looks whether a link is good must not use it up.
            return errors.response(ArgusError(Code.METHOD_NOT_ALLOWED, "a link is opened with GET", allow="GET"))
        session = keys.redeem(request.query_params.get("code", ""))
        if session is None and "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("/?link=over", 303)  # the page says who is logged in, and how one gets there
        if session is None:
            return errors.response(
                ArgusError(Code.UNAUTHORIZED, "the link was used or is too old: argus open makes a new one")
            )
        response = RedirectResponse("/", 303)
        response.set_cookie(COOKIE, session, max_age=SESSION_SECONDS, httponly=True, samesite="strict", path="/")
        return response

    return endpoint


def _allowed(request: Request) -> str:
    """What this path takes: of all its routes, where Starlette names those of the first."""
    found = (route for route in request.app.routes if isinstance(route, Route))
    methods = {
        one for route in found if route.matches(request.scope)[0] is not Match.NONE for one in route.methods or ()
    }
    return ", ".join(sorted(methods))


def _handlers(errors: Errors) -> dict[Any, Any]:
    async def of_argus(request: Request, error: ArgusError) -> Response:
        return errors.response(error)

    async def of_http(request: Request, error: HTTPException) -> Response:
        path = request.url.path[:200]
        if error.status_code == 405:
            allowed = _allowed(request)
            return errors.response(
                ArgusError(Code.METHOD_NOT_ALLOWED, f"{request.method} is not for {path}; {allowed} is", allow=allowed)
            )
        return errors.response(ArgusError(Code.NOT_FOUND, f"there is nothing at {path}", path=path))

    async def of_ours(request: Request, error: Exception) -> Response:
        log.error("a request to %s failed", request.url.path, exc_info=error)
        return errors.response(ArgusError(Code.INTERNAL_ERROR, f"the request failed: {type(error).__name__}"))

    return {ArgusError: of_argus, HTTPException: of_http, Exception: of_ours}
