"""One suite over the fake panes and tmux's, so that the fake cannot lie. tmux is asked on both loops."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvloop
from tests.acceptance.harness import DEADLINE
from tests.tmux_server import TmuxServer, noted

from argus.host.children import Children
from argus.host.identity import Identity
from argus.host.panes import Key, Look, Panes, Who
from argus.host.tmux import Tmux
from argus.host.tmux_panes import TmuxPanes
from argus.testing import FakePane, FakePanes, SimulatedLoop

LOOPS: dict[str, Any] = {"fake": SimulatedLoop, "tmux-on-uvloop": uvloop.new_event_loop}
ANYONE = Who()


class World:
    """Panes with an agent in the session `work`."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.real = None if kind == "fake" else TmuxServer(folder)
        self.socket = self.real.socket if self.real else "socket"
        self._children = Children() if self.real else None
        self._fake = FakePane("work")
        if self.real and self._children:
            self._file = self.real.agent("work")
            self.panes: Panes = TmuxPanes(self._children, Tmux(self._children))
        else:
            self.panes = FakePanes(self._fake)

    async def look(self, who: Who = ANYONE) -> Look:
        (found,) = await self.panes.find(self.socket, "work", who, timeout=DEADLINE)
        return found

    async def shows(self, text: str) -> Look:
        async with asyncio.timeout(DEADLINE):
            while True:
                look = await self.look()
                if text in look.lines[look.cursor[1]]:
                    return look
                await asyncio.sleep(0.02)

    async def submitted(self, count: int) -> list[str]:
        async with asyncio.timeout(DEADLINE):
            while True:
                found = noted(self._file) if self.real else self._fake.submitted
                if len(found) >= count:
                    return found
                await asyncio.sleep(0.02)

    def person_types(self, text: str) -> None:
        if self.real:
            self.real.keys("work", "-l", text)
            self.real.shows("work", text)
        else:
            self._fake.typed += text

    def copy_mode(self) -> None:
        if self.real:
            self.real.run("copy-mode", "-t", "=work:")
        else:
            self._fake.in_mode = True

    def end_session(self) -> None:
        if self.real:
            self.real.run("kill-session", "-t", "=work")
        else:
            self._fake.gone = True

    def another_server(self) -> None:
        if self.real:
            self.real.end()
            self.real.agent("work")
        else:
            self._fake.gone = True
            self.panes.panes.append(FakePane("work", pid=1999))  # type: ignore[attr-defined]

    def close(self) -> None:
        if isinstance(self.panes, TmuxPanes) and self._children and self.real:
            self.panes.close()
            self.real.end()


Test = Callable[[World], Awaitable[None]]


@pytest.fixture(params=["fake", "tmux", "tmux-on-uvloop"])
def world_run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Test], None]:
    kind = request.param

    def run(test: Test) -> None:
        async def within() -> None:
            world = World(kind, tmp_path)
            try:
                await test(world)
            finally:
                world.close()
                await asyncio.sleep(0.05)  # the client's end is reaped by the loop

        with asyncio.Runner(loop_factory=LOOPS.get(kind)) as runner:
            runner.run(within())

    return run


def on_both(test: Test) -> Callable[[Callable[[Test], None]], None]:
    def wrapped(world_run: Callable[[Test], None]) -> None:
        world_run(test)

    wrapped.__name__ = test.__name__  # type: ignore[attr-defined]
    wrapped.__doc__ = inspect.getdoc(test)
    return wrapped


@on_both
async def test_only_the_session_of_exactly_that_name_is_found(world: World) -> None:
    found = [await world.panes.find(world.socket, name, ANYONE, timeout=DEADLINE) for name in ("wor", "work2", "w*")]
    assert found == [[], [], []]
    assert (await world.look()).place.session == "work"


@on_both
async def test_nothing_is_found_under_a_name_that_tmux_would_read_something_into(world: World) -> None:
    for name in ("", "work:", "work:0.0", "%0", "$0", "=work", "work\nkill-server", "a" * 1000):
        assert await world.panes.find(world.socket, name, ANYONE, timeout=DEADLINE) == [], name
    assert await world.look()


