"""An http service against a real server."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from argus.host.machine import MachineHost
from argus.services.checks import HttpService
from argus.services.model import Status

PASSWORD = "canary-of-a-url"


async def status_with(url: str, **keys: Any) -> tuple[Status, str]:
    """What the check sees of a server that lets only user `me` with the password in."""
    wanted = b"Basic " + base64.b64encode(f"me@home:{PASSWORD}/1".encode())

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        is_let_in = b"\r\nAuthorization: " + wanted + b"\r\n" in asked and asked.count(b"uthorization") == 1
        writer.write(b"HTTP/1.1 %s X\r\nContent-Length: 0\r\n\r\n" % (b"200" if is_let_in else b"401"))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    host = MachineHost()
    try:
        url = url.format(port=server.sockets[0].getsockname()[1])
        one = HttpService.model_validate({"name": "a", "type": "http", "url": url, "expectStatus": 200, **keys})
        assert not [text for text in (repr(one), one.url, one.place) if PASSWORD in text or base64_of(wanted) in text]
        seen = await one.probe(host)
        return seen.status, seen.detail
    finally:
        host.close()
        server.close()


def base64_of(header: bytes) -> str:
    return header.partition(b" ")[2].decode()


@pytest.mark.parametrize(
    ("url", "keys", "status"),
    [
        pytest.param(f"http://me%40home:{PASSWORD}%2F1@127.0.0.1:{{port}}/x", {}, Status.UP, id="in-the-url"),
        pytest.param("http://127.0.0.1:{port}/x", {}, Status.DOWN, id="nowhere"),
        pytest.param("http://me@127.0.0.1:{port}/x", {}, Status.DOWN, id="without-the-password"),
        pytest.param(
            f"http://me%40home:{PASSWORD}%2F1@127.0.0.1:{{port}}/x",
            {"headers": {"authorization": "Bearer other"}},
            Status.DOWN,
            id="a-header-goes-before",
        ),
    ],
)
async def test_credentials_in_a_url_are_sent_as_basic_authorization(url: str, keys: dict[str, Any], status: Status):
    assert (await status_with(url, **keys))[0] is status
