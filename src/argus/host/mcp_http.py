"""MCP by streamable HTTP, with bounds and with what the SDK does not tell of the answers. See `mcp_client`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client

from argus.host.mcp_seam import LARGEST

Streams = tuple[Any, Any]
_CONNECT = 10.0
_FAREWELL = 1.0
_MARK = f"the answer was larger than {LARGEST // 2**20} MiB"


class Wire:
    """What was seen of the answers."""

    def __init__(self) -> None:
        self.status = 0
        """The last that was no success."""
        self.is_forgotten = False
        """The session was named, and not found."""

    def see(self, request: httpx2.Request, response: httpx2.Response) -> None:
        if request.method == "POST" and response.status_code >= 400:
            self.status = response.status_code
            self.is_forgotten |= response.status_code == 404 and MCP_SESSION_ID in request.headers

    @staticmethod
    def is_too_large(message: str) -> bool:
        return _MARK in message or "Server-sent event exceeded" in message


@contextlib.asynccontextmanager
async def by_http(url: str, headers: Mapping[str, str], wire: Wire) -> AsyncIterator[Streams]:
    client = httpx2.AsyncClient(
        # Nothing is unpacked: a small answer could become a large one.
        headers={"accept-encoding": "identity", **headers},
        # Whoever calls has a deadline of its own; a server may be silent for long.
        timeout=httpx2.Timeout(None, connect=_CONNECT),
        transport=_Bounded(wire),
    )
    async with client, streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST) as streams:
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # A session that is given back: nobody waits for that for long.
        async with asyncio.timeout(_FAREWELL if request.method == "DELETE" else None):
            response = await self._inner.handle_async_request(request)
        self._wire.see(request, response)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise httpx2.RemoteProtocolError("it sent something packed, which it was asked not to")
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        if not is_stream:
            response.stream = _Counted(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._inner:
            count += len(piece)
            if count > LARGEST:
                raise httpx2.StreamError(_MARK)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
