"""Sending a message out of the house, by Apprise, in a thread of its own with a deadline."""

from __future__ import annotations

import asyncio
import importlib.util
from concurrent.futures import ThreadPoolExecutor


def available() -> bool:
    return importlib.util.find_spec("apprise") is not None


def understood(url: str) -> bool:
    """Whether Apprise knows what to do with it. Imports Apprise, which takes a while: once, at start, where used."""
    import apprise

    return apprise.Apprise.instantiate(url, suppress_exceptions=True) is not None


class AppriseSender:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="argus-notify")

    async def send(self, url: str, title: str, body: str, *, timeout: float) -> bool:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(timeout):
            return await loop.run_in_executor(self._threads, _send, url, title, body)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _send(url: str, title: str, body: str) -> bool:
    import apprise

    channel = apprise.Apprise.instantiate(url)
    if not channel:
        return False
    # Its own four seconds are short: a receiver that takes longer gets the message, and then gets it again.
    channel.socket_connect_timeout, channel.socket_read_timeout = 10.0, 25.0
    return bool(channel.notify(body=body, title=title))
