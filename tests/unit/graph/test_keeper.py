"""Who is told what, how often it is tried, and what a restart of Argus changes about that: nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from argus.core.depending import Thing, thing
from argus.core.errors import ArgusError, Code
from argus.core.events import Event
from argus.graph.keeper import Graph
from argus.graph.model import Dependant, Gone, Role, Standing, Told
from argus.graph.tools import Tools
from argus.store.notes import Notes
from argus.store.records import PutSetting, Write
from argus.store.sqlite import SqliteStore
from argus.testing import FakeClock, run_simulated

DB = thing("db")
SHOP = Dependant(Role.SESSION, "shop", (DB,))
BANK = Dependant(Role.SESSION, "bank", (DB,))


@dataclass
class World:
    clock: FakeClock
    store: SqliteStore
    is_down: bool = False
    down: set[str] = field(default_factory=set)
    """By their names, where not all are."""
    unsettled: set[str] = field(default_factory=set)
    """Those that go up and down."""
    listens: bool = True
    is_away: bool = False
    """The store."""
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds until a terminal answers."""
    dependants: tuple[Dependant, ...] = (SHOP,)
    tried: list[float] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    stories: list[str] = field(default_factory=list)
    """In which each of them stands."""
    woken: int = 0

    def graph(self) -> Graph:
        async def say(who: Dependant, text: str, story: str, before: Callable[[], tuple[Write, ...]]) -> None:
            self.tried.append(self.clock.monotonic())
            await asyncio.sleep(self.slow.get(who.name, 0.0))
            if self.listens:
                writes = before()
                if self.is_away:
                    raise ArgusError(Code.STORE_UNAVAILABLE, "away")
                await self.store.commit(*writes)
                self.heard.append(text)
                self.stories.append(story)

        def wake() -> None:
            self.woken += 1

        async def finish() -> None:
            pass

        notes = Notes(self.store, self.clock)
        gone = lambda role, name: Gone("stopped", "cli") if role is Role.AGENT else Gone("unwatched")  # noqa: E731
        return Graph(
            Tools(self.store, notes, self.clock, self.look, lambda also: self.dependants, gone, say, wake, finish)
        )

    def look(self, one: Thing) -> Standing:
        is_down, is_unsettled = self.is_down or one.name in self.down, one.name in self.unsettled
        return Standing(is_down, 0.0, "refused", "is restarting it", "i1", is_unsettled=is_unsettled)

    async def ends(self) -> list[tuple[str, str, dict[str, object]]]:
        """The waits that ended otherwise than by what was waited for."""
        events = [one for one in await self.store.events(0) if one.type == "dependency_wait_ended"]
        return [(one.channel, one.subject, dict(one.data)) for one in events]

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
    async with asyncio.TaskGroup() as lines:
        for _ in range(int(seconds * 2)):
            await graph.look(lines)
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
        assert world.stories == ["i1", "i1"]
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


def test_who_could_not_be_told_because_the_record_was_away_is_told_once_it_is_there():
    async def scene(world: World, graph: Graph) -> None:
        world.is_down = world.is_away = True
        await looks(graph, 5)
        assert world.heard == []
        world.is_away = False
        await looks(graph, 20)
        assert len(world.heard) == 1

    played(scene)


def test_a_terminal_that_does_not_answer_holds_up_nobody_else():
    async def scene(world: World, graph: Graph) -> None:
        world.dependants, world.slow = (SHOP, BANK), {"shop": 30.0}
        async with asyncio.TaskGroup() as lines:
            for second in range(10):
                world.is_down = second < 5
                await graph.look(lines)
                await asyncio.sleep(1.0)
            assert ["is down" in text for text in world.heard] == [True, False], "to the bank, and nothing to the shop"
        assert len(world.heard) == 2, "what was over before it could be said is not said"

    played(scene)


def test_what_is_told_to_two_at_once_is_all_on_record():
    async def scene(world: World, graph: Graph) -> None:
        world.dependants, world.slow = (SHOP, BANK), {"shop": 0.2, "bank": 0.2}
        world.is_down = True
        await looks(graph, 2)
        graph = world.graph()
        await graph.restore()
        await looks(graph, 5)
        assert len(world.heard) == 2, "nobody is told twice by the next Argus"

    played(scene)


