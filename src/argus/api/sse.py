"""The journal as server-sent events. The event's id is its place in the journal, so a reader resumes where it was."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from argus.api.answers import Errors
from argus.core.clock import Clock, milliseconds
from argus.core.errors import ArgusError, Code
from argus.core.events import CHANNELS, Event, Position
from argus.live import Feed, Glimpse, Live
from argus.store.interface import Store

_KEEP_ALIVE = 5.0
"""Seconds: of one that is stopped its readers, such as the page, know only that it is silent."""
_BATCH = 500
_AGAIN = 1.0
"""Seconds until a store that could not be read is asked again."""
_STUCK = 20.0
"""Seconds in which a reader has to take what was sent; one that does not is dropped and resumes by itself."""
_READERS = 200
_RENDERED = 2048
"""Events that are kept as they go out; readers that follow ask for the same ones."""
_PRUNED = "the position is older than what is kept"
_QUERY = frozenset({"channel", "after", "last", "follow", "live"})


class EventStream:
    def __init__(self, store: Store, live: Live, clock: Clock, errors: Errors, stopping: asyncio.Event) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._errors = errors
        self._stopping = stopping
        self._readers = 0
        self._rendered: dict[int, bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            if request.method != "GET":
                raise ArgusError(Code.METHOD_NOT_ALLOWED, "events are read with GET", allow="GET")
            start, reset = await self._start(request)
            channel = _channel(request.query_params.get("channel"))
            follow = _flag(request, "follow", default=True)
            live = _flag(request, "live", default=False) and follow
            # Counted without a pause after the question: else all who come at once are let in.
            if follow and self._readers >= _READERS:
                raise ArgusError(Code.CONFLICT, f"{_READERS} readers follow the events already", limit=_READERS)
            self._readers += follow
        except ArgusError as error:
            await self._errors.response(error)(scope, receive, send)
            return
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
        watching = self._live.open() if live else contextlib.nullcontext()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            with watching as feed:
                await self._send(self._chunks(request, start, reset, channel, follow, feed), send)
        except (TimeoutError, OSError):
            return  # it stopped reading or went away; its last id lets it resume
        finally:
            self._readers -= follow

    def _wire(self, event: Event) -> bytes:
        """Rendered once, however many readers there are."""
        rendered = self._rendered.get(event.n)
        if rendered is None:
            if len(self._rendered) >= _RENDERED:
                self._rendered.clear()
            # json.dumps leaves no line break in the text, so no value can end the event or begin another.
            text = f"id: {event.id}\nevent: {event.name}\ndata: {json.dumps(event.public())}\n\n"
            rendered = self._rendered[event.n] = text.encode()
        return rendered

    async def _send(self, chunks: AsyncIterator[bytes], send: Send) -> None:
        async for chunk in chunks:
            async with asyncio.timeout(_STUCK):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _start(self, request: Request) -> tuple[int, str | None]:
        """After which number to begin, and why the reader's own position is of no use."""
        unknown = set(request.query_params) - _QUERY
        if unknown:
            raise ArgusError(Code.INVALID_REQUEST, f"unknown parameter {sorted(unknown)[0][:100]!r}")
        for key in request.query_params:
            if len(request.query_params.getlist(key)) > 1:
                raise ArgusError(Code.INVALID_REQUEST, f"{key}: given more than once", field=key)
        # All of them are read, also those that another one goes before: what is wrong is said, not passed over.
        after = _position(request.query_params.get("after"))
        position = _position(request.headers.get("last-event-id")) or after
        last = request.query_params.get("last", "0")
        if not (last.isascii() and last.isdecimal() and len(last) <= 5 and int(last) <= 10_000):
            raise ArgusError(Code.INVALID_REQUEST, "last is a number from 0 to 10000")
        oldest, newest = await self._store.span()
        if position is not None:
            if position.epoch != self._store.epoch or position.n > newest:
                return max(0, oldest - 1), "the position belongs to another store"
            if position.n < oldest - 1:
                return oldest - 1, _PRUNED
            return position.n, None
        if last == "0":
            return max(0, newest), None
        # Counted, not subtracted: PostgreSQL leaves numbers out when a commit or the server fails.
        kept = await self._store.last_events(int(last))
        return (kept[0].n - 1 if kept else max(0, newest)), None

    async def _chunks(
        self, request: Request, n: int, reset: str | None, channel: str | None, follow: bool, feed: Feed | None
    ) -> AsyncIterator[bytes]:
        # Some clients show nothing before the first byte; the comment also tells proxies that this is a stream.
        yield b": argus\n\n"
        if reset:
            yield self._reset(n, reset)
        gone = asyncio.ensure_future(_gone(request))
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            while not gone.done() and not stop.done():
                try:
                    events = await self._store.events(n, limit=_BATCH)
                    # A number that is missing never was, or was pruned while this reader was on its way to it.
                    missing = events and events[0].n > n + 1
                    oldest = (await self._store.span())[0] if missing else 0
                except ArgusError as error:
                    if not follow or error.code is not Code.STORE_UNAVAILABLE:
                        raise
                    # Who follows is kept: a browser that is refused once does not come back.
                    await asyncio.wait({gone, stop}, timeout=_AGAIN, return_when="FIRST_COMPLETED")
                    continue
                if n < oldest - 1:
                    n = oldest - 1
                    yield self._reset(n, _PRUNED)
                    continue
                if events:
                    n = events[-1].n
                    wanted = [event for event in events if channel is None or event.channel == channel]
                    if wanted:
                        yield b"".join(map(self._wire, wanted))
                    continue
                if not follow:
                    return
                seen = [one for one in feed.take() if channel in (None, one.channel)] if feed else []
                if seen:
                    yield b"".join(_glimpse(one) for one in seen)
                    continue
                waits = {asyncio.ensure_future(self._store.wait(n))}
                waits |= {asyncio.ensure_future(feed.wait())} if feed else set()
                done, _ = await asyncio.wait({*waits, gone, stop}, timeout=_KEEP_ALIVE, return_when="FIRST_COMPLETED")
                for one in waits:
                    one.cancel()
                if not done:
                    yield b": still here\n\n"
        finally:
            gone.cancel()
            stop.cancel()

    def _reset(self, n: int, reason: str) -> bytes:
        data = {"type": "reset", "reason": reason, "timestamp": milliseconds(self._clock.wall())}
        return f"id: {self._store.epoch}-{n}\nevent: reset\ndata: {json.dumps(data)}\n\n".encode()


def _glimpse(glimpse: Glimpse) -> bytes:
    # No id: a reader that resumes resumes in the journal, and this is not in it.
    return f"event: {glimpse.channel}:{glimpse.type}\ndata: {json.dumps(glimpse.data)}\n\n".encode()


def _position(given: str | None) -> Position | None:
    position = Position.parse(given) if given else None
    if given and position is None:
        raise ArgusError(Code.INVALID_REQUEST, f"{given[:100]!r} is not an event's id", id=given[:100])
    return position


def _channel(given: str | None) -> str | None:
    if given is None or given in CHANNELS:
        return given
    message = f"there is no channel {given[:100]!r}; there are: {', '.join(CHANNELS)}"
    raise ArgusError(Code.INVALID_REQUEST, message, channel=given[:100], known=[*CHANNELS])


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _flag(request: Request, name: str, *, default: bool) -> bool:
    given = request.query_params.get(name)
    if given is None:
        return default
    if given not in ("true", "false"):
        raise ArgusError(Code.INVALID_REQUEST, f"{name} is true or false")
    return given == "true"
