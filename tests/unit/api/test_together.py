"""An answer's head and body go out together; nothing waits for long, and nothing is lost or out of order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from argus.api.server import Together


class Line:
    """A transport that notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def writelines(self, some: Iterable[bytes]) -> None:
        self.calls.append(b"".join(some))

    def close(self) -> None:
        self.calls.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.calls


def made() -> tuple[Line, Together]:
    line = Line()
    return line, Together(line, asyncio.get_running_loop())  # type: ignore[arg-type]


async def test_a_head_and_the_body_that_comes_at_once_are_one_write() -> None:
    line, connection = made()
    connection.write(b"head;")
    connection.write(b"body")
    await asyncio.sleep(0)
    assert line.calls == [b"head;body"]


async def test_a_head_alone_goes_out_in_the_next_turn() -> None:
    line, connection = made()
    connection.write(b"head;")
    assert line.calls == []
    await asyncio.sleep(0)
    connection.write(b"event")
    await asyncio.sleep(0)
    assert line.calls == [b"head;", b"event"]


async def test_of_many_pieces_no_more_than_one_waits_and_their_order_stays() -> None:
    line, connection = made()
    for number in range(5):
        connection.write(b"%d" % number)
        assert number - len(b"".join(one for one in line.calls if isinstance(one, bytes))) < 1
    await asyncio.sleep(0)
    assert line.calls == [b"01", b"23", b"4"]


async def test_who_closes_has_said_all_before() -> None:
    line, connection = made()
    connection.write(b"head;")
    connection.close()
    await asyncio.sleep(0)
    assert line.calls == [b"head;", "closed"]
    assert connection.is_closing()