@on_both
async def test_a_look_shows_the_rows_the_cursor_and_whose_pane_it_is(world: World) -> None:
    look = await world.look()
    assert len(look.lines) == look.rows == 10
    assert look.columns == 80
    assert look.lines[look.cursor[1]].startswith(">")
    assert look.cursor[0] == 2
    assert look.agent is not None
    assert look.agent == look.leader
    assert (look.dead, look.in_mode, look.agent.stopped) == (False, False, False)
    again = await world.panes.look(look.place, Who(agent=look.agent.who), timeout=DEADLINE)
    assert again == look


@on_both
async def test_a_pane_is_the_agents_only_if_it_is_that_process_or_has_that_name(world: World) -> None:
    agent = (await world.look()).agent
    assert agent is not None
    other = replace(agent.who, started="another time")
    assert (await world.look(Who(agent=other))).agent is None
    assert (await world.look(Who(agent=Identity(1, "1")))).agent is None
    assert (await world.look(Who(names=frozenset({"claude"})))).agent is None
    assert (await world.look(Who(names=frozenset({agent.name})))).agent == agent


@on_both
async def test_a_text_is_pasted_literally_and_submitted_by_a_key_of_its_own(world: World) -> None:
    text = "-n Enter 'a' \"b\" $HOME ~ #{pid} \\n \\; é€😀 {x} %1\nC-c;"
    assert await world.panes.paste(await world.look(), text, timeout=DEADLINE)
    look = await world.shows("C-c;")
    assert await world.panes.press(look, Key.ENTER, timeout=DEADLINE)
    assert await world.submitted(1) == [text]


@on_both
async def test_nothing_is_done_once_somebody_has_typed(world: World) -> None:
    before = await world.look()
    world.person_types("abc")
    assert not await world.panes.paste(before, "ours", timeout=DEADLINE)
    assert not await world.panes.press(before, Key.ENTER, timeout=DEADLINE)
    look = await world.shows("abc")
    assert look.lines[look.cursor[1]].rstrip() == "> abc"
    assert await world.panes.press(look, Key.ENTER, timeout=DEADLINE)
    assert await world.submitted(1) == ["abc"]


@on_both
async def test_a_key_is_pressed_only_while_the_rows_that_were_seen_stand_there(world: World) -> None:
    world.person_types("may I: run #{pid}, 50% é€ {x}?")
    look = await world.shows("may I")
    row = look.lines[look.cursor[1]]
    assert not await world.panes.press(look, Key.ENTER, timeout=DEADLINE, shows=[row, "may I: run everything?"])
    assert (await world.look()).lines == look.lines
    assert await world.panes.press(look, Key.ENTER, timeout=DEADLINE, shows=[row, *["may I: run #{pid}, 50%"] * 11])
    assert await world.submitted(1) == ["may I: run #{pid}, 50% é€ {x}?"]


@on_both
async def test_nothing_is_done_in_copy_mode(world: World) -> None:
    before = await world.look()
    world.copy_mode()
    assert (await world.look()).in_mode
    assert not await world.panes.press(before, Key.ENTER, timeout=DEADLINE)
    assert not await world.panes.paste(before, "ours", timeout=DEADLINE)


@on_both
async def test_a_pane_that_is_gone_is_not_found_and_not_typed_into(world: World) -> None:
    before = await world.look()
    world.end_session()
    assert await world.panes.find(world.socket, "work", ANYONE, timeout=DEADLINE) == []
    assert await world.panes.look(before.place, ANYONE, timeout=DEADLINE) is None
    assert not await world.panes.paste(before, "ours", timeout=DEADLINE)
    assert not await world.panes.press(before, Key.ENTER, timeout=DEADLINE)


@on_both
async def test_a_pane_of_another_server_is_another_pane_although_it_has_the_same_id(world: World) -> None:
    before = await world.look()
    world.another_server()
    assert await world.panes.look(before.place, ANYONE, timeout=DEADLINE) is None
    assert not await world.panes.paste(before, "ours", timeout=DEADLINE)
    now = await world.look()
    assert now.place.pane == before.place.pane
    assert now.place != before.place
