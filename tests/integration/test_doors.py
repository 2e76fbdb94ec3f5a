"""Doors for mocks on real sockets: how large the head of a request may be."""

import asyncio
import contextlib

import pytest

from argus.host.doors import Came, Door, Goes

KIB = 1024


async def answer(came: Came) -> Goes:
    return Goes(200, [], str(len(came.body)).encode())


async def asked(port: int, *pieces: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        with contextlib.suppress(OSError):
            await writer.drain()
    said = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
    writer.close()
    return said


@pytest.mark.parametrize(
    ("padding", "body", "status"),
    [(10, 0, b"200"), (60 * KIB, 0, b"200"), (10, 200 * KIB, b"200"), (70_000, 0, b"431"), (70_000, 500, b"431")],
)
@pytest.mark.parametrize("is_whole", [True, False])
async def test_a_head_of_more_than_64_kib_is_refused_however_it_comes_and_a_body_does_not_count(
    unused_tcp_port: int, padding: int, body: int, status: bytes, is_whole: bool
) -> None:
    door = await Door.open([("127.0.0.1", unused_tcp_port)], answer)
    try:
        head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\nx-a: %s\r\n\r\n" % (body, b"a" * padding)
        whole = head + b"b" * body
        pieces = [whole] if is_whole else [whole[n : n + 4096] for n in range(0, len(whole), 4096)]
        assert (await asked(unused_tcp_port, *pieces)).split()[1] == status
        assert (await asked(unused_tcp_port, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")).split()[1] == b"200"
    finally:
        await door.close()


async def test_a_head_without_end_is_refused(unused_tcp_port: int) -> None:
    door = await Door.open([("127.0.0.1", unused_tcp_port)], answer)
    try:
        assert (await asked(unused_tcp_port, b"GET / HTTP/1.1\r\nx-a: " + b"a" * 66_000)).split()[1] == b"431"
    finally:
        await door.close()
