"""One suite over the fake MCP server and a real one, by pipes and by streamable HTTP in both its ways of answering."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import uvloop
from tests.acceptance.harness import DEADLINE, eventually, free_port, is_alive

from argus.host.children import Children
from argus.host.leftovers import Leftovers
from argus.host.mcp_opener import McpOpener
from argus.host.mcp_seam import (
    CannotStart,
    Closed,
    Died,
    Forgotten,
    NotMcp,
    Opener,
    Reach,
    Reply,
    Session,
    TooLarge,
    Unreachable,
)
from argus.host.piped import Pipes
from argus.testing import FakeMcp, SimulatedLoop

PEER = Path(__file__).parent.parent / "mcp_peer.py"
Play = Callable[[Callable[[Opener], Awaitable[None]]], None]


class Peer:
    """The tests' own server, by HTTP."""

    def __init__(self, port: int, *more: str) -> None:
        self._command = [sys.executable, str(PEER), str(port), *more]
        self.reach = Reach(url=f"http://127.0.0.1:{port}/mcp")
        self._port = port
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(self._listens, "the server listens")

    def _listens(self) -> bool:
        import socket

        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self._port)) == 0

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def play_on(make: Callable[[ExitStack], Opener], loop: Any) -> Play:
    def run(scene: Callable[[Opener], Awaitable[None]]) -> None:
        async def whole() -> None:
            with ExitStack() as stack:
                async with asyncio.timeout(DEADLINE):
                    await scene(make(stack))

        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(whole())

    return run


def real(stack: ExitStack) -> Opener:
    leftovers = Leftovers()
    pipes = Pipes(Children(), leftovers)
    stack.callback(leftovers.close)
    stack.callback(pipes.close)
    return McpOpener(pipes)


@pytest.fixture
def play() -> Play:
    return play_on(real, uvloop.new_event_loop)


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, Reach]]:
    peers = {"http, as a stream": Peer(free_port()), "http, as JSON": Peer(free_port(), "--json")}
    yield {name: one.reach for name, one in peers.items()}
    for one in peers.values():
        one.end()


def program(**environ: str) -> Reach:
    return Reach((sys.executable, str(PEER)), "/", {**os.environ, **environ})


@pytest.fixture(params=["fake", "pipes", "http, as a stream", "http, as JSON"])
def world(request: pytest.FixtureRequest, addresses: dict[str, Reach]) -> tuple[Play, Reach]:
    if request.param == "fake":
        return play_on(lambda stack: FakeMcp(), SimulatedLoop), Reach(("fake",))
    return play_on(real, uvloop.new_event_loop), addresses.get(request.param) or program()


def text(reply: Reply) -> str:
    return str(reply.content[0]["text"])


async def cancelled(session: Session) -> int:
    return int(text(await session.call("seen", {})).split()[0])


def test_a_session_is_asked_and_answers(world: tuple[Play, Reach]) -> None:
    play, reach = world

    async def scene(opener: Opener) -> None:
        session = await opener.open(reach)
        tools = {one.name: one for one in await session.tools()}
        assert tools["add"].input_schema["required"] == ["a", "b"]
        added = await session.call("add", {"a": 1, "b": 2})
        assert (text(added), added.structured, added.is_error) == ("3", {"sum": 3}, False)
        assert (await session.call("refuse", {})).is_error
        slow = asyncio.ensure_future(session.call("sleep", {"n": 0.5}))
        assert text(await session.call("add", {"a": 2, "b": 2})) == "4"
        assert not slow.done()
        await slow
        # More than is taken: said, and the session goes on; who else waits is not disturbed.
        large, small = await asyncio.gather(
            session.call("bytes", {"n": 50_000_000}), session.call("sleep", {"n": 0.1}), return_exceptions=True
        )
        assert isinstance(large, TooLarge)
        assert isinstance(small, Reply)
        before = await cancelled(session)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.call("hang", {}), 0.5)
        async with asyncio.timeout(DEADLINE):
            # It is told, and hears of it when it does.
            while await cancelled(session) == before:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        under_way = asyncio.ensure_future(session.call("hang", {}))
        await asyncio.sleep(0.2)
        assert session.is_open
        await session.close()
        assert not session.is_open
        with pytest.raises(Closed):
            await under_way

    play(scene)


def test_a_program_that_dies_says_how_and_leaves_nothing(play: Play, tmp_path: Path) -> None:
    async def scene(opener: Opener) -> None:
        session = await opener.open(program())
        with pytest.raises(Died, match="exit status 7") as died:
            await session.call("die", {})
        assert died.value.said.startswith("dying")
        assert not session.is_open

    play(scene)


def test_a_program_ends_with_its_session_although_it_does_not_listen(play: Play, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    deaf = Reach(("sh", "-c", f"echo $$ > {note}; sleep 1000 & wait"), "/", dict(os.environ))

    async def scene(opener: Opener) -> None:
        opening = asyncio.ensure_future(opener.open(deaf))
        await asyncio.to_thread(eventually, lambda: note.exists() and note.read_text(), "it runs")
        opening.cancel()
        await asyncio.wait({opening})
        assert opening.cancelled()
        eventually(lambda: not is_alive(int(note.read_text())), "the program has ended")

    play(scene)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("/no/such/program",), CannotStart),
        (("sh", "-c", "echo hello; cat"), NotMcp),
        (("sh", "-c", "echo broken >&2; exit 3"), Died),
    ],
    ids=["there is none", "it speaks something else", "it ends at once"],
)
def test_what_does_not_greet_is_told_apart(play: Play, command: tuple[str, ...], kind: type[Unreachable]) -> None:
    async def scene(opener: Opener) -> None:
        with pytest.raises(kind) as failed:
            async with asyncio.timeout(3.0 if kind is NotMcp else DEADLINE):
                await opener.open(Reach(command, "/", dict(os.environ)))
        assert type(failed.value) is kind

    play(scene)


def test_an_address_that_nobody_answers_at_and_a_server_that_came_back_are_told_apart(play: Play) -> None:
    port = free_port()

    async def scene(opener: Opener) -> None:
        with pytest.raises(Unreachable) as nobody:
            await opener.open(Reach(url=f"http://127.0.0.1:{port}/mcp"))
        assert type(nobody.value) is Unreachable
        peer = Peer(port)
        try:
            session, other = await opener.open(peer.reach), await opener.open(peer.reach)
            with pytest.raises(Unreachable):
                await session.call("die", {})
            await session.close()
            peer.end()
            peer.start()
            with pytest.raises(Forgotten):
                await other.call("add", {"a": 1, "b": 2})
            await other.close()
            wrong = Reach(url=f"http://127.0.0.1:{port}/elsewhere")
            with pytest.raises(Unreachable, match="404"):
                await opener.open(wrong)
        finally:
            peer.end()

    play(scene)
