"""Who is told what, how often it is tried, and what a restart of Argus changes about that: nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from argus.core.depending import Thing, thing
from argus.graph.keeper import Graph
from argus.graph.model import Dependant, Role, Standing
from argus.graph.tools import Tools
from argus.store.notes import Notes
from argus.store.records import Write
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, run_simulated

DB = thing("db")
SHOP = Dependant(Role.SESSION, "shop", (DB,))


@dataclass
class World:
    clock: FakeClock
    store: SqliteStore
    is_down: bool = False
    listens: bool = True
    tried: list[float] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    woken: int = 0

    def graph(self) -> Graph:
        async def say(who: Dependant, text: str, before: Callable[[], tuple[Write, ...]]) -> None:
            self.tried.append(self.clock.monotonic())
            if self.listens:
                await self.store.commit(*before())
                self.heard.append(text)

        def wake() -> None:
            self.woken += 1

        notes = Notes(self.store, self.clock)
        return Graph(Tools(self.store, notes, self.clock, self.look, lambda: [SHOP], say, wake))

    def look(self, one: Thing) -> Standing:
        return Standing(self.is_down, 0.0, "refused", "is restarting it", "i1")

    async def journal(self) -> list[str]:
        return [event.type for event in await self.store.events(0)]


def played(scene: Callable[[World, Graph], object]) -> World:
    async def main(loop: asyncio.AbstractEventLoop) -> World:
        clock = FakeClock(loop)
        world = World(clock, SqliteStore(None, clock=clock, inline=True))
        await scene(world, world.graph())  # type: ignore[misc]
        return world

    return run_simulated(main)


async def looks(graph: Graph, seconds: float) -> None:
    for _ in range(int(seconds * 2)):
        await graph.look()
        await asyncio.sleep(0.5)


def test_it_is_told_once_and_once_that_it_is_back_whatever_is_restarted_in_between():
    async def scene(world: World, graph: Graph) -> None:
        world.is_down = True
        await looks(graph, 10)
        graph = world.graph()
        await graph.restore()
        await looks(graph, 10)
        assert (len(world.heard), world.woken) == (1, 0)
        world.is_down = False
        await looks(graph, 10)
        assert world.heard[1:] == ["[argus] db is back. Go on with your work."]
        assert world.woken == 1
        assert await world.journal() == ["dependency_lost", "dependency_back"]

    played(scene)


def test_who_cannot_be_told_is_asked_less_and_less_often_and_hears_nothing_of_what_is_over():
    async def scene(world: World, graph: Graph) -> None:
        world.is_down, world.listens = True, False
        await looks(graph, 600)
        gaps = [round(after - before) for before, after in zip(world.tried, world.tried[1:], strict=False)]
        assert gaps[:5] == [2, 4, 8, 16, 32]
        assert set(gaps[5:]) == {60}
        world.is_down, world.listens = False, True
        await looks(graph, 120)
        assert world.heard == []

    played(scene)


def test_down_again_before_it_heard_that_it_was_back_it_is_told_of_that():
    async def scene(world: World, graph: Graph) -> None:
        world.is_down = True
        await looks(graph, 2)
        world.is_down, world.listens = False, False
        await looks(graph, 2)
        world.is_down, world.listens = True, True
        await looks(graph, 10)
        assert len(world.heard) == 2
        assert all("is down" in text for text in world.heard)

    played(scene)
