"""What is worth seeing and not worth recording: single readings and reports. It goes to who looks, and is gone.

The journal holds changes of state; at hundreds of readings a second it could hold nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from argus.core.clock import Clock, milliseconds
from argus.core.events import Channel
from argus.core.redact import Redactor

_KEPT = 1000
"""What may wait for one reader; of a slow one's the oldest go."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    channel: Channel
    type: str
    data: Mapping[str, Any]


Heard = Callable[[Channel, str, Mapping[str, Any]], None]
"""Channel, type and data of an event."""

_listener: ContextVar[Heard | None] = ContextVar("listener", default=None)


def overhear(channel: Channel, type: str, data: Mapping[str, Any]) -> None:
    """For who waits for this very work, whatever else tells of the same kind of thing at the same time."""
    heard = _listener.get()
    if heard is not None:
        heard(channel, type, data)


@contextlib.contextmanager
def listening(heard: Heard) -> Iterator[None]:
    """Hears what is told in this task, and in those that it begins. Some of these may outlive it."""
    token = _listener.set(heard)
    try:
        yield
    finally:
        _listener.reset(token)


class Feed:
    """One reader's share."""

    def __init__(self) -> None:
        self._waiting: deque[Glimpse] = deque(maxlen=_KEPT)
        self._news = asyncio.Event()

    def put(self, glimpse: Glimpse) -> None:
        self._waiting.append(glimpse)
        self._news.set()

    def take(self) -> list[Glimpse]:
        self._news.clear()
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    async def wait(self) -> None:
        await self._news.wait()


class Live:
    def __init__(self, clock: Clock, redactor: Redactor) -> None:
        self._clock = clock
        self._redactor = redactor
        self._feeds: list[Feed] = []

    @property
    def is_watched(self) -> bool:
        """Asked before anything is made to be shown: with nobody looking, showing costs nothing."""
        return bool(self._feeds)

    def show(self, channel: Channel, type: str, data: Mapping[str, Any]) -> None:
        overhear(channel, type, data)
        if not self._feeds:
            return
        clean = self._redactor.value(data)
        glimpse = Glimpse(channel, type, {"type": type, **clean, "timestamp": milliseconds(self._clock.wall())})
        for feed in self._feeds:
            feed.put(glimpse)

    @contextlib.contextmanager
    def open(self) -> Iterator[Feed]:
        feed = Feed()
        self._feeds.append(feed)
        try:
            yield feed
        finally:
            self._feeds.remove(feed)
