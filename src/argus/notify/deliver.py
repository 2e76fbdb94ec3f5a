"""Delivery from the journal, a reader per channel with a saved position: an outage of the channel loses nothing.

The position is marked as `sending` before a message leaves and moved after. Killed between the two, nobody knows
whether it arrived; it is sent once more and says so, because a lost alarm is worse than a repeated one.

What may not go out yet (quiet hours, a digest, too many at once) is kept as a list of events beside the position,
written with it, and goes out as one message when it may.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from argus.core.backoff import Backoff
from argus.core.clock import Clock, rfc3339
from argus.core.events import Draft, Event
from argus.core.failpoints import Place, reach
from argus.loops import keep_running, log
from argus.notify import pace
from argus.notify.digest import together
from argus.notify.message import INFORMATIVE, Message
from argus.notify.render import render
from argus.notify.settings import Channel
from argus.store.interface import Store
from argus.store.records import Append, Cursor, Document, PutCursor, PutDocument, Write

DOMAIN = "notify"
_TIMEOUT = 30.0
_BACKOFF = Backoff(base=1.0, cap=300.0)
_SKIPPED = 200
"""Events passed over without a message before the position is saved: not every event is worth a write."""
_HELD = 10_000
"""Messages that may wait at once; beyond, what waits goes out as it is."""
_UNCONFIRMED = "\n\n(an earlier try was not confirmed; this may be a repetition)"
_LOOK = 60.0
"""Seconds after which the wall clock is looked at again: it may have been set."""


class Sender(Protocol):
    async def send(self, url: str, title: str, body: str, *, timeout: float) -> bool: ...


class Deliveries:
    def __init__(self, channels: tuple[Channel, ...], store: Store, sender: Sender, clock: Clock) -> None:
        self._channels = channels
        self._store = store
        self._sender = sender
        self._clock = clock
        self._readers: dict[Channel, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    def configure(self, channels: tuple[Channel, ...]) -> None:
        """Other channels: new ones hear what happens from now on, those that are gone hear nothing more."""
        self._channels = channels
        self._changed.set()

    async def past_the_record(self, message: Message) -> None:
        """Only that the record is away: all else is told from it. Returns when every channel for it has taken it.
        Nobody notes that, so an Argus that is started meanwhile tells it again."""
        async with asyncio.TaskGroup() as group:
            for channel in self._channels:
                if message.tier in channel.tiers:
                    group.create_task(self._press(channel, message))

    async def _press(self, channel: Channel, message: Message) -> None:
        attempt, remark = 0, ""
        while not await _taken(self._sender, channel, message.title, message.body + remark):
            attempt, remark = attempt + 1, _UNCONFIRMED
            await asyncio.sleep(_BACKOFF.delay(attempt))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                await self._end(set(self._readers) - set(self._channels))
                for channel in self._channels:
                    if channel not in self._readers:
                        reader = partial(self._follow, channel)
                        task = keep_running(f"notify.{label(channel)}", reader, self._store)
                        self._readers[channel] = group.create_task(task)
                await self._changed.wait()

    async def _end(self, channels: set[Channel]) -> None:
        """Two readers of one URL, an old and a new one with other tiers, must not both move its position."""
        ended = [self._readers.pop(channel) for channel in channels]
        for reader in ended:
            reader.cancel()
        if ended:
            await asyncio.wait(ended)

    async def _follow(self, channel: Channel) -> None:
        await _Reader(channel, self._store, self._sender, self._clock).run()


@dataclass(frozen=True, slots=True)
class _Waiting:
    event: Event
    message: Message
    due: float


class _Reader:
    """One channel on its way through the journal."""

    def __init__(self, channel: Channel, store: Store, sender: Sender, clock: Clock) -> None:
        self._channel = channel
        self._store = store
        self._sender = sender
        self._clock = clock
        self._name = f"notify:{label(channel)}"
        self._n = self._saved = self._interrupted = 0
        self._waiting: list[_Waiting] = []
        self._sent: deque[float] = deque(maxlen=channel.rate_limit.messages)

    async def run(self) -> None:
        await self._restore()
        while True:
            if self._waiting and (len(self._waiting) >= _HELD or self._next_due() <= self._clock.wall()):
                await self._release()
            await self._news()
            for event in await self._store.events(self._n):
                await self._take(event)
            if self._n - self._saved >= _SKIPPED:
                await self._save()

    async def _restore(self) -> None:
        cursor = await self._store.cursor(self._name)
        if cursor is None:
            # A new channel hears what happens from now on, not the whole past.
            cursor = Cursor(self._name, (await self._store.span())[1])
            await self._store.commit(PutCursor(cursor))
        self._n = self._saved = cursor.n
        self._interrupted = cursor.sending
        for document in await self._store.documents(DOMAIN):
            if document.id == self._name:
                for n in document.data.get("waiting", ()):
                    for event in await self._store.events(int(n) - 1, limit=1):
                        self._wait_with(event)

    async def _news(self) -> None:
        """Returns when there is an event, or when what waits may go."""
        left = max(0.0, min(self._next_due() - self._clock.wall(), _LOOK)) if self._waiting else None
        try:
            async with asyncio.timeout(left):
                await self._store.wait(self._n)
        except TimeoutError:
            return

    def _next_due(self) -> float:
        return min(one.due for one in self._waiting)

    async def _take(self, event: Event) -> None:
        message = render(event)
        if message is None or message.tier not in self._channel.tiers:
            self._n = event.n
        elif event.n == self._interrupted or self._due(event, message) <= self._clock.wall():
            await self._deliver([(event, message)], event.n)
        else:
            self._wait_with(event)
            self._n = event.n
            await self._save(*self._held(event, message))

    def _wait_with(self, event: Event) -> None:
        message = render(event)
        if message is not None:
            self._waiting.append(_Waiting(event, message, self._due(event, message)))

    def _due(self, event: Event, message: Message) -> float:
        now = self._clock.wall()
        return pace.due(self._channel, message.tier, event.timestamp / 1000, now, list(self._sent))

    async def _release(self) -> None:
        """What waited goes out as one message, and with it whatever waits for no other reason than it did."""
        now = self._clock.wall()
        tier = max((one.message.tier for one in self._waiting if one.due <= now), default=INFORMATIVE)
        going = [one for one in self._waiting if one.message.tier <= tier]
        await self._deliver([(one.event, one.message) for one in going], self._n)

    async def _deliver(self, going: list[tuple[Event, Message]], n: int) -> None:
        message, last = self._together(going), going[-1][0]
        await self._store.commit(PutCursor(Cursor(self._name, self._n, sending=last.n)))
        reach(Place.MESSAGE_MARKED)
        repeated = last.n == self._interrupted
        remark = "\n\n(Argus was interrupted; this may be a repetition)" if repeated else ""
        attempt = 0
        while not await _taken(self._sender, self._channel, message.title, message.body + remark):
            attempt += 1
            remark = _UNCONFIRMED
            if attempt == 1:
                await self._store.commit(Append(self._draft("notification_delayed", going, message, attempts=1)))
            await asyncio.sleep(_BACKOFF.delay(attempt))
            message = self._together(going)  # it is later now
        reach(Place.MESSAGE_SENT)
        gone = {event.n for event, _ in going}
        left = [one for one in self._waiting if one.event.n not in gone]
        sent = Append(self._draft("notification_sent", going, message, attempts=attempt + 1))
        within = self._within(going, sent.draft)
        await self._store.commit(PutCursor(Cursor(self._name, n)), *self._document(left), sent, *within)
        self._n = self._saved = n
        self._waiting = left
        self._sent.append(self._clock.wall())
        # What still waits may have to wait longer now.
        self._waiting = [replace(one, due=max(one.due, self._due(one.event, one.message))) for one in left]

    def _together(self, going: list[tuple[Event, Message]]) -> Message:
        now = self._clock.wall()
        happened = [event.timestamp / 1000 for event, _ in going]
        # What it says of how long ago something was is counted to now, not to when it happened or began to wait.
        return together([render(event, now) or message for event, message in going], happened, now)

    async def _save(self, *more: Write) -> None:
        await self._store.commit(PutCursor(Cursor(self._name, self._n)), *self._document(self._waiting), *more)
        self._saved = self._n

    def _held(self, event: Event, message: Message) -> list[Write]:
        """For the story of its incident: why nobody was told at once."""
        if not event.data.get("incident"):
            return []
        now, waiting = self._clock.wall(), self._waiting[-1]
        data = self._about(event, message)
        data |= {"why": pace.why(self._channel, message.tier, now, list(self._sent)), "until": rfc3339(waiting.due)}
        return [Append(Draft("notify", "notification_held", self._name, data))]

    def _document(self, waiting: list[_Waiting]) -> list[Write]:
        if not waiting and not self._waiting:
            return []
        data = {"waiting": [one.event.n for one in waiting]}
        return [PutDocument(Document(DOMAIN, self._name, data, live=bool(waiting)))]

    def _draft(self, type: str, going: list[tuple[Event, Message]], message: Message, *, attempts: int) -> Draft:
        data = self._about(going[0][0], message)
        data |= {"attempts": attempts, **({"messages": len(going)} if len(going) > 1 else {})}
        return Draft("notify", type, self._name, data)

    def _about(self, event: Event, message: Message) -> dict[str, Any]:
        data = {"channel": self._name, "about": event.id, "tier": message.tier, "title": message.title}
        if event.data.get("incident"):
            data["incident"] = event.data["incident"]
        return data

    def _within(self, going: list[tuple[Event, Message]], sent: Draft) -> list[Append]:
        """One message may tell of several incidents: each of the others has it in its story too."""
        first = sent.data.get("incident")
        others = {one.data.get("incident"): (one, message) for one, message in reversed(going)}
        more = {"attempts": sent.data["attempts"], "messages": len(going)}
        return [
            Append(Draft("notify", "notification_included", self._name, {**self._about(event, message), **more}))
            for incident, (event, message) in reversed(others.items())
            if incident and incident != first
        ]


async def _taken(sender: Sender, channel: Channel, title: str, body: str) -> bool:
    url, name = channel.url.get_secret_value(), label(channel)
    try:
        return await sender.send(url, title, body, timeout=_TIMEOUT)
    except TimeoutError:
        log.warning("the channel %s did not take a message within %g s", name, _TIMEOUT)
        return False
    except Exception:  # noqa: BLE001 - a plug-in for somebody's service may fail in any way; it is tried again
        log.exception("the channel %s failed", name)
        return False


def label(channel: Channel) -> str:
    """Names a channel without its secrets, the same at every start."""
    url = channel.url.get_secret_value()
    return f"{url.partition('://')[0]}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"
