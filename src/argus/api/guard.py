"""The door: Host, Origin, token, type and size of every request, before anything else looks at it."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from argus.api.answers import Errors
from argus.api.tokens import Tokens
from argus.core.clock import Clock
from argus.core.errors import ArgusError, Code
from argus.ops.caller import Caller

BODY_LIMIT = 1024 * 1024
COOKIE = "argus_session"
_LOGIN_SECONDS = 300.0
SESSION_SECONDS = 30 * 86400
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_OPEN = frozenset({"/healthz", "/", "/login", "/app.js", "/style.css", "/favicon.svg"})
_LONGEST_HOST = 300
"""A name has at most 253 characters, and then comes a port."""
CALLER = "argus.caller"
"""Where the request's scope says who asks; missing where nobody has to say."""
_TOKEN, _CLI, _PAGE = (Caller(by, is_person=True) for by in ("token", "cli", "page"))
STREAMED = frozenset({"/mcp/stdio"})
"""A body that goes on for as long as the connection does; its lines are bounded where they are read."""


@dataclass
class Keys:
    """Who may come in: the root token, those made with it, links that work once, and the sessions they became."""

    token: str
    clock: Clock
    tokens: Tokens = field(init=False)
    _links: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tokens = Tokens(self.token)

    def link(self) -> str:
        now = self.clock.monotonic()
        self._links = {code: until for code, until in self._links.items() if until > now}
        code = secrets.token_urlsafe(24)
        self._links[code] = now + _LOGIN_SECONDS
        return code

    def redeem(self, code: str) -> str | None:
        """A session for a link that is good, once."""
        until = self._links.pop(code, 0.0)
        if until <= self.clock.monotonic():
            return None
        return self.tokens.make_session(self.clock.wall() + SESSION_SECONDS)

    def who(self, headers: Mapping[str, str]) -> Caller | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given = given.strip()
            if hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
                return _CLI if headers.get("user-agent") == "argus-cli" else _TOKEN
            return self.tokens.read(given)
        session = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        if session and self.tokens.is_session(session, self.clock.wall()):
            return _PAGE
        return None


class Guard:
    def __init__(self, app: ASGIApp, *, keys: Keys, errors: Errors, host: str) -> None:
        self._app = app
        self._keys = keys
        self._errors = errors
        self._host = host.strip("[]").lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = _fields(scope)
            self._check_host(scope, headers)
            self._check_origin(headers)
            if scope["path"] not in _OPEN:
                scope[CALLER] = self._check_token(headers)
            self._check_body(scope, headers)
        except ArgusError as error:
            await self._errors.response(error)(scope, receive, send)
            return
        # Of a body that said its size the server lets no more through.
        is_bounded = "content-length" in headers or scope["path"] in STREAMED
        await self._app(scope, receive if is_bounded else _Limited(receive), send)

    def _check_host(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """A page of another site whose name was made to point at loopback sends its own name here."""
        given = headers.get("host", "")
        given_once = [name for name, _ in scope["headers"]].count(b"host") == 1
        name = _host_name(given) if given_once and len(given) <= _LONGEST_HOST else ""
        if name and (name in _LOOPBACK or name == self._host):
            return
        if self._host not in _LOOPBACK and _is_address(name):
            return
        raise ArgusError(Code.MISDIRECTED, f"Argus does not answer to the host {given[:100]!r}", host=given[:100])

    def _check_origin(self, headers: Mapping[str, str]) -> None:
        origin = headers.get("origin")
        if origin is None:
            return
        parts = urlsplit(origin) if _splits(origin) else None
        own = headers.get("host", "")
        if parts is None or parts.scheme not in ("http", "https") or parts.netloc.lower() != own.lower():
            raise ArgusError(Code.FORBIDDEN, f"requests from {origin[:100]!r} are not taken", origin=origin[:100])

    def _check_token(self, headers: Mapping[str, str]) -> Caller:
        who = self._keys.who(headers)
        if who is None:
            given = "wrong" if headers.get("authorization") else "missing"
            raise ArgusError(Code.UNAUTHORIZED, f"the token is {given}")
        return who

    def _check_body(self, scope: Scope, headers: Mapping[str, str]) -> None:
        if scope["method"] in ("GET", "HEAD", "OPTIONS") or scope["path"] in STREAMED:
            return
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > BODY_LIMIT:
            raise _too_large()
        has_body = length not in ("", "0") or "transfer-encoding" in headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if has_body and headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise ArgusError(Code.UNSUPPORTED_TYPE, "a body is sent as it is, not compressed")
        if has_body and kind != "application/json":
            raise ArgusError(
                Code.UNSUPPORTED_TYPE, f"a body is application/json, not {kind[:100] or 'untyped'}", type=kind[:100]
            )


def _too_large() -> ArgusError:
    return ArgusError(Code.TOO_LARGE, "the body has more than 1 MiB", limit=BODY_LIMIT)


def _fields(scope: Scope) -> dict[str, str]:
    """The headers; of a name that is given twice, the first. The door asks for many, and each look-up in Starlette's
    own goes through all of them."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}


@lru_cache(maxsize=64)
def _host_name(given: str) -> str:
    """The name in a Host header; empty when it is none. Hardly anybody sends more than one or two of them."""
    return (urlsplit(f"//{given}").hostname or "") if _splits(given) and "\\" not in given else ""


def _splits(text: str) -> bool:
    try:
        urlsplit(f"//{text}").hostname  # noqa: B018 - brackets that do not match raise here
        urlsplit(text)
    except ValueError:
        return False
    return True


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class _Limited:
    """Counts a body that did not say its size."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > BODY_LIMIT:
            raise _too_large()
        return message
