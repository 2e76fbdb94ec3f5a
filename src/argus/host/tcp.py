"""Connecting, and saying why it did not work."""

from __future__ import annotations

import asyncio
import errno
import ssl
import time
from collections.abc import Callable
from typing import TypeVar

from argus.host.deadlines import Deadlines
from argus.host.dns import Resolver
from argus.host.seam import Failure, ProbeFailed

P = TypeVar("P", bound=asyncio.BaseProtocol)


async def open_connection(
    addresses: list[str],
    protocol: Callable[[], P],
    host: str,
    port: int,
    *,
    tls: ssl.SSLContext | None = None,
) -> tuple[asyncio.Transport, P]:
    """The first address that accepts. The caller holds the deadline."""
    loop = asyncio.get_running_loop()
    failed: ProbeFailed | None = None
    for address in addresses:
        try:
            name = host.strip("[]") if tls else None
            transport, made = await loop.create_connection(protocol, address, port, ssl=tls, server_hostname=name)
        except ssl.SSLError as error:
            raise ProbeFailed(Failure.TLS, f"TLS failure: {error.reason or error}") from None
        except OSError as error:
            # The first address's reason is the one to report: localhost is 127.0.0.1 before it is ::1.
            failed = failed or ProbeFailed(reason(error), reason(error).value)
        else:
            return transport, made
    raise failed or ProbeFailed(Failure.DNS, f"{host} has no address")


_OURS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL}


def reason(error: OSError) -> Failure:
    """Why it did not work."""
    if error.errno in _OURS:
        return Failure.OURS
    if isinstance(error, ConnectionRefusedError):
        return Failure.REFUSED
    if isinstance(error, TimeoutError) or error.errno == errno.ETIMEDOUT:
        return Failure.TIMEOUT
    if isinstance(error, ConnectionResetError | BrokenPipeError):
        return Failure.CLOSED
    return Failure.UNREACHABLE


async def connect(resolver: Resolver, deadlines: Deadlines, host: str, port: int, *, timeout: float) -> float:
    began = time.perf_counter()  # the loop's own clock counts in milliseconds
    addresses = await resolver.addresses(host, port, timeout=timeout)
    left = max(0.0, timeout - (time.perf_counter() - began))
    try:
        with deadlines.within(left):
            transport, _ = await open_connection(addresses, asyncio.Protocol, host, port)
    except TimeoutError:
        raise ProbeFailed(Failure.TIMEOUT, f"no connection within {timeout:g} s") from None
    # Nothing was said, so there is nothing to flush; abort frees the socket at once.
    transport.abort()
    return time.perf_counter() - began
