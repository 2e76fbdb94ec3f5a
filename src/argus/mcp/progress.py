"""What the work of one call does, as MCP progress: in words, at most a few times a second, the newest first of all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from argus.core.steps import PASSING, TEXTS, said
from argus.live import listening
from argus.loops import log

Report = Callable[[float, str], Awaitable[None]]
"""How far, and in which words."""

_TEXTS = {**TEXTS, **PASSING}
_EVERY = 0.25
"""Seconds between two reports. What is told between them is counted, and only the newest of it is said."""
_STILL = 10.0
"""Seconds of silence after which it is said again, with how long it has taken: clients give up on who says nothing."""
_LAST = 1.0
"""Seconds for what was told at the very end. A client that does not read is not waited for longer."""
_LONGEST = 500


async def _nobody(steps: float, text: str) -> None:
    pass


@contextlib.asynccontextmanager
async def reported(report: Report, clean: Callable[[Any], Any]) -> AsyncIterator[None]:
    """For the length of the block. `clean` takes secrets out of what is told."""
    reporter = _Reporter(report, clean)
    telling = asyncio.ensure_future(reporter.run())
    try:
        with listening(reporter.hear):
            yield
        await reporter.finish()
    finally:
        reporter.close()
        telling.cancel()


class _Reporter:
    def __init__(self, report: Report, clean: Callable[[Any], Any]) -> None:
        self.is_over = False
        """Some tasks that the work began outlive it, and go on telling."""
        self._report = report
        self._clean = clean
        self._began = asyncio.get_running_loop().time()
        self._steps = 0
        self._told: tuple[str, Mapping[str, Any]] | None = None
        self._news = asyncio.Event()
        self._sending = asyncio.Lock()

    def hear(self, channel: str, type: str, data: Mapping[str, Any]) -> None:
        """Called by the work itself, so nothing is made of it here."""
        name = f"{channel}:{type}"
        if name in _TEXTS and not self.is_over:
            self._steps += 1
            self._told = name, data
            self._news.set()

    def close(self) -> None:
        # Who outlives the work still knows this reporter: it must not hold the connection for them.
        self.is_over, self._told, self._report = True, None, _nobody

    async def run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_STILL):
                    await self._news.wait()
            except TimeoutError:
                self._steps += 1
                seconds = asyncio.get_running_loop().time() - self._began
                await self._send(f"{self._words() or 'under way'} (after {seconds:.0f} s)")
            else:
                await self._send(self._words())
                await asyncio.sleep(_EVERY)

    async def finish(self) -> None:
        if self._news.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST):
                    await self._send(self._words())

    async def _send(self, text: str) -> None:
        # One after the other: the count must not go back.
        async with self._sending:
            self._news.clear()
            if not text or self.is_over:
                return
            try:
                await self._report(self._steps, text[:_LONGEST])
            except Exception as error:  # noqa: BLE001 - whoever asked has gone: the work does not end with this
                log.debug("progress could not be told: %r", error)
                self.is_over = True

    def _words(self) -> str:
        return said(self._told[0], self._clean(dict(self._told[1])), _TEXTS).strip() if self._told else ""
