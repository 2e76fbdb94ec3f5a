"""One process of Argus in the agents' world: its view of the store and of the machine, which ends when it is killed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argus.agents import policy
from argus.core.errors import ArgusError, Code
from argus.host.launching import Launch, Running
from argus.store.records import Claim, Document, OpenAct, Undecided

if TYPE_CHECKING:
    from tests.simulation.agents_world import World


@dataclass(frozen=True)
class Plant:
    """A known bug, put back in on purpose."""

    decide: Callable[[policy.Facts], policy.Decision] = policy.decide
    claims_nothing: bool = False
    records_no_intent: bool = False
    forgets_acts: bool = False
    forgets_stops: bool = False
    fences_nobody: bool = False
    latches_nothing: bool = False
    sleeps_after_trouble: bool = False


class Dead(Exception):
    """Raised in what is left of an Argus that was killed."""


class Life:
    def __init__(self, world: "World") -> None:
        self._world = world
        self._writing = asyncio.Lock()
        """A store has one writer, and keeps the order in which it was asked."""
        self.dead = False

    async def breathe(self) -> None:
        await asyncio.sleep(self._world.chance.random() * 0.02)
        if self.dead:
            raise Dead

    # The store.

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.store, name)

    async def commit(self, *writes: Any) -> Any:
        async with self._writing:
            await self.breathe()
            world = self._world
            if world.store_is_broken:
                await asyncio.sleep(world.store_hangs)
                await self.breathe()
                raise _away()
            lost = world.replies_are_lost and world.chance.random() < 0.5
            if lost and world.chance.random() < 0.5:
                raise self._undecided(happened=False)
            events = await world.store.commit(*(write for write in writes if not self._left_out(write)))
            world.rules.recorded(events)
            # Killed here, the record has it and nothing else does: the gap between intent and act.
            await self.breathe()
            if lost:
                raise self._undecided(happened=True)
            return events

    def _left_out(self, write: Any) -> bool:
        plant = self._world.plant
        return (isinstance(write, Claim) and plant.claims_nothing) or (
            isinstance(write, OpenAct) and plant.records_no_intent
        )

    def _undecided(self, *, happened: bool) -> Undecided:
        transaction = f"t{len(self._world.transactions)}"
        self._world.transactions[transaction] = happened
        return Undecided("simulated: the connection was lost", transaction)

    def _reach(self) -> None:
        if self._world.store_is_broken:
            raise _away()

    async def was_committed(self, transaction: str) -> bool:
        await self.breathe()
        self._reach()
        return self._world.transactions[transaction]

    async def acts(self, **query: Any) -> Any:
        self._reach()
        return [] if self._world.plant.forgets_acts else await self._world.store.acts(**query)

    async def open_acts(self) -> Any:
        self._reach()
        return await self._world.store.open_acts()

    async def documents(self, domain: str, *, live: bool = True) -> list[Document]:
        self._reach()
        found = await self._world.store.documents(domain, live=live)
        if self._world.plant.forgets_stops:
            return [Document(one.domain, one.id, {**one.data, "stop": ""}, live=one.live) for one in found]
        return list(found)


def _away() -> ArgusError:
    return ArgusError(Code.STORE_UNAVAILABLE, "simulated: the disk is full")


class LifeLauncher:
    """The machine as this Argus reaches it; every start is held against the rules."""

    def __init__(self, life: Life, world: "World") -> None:
        self._life = life
        self._world = world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.launcher, name)

    async def launch(self, launch: Launch, *, timeout: float) -> Running:
        if self._life.dead:
            raise Dead
        await self._world.rules.starting(launch)
        if self._world.plant.latches_nothing:
            self._world.ids += 1
            launch = Launch(f"{launch.folder}#{self._world.ids}", launch.argv, launch.cwd, launch.nonce)
        await self._life.breathe()
        running = await self._world.launcher.launch(launch, timeout=timeout)
        await self._life.breathe()
        return running

    async def find(self, folder: str, nonce: str) -> Any:
        await self._life.breathe()
        return await self._world.launcher.find(folder, nonce)

    async def stop(self, running: Running, *, grace: float) -> bool:
        await self._life.breathe()
        return await self._world.launcher.stop(running, grace=grace)
