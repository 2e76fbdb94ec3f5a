"""Hears of new events, whoever wrote them: by NOTIFY, and by looking now and then should one get lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

from argus.store import postgres_queries as queries
from argus.store.postgres_opening import DEADLINE, connect, unavailable

log = logging.getLogger("argus")
_LOOK = 5.0
_AGAIN = 0.5
"""Seconds until a lost connection is made anew."""


class Tail:
    def __init__(self, url: str, newest: int) -> None:
        self._url = url
        self._newest = newest
        self._changed = asyncio.Event()
        self._closed = False
        self._lost = False

    def see(self, n: int) -> None:
        """Numbers appear in their order, so the highest says all; word of it may come late or twice."""
        if n > self._newest:
            self._newest = n
            self._wake()

    async def wait(self, after: int) -> None:
        while self._newest <= after:
            if self._closed:
                raise unavailable("the store is closed")
            await self._changed.wait()

    def close(self) -> None:
        self._closed = True
        self._wake()

    async def run(self) -> None:
        while True:
            try:
                await self._listen()
            except Exception as error:  # noqa: BLE001 - whatever it was, readers still want to hear of what is new
                if not self._lost:
                    log.warning("events of other writers are not heard of: %s", type(error).__name__)
                self._lost = True
            await asyncio.sleep(_AGAIN)

    async def _listen(self) -> None:
        gone = asyncio.Event()
        db = await connect(self._url)
        try:
            db.add_termination_listener(lambda _: gone.set())
            async with asyncio.timeout(DEADLINE):
                await db.add_listener(queries.CHANNEL, self._heard)
            while not gone.is_set():
                # After LISTEN: what was committed before it is seen here, and what comes after it is heard.
                async with asyncio.timeout(DEADLINE):
                    self.see((await queries.span(db))[1])
                if self._lost:
                    log.warning("events of other writers are heard of again")
                    self._lost = False
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK):
                        await gone.wait()
        finally:
            db.terminate()

    def _heard(self, db: Any, pid: int, channel: str, payload: str) -> None:
        # Anybody who may connect may send on the channel.
        if payload.isascii() and payload.isdecimal() and len(payload) <= 18:
            self.see(int(payload))

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
