"""Look-ups in threads of their own.

The default executor has few threads, and a stuck look-up cannot be cancelled: six of them would stop all DNS and
everything else that uses that executor. Here a name is looked up once at a time, an answer holds for a while, and who
had to wait for a thread of ours learns nothing about the name instead of something wrong.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from argus.host.seam import Failure, ProbeFailed

_THREADS = 64
_HOLDS = 30.0
_KEPT = 10_000
_LOOPBACK_NAMES = frozenset({"localhost", "ip6-localhost", "ip6-loopback"})


def look_up(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ProbeFailed(Failure.DNS, f"cannot resolve {host}: {error}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@functools.lru_cache(_KEPT)
def _written_out(host: str) -> tuple[str, ...]:
    """The addresses that a name says itself, without a look-up; none for any other name."""
    try:
        return (str(ipaddress.ip_address(host.strip("[]"))),)
    except ValueError:
        # A server on loopback listens on 127.0.0.1 far more often than on ::1; nobody has to be asked for the name.
        return ("127.0.0.1", "::1") if host.lower() == "localhost" else ()


class Resolver:
    def __init__(self, *, look_up: Callable[[str, int], list[str]] = look_up, threads: int = _THREADS) -> None:
        self._look_up = look_up
        self._most = threads
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="argus-dns")
        self._under_way: dict[str, asyncio.Future[list[str]]] = {}
        self._known: dict[str, tuple[float, list[str]]] = {}

    async def addresses(self, host: str, port: int, *, timeout: float) -> list[str]:
        """Numeric addresses, in the order to try them. Raises ProbeFailed, within the timeout."""
        said = _written_out(host)
        if said:
            return list(said)
        found = self._known.get(host)
        if found is not None and found[0] > time.monotonic():
            return found[1]
        pending = self._under_way.get(host)
        if pending is None:
            if len(self._under_way) >= self._most:
                raise ProbeFailed(Failure.OURS, f"{self._most} look-ups are stuck; {host} could not be looked up")
            pending = self._begin(host, port)
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.shield(pending)
        except TimeoutError:
            raise ProbeFailed(Failure.DNS, f"{host} was not resolved within {timeout:g} s") from None

    def _begin(self, host: str, port: int) -> asyncio.Future[list[str]]:
        pending = asyncio.get_running_loop().run_in_executor(self._threads, self._look_up, host, port)
        self._under_way[host] = pending
        pending.add_done_callback(lambda done: self._ended(host, done))
        return pending

    def _ended(self, host: str, done: asyncio.Future[list[str]]) -> None:
        self._under_way.pop(host, None)
        if not done.cancelled() and done.exception() is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[host] = (time.monotonic() + _HOLDS, done.result())

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def is_this_machine(host: str) -> bool:
    """Whether a host is loopback, however it is written: 127.1, 0x7f.1 and 2130706433 are 127.0.0.1 too."""
    name = host.lower().strip("[]").rstrip(".")
    if name in _LOOPBACK_NAMES or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(socket.inet_ntoa(socket.inet_aton(name)))
    except OSError:
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or address.is_unspecified or bool(mapped and mapped.is_loopback)
