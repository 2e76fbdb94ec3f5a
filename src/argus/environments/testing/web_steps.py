"""Steps over HTTP: a request with its answer, and a stream of events."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from argus.core.errors import Code
from argus.environments.testing import sse
from argus.environments.testing.model import Expect, Request, Sse
from argus.environments.testing.results import Failure
from argus.environments.testing.seeing import Failed, Seen, parsed
from argus.environments.testing.showing import shown
from argus.environments.testing.variables import written
from argus.environments.testing.world import World
from argus.host.web import MOST, Call

_WHOLE = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_KEPT = 1024 * 1024
"""Bytes of a stream that are kept as they came, for what is no stream of events."""


def joined(base: str | None, path: str) -> str:
    if _WHOLE.match(path):
        return path
    if not base:
        said = f"{path!r} is a path, and there is no base_url that it could be under"
        raise Failed(Failure(said, "base_url", code=Code.CONFIG_INVALID.value))
    return f"{base.rstrip('/')}/{path.lstrip('/')}"


def call(step: Request | Sse, url: str) -> Call:
    headers, body = dict(step.headers), step.body
    kind = next((one for name, one in headers.items() if name.lower() == "content-type"), "")
    if body is None:
        data = None
    elif isinstance(body, str):
        data = body.encode("utf-8", "replace")
        headers |= {} if kind else {"Content-Type": "text/plain; charset=utf-8"}
    elif "x-www-form-urlencoded" in kind and isinstance(body, dict):
        data = urlencode({name: written(one) for name, one in body.items()}).encode()
    else:
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers |= {} if kind else {"Content-Type": "application/json"}
    return Call(url, step.method, headers, data)


async def request(step: Request, expect: Expect | None, world: World) -> Seen:
    url = joined(world.base_url, step.url or step.path or "/")
    # Who expects to be sent elsewhere wants to see that, and not what is there.
    follow = not any(300 <= one < 400 for one in (expect.status or () if expect else ()))
    reply = await world.web.ask(call(step, url), timeout=step.timeout, follow=follow)
    text = decoded(reply.body, reply.headers)
    return Seen(
        status=reply.status,
        headers=reply.headers,
        body=body_of(text, reply.headers),
        milliseconds=reply.seconds * 1000,
        output=text,
        cut=f"the body is cut after {MOST} bytes" if reply.is_cut else "",
    )


def decoded(body: bytes, headers: Mapping[str, str]) -> str:
    charset = headers.get("content-type", "").lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def body_of(text: str, headers: Mapping[str, str]) -> Any:
    """JSON where the server says so, or it looks so; text where it is not; null where there is none."""
    if not text:
        return None
    is_json = "json" in headers.get("content-type", "").lower() or text.lstrip()[:1] in ("{", "[")
    return parsed(text) if is_json else text


async def events(step: Sse, expect: Expect | None, world: World) -> Seen:
    url, reader, began = joined(world.base_url, step.url), sse.Reader(), time.perf_counter()
    wanted = expect.events if expect else None
    headers = (
        step.headers
        if any(name.lower() == "accept" for name in step.headers)
        else {
            **step.headers,
            "Accept": "text/event-stream",
        }
    )
    asked = call(step.model_copy(update={"headers": headers}), url)
    status, answered, is_late, text = 0, {}, False, bytearray()
    try:
        async with asyncio.timeout(step.timeout):
            async with world.web.listen(asked) as stream:
                status, answered = stream.status, dict(stream.headers)
                while not reader.is_full and not sse.is_enough(reader.events, wanted):
                    piece = await stream.piece()
                    if not piece:
                        reader.end()
                        break
                    text += piece[: _KEPT - len(text)]
                    reader.take(piece)
    except TimeoutError:
        is_late = True
    if not status:
        raise Failed(Failure(f"no answer within {step.timeout:g} s", "sse"))
    if status >= 400 and (expect is None or expect.status is None):
        said = text.decode("utf-8", "replace")
        raise Failed(Failure(f"expected a stream of events, got {status}", "status", 200, shown(said) or status))
    notes = [f"ended after {step.timeout:g} s"] if is_late else []
    return Seen(
        status=status,
        headers=answered,
        body=parsed(text.decode("utf-8", "replace")),
        milliseconds=(time.perf_counter() - began) * 1000,
        output=text.decode("utf-8", "replace"),
        events=tuple(reader.events),
        cut="there was more than is kept" if reader.is_full else "",
        notes=tuple(notes),
    )