def test_who_was_told_to_wait_and_depends_on_nothing_any_more_is_told_to_go_on():
    async def scene(world: World, graph: Graph) -> None:
        world.is_down = True
        await looks(graph, 5)
        world.dependants = (Dependant(Role.SESSION, "shop", ()),)
        await looks(graph, 5)
        assert world.heard[1:] == ["[argus] You need not wait for db any more. Go on with your work."]
        assert await world.journal() == ["dependency_lost", "dependency_back"]

    played(scene)


def test_who_is_gone_while_it_waits_waits_no_longer_on_record_and_that_once():
    async def scene(world: World, graph: Graph) -> None:
        worker = Dependant(Role.AGENT, "team-worker001", (DB, thing("cache")))
        world.dependants, world.down = (worker, SHOP), {"db", "cache"}
        await looks(graph, 5)
        world.dependants = ()
        graph = world.graph()  # also where the next Argus finds that out
        await graph.restore()
        await looks(graph, 5)
        graph = world.graph()
        await graph.restore()
        await looks(graph, 5)
        agent = {"agent_id": "team-worker001", "outcome": "stopped", "by": "cli", "incident": "i1"}
        assert await world.ends() == [
            ("agents", "team-worker001", {**agent, "dependency": "cache"}),
            ("agents", "team-worker001", {**agent, "dependency": "db"}),
            ("sessions", "shop", {"project": "shop", "dependency": "db", "outcome": "unwatched", "incident": "i1"}),
        ]
        assert await world.store.documents("graph") == []

    played(scene)


def test_who_is_gone_and_did_not_wait_any_more_has_no_second_end():
    async def scene(world: World, graph: Graph) -> None:
        world.is_down = True
        await looks(graph, 5)
        world.is_down, world.listens = False, False
        await looks(graph, 5)
        world.dependants = ()
        await looks(graph, 5)
        assert await world.ends() == []
        assert await world.journal() == ["dependency_lost", "dependency_back"]

    played(scene)


def test_what_became_of_who_is_gone_is_on_record_also_when_there_was_no_room_for_it_at_first():
    async def scene(world: World, graph: Graph) -> None:
        world.is_down = True
        await looks(graph, 5)
        world.dependants = ()
        commit = world.store.commit

        async def refused(*writes: Write) -> list[Event]:
            raise ArgusError(Code.INVALID_REQUEST, "no room")

        world.store.commit = refused  # type: ignore[method-assign]
        with pytest.raises(ArgusError):
            await graph.look(asyncio.TaskGroup())
        world.store.commit = commit  # type: ignore[method-assign]
        await looks(graph, 5)
        assert len(await world.ends()) == 1

    played(scene)


def test_of_two_that_are_down_it_hears_of_each_that_it_is_back():
    async def scene(world: World, graph: Graph) -> None:
        world.dependants = (Dependant(Role.SESSION, "shop", (DB, thing("cache"))),)
        world.down = {"db", "cache"}
        await looks(graph, 5)
        world.down = {"cache"}
        await looks(graph, 5)
        graph = world.graph()
        await graph.restore()
        await looks(graph, 5)
        world.down = set()
        await looks(graph, 5)
        assert world.heard[1:] == [
            "[argus] db is back. cache is still down.",
            "[argus] cache is back. Go on with your work.",
        ]

    played(scene)


def test_who_was_told_of_two_does_not_go_on_before_the_one_that_goes_up_and_down_has_settled():
    async def scene(world: World, graph: Graph) -> None:
        needs = (DB, thing("cache"))
        world.dependants = (Dependant(Role.SESSION, "shop", needs),)
        world.unsettled = {"db"}
        world.down = {"db"}
        await looks(graph, 5)
        world.down = {"cache"}
        await looks(graph, 5)
        assert graph.waits_for(SHOP.key, needs) == ["service cache", "service db"]
        assert "db has not settled yet" in await graph.notice(SHOP.key, needs, is_typed=False)
        world.down = set()
        await looks(graph, 5)
        assert graph.waits_for(SHOP.key, needs) == ["service db"]
        assert await graph.notice(SHOP.key, needs, is_typed=False) == "[argus] db has not settled yet."
        world.unsettled = set()
        await looks(graph, 5)
        assert graph.waits_for(SHOP.key, needs) == []
        assert world.heard[2:] == [
            "[argus] cache is back. db has not settled yet.",
            "[argus] db is back. Go on with your work.",
        ]
        back = [event.data for event in await world.store.events(0) if event.type == "dependency_back"]
        assert [one["still_waits_for"] for one in back] == [["db"], []]

    played(scene)


