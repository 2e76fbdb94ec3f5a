"""Look-ups in threads of their own.

The default executor has few threads, and a stuck look-up cannot be cancelled: six of them would stop all DNS and
everything else that uses that executor. Here they can only starve each other, and the caller's deadline still holds.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor

from argus.host.seam import Failure, ProbeFailed

_THREADS = 32


class Resolver:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="argus-dns")

    async def addresses(self, host: str, port: int) -> list[str]:
        """Numeric addresses, in the order to try them."""
        try:
            return [str(ipaddress.ip_address(host.strip("[]")))]
        except ValueError:
            pass
        # A server on loopback listens on 127.0.0.1 far more often than on ::1; no look-up is needed to know the name.
        if host.lower() == "localhost":
            return ["127.0.0.1", "::1"]
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, _look_up, host, port)
        except (OSError, UnicodeError) as error:
            raise ProbeFailed(Failure.DNS, f"cannot resolve {host}: {error}") from None
        return found

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
