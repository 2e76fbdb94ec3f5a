"""A person's tmux begins, gets new sessions, or ends, while Argus looks into it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import uvloop
from tests.acceptance.harness import DEADLINE
from tests.tmux_server import TmuxServer

from argus.host.children import Children
from argus.host.panes import Look, PanesFailed, Who
from argus.host.tmux import Session, Tmux
from argus.host.tmux_panes import TmuxPanes

_WATCHERS, _TIMES = 3, 12
_AT_ONCE, _ROUNDS = 4, 25


def test_a_server_that_begins_while_it_is_looked_for_is_not_brought_down(tmp_path: Path) -> None:
    """tmux 3.3a crashes when a client attaches before its first session is there."""
    server = TmuxServer(tmp_path)
    children = Children()

    async def watch() -> None:
        panes = TmuxPanes(children, Tmux(children))
        try:
            while True:
                with suppress(PanesFailed):
                    await panes.find(server.socket, "work", Who(), timeout=DEADLINE)
        finally:
            panes.close()

    async def play() -> list[str]:
        watching = [asyncio.ensure_future(watch()) for _ in range(_WATCHERS)]
        found = []
        for _ in range(_TIMES):
            await asyncio.to_thread(server.start, "work", "sleep 60")
            found.append((await asyncio.to_thread(server.run, "display-message", "-p", "#{session_name}")).strip())
            await asyncio.to_thread(server.end)
        for one in watching:
            one.cancel()
        await asyncio.wait(watching)
        return found

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(play()) == ["work"] * _TIMES


def test_a_server_that_ends_while_it_is_looked_into_is_gone_and_not_out_of_order(tmp_path: Path) -> None:
    server = TmuxServer(tmp_path)
    children = Children()

    async def play() -> None:
        for _ in range(_ROUNDS):
            await asyncio.to_thread(server.start, "work", "sleep 60")
            panes = TmuxPanes(children, Tmux(children))
            looking = [asyncio.ensure_future(_find(panes, server.socket)) for _ in range(_AT_ONCE)]
            await asyncio.to_thread(server.end)
            assert {len(found) for found in await asyncio.gather(*looking)} <= {0, 1}
            panes.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(play())


async def _find(panes: TmuxPanes, socket: str) -> list[Look]:
    return await panes.find(socket, "work", Who(), timeout=DEADLINE)


def test_sessions_that_argus_begins_while_it_attaches_do_not_bring_their_server_down(tmp_path: Path) -> None:
    """What waited for something that is back is started, and who sits there is told of it, in the same moment."""
    server = TmuxServer(tmp_path)
    server.start("work", "sleep 60")
    began = server.run("display-message", "-p", "#{pid}")
    children = Children()

    async def look() -> None:
        panes = TmuxPanes(children, Tmux(children))
        try:
            assert await panes.find(server.socket, "work", Who(), timeout=DEADLINE)
        finally:
            panes.close()

    async def begin(name: str) -> None:
        # By objects of their own, as the launcher's is.
        await Tmux(children).start(Session(server.socket, name, str(tmp_path)), ["sleep", "60"], timeout=DEADLINE)

    async def play() -> None:
        for one in range(_ROUNDS):
            await asyncio.gather(look(), *(begin(f"agent-{one}-{n}") for n in range(_AT_ONCE)))

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(play())
        assert server.run("display-message", "-p", "#{pid}") == began != ""
    finally:
        server.end()