def test_what_is_down_again_before_it_was_said_to_be_back_is_not_said_to_be_needed_no_longer():
    async def scene(world: World, graph: Graph) -> None:
        needs = (DB, thing("cache"))
        world.dependants = (Dependant(Role.SESSION, "shop", needs),)
        world.down = {"db", "cache"}
        await looks(graph, 5)
        world.down = set()
        async with asyncio.TaskGroup() as lines:
            await graph.look(lines)
            world.down = {"db"}  # before its terminal was asked
        await looks(graph, 10)
        assert [text for text in world.heard[1:] if "is down" not in text] == [
            "[argus] cache is back. db is still down."
        ]
        assert "service db is down" in world.heard[-1]

    played(scene)


def test_who_asks_hears_how_it_stands_and_once_that_it_is_back():
    async def scene(world: World, graph: Graph) -> None:
        world.listens = False
        world.is_down = True
        await looks(graph, 2)
        for _ in range(2):
            said = await graph.notice(SHOP.key, SHOP.depends_on, is_typed=False)
            assert "db is down" in said
        world.is_down = False
        await looks(graph, 2)
        said = [await graph.notice(SHOP.key, SHOP.depends_on, is_typed=False) for _ in range(2)]
        assert said == ["[argus] db is back. Go on with your work.", ""]

    played(scene)


def test_who_is_typed_to_does_not_miss_it_because_something_else_asked():
    async def scene(world: World, graph: Graph) -> None:
        world.listens = False
        world.is_down = True
        await looks(graph, 2)
        assert "db is down" in await graph.notice(SHOP.key, SHOP.depends_on, is_typed=True)
        world.listens = True
        await looks(graph, 10)
        assert len(world.heard) == 1

    played(scene)


def test_who_asks_between_two_looks_has_not_heard_what_was_not_said_to_it():
    async def scene(world: World, graph: Graph) -> None:
        world.listens, world.is_down = False, True
        await looks(graph, 2)
        world.is_down = False  # and nobody has looked since
        assert await graph.notice(SHOP.key, SHOP.depends_on, is_typed=False) == ""
        await looks(graph, 2)
        assert await graph.notice(SHOP.key, SHOP.depends_on, is_typed=False) == ""

    played(scene)


def test_what_an_earlier_argus_kept_together_is_taken_over_and_kept_for_each():
    async def scene(world: World, graph: Graph) -> None:
        told = Told(SHOP.key, {"db": {"since": 0.0, "incident": "i1"}}, ("db",))
        await world.store.commit(PutSetting("graph.told", {SHOP.key: told.written()}))
        for _ in range(2):
            graph = world.graph()
            await graph.restore()
        assert await world.store.setting("graph.told") is None
        await looks(graph, 2)
        assert world.heard == ["[argus] db is back. Go on with your work."]
        assert await world.store.documents("graph") == []

    played(scene)


def test_what_is_written_of_a_loss_grows_with_who_needs_it_and_not_with_its_square():
    async def scene(world: World, graph: Graph) -> None:
        written = 0
        commit = world.store.commit

        async def counted(*writes: Write) -> list[Event]:
            nonlocal written
            written += len(repr(writes))
            return await commit(*writes)

        world.store.commit = counted  # type: ignore[method-assign]
        world.dependants = tuple(Dependant(Role.SESSION, f"shop{place}", (DB,)) for place in range(300))
        world.is_down = True
        await looks(graph, 5)
        assert len(world.heard) == 300
        assert written < 300 * 3000

    played(scene)
