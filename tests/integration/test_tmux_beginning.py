"""A person's tmux begins while Argus looks for it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import uvloop
from tests.acceptance.harness import DEADLINE
from tests.tmux_server import TmuxServer

from argus.host.children import Children
from argus.host.panes import PanesFailed, Who
from argus.host.tmux import Tmux
from argus.host.tmux_panes import TmuxPanes

_WATCHERS, _TIMES = 3, 12


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
