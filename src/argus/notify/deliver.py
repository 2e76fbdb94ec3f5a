"""Delivery from the journal, a reader per channel with a saved position: an outage of the channel loses nothing.

The position is marked as `sending` before a message leaves and moved after. Killed between the two, nobody knows
whether it arrived; it is sent once more and says so, because a lost alarm is worse than a repeated one.
"""

from __future__ import annotations

import asyncio
import hashlib
from functools import partial
from typing import Protocol

from argus.core.backoff import Backoff
from argus.core.events import Draft, Event
from argus.core.failpoints import Place, reach
from argus.loops import keep_running, log
from argus.notify.message import Message
from argus.notify.render import render
from argus.notify.settings import Channel
from argus.store.interface import Store
from argus.store.records import Append, Cursor, PutCursor

_TIMEOUT = 30.0
_BACKOFF = Backoff(base=1.0, cap=300.0)
_SKIPPED = 200
"""Events passed over without a message before the position is saved: not every event is worth a write."""


class Sender(Protocol):
    async def send(self, url: str, title: str, body: str, *, timeout: float) -> bool: ...


class Deliveries:
    def __init__(self, channels: tuple[Channel, ...], store: Store, sender: Sender) -> None:
        self._channels = channels
        self._store = store
        self._sender = sender
        self._readers: dict[Channel, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    def configure(self, channels: tuple[Channel, ...]) -> None:
        """Other channels: new ones hear what happens from now on, those that are gone hear nothing more."""
        self._channels = channels
        self._changed.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                await self._end(set(self._readers) - set(self._channels))
                for channel in self._channels:
                    if channel not in self._readers:
                        reader = keep_running(f"notify.{label(channel)}", partial(self._follow, channel), self._store)
                        self._readers[channel] = group.create_task(reader)
                await self._changed.wait()

    async def _end(self, channels: set[Channel]) -> None:
        """Two readers of one URL, an old and a new one with other tiers, must not both move its position."""
        ended = [self._readers.pop(channel) for channel in channels]
        for reader in ended:
            reader.cancel()
        if ended:
            await asyncio.wait(ended)

    async def _follow(self, channel: Channel) -> None:
        name = f"notify:{label(channel)}"
        cursor = await self._store.cursor(name)
        if cursor is None:
            # A new channel hears what happens from now on, not the whole past.
            cursor = Cursor(name, (await self._store.span())[1])
            await self._store.commit(PutCursor(cursor))
        n, interrupted, saved = cursor.n, cursor.sending, cursor.n
        while True:
            await self._store.wait(n)
            for event in await self._store.events(n):
                message = render(event)
                if message is not None and message.tier in channel.tiers:
                    await self._deliver(channel, name, n, event, message, repeated=event.n == interrupted)
                    saved = event.n
                n = event.n
            if n - saved >= _SKIPPED:
                await self._store.commit(PutCursor(Cursor(name, n)))
                saved = n

    async def _deliver(
        self, channel: Channel, name: str, before: int, event: Event, message: Message, *, repeated: bool
    ) -> None:
        await self._store.commit(PutCursor(Cursor(name, before, sending=event.n)))
        reach(Place.MESSAGE_MARKED)
        body = f"{message.body}\n\n(Argus was interrupted; this may be a repetition)" if repeated else message.body
        attempt = 0
        while not await self._sent(channel, message.title, body):
            attempt += 1
            body = f"{message.body}\n\n(an earlier try was not confirmed; this may be a repetition)"
            if attempt == 1:
                await self._note(name, "notification_delayed", event, message)
            await asyncio.sleep(_BACKOFF.delay(attempt))
        reach(Place.MESSAGE_SENT)
        draft = _draft(name, "notification_sent", event, message, attempts=attempt + 1)
        await self._store.commit(PutCursor(Cursor(name, event.n)), Append(draft))

    async def _sent(self, channel: Channel, title: str, body: str) -> bool:
        try:
            return await self._sender.send(channel.url.get_secret_value(), title, body, timeout=_TIMEOUT)
        except TimeoutError:
            log.warning("the channel %s did not take a message within %g s", label(channel), _TIMEOUT)
            return False
        except Exception:  # noqa: BLE001 - a plug-in for somebody's service may fail in any way; it is tried again
            log.exception("the channel %s failed", label(channel))
            return False

    async def _note(self, name: str, type: str, event: Event, message: Message) -> None:
        await self._store.commit(Append(_draft(name, type, event, message, attempts=1)))


def _draft(name: str, type: str, event: Event, message: Message, *, attempts: int) -> Draft:
    data = {"channel": name, "about": event.id, "tier": message.tier, "title": message.title, "attempts": attempts}
    if "incident" in event.data:
        data["incident"] = event.data["incident"]
    return Draft("notify", type, name, data)


def label(channel: Channel) -> str:
    """Names a channel without its secrets, the same at every start."""
    url = channel.url.get_secret_value()
    return f"{url.partition('://')[0]}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"
